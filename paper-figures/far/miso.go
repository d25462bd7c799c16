package far

import (
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
	t := d.Claims.Head("miso", d.Scale.Replicates(misoOrders))
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
