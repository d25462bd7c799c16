package mfi

import (
	"cmp"
	"slices"

	figures "miglab/paper-figures"
	"miglab/reports"
)

// text judges the two numbers of the abstract.
func text(claims *figures.Claims) figures.Artefact {
	const moreWorkloads, activeGPUs = "more workloads than the baselines on average", "active GPUs over those of the baselines"
	usual, full := atDemand(heavy), atDemand(100)
	var expected []string
	for _, d := range distributions {
		expected = append(expected, stream(d, "T=expected"))
	}
	scores := []reading{
		{name: "F partial", strict: readings[0].strict, f: "partial"},
		{name: "F start-free", strict: readings[0].strict, f: "start-free"},
	}
	return figures.Artefact{
		Name: "text", Title: "numbers of the abstract",
		Needs: func(s figures.Scale) []figures.Need {
			return slices.Concat(needSchemes(readings[:1], expected)(s), needSchemes(readings, slices.Concat(usual, full))(s), needSchemes(scores, usual)(s))
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			// Both are means over the four distributions.
			both := func(name string, r reading, data []string, workloads string) figures.Reading {
				var more, gpus [][]float64
				for _, dataset := range data {
					more = append(more, r.gains(d, dataset, workloads))
					gpus = append(gpus, r.gains(d, dataset, "active_gpus"))
				}
				m := newMeasured(d)
				m.mean(moreWorkloads, each(figures.Mean, more...))
				m.mean(activeGPUs, each(func(v []float64) float64 { return 1 + figures.Mean(v)/100 }, gpus...))
				return figures.Lookup(name, m.values)
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
				rs = append(rs, both(x.name, x.reading, x.data, x.workloads))
			}
			fs := d.Compare(claims.Of("text"), rs, func(claim string) string {
				if claim == activeGPUs {
					return "MFI packs: RR and WF-BI spread over most of the cluster, so that the baselines use more GPUs on average"
				}
				return "depends on whether a baseline passes over GPUs on which no index fits, which the paper leaves open"
			})
			t := reports.Table{
				Title:   "Numbers of the abstract by reading",
				Columns: reports.Left("reading").Right("more workloads [%]", "active GPUs over the baselines'"),
				Notes:   []string{"default: FF, RR strict, BF-BI, WF-BI feasible, F literal, workloads accepted at a demand of 85 %, T realised; mean ± half of the 95 % confidence interval"},
			}
			for _, r := range rs {
				row := []string{cmp.Or(r.Name, "default")}
				for _, claim := range []string{moreWorkloads, activeGPUs} {
					row = append(row, r.Values[claim].PlusMinus(2))
				}
				t.Rows = append(t.Rows, row)
			}
			summary := figures.ComparisonTable("Numbers of the abstract, means over the four distributions at a demand of 85 %", fs)
			summary.Notes = nil // errors in percent and in ratios have no mean
			return figures.Found(fs...).Table("text", summary).Table("text-readings", t), nil
		},
	}
}
