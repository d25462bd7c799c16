package mfi

import (
	"fmt"

	"miglab/harness/algo"
	"miglab/harness/run"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/reports"
)

const offlineRuns = 100

// offline is not in the paper. It shows how far schedulers stay below a bound on what a
// scheduler that knows all requests beforehand could accept, if no request departs.
func offline(d *figures.Data) (*figures.Output, error) {
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
	chart := reports.Panels{Title: "Accepted requests below the offline bound, nothing departs"}
	t := tableOf("Accepted requests below the offline bound [%]", "demand", shown)
	t.Columns[0].Name = "distribution"
	t.Notes = append(t.Notes,
		"the bound is proven for every scheduler that knows all requests beforehand; the optimum may lie below it",
		"accepting few large requests leaves room for many small ones: by count, who spreads rejects the large ones and stays nearest",
		"value-table was tuned for steady states")
	percent, names := percents(loads)
	for _, dist := range distributions {
		g := make(grid, len(shown))
		for i, id := range shown {
			for _, l := range loads {
				dataset := data(dist, l)
				below := each(func(v []float64) float64 { return 100 * (1 - v[0]/v[1]) },
					d.Values(place(dataset, id), offlineRuns, "accepted"), d.Values(bound(dataset), offlineRuns, track.MetricAcceptedAtMost))
				g[i] = append(g[i], meanOf(d, below))
			}
		}
		chart.Charts = append(chart.Charts, g.lines(dist,
			reports.Axis{Label: "GPU demand [% of capacity]", Ticks: percent},
			reports.Axis{Label: "Below the bound [%]"}, shown, percent))
		g.rows(&t, dist, names)
	}
	return new(figures.Output).Table("offline", t).Figure("offline", chart.Title, chart), nil
}
