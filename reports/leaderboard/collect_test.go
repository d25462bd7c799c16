package leaderboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
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
	track, dataset, algorithm, weights, model, content string
	gpus, version, instance                            int
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
			Track: or(c.track, "batch"), Dataset: or(c.dataset, "d"), Content: or(c.content, "c"), GPU: "A100", Count: max(c.gpus, 1),
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
func ranked(db *store.DB, of algo.Track, gpus int, model mig.Reconfiguration) ([]Standing, error) {
	return Standings(db, Conditions{Track: track.Of(of), GPU: "A100", Count: gpus, Model: model})
}

// contentOf is the content that a dataset has now.
func contentOf(t *testing.T, of algo.Track, dataset, algorithm string) string {
	t.Helper()
	now, err := run.Series{Track: of, Dataset: dataset, GPU: "A100", Count: 1, Algorithm: algorithm}.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	return now.Content
}

// Gaps are to the latest certified bound of the same instance under the same
// conditions, and p_opt to the published one.
func TestStandingsBounds(t *testing.T) {
	db := database(
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
		cell{algorithm: "far", model: "free", metrics: `{"makespan_s":1}`}, // has no bound
	)
	for _, test := range []struct {
		gpus      int
		model     mig.Reconfiguration
		gpu       string
		gap, pOpt string
	}{
		{1, mig.Sequential, "A100", "20.000", "25.000"},
		{1, mig.Parallel, "A100", "100.000", reports.Missing},
		{2, mig.Sequential, "2 x A100", "50.000", reports.Missing},
	} {
		got, err := ranked(db, algo.TrackBatch, test.gpus, test.model)
		if err != nil || len(got) != 1 {
			t.Errorf("%d GPUs, %s: %+v, %v", test.gpus, test.model, got, err)
			continue
		}
		s := got[0]
		if reports.Fixed(s.Gap, 3) != test.gap || reports.Fixed(s.POpt, 3) != test.pOpt || s.GPU != test.gpu || s.Model != test.model.String() {
			t.Errorf("%d GPUs, %s: %+v, want %+v", test.gpus, test.model, s, test)
		}
	}
	if got, err := ranked(db, algo.TrackBatch, 1, mig.Free); err != nil || len(got) != 0 {
		t.Errorf("without a bound: %+v, %v", got, err)
	}
}

// A track that does not reconfigure has one board, whatever the cluster's size; datasets
// in a steady state have a metric of their own; a time-out is a failure.
func TestStandingsTracks(t *testing.T) {
	const steady = "mfi/uniform?lifespan=steady"
	db := database(
		t,
		cell{track: "placement", dataset: "gone", algorithm: "mfi", gpus: 100, metrics: `{"acceptance":0.5,"acceptance_steady":0.1}`},
		cell{track: "placement", dataset: "gone", algorithm: "ff", gpus: 100},
		cell{track: "placement", dataset: steady, algorithm: "mfi", content: contentOf(t, algo.TrackPlacement, steady, "mfi"), gpus: 100, metrics: `{"acceptance":0.5,"acceptance_steady":0.1}`},
		cell{track: "corun", dataset: "corun/gone", algorithm: "exact", metrics: `{"makespan_s":10}`},
		cell{track: "corun", dataset: "corun/gone", algorithm: "local", metrics: `{"makespan_s":11}`},
		cell{track: "corun", dataset: "corun/large", algorithm: "local", metrics: `{"makespan_s":99}`},
		cell{track: "offline", dataset: "gone", algorithm: "offline-bound", metrics: `{"accepted_at_most":7}`},
	)
	for _, test := range []struct {
		track algo.Track
		want  string
	}{
		{algo.TrackPlacement, "gone 1 mfi acceptance 0.5 –, gone 2 ff acceptance – –, mfi/uniform?lifespan=steady 1 mfi acceptance_steady 0.1 –"},
		{algo.TrackCorun, "corun/gone 1 exact makespan_s 10.0 0.0, corun/gone 1 local makespan_s 11.0 10.0, corun/large 1 local makespan_s 99.0 –"},
		{algo.TrackDispatch, ""},
	} {
		standings, err := ranked(db, test.track, 1, mig.Sequential)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range standings {
			mean := reports.Missing
			if s.Failed == 0 {
				mean = reports.Fixed(s.Value.Mean, 1)
			}
			got = append(got, strings.Join([]string{s.Dataset, string(rune('0' + s.Rank)), s.Algorithm, s.Metric.Name, mean, reports.Fixed(s.Gap, 1)}, " "))
			if s.Model != "" || s.GPU != "A100" {
				t.Errorf("%+v has a model or another GPU", s)
			}
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: %s; want %s", test.track, strings.Join(got, ", "), test.want)
		}
	}
}

// What an algorithm did before it learned other things counts no more; of a program that
// is gone the last counts.
func TestStandingsWeights(t *testing.T) {
	trained, err := algo.Parse("d3qn")
	if err != nil {
		t.Fatal(err)
	}
	db := database(
		t,
		cell{track: "corun", algorithm: "d3qn", weights: "before", metrics: `{"makespan_s":1}`},
		cell{track: "corun", algorithm: "d3qn", weights: trained.Weights(), metrics: `{"makespan_s":2}`},
		cell{track: "corun", algorithm: "d3qn", metrics: `{"makespan_s":3}`},
		cell{track: "corun", algorithm: "exec:gone", weights: "before", metrics: `{"makespan_s":4}`},
		cell{track: "corun", algorithm: "exec:gone", weights: "last", metrics: `{"makespan_s":5}`},
	)
	got, err := ranked(db, algo.TrackCorun, 1, mig.Sequential)
	if err != nil || len(got) != 2 || got[0].Value.Mean != 2 || got[1].Value.Mean != 5 {
		t.Errorf("%+v, %v; want means of 2 and 5", got, err)
	}
}

func TestStandingsBudget(t *testing.T) {
	db := database(
		t,
		cell{algorithm: "far", metrics: `{"makespan_s":11}`},
		cell{algorithm: "lns?iterations=17", metrics: `{"makespan_s":12}`},
		cell{track: "bound", algorithm: "certified", metrics: `{"bound_s":10}`},
	)
	got, err := ranked(db, algo.TrackBatch, 1, mig.Sequential)
	if err != nil || len(got) != 2 || got[0].Budget != "" || got[1].Budget != "17 iterations" {
		t.Errorf("%+v, %v", got, err)
	}
}

// A dataset counts as what it stands for now; where that cannot be told, all results do.
func TestStandingsContents(t *testing.T) {
	db := database(
		t,
		cell{track: "dispatch", dataset: "deadline/tight", algorithm: "exec:gone", metrics: `{"late_percent":1}`},
		cell{track: "dispatch", dataset: "deadline/tight", algorithm: "eft", metrics: `{"late_percent":2}`},
		cell{track: "dispatch", dataset: "deadline/tight", algorithm: "eft", content: contentOf(t, algo.TrackDispatch, "deadline/tight", "eft"), metrics: `{"late_percent":3}`},
		cell{track: "dispatch", dataset: "jobs:gone.csv", algorithm: "eft", metrics: `{"late_percent":4}`},
	)
	got, err := ranked(db, algo.TrackDispatch, 1, mig.Sequential)
	if err != nil || len(got) != 2 || got[0].Value.Mean != 3 || got[1].Value.Mean != 4 {
		t.Errorf("%+v, %v; want means of 3 and 4", got, err)
	}
}

func TestStandingsBelowBound(t *testing.T) {
	db := database(
		t,
		cell{algorithm: "far", version: 2, metrics: `{"makespan_s":9.5}`},
		cell{track: "bound", algorithm: "certified", metrics: `{"bound_s":10}`},
	)
	_, err := ranked(db, algo.TrackBatch, 1, mig.Sequential)
	var below *BoundError
	if !errors.As(err, &below) || !strings.Contains(err.Error(), "far (version 2) on d, instance 0") {
		t.Errorf("%v", err)
	}
}

// Bounds that failed, or that are of other contents, bound nothing: batches then have no board,
// and windows are ranked by their total time, after those with bounds.
func TestStandingsWithoutUsableBounds(t *testing.T) {
	db := database(
		t,
		cell{algorithm: "far", metrics: `{"makespan_s":11}`},
		cell{track: "bound", algorithm: "certified"}, // it failed
	)
	if got, err := ranked(db, algo.TrackBatch, 1, mig.Sequential); err != nil || len(got) != 0 {
		t.Errorf("%+v, %v; want no board", got, err)
	}
	db = database(
		t,
		cell{track: "corun", dataset: "a", algorithm: "local", metrics: `{"makespan_s":3}`},
		cell{track: "corun", dataset: "a", algorithm: "exact"}, // the window is too large for it
		cell{track: "corun", dataset: "b", algorithm: "local", metrics: `{"makespan_s":5}`},
		cell{track: "corun", dataset: "b", algorithm: "exact", metrics: `{"makespan_s":4}`},
	)
	got, err := ranked(db, algo.TrackCorun, 1, mig.Sequential)
	if err != nil || len(got) != 4 || got[0].Dataset != "b" || got[2].Dataset != "a" || !math.IsNaN(got[2].Gap) {
		t.Errorf("%+v, %v; want b before a, and a without gaps", got, err)
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
		c := Conditions{Track: track.Of(algo.TrackBatch), GPU: "A100", Count: 1, Model: mig.Sequential}
		boards, err := c.boards(db)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range boards {
			if err := b.rank(db); err != nil {
				t.Fatal(err)
			}
			bounds, err := values(db, b.bound, b.Bound.Metric)
			if err != nil {
				t.Fatal(err)
			}
			all, err := b.contenders(db, newSpan(nil), bounds, nil)
			if err != nil {
				t.Fatal(err)
			}
			want, err := rank(all, Metric{Name: b.Metric, Bounded: true})
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

// Of several programs of one version that are no longer there, the one that ran last counts, and a
// note says how many there are. Results of the version before do not count.
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
	const note = "programs with the same name and version; the results of the present one count, or else of the one that ran last: gone on d (3)"
	if notes := Table(got).Notes; !slices.Contains(notes, note) {
		t.Errorf("notes %q, want %q", notes, note)
	}
}
