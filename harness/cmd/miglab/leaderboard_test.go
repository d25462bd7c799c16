package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/reports"
)

// cellLine is a row of a store, of which a test says what it is about.
type cellLine struct {
	track, dataset, algorithm, weights, model string
	gpus, version, instance, content          string
	metrics                                   string
}

// collected reads a store with the given rows.
func collected(t *testing.T, rows ...cellLine) *collector {
	t.Helper()
	st, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	w, err := st.Writer(filepath.Join(st.Dir(), "results.db"))
	if err != nil {
		t.Fatal(err)
	}
	number := func(text string, instead int) int {
		n, err := strconv.Atoi(cmp.Or(text, strconv.Itoa(instead)))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, r := range rows {
		record := store.Record{
			Series: store.Series{
				Track: cmp.Or(r.track, "batch"), Dataset: cmp.Or(r.dataset, "d"), Content: cmp.Or(r.content, "c"), GPU: "A100", Count: number(r.gpus, 1),
				Algorithm: r.algorithm, Version: number(r.version, 1), Weights: r.weights, Model: cmp.Or(r.model, "sequential"),
			},
			Row: store.Row{Instance: number(r.instance, 0)},
		}
		var metrics map[string]float64
		if err := json.Unmarshal([]byte("{"+r.metrics+"}"), &metrics); err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(metrics)) {
			record.Metrics = append(record.Metrics, store.Metric{Name: name, Value: metrics[name]})
		}
		if r.metrics == "" {
			record.Kind, record.Error = "timeout", "10s were not enough"
		}
		if err := w.Append(record); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := collect(st)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Gaps are to the latest certified bound of the same instance under the same
// conditions, and p_opt to the published one.
func TestCollectorBounds(t *testing.T) {
	c := collected(
		t,
		cellLine{algorithm: "far", metrics: `"makespan_s":12`},
		cellLine{track: "bound", algorithm: "certified", version: "2", metrics: `"bound_s":10`},
		cellLine{track: "bound", algorithm: "certified", version: "1", metrics: `"bound_s":8`},
		cellLine{track: "bound", algorithm: "certified", version: "3"}, // it failed
		cellLine{track: "bound", algorithm: "l-bound", metrics: `"bound_s":9.6`},
		cellLine{track: "bound", algorithm: "area", metrics: `"bound_s":1`},
		cellLine{track: "bound", algorithm: "certified", model: "parallel", metrics: `"bound_s":3`},
		cellLine{track: "bound", algorithm: "certified", instance: "1", metrics: `"bound_s":4`},
		cellLine{algorithm: "far", model: "parallel", metrics: `"makespan_s":6`},
		cellLine{track: "bound", algorithm: "certified", gpus: "2", metrics: `"bound_s":2`},
		cellLine{algorithm: "far", gpus: "2", metrics: `"makespan_s":3`},
		cellLine{algorithm: "far", model: "free", metrics: `"makespan_s":1`}, // has no bound
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
		got, err := c.standings(algo.TrackBatch, "A100", test.gpus, test.model)
		if err != nil || len(got) != 1 {
			t.Errorf("%d GPUs, %s: %+v, %v", test.gpus, test.model, got, err)
			continue
		}
		s := got[0]
		if reports.Fixed(s.Gap, 3) != test.gap || reports.Fixed(s.POpt, 3) != test.pOpt || s.GPU != test.gpu || s.Model != test.model.String() {
			t.Errorf("%d GPUs, %s: %+v, want %+v", test.gpus, test.model, s, test)
		}
	}
	if got, err := c.standings(algo.TrackBatch, "A100", 1, mig.Free); err != nil || len(got) != 0 {
		t.Errorf("without a bound: %+v, %v", got, err)
	}
}

// A track that does not reconfigure has one board, whatever the cluster's size; datasets
// in a steady state have a metric of their own; a time-out is a failure.
func TestCollectorTracks(t *testing.T) {
	c := collected(
		t,
		cellLine{track: "placement", dataset: "gone", algorithm: "mfi", gpus: "100", metrics: `"acceptance":0.5,"acceptance_steady":0.1`},
		cellLine{track: "placement", dataset: "gone", algorithm: "ff", gpus: "100"},
		cellLine{track: "placement", dataset: "gone?lifespan=steady", algorithm: "mfi", gpus: "100", metrics: `"acceptance":0.5,"acceptance_steady":0.1`},
		cellLine{track: "corun", dataset: "corun/gone", algorithm: "exact", metrics: `"makespan_s":10`},
		cellLine{track: "corun", dataset: "corun/gone", algorithm: "local", metrics: `"makespan_s":11`},
		cellLine{track: "corun", dataset: "corun/large", algorithm: "local", metrics: `"makespan_s":99`},
		cellLine{track: "offline", dataset: "gone", algorithm: "offline-bound", metrics: `"accepted_at_most":7`},
	)
	for _, test := range []struct {
		track algo.Track
		want  string
	}{
		{algo.TrackPlacement, "gone 1 mfi acceptance 0.5 –, gone 2 ff acceptance – –, gone?lifespan=steady 1 mfi acceptance_steady 0.1 –"},
		{algo.TrackCorun, "corun/gone 1 exact makespan_s 10.0 0.0, corun/gone 1 local makespan_s 11.0 10.0, corun/large 1 local makespan_s 99.0 –"},
		{algo.TrackDispatch, ""},
	} {
		standings, err := c.standings(test.track, "A100", 1, mig.Sequential)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range standings {
			mean := reports.Missing
			if s.Failed == 0 {
				mean = reports.Fixed(s.Value.Mean, 1)
			}
			got = append(got, strings.Join([]string{s.Dataset, string(rune('0' + s.Rank)), s.Algorithm, s.Metric, mean, reports.Fixed(s.Gap, 1)}, " "))
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
func TestCollectorWeights(t *testing.T) {
	trained, err := algo.Parse("d3qn")
	if err != nil {
		t.Fatal(err)
	}
	c := collected(
		t,
		cellLine{track: "corun", algorithm: "d3qn", weights: "before", metrics: `"makespan_s":1`},
		cellLine{track: "corun", algorithm: "d3qn", weights: trained.Weights(), metrics: `"makespan_s":2`},
		cellLine{track: "corun", algorithm: "d3qn", metrics: `"makespan_s":3`},
		cellLine{track: "corun", algorithm: "exec:gone", weights: "before", metrics: `"makespan_s":4`},
		cellLine{track: "corun", algorithm: "exec:gone", weights: "last", metrics: `"makespan_s":5`},
	)
	got, err := c.standings(algo.TrackCorun, "A100", 1, mig.Sequential)
	if err != nil || len(got) != 2 || got[0].Value.Mean != 2 || got[1].Value.Mean != 5 {
		t.Errorf("%+v, %v; want means of 2 and 5", got, err)
	}
}

func TestCollectorBudget(t *testing.T) {
	c := collected(
		t,
		cellLine{algorithm: "far", metrics: `"makespan_s":11`},
		cellLine{algorithm: "lns?iterations=17", metrics: `"makespan_s":12`},
		cellLine{track: "bound", algorithm: "certified", metrics: `"bound_s":10`},
	)
	got, err := c.standings(algo.TrackBatch, "A100", 1, mig.Sequential)
	if err != nil || len(got) != 2 || got[0].Budget != "" || got[1].Budget != "17 iterations" {
		t.Errorf("%+v, %v", got, err)
	}
}

// A dataset counts as what it stands for now; where that cannot be told, all results do.
func TestCollectorContents(t *testing.T) {
	now, err := run.Series{Track: algo.TrackDispatch, Dataset: "deadline/tight", GPU: "A100", Algorithm: "eft"}.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	c := collected(
		t,
		cellLine{track: "dispatch", dataset: "deadline/tight", algorithm: "exec:gone", metrics: `"late_percent":1`},
		cellLine{track: "dispatch", dataset: "deadline/tight", algorithm: "eft", metrics: `"late_percent":2`},
		cellLine{track: "dispatch", dataset: "deadline/tight", algorithm: "eft", content: now.Content, metrics: `"late_percent":3`},
		cellLine{track: "dispatch", dataset: "jobs:gone.csv", algorithm: "eft", metrics: `"late_percent":4`},
	)
	got, err := c.standings(algo.TrackDispatch, "A100", 1, mig.Sequential)
	if err != nil || len(got) != 2 || got[0].Value.Mean != 3 || got[1].Value.Mean != 4 {
		t.Errorf("%+v, %v; want means of 3 and 4", got, err)
	}
}

func TestCollectorBelowBound(t *testing.T) {
	c := collected(
		t,
		cellLine{algorithm: "far", version: "2", metrics: `"makespan_s":9.5`},
		cellLine{track: "bound", algorithm: "certified", metrics: `"bound_s":10`},
	)
	_, err := c.standings(algo.TrackBatch, "A100", 1, mig.Sequential)
	var below *reports.BoundError
	if !errors.As(err, &below) || !strings.Contains(err.Error(), "far (version 2) on d, instance 0") {
		t.Errorf("%v", err)
	}
}
