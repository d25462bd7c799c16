package far

import (
	"fmt"
	"slices"

	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// misoOrders is the number of random orders of MISO's jobs.
const misoOrders = 30

// misoRivals are what the paper of MISO compares it with.
var misoRivals = []approach{{"NoPart", "nopart"}, {"OptSta", "optsta"}, {"Oracle", "miso-oracle"}}

// misoJobs judges the order that the paper of MISO prints, on its own jobs: it is FAR's rival, and not one of the five
// papers. A reading is a time between jobs, or MISO without the time that it loses under MPS.
func misoJobs(d *figures.Data) (*figures.Output, error) {
	t := figures.NewTable("miso", "Mean flow time of MISO's 100 jobs on 8 A100 below that of its rivals [%]",
		reports.Left("jobs", "MISO").Right("flow time [s]").PlusMinus("below NoPart", "below OptSta",
			"below Oracle"),
		fmt.Sprintf("the published times of 32 training jobs, 100 of them in %d random orders; means over the "+
			"orders of the difference in percent, and half of the 95 %% interval; NoPart: one job at a time on a "+
			"GPU; OptSta: the best fixed partition; Oracle: MISO with true times and no time under MPS",
			d.Scale.Replicates(misoOrders)),
		"the abstract of the paper of MISO prints 49 % below NoPart and 16 % below OptSta. Its authors' script has "+
			"a job every 60 s, its description every 100 s. Jobs do no work here while they run under MPS, which "+
			"costs 30 s whenever one joins others")
	var readings []figures.Reading
	for _, r := range []struct{ name, data, miso string }{
		{"", "miso/stream", "miso-stream"},
		{"a job every 100 s", "miso/stream?gap=100", "miso-stream"},
		{"no time under MPS", "miso/stream", "miso-stream?profile=0"},
		{"a job every 100 s, no time under MPS", "miso/stream?gap=100", "miso-stream?profile=0"},
	} {
		flow := func(algorithm string) []float64 {
			s := stream(figures.Dataset(r.data), algorithm)
			s.Count = 8
			return d.Values(s, misoOrders, track.MetricFlow)
		}
		own, values := flow(r.miso), figures.Values{}
		row := []any{r.data, r.miso, reports.Fixed(figures.Mean(own), 0)}
		for _, a := range misoRivals {
			below := slices.Clone(flow(a.algorithm))
			for i, theirs := range below {
				below[i] = 100 * (1 - own[i]/theirs)
			}
			m := d.MeanOf(below, verdict.Draws, 0)
			values[claim.Of("MISO below "+a.name)] = m
			row = append(row, figures.PlusMinus(m, 1))
		}
		t.Row(row...)
		readings = append(readings, figures.Reading{Name: r.name, Values: values})
	}
	return figures.Read(readings...).Table(t), nil
}
