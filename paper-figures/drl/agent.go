package drl

import (
	"fmt"

	"miglab/harness/algo"
	"miglab/harness/run"
	"miglab/harness/stats"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// whole is all tasks of each dataset of a workload: a stream of batches, or one queue.
func (w workload) whole() string {
	if w == rodinia {
		return figures.Dataset(w.spec)
	}
	return figures.Dataset(fmt.Sprintf("%s?total=%d", w.spec, tasks))
}

// queued are compared with the online agent on a whole dataset: FAR with its concatenation;
// MISO, which takes tasks one by one, without batches; and the offline agent, which starts
// each batch on the GPU as the previous one left it.
var queued = []struct {
	claim  string
	series func(w workload) run.Series
}{
	{"FAR", func(w workload) run.Series { return stream(w.whole(), "far-concat") }},
	{"MISO", func(w workload) run.Series { return batch(w.whole(), "miso") }},
	{"offline DIRECT RECONFIG", func(w workload) run.Series { return stream(w.whole(), learned("rl-direct-stream")(w)) }},
}

// farAlone is FAR without concatenation: a batch begins when the last task of the previous
// batch has ended.
func farAlone(w workload) run.Series { return stream(w.whole(), "far-concat?mode=trivial") }

// online is the online agent on a whole dataset, of which it sees 14 tasks at a time.
func online(w workload) run.Series { return stream(w.whole(), learned("rl-online")(w)) }

// oursStream is our agent on a whole dataset. It starts each batch on the GPU as the previous
// one left it.
func oursStream(w workload) run.Series { return stream(w.whole(), "agent-stream") }

func stream(dataset, algorithm string) run.Series {
	s := batch(dataset, algorithm)
	s.Track = algo.TrackStream
	return s
}

// table5 is p_online (5.2): by how many percent another's makespan of a whole dataset
// exceeds the online agent's.
func table5(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "table5", Title: "improvement of the online agent over baselines and the offline agent",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for _, w := range workloads {
				all := []run.Series{online(w), farAlone(w), oursStream(w)}
				for _, q := range queued {
					all = append(all, q.series(w))
				}
				out = append(out, figures.NeedFirst(s.Replicates(replicates), all...)...)
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			byDefault, alone := figures.Values{}, figures.Values{}
			over := func(w workload, series run.Series) figures.Measurement {
				return d.MeanOf(d.Above(series, online(w)), replicates)
			}
			var columns []string
			for _, w := range workloads {
				for _, q := range queued {
					byDefault[w.name+" "+q.claim] = over(w, q.series(w))
				}
				alone[w.name+" FAR"] = over(w, farAlone(w))
			}
			for _, q := range queued {
				columns = append(columns, q.claim)
			}
			fs := d.Compare(claims.Of("table5"), []figures.Reading{
				figures.Lookup("", byDefault), figures.Lookup("FAR without concatenation", alone),
			}, figures.Always(agentsDiffer))
			layout := figures.Layout("Table 5. p_online [%], by how much others' makespans exceed the online agent's", "workload", rowsOf(workloads), columns, fs)
			layout.Notes = append(layout.Notes,
				"whole datasets of 100 tasks, RODINIA + ALTIS of 1 to 16; all tasks are there from the beginning, and the online agent sees the next 14",
				"operations one at a time; FAR with the concatenation of its own paper",
				trainedOtherwise,
				"the online agent's unit of time is the longest task of the whole queue, here of the whole dataset, and of 56 tasks while it learned; the offline agent's is that of the batch")
			return figures.Found(fs...).
				Table("table5", layout).
				Table("table5-ours", streamsBesideOurs(d)).
				Table("table5-claims", figures.ComparisonTable("Table 5, claim by claim", fs)), nil
		},
	}
}

// streamsBesideOurs lists by how many percent others' makespans of whole datasets exceed our
// agent's.
func streamsBesideOurs(d *figures.Data) reports.Table {
	others := append([]struct {
		claim  string
		series func(w workload) run.Series
	}{{"online DIRECT RECONFIG", online}}, queued...)
	t := reports.Table{
		Title:   "Makespan of others over our agent's on whole datasets, less one [%], with the 95 % interval",
		Columns: reports.Left("workload"),
		Notes:   []string{"the datasets of Table 5; ours takes the batches of 14 one after the other and sees no task of the next"},
	}
	for _, o := range others {
		t.Columns = t.Columns.Right(o.claim)
	}
	for _, w := range workloads {
		row := []string{w.name}
		for _, o := range others {
			v := d.Above(o.series(w), oursStream(w))
			m := d.MeanOf(v, len(v))
			row = append(row, m.PlusMinus(2))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// decisions is the counter of the agents' decisions.
const decisions = "decisions"

// latency compares the time of a decision with the paper's (6.6). These are not claims,
// because wall times differ from run to run.
func latency() figures.Artefact {
	const measuredOn = 200
	w := workloads[len(workloads)-1]
	data := figures.Dataset(w.spec)
	specs := []string{"rl-onehot", "rl-float", "rl-entropy", "rl-direct", "agent"}
	return figures.Artefact{
		Name: "timing-latency", Title: "time of a decision (6.6)", Timed: true,
		Needs: func(s figures.Scale) (out []figures.Need) {
			for _, a := range specs {
				out = append(out, figures.Need{Series: batch(data, a), N: s.Replicates(measuredOn)})
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			t := reports.Table{
				Title:   "Time of a decision, one core",
				Columns: reports.Left("agent").Right("mean [us]", "median of batches [us]", "99th percentile of batches [us]"),
				Notes: []string{
					"published (6.6): 3.04 ms on average, 99th percentile 3.09 ms, MLP 256x256 on an Intel Xeon Silver 4314",
					"measured: whole batches of 14 tasks divided by their decisions, setting up included, while as many cells ran at once as there are workers",
				},
			}
			for _, a := range specs {
				us := d.Micros(batch(data, a))
				counts := d.Values(batch(data, a), decisions)
				row := []string{a, "", "", ""}
				// Timings are not results: a power cut may have lost them.
				if len(us) == len(counts) {
					each := make([]float64, len(us))
					for i := range us {
						each[i] = us[i] / counts[i]
					}
					for i, q := range []float64{0.5, 0.99} {
						v, err := stats.Quantile(each, q)
						if err != nil {
							return nil, err
						}
						row[2+i] = fmt.Sprintf("%.1f", v)
					}
					row[1] = fmt.Sprintf("%.1f", figures.Mean(each))
				}
				t.Rows = append(t.Rows, row)
			}
			return figures.Found().Table("timing-latency", t), nil
		},
	}
}
