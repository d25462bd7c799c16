package leaderboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "miglab/algorithms"
	_ "miglab/algorithms/dispatch"
	_ "miglab/algorithms/placement"
	_ "miglab/algorithms/rl/agents"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/track"
	"miglab/reports"
)

// A cell is one row of a database. Fields that a test does not care about are empty.
type cell struct {
	track, dataset, algorithm, weights, model, content, gpu string
	gpus, version, instance                                 int
	// file tells the databases of a folder apart, from 0 to 1.
	file    int
	metrics string
}

// database makes a database with the given rows.
func database(t *testing.T, cells ...cell) *store.DB {
	t.Helper()
	dir := t.TempDir()
	db, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	var writers []*store.Writer
	for _, name := range []string{store.FileName(0, 1), store.FileName(1, 2)} {
		w, err := db.Writer(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		writers = append(writers, w)
	}
	or := func(s, instead string) string {
		if s == "" {
			return instead
		}
		return s
	}
	for _, c := range cells {
		s := store.Series{
			Track: or(c.track, "batch"), Dataset: or(c.dataset, "d"), Content: or(c.content, "c"), GPU: or(c.gpu, "A100"), Count: max(c.gpus, 1),
			Algorithm: c.algorithm, Weights: c.weights, Model: or(c.model, "sequential"), Version: max(c.version, 1),
		}
		r := store.Row{Instance: c.instance, Kind: store.KindTimeout, Error: "10s were not enough"}
		if c.metrics != "" {
			var metrics map[string]float64
			if err := json.Unmarshal([]byte(c.metrics), &metrics); err != nil {
				t.Fatal(err)
			}
			r = store.Row{Instance: c.instance, Metrics: store.NewMetrics(metrics)}
		}
		if err := writers[c.file].Append(s, r); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range writers {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// ranked ranks a track on A100.
func ranked(db *store.DB, of string, gpus int, model mig.Reconfiguration) ([]Standing, error) {
	return Standings(db, Conditions{Track: track.MustLookup(of), GPU: mig.MustLookup("A100"), Count: gpus, Model: model})
}

// lines are the standings: dataset, rank, algorithm, metric, mean and gap, and whatever more
// there is to say.
func lines(standings []Standing) string {
	var out []string
	for _, s := range standings {
		mean := orNaN(s.Value.Mean, s.HasValue())
		line := fmt.Sprint(s.Dataset, " ", s.Rank, " ", s.Algorithm, " ", s.Metric.Name)
		for _, v := range []float64{mean, s.Gap} {
			line += " " + reports.Fixed(v, 1)
		}
		for _, more := range []string{s.Budget, s.Model, strings.TrimPrefix(s.GPU, "A100")} {
			if more != "" {
				line += ", " + more
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// contentOf is the content that a dataset has now.
func contentOf(t *testing.T, of string, dataset string) string {
	t.Helper()
	now, err := run.Content(track.MustLookup(of), dataset, mig.MustLookup("A100"))
	if err != nil {
		t.Fatal(err)
	}
	return now
}

func TestStandings(t *testing.T) {
	const steady = "mfi/uniform?lifespan=steady"
	trained, err := algo.Parse("d3qn")
	if err != nil {
		t.Fatal(err)
	}
	bounds := database(
		t,
		cell{algorithm: "far", metrics: `{"makespan_s":12}`},
		cell{track: "bound", algorithm: "certified", version: 2, metrics: `{"bound_s":10}`},
		cell{track: "bound", algorithm: "certified", version: 1, metrics: `{"bound_s":8}`},
		cell{track: "bound", algorithm: "certified", version: 3}, // it failed
		cell{track: "bound", algorithm: "l-bound", metrics: `{"bound_s":9.6}`},
		cell{track: "bound", algorithm: "area", metrics: `{"bound_s":1}`},
		cell{track: "bound", algorithm: "certified", model: "parallel", metrics: `{"bound_s":3}`},
		cell{track: "bound", algorithm: "certified", instance: 1, metrics: `{"bound_s":4}`},
		cell{algorithm: "far", model: "parallel", metrics: `{"makespan_s":6}`},
		cell{track: "bound", algorithm: "certified", gpus: 2, metrics: `{"bound_s":2}`},
		cell{algorithm: "far", gpus: 2, metrics: `{"makespan_s":3}`},
		cell{algorithm: "far", model: "free", metrics: `{"makespan_s":1}`},
	)
	mixed := database(
		t,
		cell{track: "placement", dataset: "gone", algorithm: "mfi", gpus: 100, metrics: `{"acceptance":0.5,"acceptance_steady":0.1}`},
		cell{track: "placement", dataset: "gone", algorithm: "ff", gpus: 100},
		cell{track: "placement", dataset: steady, algorithm: "mfi", content: contentOf(t, algo.TrackPlacement, steady), gpus: 100, metrics: `{"acceptance":0.5,"acceptance_steady":0.1}`},
		cell{track: "corun", dataset: "corun/gone", algorithm: "exact", metrics: `{"makespan_s":10}`},
		cell{track: "corun", dataset: "corun/gone", algorithm: "local", metrics: `{"makespan_s":11}`},
		cell{track: "corun", dataset: "corun/large", algorithm: "local", metrics: `{"makespan_s":99}`},
		cell{track: "offline", dataset: "gone", algorithm: "offline-bound", metrics: `{"accepted_at_most":7}`},
	)
	for name, c := range map[string]struct {
		db    *store.DB
		track string
		gpus  int
		model mig.Reconfiguration
		want  []string
	}{
		"gaps are to the latest certified bound of the instance": {
			bounds, algo.TrackBatch, 1, mig.Sequential, []string{"d 1 far makespan_s 12.0 20.0, sequential"},
		},
		"under the same reconfiguration": {
			bounds, algo.TrackBatch, 1, mig.Parallel, []string{"d 1 far makespan_s 6.0 100.0, parallel"},
		},
		"for as many GPUs": {
			bounds, algo.TrackBatch, 2, mig.Sequential, []string{"d 1 far makespan_s 3.0 50.0, sequential, 2 x A100"},
		},
		"without a bound there is no board": {bounds, algo.TrackBatch, 1, mig.Free, nil},
		"datasets in a steady state have a metric of their own, and a time-out is a failure": {
			mixed, algo.TrackPlacement, 1, mig.Sequential,
			[]string{"gone 1 mfi acceptance 0.5 –", "gone 2 ff acceptance – –", steady + " 1 mfi acceptance_steady 0.1 –"},
		},
		"windows without an optimum come last": {
			mixed, algo.TrackCorun, 1, mig.Sequential,
			[]string{"corun/gone 1 exact makespan_s 10.0 0.0", "corun/gone 1 local makespan_s 11.0 10.0", "corun/large 1 local makespan_s 99.0 –"},
		},
		"nothing": {mixed, algo.TrackDispatch, 1, mig.Sequential, nil},
		"weights that an algorithm no longer has do not count; of a program that is gone the last count": {
			database(
				t,
				cell{track: "corun", algorithm: "d3qn", weights: "before", metrics: `{"makespan_s":1}`},
				cell{track: "corun", algorithm: "d3qn", weights: trained.Weights(), metrics: `{"makespan_s":2}`},
				cell{track: "corun", algorithm: "d3qn", metrics: `{"makespan_s":3}`},
				cell{track: "corun", algorithm: "exec:gone", weights: "before", metrics: `{"makespan_s":4}`},
				cell{track: "corun", algorithm: "exec:gone", weights: "last", metrics: `{"makespan_s":5}`},
			), algo.TrackCorun, 1, mig.Sequential,
			[]string{"d 1 d3qn makespan_s 2.0 –", "d 1 exec:gone makespan_s 5.0 –"},
		},
		"budgets": {
			database(
				t,
				cell{algorithm: "far", metrics: `{"makespan_s":11}`},
				cell{algorithm: "lns?iterations=17", metrics: `{"makespan_s":12}`},
				cell{track: "bound", algorithm: "certified", metrics: `{"bound_s":10}`},
			), algo.TrackBatch, 1, mig.Sequential,
			[]string{"d 1 far makespan_s 11.0 10.0, sequential", "d 1 lns?iterations=17 makespan_s 12.0 20.0, 17 iterations, sequential"},
		},
		"a dataset counts as what it stands for now; where that cannot be told, all results do": {
			database(
				t,
				cell{track: "dispatch", dataset: "deadline/tight", algorithm: "exec:gone", metrics: `{"late_percent":1}`},
				cell{track: "dispatch", dataset: "deadline/tight", algorithm: "eft", metrics: `{"late_percent":2}`},
				cell{track: "dispatch", dataset: "deadline/tight", algorithm: "eft", content: contentOf(t, algo.TrackDispatch, "deadline/tight"), metrics: `{"late_percent":3}`},
				cell{track: "dispatch", dataset: "jobs:gone.csv", algorithm: "eft", metrics: `{"late_percent":4}`},
			), algo.TrackDispatch, 1, mig.Sequential,
			[]string{"deadline/tight 1 eft late_percent 3.0 –", "jobs:gone.csv 1 eft late_percent 4.0 –"},
		},
		"a bound that failed bounds nothing": {
			database(t, cell{algorithm: "far", metrics: `{"makespan_s":11}`}, cell{track: "bound", algorithm: "certified"}),
			algo.TrackBatch, 1, mig.Sequential, nil,
		},
		"windows too large for the optimum are ranked by their total time": {
			database(
				t,
				cell{track: "corun", dataset: "a", algorithm: "local", metrics: `{"makespan_s":3}`},
				cell{track: "corun", dataset: "a", algorithm: "exact"},
				cell{track: "corun", dataset: "b", algorithm: "local", metrics: `{"makespan_s":5}`},
				cell{track: "corun", dataset: "b", algorithm: "exact", metrics: `{"makespan_s":4}`},
			), algo.TrackCorun, 1, mig.Sequential,
			[]string{"b 1 exact makespan_s 4.0 0.0", "b 1 local makespan_s 5.0 25.0", "a 1 local makespan_s 3.0 –", "a 2 exact makespan_s – –"},
		},
	} {
		got, err := ranked(c.db, c.track, c.gpus, c.model)
		if want := strings.Join(c.want, "\n"); err != nil || lines(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, lines(got), want)
		}
	}
}

func TestStandingsBelowBound(t *testing.T) {
	db := database(t, cell{algorithm: "far", metrics: `{"makespan_s":9.5}`}, cell{track: "bound", algorithm: "certified", metrics: `{"bound_s":10}`})
	var below *BoundError
	if _, err := ranked(db, algo.TrackBatch, 1, mig.Sequential); !errors.As(err, &below) {
		t.Errorf("%v", err)
	}
}

// Bounds of other instances or contents than those that were run bound nothing: placement is then
// ranked by acceptance, over all instances.
func TestStandingsBoundsOfOthers(t *testing.T) {
	for _, bound := range []cell{{content: "other"}, {instance: 1}} {
		bound.track, bound.dataset, bound.algorithm, bound.gpus, bound.metrics = "offline", "gone", "offline-bound", 100, `{"acceptance_at_most":1}`
		db := database(
			t,
			bound,
			cell{track: "placement", dataset: "gone", algorithm: "mfi", gpus: 100, metrics: `{"acceptance":0.5}`},
			cell{track: "placement", dataset: "gone", algorithm: "mfi", gpus: 100, instance: 2, metrics: `{"acceptance":0.75}`},
		)
		got, err := ranked(db, algo.TrackPlacement, 1, mig.Sequential)
		if err != nil || len(got) != 1 || got[0].Failed != 0 || got[0].Instances != 2 || got[0].Value.Mean != 0.625 {
			t.Errorf("%+v: %+v, %v; want a mean of 0.625 over 2 instances", bound, got, err)
		}
	}
}

// Results on instances without a bound are not read, but counted, and the standings are those of
// all results.
func TestStandingsOfInstancesWithBounds(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var cells []cell
		bounds := rapid.SliceOfNDistinct(rapid.IntRange(0, 6), 1, 4, rapid.ID).Draw(r, "bounds")
		for _, content := range []string{"c", "d"} {
			for _, i := range bounds {
				cells = append(cells, cell{track: "bound", algorithm: "certified", content: content, instance: i, metrics: `{"bound_s":10}`})
			}
			for _, algorithm := range []string{"far", "miso", "nomig", "lns"} {
				for _, i := range rapid.SliceOfDistinct(rapid.IntRange(0, 9), rapid.ID).Draw(r, algorithm) {
					c := cell{algorithm: algorithm, content: content, instance: i, file: rapid.IntRange(0, 1).Draw(r, "file")}
					if rapid.IntRange(0, 9).Draw(r, "failed") > 0 {
						c.metrics = fmt.Sprintf(`{"makespan_s":%d}`, rapid.IntRange(10, 12).Draw(r, "makespan"))
					}
					cells = append(cells, c)
					if rapid.Bool().Draw(r, "twice") {
						c.file = 1 - c.file
						cells = append(cells, c)
					}
				}
			}
			bounds = bounds[len(bounds)/2:]
		}
		db := database(t, cells...)
		c := Conditions{Track: track.MustLookup(algo.TrackBatch), GPU: mig.MustLookup("A100"), Count: 1, Model: mig.Sequential}
		boards, err := c.boards(db)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range boards {
			if err := b.rank(db); err != nil {
				t.Fatal(err)
			}
			if b.bounds, err = valuesByInstance(db, b.bound, b.Bound.Metric); err != nil {
				t.Fatal(err)
			}
			all, err := b.contenders(db, math.MaxInt)
			if err != nil {
				t.Fatal(err)
			}
			want, err := rankContenders(all, Metric{Name: b.Metric, Bounded: true})
			if err != nil {
				t.Fatal(err)
			}
			got := b.standings
			if fmt.Sprint(got) != fmt.Sprint(want) {
				r.Errorf("%v, want %v", got, want)
			}
		}
	})
}

// Of several programs of one version that are no longer there, the one that ran last counts.
// Results of the version before do not count.
func TestStandingsOfSeveralPrograms(t *testing.T) {
	db := database(
		t,
		cell{algorithm: "gone", weights: "c", metrics: `{"makespan_s":30}`},
		cell{algorithm: "gone", weights: "a", metrics: `{"makespan_s":10}`},
		cell{algorithm: "gone", weights: "b", metrics: `{"makespan_s":20}`},
		cell{algorithm: "away", weights: "z", metrics: `{"makespan_s":50}`},
		cell{algorithm: "away", weights: "y", version: 2, metrics: `{"makespan_s":40}`},
		cell{track: "bound", algorithm: "certified", metrics: `{"bound_s":10}`},
	)
	got, err := ranked(db, algo.TrackBatch, 1, mig.Sequential)
	if err != nil || len(got) != 2 || got[0].Algorithm != "gone" || got[0].Value.Mean != 20 || got[1].Value.Mean != 40 {
		t.Fatalf("%+v, %v", got, err)
	}
}

// TestBoardsShowLoad: where no algorithm's means reach the load that a board wants, all tie, whatever the values are.
func TestBoardsShowLoad(t *testing.T) {
	const dataset = "mfi/uniform?lifespan=steady&queue=retry"
	content, err := run.Content(track.Placement, dataset, mig.MustLookup("A100"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		queued []float64 // of the slower algorithm
		idle   bool
	}{"one is loaded": {[]float64{0.8, 1}, false}, "none is loaded": {[]float64{0.8, 0.9}, true}} {
		failed := cell{track: "placement", dataset: dataset, content: content, algorithm: "mfi"}
		var cells []cell
		for i, queued := range c.queued {
			for algorithm, v := range map[string]float64{"ff": 1, "rr": 2} {
				if algorithm == "ff" {
					queued = 0.5
				} else {
					queued = c.queued[i]
				}
				cells = append(cells, cell{
					track: "placement", dataset: dataset, content: content, algorithm: algorithm, instance: i,
					metrics: fmt.Sprintf(`{"turnaround_mean_s":%v,"wait_mean_s":1,"peak_used":1,"queued":%v}`, v, queued),
				})
			}
		}
		for failed.instance = range c.queued {
			cells = append(cells, failed)
		}
		standings, err := Standings(database(t, cells...), Conditions{Track: track.Placement, GPU: mig.MustLookup("A100")})
		if err != nil || len(standings) != 3 {
			t.Fatalf("%s: %d standings, %v", name, len(standings), err)
		}
		if rank := standings[1].Rank; standings[1].Algorithm != "rr" || rank == 1 != c.idle {
			t.Errorf("%s: %s has rank %d", name, standings[1].Algorithm, rank)
		}
		if last := standings[2]; last.Algorithm != "mfi" || last.Rank != 3 || last.HasRank() == c.idle {
			t.Errorf("%s: %s, which failed, has rank %d", name, last.Algorithm, last.Rank)
		}
		if row := Table(standings).Rows[1]; row[2] == reports.Missing != c.idle {
			t.Errorf("%s: the CSV file has the rank %s", name, row[2])
		}
		var text strings.Builder
		if err := WriteText(&text, standings, nil); err != nil || strings.Contains(text.String(), "low load: nobody is ranked") != c.idle {
			t.Errorf("%s: %v\n%s", name, err, text.String())
		}
	}
}
