package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim/corun"
	"miglab/harness/store"
	"miglab/harness/track"
)

type corunFunc func(w corun.Window) (corun.Plan, error)

func (f corunFunc) Plan(_ context.Context, w corun.Window) (corun.Plan, error) {
	calls.Add(1)
	return f(w)
}

// pairs runs the jobs two at a time on a setup, the last of an odd number alone.
func pairs(w corun.Window, setup string) corun.Plan {
	var p corun.Plan
	for i := range w.Jobs {
		if i%2 == 1 {
			p = append(p, corun.Group{Jobs: []int{i - 1, i}, Setup: corun.MustParse(setup)})
		} else if i == len(w.Jobs)-1 {
			p = append(p, corun.Group{Jobs: []int{i}, Setup: corun.MustParse("[(1),1m]")})
		}
	}
	return p
}

func init() {
	for name, f := range map[string]corunFunc{
		"test-corun-pairs": func(w corun.Window) (corun.Plan, error) { return pairs(w, "[{0.375},0.5m]+[{0.5},0.5m]"), nil },
		"test-corun-bad":   func(w corun.Window) (corun.Plan, error) { return pairs(w, "[(0.5)+(0.5),1m]")[1:], nil },
		"test-corun-none":  func(corun.Window) (corun.Plan, error) { return nil, errors.New("no idea") },
		// test-corun-vandal makes the jobs shorter before it plans.
		"test-corun-vandal": func(w corun.Window) (corun.Plan, error) {
			for i := range w.Jobs {
				w.Jobs[i].Solo = 1
			}
			return pairs(w, "[{0.375},0.5m]+[{0.5},0.5m]"), nil
		},
	} {
		algo.Register(algo.Spec{
			Name: name, Version: 1, Params: []algo.Param{{Name: "x", Default: "1"}},
			New: algo.NewCorun(func(args algo.Args) (algo.Corun, error) {
				if args["x"] != "1" {
					return nil, fmt.Errorf("x is %s; give 1", args["x"])
				}
				return f, nil
			}),
		})
	}
}

func corunSeries(algorithm string) store.Series {
	return store.Series{Track: algo.TrackCorun, Dataset: "corun/queues", GPU: "A100", Count: 1, Algorithm: algorithm}
}

func TestCorun(t *testing.T) {
	var cells []Span
	for _, a := range []string{"test-corun-vandal", "test-corun-pairs", "test-corun-bad", "test-corun-none"} {
		cells = append(cells, cellsOf(t, corunSeries(a), 12))
	}
	db := mustRun(t, Engine{Store: open(t, t.TempDir()), Workers: 1}, cells...)
	for i := range 12 {
		in, err := datasets.InstanceOf[corun.Window](datasets.MustParse("corun/queues"), mig.MustLookup("A100"), i)
		if err != nil {
			t.Fatal(err)
		}
		want, err := corun.Measure(in, pairs(in, "[{0.375},0.5m]+[{0.5},0.5m]"))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range cells[:2] {
			row := get(t, db, s, i)
			wantMetrics := store.NewMetrics(map[string]float64{
				"fairness":       want.Fairness(),
				"groups":         6,
				"makespan_s":     float64(want.Makespan),
				"slowdown_max":   slices.Max(want.Slowdowns),
				"slowdown_mean":  want.MeanSlowdown(),
				"slower_groups":  float64(want.Slower),
				"throughput":     float64(want.TimeSharing / want.Makespan),
				"time_sharing_s": float64(want.TimeSharing),
			})
			if row.Metrics != wantMetrics {
				t.Errorf("%v on Q%d: %v, want %v", s.Series, i+1, row.Metrics, wantMetrics)
			}
		}
	}
	for i, want := range map[int]struct{ kind, text string }{
		2: {KindInvalid, "job 0 (huffman) is in no group"},
		3: {KindFailed, "no idea"},
	} {
		if row := get(t, db, cells[i], 0); row.Kind != want.kind || !strings.Contains(row.Error, want.text) {
			t.Errorf("%v: %+v, want %+v", cells[i].Series, row, want)
		}
	}
	if us, err := cells[1].Microseconds(db); err != nil || len(us) != 12 {
		t.Errorf("decision times %v, %v", us, err)
	}
}

// A count or a reconfiguration model that plays no part does not make other cells.
func TestCorunCells(t *testing.T) {
	s := corunSeries("test-corun-pairs")
	s.Count, s.Model = 3, mig.Parallel.String()
	if got := cellsOf(t, s, 1).Series; got.Count != 1 || got.Model != mig.Sequential.String() {
		t.Errorf("canonical %+v", got)
	}
}

func TestCorunRefusals(t *testing.T) {
	for _, c := range []struct{ algorithm, dataset, gpu, want string }{
		{"test-corun-pairs", "corun/queues", "A30", "eight GPCs"},
		{"test-corun-pairs", "corun/queues", "H100", "it was measured on A100"},
		{"test-corun-pairs", "WIDETIMES", "A100", "has tasks; the corun track needs programs"},
		{"test-corun-pairs", "corun/queue", "A100", `did you mean "corun/queues`},
		{"test-corun-pairs", "corun/balanced?w=0", "A100", `parameter "w" cannot be "0"`},
		{"test-corun-pairs?x=2", "corun/queues", "A100", "x is 2; give 1"},
		{"test-corun-pairs", "corunfile:missing.csv", "A100", "missing.csv"},
	} {
		s := corunSeries(c.algorithm)
		s.Dataset, s.GPU = c.dataset, c.gpu
		if _, err := Resolve(new(mig.Catalog), s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c, err, c.want)
		}
	}
	s := series("test-fifo")
	s.Dataset = "corun/queues"
	if _, err := Resolve(new(mig.Catalog), s); !says(err, "has programs; the batch track needs tasks") {
		t.Errorf("programs for the batch track: %v", err)
	}
}

// The content of a dataset must not change by accident: every result of it would be lost.
func TestContentsStay(t *testing.T) {
	for _, c := range []struct{ dataset, gpu, want string }{
		{"drl/WIDETIMES", "A100", "a3efb6e61372688d"},
		{"rodinia", "A30", "ffcb16f48750f6ed"},
		{"mfi/uniform", "A100", "07b8385b1a217e92"},
	} {
		g := mig.MustLookup(c.gpu)
		spec := datasets.MustParse(c.dataset)
		in, err := spec.Instance(g, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := hashContent(g, spec, in); got != c.want {
			t.Errorf("%s on %s: content %s, want %s", c.dataset, c.gpu, got, c.want)
		}
	}
}

// Windows that differ in the jobs or in what schedulers are told are other contents.
func TestContentCoversTheSetting(t *testing.T) {
	content := func(dataset string) string {
		c, err := Content(track.Corun, dataset, mig.MustLookup("A100"))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	seen := map[string]string{}
	for _, d := range []string{"corun/queues", "corun/balanced", "corun/queues?kappa=0.3", "corun/queues?delta=0", "corun/queues?release=true", "corun/queues?cmax=2", "corun/queues?draw=2"} {
		c := content(d)
		if other, ok := seen[c]; ok {
			t.Errorf("%s and %s have the same content", d, other)
		}
		seen[c] = d
	}
}
