package hierarchical

import (
	"fmt"
	"strconv"

	"miglab/harness/track"

	"miglab/harness/stats"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// categories are the datasets of queues of the paper's four categories, for any W.
var categories = []string{"ci-dominant", "mi-dominant", "us-dominant", "balanced"}

// generated is the number of queues of each category in Fig. 9. The paper has three.
const generated = 12

// windows are the W of Fig. 9, concurrencies the Cmax of Fig. 10.
var (
	windows       = []int{4, 6, 8, 10, 12, 14, 16}
	concurrencies = []int{1, 2, 3, 4}
)

// ofCategory is the dataset of queues of a category.
func ofCategory(category string, w int) string { return dataset("corun/%s?w=%d", category, w) }

// ofConcurrency is Q1 to Q12 with a limit of concurrency.
func ofConcurrency(cmax int) string { return dataset("%s?cmax=%d", queues, cmax) }

// replicates is how many of the generated queues a run takes.
func replicates(s figures.Scale) int {
	if s.Quick {
		return 2
	}
	return generated
}

// swept are the methods of Figs. 9 and 10.
var swept = []method{migShared, mpsOnly, agent, exact}

// throughputOf returns the throughputs of a method for queues of W jobs of all categories.
func throughputOf(d *figures.Data, m method, w int) (out []float64, err error) {
	for _, c := range categories {
		v, err := d.Values(m.on(ofCategory(c, w)), track.MetricThroughput)
		if err != nil {
			return nil, err
		}
		out = append(out, v...)
	}
	return out, nil
}

// takes reports whether the method takes windows of W jobs as a whole: the agent's network is
// for the paper's W at most.
func (m method) takes(w int) bool { return m != agent || w <= windowSize }

// A sweep is the mean throughput of methods by a parameter.
type sweep struct {
	table reports.Table
	chart reports.Lines
}

// add adds a method with its throughputs at each value of the parameter.
func (s *sweep) add(m method, at []int, values [][]float64) error {
	s.table.Columns = append(s.table.Columns, reports.Column{Name: m.title, Right: true})
	line := reports.Series{Name: m.title, Markers: true}
	for i, x := range at {
		if s.table.Rows == nil || len(s.table.Rows) <= i {
			s.table.Rows = append(s.table.Rows, []string{strconv.Itoa(x)})
		}
		if i >= len(values) {
			s.table.Rows[i] = append(s.table.Rows[i], reports.Missing)
			continue
		}
		v, err := stats.Summarize(values[i])
		if err != nil {
			return err
		}
		s.table.Rows[i] = append(s.table.Rows[i], reports.PlusMinus(v.Mean, v.High-v.Mean, 3))
		line.X, line.Y = append(line.X, float64(x)), append(line.Y, v.Mean)
		line.Low, line.High = append(line.Low, v.Low), append(line.High, v.High)
	}
	s.chart.Series = append(s.chart.Series, line)
	return nil
}

func ticks(values []int) (out []float64) {
	for _, v := range values {
		out = append(out, float64(v))
	}
	return out
}

// stepClaim judges the one claim of an artefact: the agent's mean throughput at one value less
// that at another.
func stepClaim(d *figures.Data, claims *figures.Claims, artefact string, more, less []float64) ([]figures.Finding, error) {
	all := claims.Of(artefact)
	m := map[string]figures.Measurement{all[0].Name: figures.Exactly(mean(more) - mean(less))}
	return d.Compare(all, []figures.Reading{figures.Lookup("", m)}, figures.Always(unlikeThePaper()))
}

// figure9 draws throughput against W. The paper's queues have 12 jobs, so that those of other
// lengths are generated as it says (V-A2).
func figure9(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "figure9", Title: "relative throughput against the window size W (simulated)",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for _, w := range scaled(s, windows, windows[0], windowSize) {
				for _, c := range categories {
					for _, m := range swept {
						if m.takes(w) {
							out = append(out, need(ofCategory(c, w), replicates(s), m)...)
						}
					}
				}
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			const title = "Fig. 9. Relative throughput against the window size W"
			ws := scaled(d.Scale, windows, windows[0], windowSize)
			s := sweep{
				reports.Table{Title: title + ", simulated", Columns: []reports.Column{{Name: "W", Right: true}}},
				reports.Lines{Title: title + " (simulated)", X: reports.Axis{Label: "Window size W [jobs]", Ticks: ticks(ws)}, Y: reports.Axis{Label: "Throughput / time sharing"}},
			}
			by := map[int][]float64{} // the agent's
			for _, m := range swept {
				var values [][]float64
				for _, w := range ws {
					if !m.takes(w) {
						break
					}
					v, err := throughputOf(d, m, w)
					if err != nil {
						return nil, err
					}
					values = append(values, v)
					if m == agent {
						by[w] = v
					}
				}
				if err := s.add(m, ws, values); err != nil {
					return nil, err
				}
			}
			fs, err := stepClaim(d, claims, "figure9", by[windowSize], by[windows[0]])
			if err != nil {
				return nil, err
			}
			s.table.Notes = []string{
				fmt.Sprintf("means over %d generated queues of each of the four categories; ± is half the 95 %% interval", replicates(d.Scale)),
				fmt.Sprintf("a shorter queue has jobs of the longer one; the agent's network takes %d jobs at most", windowSize), simulated(),
			}
			return &figures.Output{
				Findings: fs,
				Tables:   []figures.Table{{File: "figure9", Table: s.table}, {File: "figure9-claims", Table: figures.ComparisonTable("What the text says of Fig. 9, simulated", fs)}},
				Figures:  []figures.Figure{{File: "figure9", Title: s.chart.Title, Figure: s.chart}},
			}, nil
		},
	}
}

// figure10 draws throughput against Cmax.
func figure10(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "figure10", Title: "relative throughput against the concurrency Cmax (simulated)",
		Needs: func(figures.Scale) (out []figures.Need) {
			for _, c := range concurrencies {
				out = append(out, paperQueues(ofConcurrency(c), swept...)...)
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			const title = "Fig. 10. Relative throughput against the concurrency Cmax"
			s := sweep{
				reports.Table{Title: title + ", simulated", Columns: []reports.Column{{Name: "Cmax", Right: true}}},
				reports.Lines{Title: title + " (simulated)", X: reports.Axis{Label: "Cmax [jobs]", Ticks: ticks(concurrencies)}, Y: reports.Axis{Label: "Throughput / time sharing"}},
			}
			by := map[int][]float64{} // the agent's
			for _, m := range swept {
				var values [][]float64
				for _, c := range concurrencies {
					v, err := d.Values(m.on(ofConcurrency(c)), track.MetricThroughput)
					if err != nil {
						return nil, err
					}
					values = append(values, v)
					if m == agent {
						by[c] = v
					}
				}
				if err := s.add(m, concurrencies, values); err != nil {
					return nil, err
				}
			}
			fs, err := stepClaim(d, claims, "figure10", by[concurrency], by[2])
			if err != nil {
				return nil, err
			}
			s.table.Notes = []string{
				"means over Q1 to Q12; ± is half the 95 % interval over the queues",
				fmt.Sprintf("the agent is trained with Cmax = %d; MIG Only has groups of two at most", concurrency), simulated(),
			}
			return &figures.Output{
				Findings: fs,
				Tables:   []figures.Table{{File: "figure10", Table: s.table}, {File: "figure10-claims", Table: figures.ComparisonTable("What the text says of Fig. 10, simulated", fs)}},
				Figures:  []figures.Figure{{File: "figure10", Title: s.chart.Title, Figure: s.chart}},
			}, nil
		},
	}
}
