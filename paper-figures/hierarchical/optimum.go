package hierarchical

import (
	"fmt"
	"slices"
	"strconv"

	"miglab/harness/track"

	figures "miglab/paper-figures"
	"miglab/reports"
)

// ranked are the methods that are held against the exact optimum.
var ranked = append(slices.Concat([]method{timeSharing}, compared, partitions), greedy, agent, local)

// gaps returns by how many percent a method's makespans exceed those of the exact optimum.
func gaps(d *figures.Data, m method, dataset string) ([]float64, error) {
	own, err := d.Values(m.on(dataset), track.MetricMakespan)
	if err != nil {
		return nil, err
	}
	best, err := d.Values(exact.on(dataset), track.MetricMakespan)
	if err != nil {
		return nil, err
	}
	for i := range own {
		own[i] = 100 * (own[i]/best[i] - 1)
	}
	return own, nil
}

// optimum holds all methods against the exact optimum. The paper knows no optimum.
func optimum() figures.Artefact {
	generated := func() (out []string) {
		for _, c := range categories {
			out = append(out, ofCategory(c, windowSize))
		}
		return out
	}
	return figures.Artefact{
		Name: "optimum", Title: "gaps to the exact optimum (simulated)",
		Needs: func(s figures.Scale) []figures.Need {
			out := paperQueues(queues, append(ranked, exact)...)
			for _, data := range generated() {
				out = append(out, need(data, replicates(s), append(ranked, exact)...)...)
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			byQueue := reports.Table{
				Title:   "Gaps to the exact optimum on Q1 to Q12 in percent of its makespan, simulated",
				Columns: []reports.Column{{Name: "queue"}, {Name: "unseen jobs", Right: true}, {Name: exact.title + " [s]", Right: true}},
				Notes:   []string{exact.title + ": the best groups on every partition of Table VII and of " + defaultTitle + ", by dynamic programming", simulated()},
			}
			spans, err := d.Values(exact.on(queues), track.MetricMakespan)
			if err != nil {
				return nil, err
			}
			for i, name := range queueNames {
				jobs, err := jobsOf(queues, i)
				if err != nil {
					return nil, err
				}
				byQueue.Rows = append(byQueue.Rows, []string{name, strconv.Itoa(count(jobs, isUnseen)), reports.Fixed(spans[i], 2)})
			}
			byQueue.Rows = append(byQueue.Rows, []string{"mean", "", reports.Fixed(mean(spans), 2)}, []string{"largest", "", ""})
			summary := reports.Table{
				Title: "Gaps to the exact optimum in percent, and queues won, simulated",
				Columns: []reports.Column{
					{Name: "method"},
					{Name: "Q1-Q12, mean", Right: true},
					{Name: "largest", Right: true},
					{Name: "generated queues, mean", Right: true},
					{Name: "largest", Right: true},
				},
				Notes: []string{
					fmt.Sprintf("generated: %d queues of 12 jobs of each of the four categories", replicates(d.Scale)),
					"beats: on how many of Q1 to Q12 the method's makespan is the shorter one", simulated(),
				},
			}
			best, err := bestDefault(d, queues)
			if err != nil {
				return nil, err
			}
			rivals := append(slices.Clone(compared), best)
			for _, r := range rivals {
				summary.Columns = append(summary.Columns, reports.Column{Name: "beats " + r.title, Right: true})
			}
			for _, m := range append(ranked, exact) {
				own, err := gaps(d, m, queues)
				if err != nil {
					return nil, err
				}
				if m != exact {
					byQueue.Columns = append(byQueue.Columns, reports.Column{Name: m.title, Right: true})
					for i, g := range append(slices.Clone(own), mean(own), slices.Max(own)) {
						byQueue.Rows[i] = append(byQueue.Rows[i], reports.Fixed(g, 2))
					}
				}
				var all []float64
				for _, data := range generated() {
					v, err := gaps(d, m, data)
					if err != nil {
						return nil, err
					}
					all = append(all, v...)
				}
				row := []string{m.title, reports.Fixed(mean(own), 2), reports.Fixed(slices.Max(own), 2), reports.Fixed(mean(all), 2), reports.Fixed(slices.Max(all), 2)}
				for _, r := range rivals {
					theirs, err := gaps(d, r, queues)
					if err != nil {
						return nil, err
					}
					won := 0
					for i := range own {
						if own[i] < theirs[i]-1e-9 { // of the same plan, rounding may differ
							won++
						}
					}
					row = append(row, strconv.Itoa(won))
				}
				summary.Rows = append(summary.Rows, row)
			}
			return &figures.Output{Tables: []figures.Table{{File: "optimum", Table: summary}, {File: "optimum-queues", Table: byQueue}}}, nil
		},
	}
}
