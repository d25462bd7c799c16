package mfi

import (
	"fmt"

	"miglab/harness/track"

	"miglab/harness/algo"
	"miglab/harness/run"
	figures "miglab/paper-figures"
	"miglab/reports"
)

const offlineRuns = 100

// offline is ours: how far schedulers stay below what anyone could accept who knew all
// requests beforehand, where nothing departs.
func offline() figures.Artefact {
	loads := []int{100, 110, 120, 130, 140, 150}
	shown := []string{"mfi", "bf-bi", "ff", "wf-bi", "hami-binpack", "fgd?demand=true", "value-table"}
	data := func(distribution string, load int) string {
		return stream(distribution, fmt.Sprintf("lifespan=forever&load=%d&seed=%d", load, testSeed))
	}
	bound := func(dataset string) run.Series {
		s := place(dataset, "offline-bound")
		s.Track = algo.TrackOffline
		return s
	}
	needs := func(s figures.Scale) (schedulers, bounds []figures.Need) {
		n := s.Replicates(offlineRuns)
		for _, d := range distributions {
			for _, l := range loads {
				bounds = append(bounds, figures.Need{Series: bound(data(d, l)), N: n})
				for _, id := range shown {
					schedulers = append(schedulers, figures.Need{Series: place(data(d, l), id), N: n})
				}
			}
		}
		return schedulers, bounds
	}
	return figures.Artefact{
		Name: "offline", Title: "acceptance against a bound on what can be accepted at all, without departures",
		Needs: func(s figures.Scale) []figures.Need {
			schedulers, bounds := needs(s)
			return append(schedulers, bounds...)
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			schedulers, bounds := needs(d.Scale)
			accepted, err := gather(d, schedulers, "accepted")
			if err != nil {
				return nil, err
			}
			atMost, err := gather(d, bounds, track.MetricAcceptedAtMost)
			if err != nil {
				return nil, err
			}
			chart := reports.Panels{Title: "Accepted requests below the offline bound, nothing departs"}
			t := tableOf("Accepted requests below the offline bound [%]", "demand", shown)
			t.Columns[0].Name = "distribution"
			t.Notes = append(t.Notes,
				"the bound is proven for every scheduler that knows all requests beforehand; the optimum may lie below it",
				"accepting few large requests leaves room for many small ones: by count, who spreads rejects the large ones and stays nearest",
				"value-table was tuned for steady states")
			var percent []float64
			var names []string
			for _, l := range loads {
				percent = append(percent, float64(l))
				names = append(names, fmt.Sprintf("%d %%", l))
			}
			for _, dist := range distributions {
				g := make(grid, len(shown))
				for i, id := range shown {
					for _, l := range loads {
						dataset := data(dist, l)
						v, err := summarize(each(func(v []float64) float64 { return 100 * (1 - v[0]/v[1]) },
							accepted.of(place(dataset, id), "accepted"), atMost.of(bound(dataset), track.MetricAcceptedAtMost)))
						if err != nil {
							return nil, err
						}
						g[i] = append(g[i], v)
					}
				}
				chart.Charts = append(chart.Charts, g.lines(dist,
					reports.Axis{Label: "GPU demand [% of capacity]", Ticks: []float64{100, 110, 120, 130, 140, 150}},
					reports.Axis{Label: "Below the bound [%]"}, shown, percent))
				g.rows(&t, dist, names)
			}
			return &figures.Output{
				Tables:  []figures.Table{{File: "offline", Table: t}},
				Figures: []figures.Figure{{File: "offline", Title: chart.Title, Figure: chart}},
			}, nil
		},
	}
}
