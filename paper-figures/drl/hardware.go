package drl

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"miglab/datasets"
	"miglab/harness/mig"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// table3 judges an execution on an A100. The task times of the paper's simulation are not
// published, and the public times of the same kernels come from other runs. The simulated end
// times are therefore those of the execution, too.
func table3(claims *figures.Claims, h datasets.HardwareSet) figures.Artefact {
	return figures.Artefact{
		Name: "table3", Title: "simulated and real end times of nine Rodinia kernels on A100",
		Build: func(d *figures.Data) (*figures.Output, error) {
			out := &figures.Output{}
			shown := reports.Table{
				Title: "What is public of the batch of Table 3",
				Columns: reports.Left("kernel").
					Right("simulated end [s]", "real end [s]", "difference [% of the real end]", "least public time [s]", "on slices"),
				Notes: []string{
					"ends: as printed; the difference follows from them, within rounding the printed one",
					"public times are of other runs, with inputs that need not be those of this batch; a dash: none is public",
				},
			}
			public, err := kernelsOn("A100")
			if err != nil {
				return nil, err
			}
			all := claims.Of("table3")
			tasks := batch3(claims)
			executed := figures.Execution(h, "A100", agent3, tasks)
			var notes []string
			for i := 0; i < len(all); i += 3 { // simulated, real, difference
				simulated, real := all[i], all[i+1]
				kernel := strings.TrimSuffix(simulated.Name, " simulated end")
				row := []string{
					kernel, fmt.Sprintf("%.2f", simulated.Published), fmt.Sprintf("%.2f", real.Published),
					fmt.Sprintf("%.2f", (1-simulated.Published/real.Published)*100), "-", "-",
				}
				name, _, _ := strings.Cut(kernel, " (")
				for j := range public {
					if public[j].Name != name {
						continue
					}
					least, at := mig.Seconds(math.Inf(1)), mig.Slices(0)
					for _, s := range mig.MustLookup("A100").Sizes() {
						if public[j].On(s) < least {
							least, at = public[j].On(s), s
						}
					}
					row[4], row[5] = fmt.Sprintf("%.2f", least), fmt.Sprint(at)
				}
				shown.Rows = append(shown.Rows, row)
				if executed == nil {
					for _, c := range all[i : i+3] {
						out.Findings = append(out.Findings, figures.Missing(c, figures.NeedsExecution("A100", agent3, tasks)))
					}
					continue
				}
				r := executed[i/3]
				notes = figures.WithOrigin(notes, r.Provenance)
				for k, value := range []float64{float64(r.SimulatedEnd), float64(r.RealEnd), r.Deviation} {
					out.Findings = append(out.Findings, d.Judge(all[i+k], figures.Exactly(value), "",
						"neither the inputs of the paper's batch nor the agent that scheduled it are published; "+r.String()))
				}
			}
			t := figures.ComparisonTable("Table 3. End times on A100", out.Findings)
			t.Notes = append(t.Notes, notes...)
			out.Tables = []figures.Table{
				{File: "table3", Table: t},
				{File: "table3-public", Table: shown},
			}
			return out, nil
		},
	}
}

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
// operation from the mean on a GPU of Table 1. The reasons name where they were found.
func onHardware(h datasets.HardwareSet, values figures.Values, why map[string]string) {
	most := func(claim string, percent float64, where string) {
		// Equal values are ordered by name, because the order of a map is random.
		if m, ok := values[claim]; !ok || cmp.Or(cmp.Compare(percent, m.Value), cmp.Compare(where, why[claim])) > 0 {
			values[claim], why[claim] = figures.Exactly(percent), where
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

// needsHardware says what is missing for a claim that [onHardware] cannot measure.
func needsHardware(claim string) string {
	if claim == isolationDifference {
		return figures.NeedsIsolation("A100")
	}
	return figures.NeedsReconfiguration("A100")
}
