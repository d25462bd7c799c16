package deadline

import (
	"fmt"

	figures "miglab/paper-figures"
	"miglab/reports"
)

// missing is what becomes of a table about the agent.
func missing(claims []figures.Claim) []figures.Finding {
	var fs []figures.Finding
	for _, c := range claims {
		fs = append(fs, figures.Missing(c, needsAgent))
	}
	return fs
}

// table8 adds what an agent has to reach on our episodes for the printed reductions.
func table8(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "table8", Title: "the agent's improvement over heuristics",
		Needs: func(s figures.Scale) []figures.Need { return need(s, relaxed, many, methods...) },
		Build: func(d *figures.Data) (*figures.Output, error) {
			fs := missing(claims.Of("table8"))
			target := reports.Table{
				Title: "What an agent has to reach for the reductions of Table 8",
				Columns: []reports.Column{
					{Name: "baseline"},
					{Name: "episodes", Right: true},
					{Name: "late [%]", Right: true},
					{Name: "late reduction [%]", Right: true},
					{Name: "agent's late [%]", Right: true},
					{Name: "tardiness [min]", Right: true},
					{Name: "tardiness reduction [%]", Right: true},
					{Name: "agent's tardiness [min]", Right: true},
				},
				Notes: []string{"baselines measured, reductions printed; print has 37.7 % and 0.91 min for the agent"},
			}
			for _, n := range []int{evaluation, d.Scale.Replicates(many)} {
				for _, m := range methods {
					row := []string{m.title, fmt.Sprint(n)}
					for _, q := range []quantity{late, tardiness} {
						v, err := q.of(d, m.on(relaxed))
						if err != nil {
							return nil, err
						}
						mean, err := figures.MeanOf(v[:n], n)
						if err != nil {
							return nil, err
						}
						c := claims.Get("table8", m.title+" "+q.name+" reduction")
						row = append(row, fmt.Sprintf("%.2f", mean.Value), fmt.Sprintf("%.1f", c.Published), fmt.Sprintf("%.2f", mean.Value*(1-c.Published/100)))
					}
					target.Rows = append(target.Rows, row)
				}
			}
			return &figures.Output{Findings: fs, Tables: []figures.Table{
				{File: "table8", Table: figures.ComparisonTable("Table 8. The agent's improvement over heuristics", fs)},
				{File: "table8-target", Table: target},
			}}, nil
		},
	}
}

func table9(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "table9", Title: "the agent against the best heuristic, by tightness of deadlines",
		Needs: func(s figures.Scale) []figures.Need {
			return append(need(s, relaxed, many, methods...), need(s, tight, many, methods...)...)
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			fs := missing(claims.Of("table9"))
			t := figures.ComparisonTable("Table 9. The agent against the best heuristic", fs)
			for _, data := range []struct{ name, dataset string }{{"tight", tight}, {"relaxed", relaxed}} {
				best, values, err := extreme(d, late, data.dataset, methods, lowest, many)
				if err != nil {
					return nil, err
				}
				m, err := figures.MeanOf(values, evaluation)
				if err != nil {
					return nil, err
				}
				t.Notes = append(t.Notes, fmt.Sprintf("the best heuristic of Table 7 under %s deadlines is %s, %.1f %% late (%.1f to %.1f) over %d episodes",
					data.name, best.title, m.Value, m.Low, m.High, len(values)))
			}
			t.Notes = append(t.Notes, "if the agent is 85-90 % late under tight deadlines and loses by 5 points, print has its best heuristic at 80-85 %")
			return &figures.Output{Findings: fs, Tables: []figures.Table{{File: "table9", Table: t}}}, nil
		},
	}
}
