package drl

import (
	"fmt"

	"miglab/harness/algo"
	"miglab/harness/run"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// whole is all tasks of each dataset of a workload: a stream of batches, or one queue.
func (w workload) whole() string {
	if w == rodinia {
		return dataset(w.spec)
	}
	return dataset(fmt.Sprintf("%s?total=%d", w.spec, tasks))
}

// queued are schedulers of a whole dataset: FAR batch after batch, the next beginning
// when the slices that it needs are free; FAR with its concatenation; and MISO, which takes
// tasks one by one and knows no batches.
var queued = []struct {
	name, claim string
	series      func(dataset string) run.Series
}{
	{"FAR, batch after batch", "FAR", func(data string) run.Series { return stream(data, "far-concat?mode=trivial") }},
	{"FAR, concatenated", "FAR", func(data string) run.Series { return stream(data, "far-concat") }},
	{"MISO", "MISO", func(data string) run.Series { return batch(data, "miso") }},
}

func stream(dataset, algorithm string) run.Series {
	s := batch(dataset, algorithm)
	s.Track = algo.TrackStream
	return s
}

// table5 adds what an online agent has to reach on our datasets for the printed
// improvements.
func table5(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "table5", Title: "improvement of the online agent over baselines and the offline agent",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for _, w := range workloads {
				for _, q := range queued {
					out = append(out, figures.Need{Series: q.series(w.whole()), N: s.Replicates(replicates)})
				}
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			fs := missing(claims.Of("table5"))
			t := reports.Table{
				Title: "What an online agent has to reach for the improvements of Table 5",
				Columns: []reports.Column{
					{Name: "workload"},
					{Name: "baseline"},
					{Name: "makespan [s]", Right: true},
					{Name: "improvement [%]", Right: true},
					{Name: "agent's makespan [s]", Right: true},
				},
				Notes: []string{"makespans of whole datasets (100 tasks; RODINIA + ALTIS: 1 to 16) measured, improvements printed"},
			}
			for _, w := range workloads {
				for _, q := range queued {
					v, err := d.Values(q.series(w.whole()), makespan)
					if err != nil {
						return nil, err
					}
					c := claims.Get("table5", w.name+" "+q.claim)
					t.Rows = append(t.Rows, []string{
						w.name, q.name, fmt.Sprintf("%.1f", mean(v)), fmt.Sprintf("%.2f", c.Published), fmt.Sprintf("%.1f", mean(v)/(1+c.Published/100)),
					})
				}
			}
			return &figures.Output{Findings: fs, Tables: []figures.Table{
				{File: "table5", Table: figures.ComparisonTable("Table 5. Improvement of the online agent", fs)},
				{File: "table5-target", Table: t},
			}}, nil
		},
	}
}

func latency(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "latency", Title: "time of a decision (6.6)",
		Build: func(*figures.Data) (*figures.Output, error) {
			fs := missing(claims.Of("latency"))
			return &figures.Output{Findings: fs, Tables: []figures.Table{{File: "latency", Table: figures.ComparisonTable("Time of a decision", fs)}}}, nil
		},
	}
}
