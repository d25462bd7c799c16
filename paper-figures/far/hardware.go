package far

import (
	"math"
	"strings"

	"miglab/datasets"
	"miglab/harness/mig"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// table2 judges the isolation that was measured on an A100.
func table2(claims *figures.Claims, h datasets.HardwareSet) figures.Artefact {
	return figures.Artefact{
		Name: "table2", Title: "largest difference in time, alone against beside others",
		Build: func(d *figures.Data) (*figures.Output, error) {
			out := &figures.Output{}
			var notes []string
			worst := figures.Isolation(h, "A100")
			for _, c := range claims.Of("table2") {
				f := strings.Fields(c.Name) // Backprop size 1
				r, ok := worst[figures.KernelOn{Kernel: f[0], Size: mig.Slices(f[2][0] - '0')}]
				if !ok {
					out.Findings = append(out.Findings, figures.Missing(c, figures.NeedsIsolation("A100")))
					continue
				}
				notes = figures.WithOrigin(notes, r.Provenance)
				out.Findings = append(out.Findings, d.Judge(c, figures.Exactly(math.Abs(r.Difference)), "", "beside "+r.Beside+"; "+r.String()))
			}
			t := figures.ComparisonTable("Table 2. Instance isolation on A100", out.Findings)
			t.Notes = append(t.Notes, notes...)
			out.Table("table2", t)
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

// table3 judges the real end times of an execution on an A30, and the simulated end times
// that follow from the times that the paper's authors published.
func table3(claims *figures.Claims, h datasets.HardwareSet) figures.Artefact {
	series := on("A30", 1, batch(figures.Dataset("a30-batch"), "far", mig.Sequential))
	return figures.Artefact{
		Name: "table3", Title: "simulated and real end times of nine Rodinia kernels on A30",
		Needs: func(figures.Scale) []figures.Need { return []figures.Need{{Series: series, N: 1}} },
		Build: func(d *figures.Data) (*figures.Output, error) {
			p, s := d.Schedule(series, 0)
			ends := map[string]float64{}
			for _, pl := range s.Placements {
				ends[strings.ToLower(p.Tasks[pl.Task].Name)] = float64(pl.End)
			}
			kernels := batch3(claims)
			executed := map[string]datasets.ExecutionTime{}
			var notes []string
			for i, r := range figures.Execution(h, "A30", "far", kernels) {
				executed[kernels[i]] = r
				notes = figures.WithOrigin(notes, r.Provenance)
			}
			out := &figures.Output{}
			for _, c := range claims.Of("table3") {
				kernel, quantity, _ := strings.Cut(c.Name, " ")
				end, ok := ends[strings.ToLower(kernel)]
				r, isExecuted := executed[kernel]
				switch {
				case quantity == "simulated end" && !ok:
					out.Findings = append(out.Findings, figures.Missing(c, "the times of this kernel on A30 instances are not published"))
				case quantity == "simulated end":
					out.Findings = append(out.Findings, d.Judge(c, figures.Exactly(end), "",
						"the task times of the paper's run are not published; the authors' repository has other measurements of eight of the nine kernels"))
				case !isExecuted:
					out.Findings = append(out.Findings, figures.Missing(c, figures.NeedsExecution("A30", "far", kernels)))
				case quantity == "real end":
					out.Findings = append(out.Findings, d.Judge(c, figures.Exactly(float64(r.RealEnd)), "", "the paper's inputs are not published; "+r.String()))
				default:
					out.Findings = append(out.Findings, d.Judge(c, figures.Exactly(r.Deviation), "", "the paper's inputs are not published; "+r.String()))
				}
			}
			bars := reports.Gantt{Panels: []reports.GanttPanel{reports.NewGanttPanel("FAR, eight kernels, A30", p, s)}}
			t := figures.ComparisonTable("Table 3. End times on A30", out.Findings)
			t.Notes = append(t.Notes, notes...)
			out.Table("table3", t)
			out.Figure("table3", "The simulated schedule behind Table 3", bars)
			return out, nil
		},
	}
}

// Claims of the text about what was measured on GPUs.
const (
	largestDifference = "isolation, largest difference"
	largestDeviation  = "simulation error, largest"
)

// onHardware measures what the text says about times on GPUs, if there are measurements. For
// isolation it needs all kernels of the text, on every size except the largest.
func onHardware(claims *figures.Claims, h datasets.HardwareSet, values figures.Values) error {
	g := mig.MustLookup("A100")
	kernels, err := rodiniaOn(g)
	if err != nil {
		return err
	}
	worst := figures.Isolation(h, g.Name)
	complete, largest := true, 0.0
	for i := range kernels {
		for _, s := range g.Sizes() {
			r, ok := worst[figures.KernelOn{Kernel: kernels[i].Name, Size: s}]
			complete = complete && (ok || s == g.ComputeSlices)
			largest = max(largest, math.Abs(r.Difference))
		}
	}
	if complete {
		values[largestDifference] = figures.Exactly(largest)
	}
	if rows := figures.Execution(h, "A30", "far", batch3(claims)); rows != nil {
		largest = 0
		for _, r := range rows {
			largest = max(largest, math.Abs(r.Deviation))
		}
		values[largestDeviation] = figures.Exactly(largest)
	}
	return nil
}

// needsHardware says what is missing for a claim that [onHardware] cannot measure.
func needsHardware(claims *figures.Claims, claim string) string {
	if claim == largestDifference {
		return figures.NeedsIsolation("A100")
	}
	return figures.NeedsExecution("A30", "far", batch3(claims))
}
