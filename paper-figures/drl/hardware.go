package drl

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"miglab/datasets"
	figures "miglab/paper-figures"
)

// onGPU is what was measured on GPUs.
type onGPU struct{ datasets.HardwareSet }

// table3 judges an execution on an A100. The task times of the paper's simulation are not
// published, and the public times of the same kernels come from other runs. The simulated end
// times are therefore those of the execution, too.
func (h onGPU) table3(d *figures.Data) (*figures.Output, error) {
	tasks, values := batch3(d.Claims), figures.Values{}
	for i, r := range figures.Execution(h.HardwareSet, "A100", agent3, tasks) {
		for quantity, v := range map[string]float64{"simulated end": float64(r.SimulatedEnd), "real end": float64(r.RealEnd), "difference": r.Deviation} {
			m := figures.Exactly(v)
			m.Detail = "Measured once: " + r.String() + "."
			values[printed3.Replace(tasks[i])+" "+quantity] = m
		}
	}
	return figures.Read(figures.Reading{Values: values}), nil
}

// printed3 turns the name of a task into the paper's, PathFinder#1 into PathFinder (1).
var printed3 = strings.NewReplacer("#1", " (1)", "#2", " (2)")

// agent3 schedules the batch of Table 3. It is the paper's last agent, trained as for all
// measured kernels.
const agent3 = "rl-direct"

// batch3 are the tasks of Table 3, which has PathFinder twice.
func batch3(claims *figures.Claims) (out []string) {
	for _, c := range claims.Of("table3") {
		if kernel, ok := strings.CutSuffix(c.Name, " real end"); ok {
			out = append(out, strings.NewReplacer(" (", "#", ")", "").Replace(kernel))
		}
	}
	return out
}

// Claims of the text about what was measured on GPUs.
const (
	isolationDifference      = "isolation: difference in time beside others"
	reconfigurationDeviation = "deviation of reconfiguration times"
)

// onHardware measures what the text says about times on GPUs, if there are measurements: the
// largest difference of a kernel beside others on A100, and the largest deviation of a single
// operation from the mean on a GPU of Table 1. The details name where they were found.
func onHardware(h datasets.HardwareSet, values figures.Values) {
	most := func(claim string, percent float64, where string) {
		m := figures.Exactly(percent)
		m.Detail = "Found for " + where + "."
		// Equal values are ordered by name, because the order of a map is random.
		if old, ok := values[claim]; !ok || cmp.Or(cmp.Compare(percent, old.Value), cmp.Compare(m.Detail, old.Detail)) > 0 {
			values[claim] = m
		}
	}
	for at, r := range figures.Isolation(h, "A100") {
		most(isolationDifference, math.Abs(r.Difference), fmt.Sprintf("%s on size %d beside %s; %s", at.Kernel, at.Size, r.Beside, r))
	}
	for _, gpu := range []string{"A30", "A100", "H100"} {
		for o, r := range figures.Reconfigurations(h, gpu) {
			off := max(r.Max-r.Mean, r.Mean-r.Min) / r.Mean
			most(reconfigurationDeviation, float64(off)*100, fmt.Sprintf("%s of size %d; %s", o.Name, o.Size, r))
		}
	}
}
