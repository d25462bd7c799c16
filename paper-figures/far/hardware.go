package far

import (
	"fmt"
	"math"
	"strings"

	"miglab/datasets"
	"miglab/harness/mig"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// hardwareOutput is an output of claims that need a GPU: those that were measured, and why
// the others are missing.
func hardwareOutput(basis string) (*figures.Output, figures.Values) {
	values := figures.Values{}
	out := figures.Read(figures.Reading{Basis: basis, Values: values})
	out.Missing = map[string]string{}
	return out, values
}

// measuredOn is a number that was measured on a GPU.
func measuredOn(v float64, detail string, p datasets.Provenance) figures.Measurement {
	m := figures.Exactly(v)
	m.Detail = fmt.Sprintf("%sMeasured on %s; %s.", detail, p.GPU, p)
	return m
}

// table2 judges the isolation that was measured on an A100.
func table2(h datasets.HardwareSet) figures.Artefact {
	return figures.Artefact{
		Name: "table2", Title: "largest difference in time, alone against beside others, A100",
		Build: func(d *figures.Data) (*figures.Output, error) {
			out, values := hardwareOutput("measured on an A100 under MIG")
			worst := figures.Isolation(h, "A100")
			for kernel, size := range figures.Each([]string{"Backprop", "Gaussian", "HotSpot", "LavaMD"}, []mig.Slices{1, 2, 3, 4}) {
				claim := fmt.Sprintf("%s size %d", kernel, size)
				if r, ok := worst[figures.KernelOn{Kernel: kernel, Size: size}]; ok {
					values[claim] = measuredOn(math.Abs(r.Difference), "Beside "+r.Beside+". ", r.Provenance)
				} else {
					out.Missing[claim] = figures.NeedsIsolation("A100")
				}
			}
			return out, nil
		},
	}
}

// batch3 are the kernels of Table 3.
func batch3(claims *figures.Claims) (out []string) {
	for _, c := range claims.Of("table3") {
		if kernel, ok := strings.CutSuffix(c.Name, " real end"); ok {
			out = append(out, kernel)
		}
	}
	return out
}

// unpublishedKernel is the kernel of Table 3 whose times on A30 are not published.
const unpublishedKernel = "HotSpot"

// table3 judges the real end times of an execution on an A30, and the simulated end times
// that follow from the times that the paper's authors published.
func table3(h datasets.HardwareSet) figures.Artefact {
	series := on("A30", 1, batch(figures.Dataset("a30-batch"), "far", mig.Sequential))
	return figures.Artefact{
		Name: "table3", Title: "simulated and real end times of nine Rodinia kernels on A30",
		Build: func(d *figures.Data) (*figures.Output, error) {
			out, values := hardwareOutput("simulated: eight of the nine kernels, with the times in the authors' repository; real: measured on an A30 under MIG")
			p, s := d.Schedule(series, 0)
			ends := map[string]float64{} // by name in lower case
			for _, pl := range s.Placements {
				ends[strings.ToLower(p.Tasks[pl.Task].Name)] = float64(pl.End)
			}
			kernels := batch3(d.Claims)
			for _, k := range kernels {
				if k == unpublishedKernel {
					out.Missing[k+" simulated end"] = "The times of this kernel on A30 instances are not published."
					continue
				}
				values[k+" simulated end"] = figures.Exactly(ends[strings.ToLower(k)])
			}
			executed := figures.Execution(h, "A30", "far", kernels)
			for i, k := range kernels {
				if executed == nil {
					out.Missing[k+" real end"] = figures.NeedsExecution("A30", "far", kernels)
					out.Missing[k+" deviation"] = out.Missing[k+" real end"]
					continue
				}
				r := executed[i]
				values[k+" real end"] = measuredOn(float64(r.RealEnd), "", r.Provenance)
				values[k+" deviation"] = measuredOn(r.Deviation, "", r.Provenance)
			}
			return out.Figure("table3", "The simulated schedule behind Table 3",
				reports.Gantt{Panels: []reports.GanttPanel{reports.NewGanttPanel("FAR, eight kernels, A30", p, s)}}), nil
		},
	}
}

// Claims of the text about what was measured on GPUs.
const (
	largestDifference = "isolation, largest difference"
	largestDeviation  = "simulation error, largest"
)

// onHardware measures what the text says about times on GPUs, or says what is missing. For
// isolation it needs all kernels of the text, on every size except the largest.
func onHardware(claims *figures.Claims, h datasets.HardwareSet, out *figures.Output, values figures.Values) error {
	g := mig.MustLookup("A100")
	kernels, err := rodiniaOn(g)
	if err != nil {
		return err
	}
	worst := figures.Isolation(h, g.Name)
	largest := 0.0
	out.Missing[largestDifference] = figures.NeedsIsolation(g.Name)
	complete := true
	for i := range kernels {
		for _, s := range g.Sizes() {
			r, ok := worst[figures.KernelOn{Kernel: kernels[i].Name, Size: s}]
			complete = complete && (ok || s == g.ComputeSlices)
			largest = max(largest, math.Abs(r.Difference))
		}
	}
	if complete {
		values[largestDifference] = figures.Exactly(largest)
		delete(out.Missing, largestDifference)
	}
	batch := batch3(claims)
	rows := figures.Execution(h, "A30", "far", batch)
	if rows == nil {
		out.Missing[largestDeviation] = figures.NeedsExecution("A30", "far", batch)
		return nil
	}
	largest = 0
	for _, r := range rows {
		largest = max(largest, math.Abs(r.Deviation))
	}
	values[largestDeviation] = figures.Exactly(largest)
	return nil
}
