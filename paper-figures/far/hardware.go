package far

import (
	"strings"

	"miglab/harness/mig"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// needsHardware is what is missing for numbers that were measured on a GPU.
const needsHardware = "needs a MIG-capable GPU and the kernels on it"

func table2(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "table2", Title: "largest difference in time, alone against beside others",
		Build: func(*figures.Data) (*figures.Output, error) {
			out := &figures.Output{}
			for _, c := range claims.Of("table2") {
				out.Findings = append(out.Findings, figures.Missing(c, needsHardware))
			}
			out.Tables = []figures.Table{{File: "table2", Table: figures.ComparisonTable("Table 2. Instance isolation on A100", out.Findings)}}
			return out, nil
		},
	}
}

func table3(claims *figures.Claims) figures.Artefact {
	series := on("A30", 1, batch(dataset("a30-batch"), "far", mig.Sequential))
	return figures.Artefact{
		Name: "table3", Title: "simulated and real end times of nine Rodinia kernels on A30",
		Needs: func(figures.Scale) []figures.Need { return []figures.Need{{Series: series, N: 1}} },
		Build: func(d *figures.Data) (*figures.Output, error) {
			p, s, err := d.Schedule(series, 0)
			if err != nil {
				return nil, err
			}
			ends := map[string]float64{}
			for _, pl := range s.Placements {
				ends[strings.ToLower(p.Tasks[pl.Task].Name)] = float64(pl.End)
			}
			out := &figures.Output{}
			for _, c := range claims.Of("table3") {
				kernel, quantity, _ := strings.Cut(c.Name, " ")
				end, ok := ends[strings.ToLower(kernel)]
				switch {
				case quantity != "simulated end":
					out.Findings = append(out.Findings, figures.Missing(c, needsHardware))
				case !ok:
					out.Findings = append(out.Findings, figures.Missing(c, "the times of this kernel on A30 instances are not published"))
				default:
					out.Findings = append(out.Findings, d.Judge(c, figures.Exactly(end), "",
						"the task times of the paper's run are not published; the authors' repository has other measurements of eight of the nine kernels"))
				}
			}
			bars := reports.Gantt{Panels: []reports.GanttPanel{reports.NewGanttPanel("FAR, eight kernels, A30", p, s)}}
			out.Tables = []figures.Table{{File: "table3", Table: figures.ComparisonTable("Table 3. End times on A30", out.Findings)}}
			out.Figures = []figures.Figure{{File: "table3", Title: "The simulated schedule behind Table 3", Figure: bars}}
			return out, nil
		},
	}
}
