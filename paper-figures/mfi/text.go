package mfi

import (
	"cmp"
	"slices"

	figures "miglab/paper-figures"
	"miglab/reports"
)

// text judges the two numbers of the abstract.
func text(claims *figures.Claims) figures.Artefact {
	const more, active = "more workloads than the baselines on average", "active GPUs over those of the baselines"
	usual, full := atDemand(heavy), atDemand(100)
	var expected []string
	for _, d := range distributions {
		expected = append(expected, stream(d, "T=expected"))
	}
	scores := []reading{
		{name: "F partial", strict: readings[0].strict, f: "partial"},
		{name: "F start-free", strict: readings[0].strict, f: "start-free"},
	}
	needs := func(s figures.Scale) []figures.Need {
		n := s.Replicates(simulations)
		out := readings[0].needs(n, expected...)
		for _, r := range readings {
			out = append(out, r.needs(n, slices.Concat(usual, full)...)...)
		}
		for _, r := range scores {
			out = append(out, r.needs(n, usual...)...)
		}
		return out
	}
	return figures.Artefact{
		Name: "text", Title: "numbers of the abstract",
		Needs: needs,
		Build: func(d *figures.Data) (*figures.Output, error) {
			s, err := gather(d, needs(d.Scale), "accepted", "active_gpus", "running")
			if err != nil {
				return nil, err
			}
			// Both are means over the four distributions.
			both := func(name string, r reading, data []string, workloads string) (figures.Reading, error) {
				var gains, gpus [][]float64
				for _, dataset := range data {
					gains = append(gains, r.gains(s, dataset, workloads))
					gpus = append(gpus, r.gains(s, dataset, "active_gpus"))
				}
				m := newMeasured()
				m.mean(more, each(mean, gains...))
				m.mean(active, each(func(v []float64) float64 { return 1 + mean(v)/100 }, gpus...))
				return figures.Lookup(name, m.values), m.err
			}
			var rs []figures.Reading
			for _, x := range []struct {
				name      string
				reading   reading
				data      []string
				workloads string
			}{
				{"", readings[0], usual, "accepted"},
				{"100 % demand", readings[0], full, "accepted"},
				{"all strict", readings[1], usual, "accepted"},
				{"all strict, 100 % demand", readings[1], full, "accepted"},
				{"all feasible", readings[2], usual, "accepted"},
				{"all feasible, 100 % demand", readings[2], full, "accepted"},
				{"T as expected", readings[0], expected, "accepted"},
				{"running workloads", readings[0], usual, "running"},
				{"F partial", scores[0], usual, "accepted"},
				{"F start-free", scores[1], usual, "accepted"},
			} {
				r, err := both(x.name, x.reading, x.data, x.workloads)
				if err != nil {
					return nil, err
				}
				rs = append(rs, r)
			}
			fs, err := d.Compare(claims.Of("text"), rs, func(claim string) string {
				if claim == active {
					return "MFI packs: RR and WF-BI spread over most of the cluster, so that the baselines use more GPUs on average"
				}
				return "depends on whether a baseline passes over GPUs on which no index fits, which the paper leaves open"
			})
			if err != nil {
				return nil, err
			}
			t := reports.Table{
				Title:   "Numbers of the abstract by reading",
				Columns: []reports.Column{{Name: "reading"}, {Name: "more workloads [%]", Right: true}, {Name: "active GPUs over the baselines'", Right: true}},
				Notes:   []string{"default: FF, RR strict, BF-BI, WF-BI feasible, F literal, workloads accepted at a demand of 85 %, T realised; mean ± half of the 95 % confidence interval"},
			}
			for _, r := range rs {
				row := []string{cmp.Or(r.Name, "default")}
				for _, claim := range []string{more, active} {
					m, err := r.Measure(claim)
					if err != nil {
						return nil, err
					}
					row = append(row, interval{m.Value, m.Low, m.High}.String())
				}
				t.Rows = append(t.Rows, row)
			}
			summary := figures.ComparisonTable("Numbers of the abstract, means over the four distributions at a demand of 85 %", fs)
			summary.Notes = nil // errors in percent and in ratios have no mean
			return &figures.Output{Findings: fs, Tables: []figures.Table{
				{File: "text", Table: summary},
				{File: "text-readings", Table: t},
			}}, nil
		},
	}
}
