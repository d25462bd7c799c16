//go:build unix

package external

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	_ "miglab/algorithms/dispatch"
	_ "miglab/algorithms/placement"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/sim"
	"miglab/harness/store"
	"miglab/harness/task"
)

// The series of the tracks without schedules, without algorithms.
var (
	placements = store.Series{Track: algo.TrackPlacement, Dataset: "mfi/uniform?load=85", GPU: "A100"}
	dispatches = store.Series{Track: algo.TrackDispatch, Dataset: "deadline/tight", GPU: "A100"}
	coruns     = store.Series{Track: algo.TrackCorun, Dataset: "corun/queues", GPU: "A100"}
)

// The faults of a dialogue come with its third decision.
func TestFaultsInDialogues(t *testing.T) {
	midway := map[string]ending{
		"ends-after-answer": {KindCrashed, `ended \(exit status 0\) before it answered$`},
		"says-more-later":   {KindProtocol, `gives a wrong answer: type "" is neither|writes more than an answer`},
		"forgets":           {KindProtocol, `gives a wrong answer: .*slice is missing`},
		"says-null":         {KindProtocol, `no message: slice: null is not a whole number`},
		"says-fraction":     {KindProtocol, `no message: \w+: 0.5 is not a whole number`},
		"says-1e999":        {KindProtocol, `no message: \w+: 1e999 is not a whole number`},
	}
	fail(t, placements, with(with(faults, midway), map[string]ending{
		"rejects-gpu":   {KindProtocol, `gives a wrong answer: gpu or slice is no part of the type reject$`},
		"invents-gpu":   {run.KindInvalid, `request 2: .* cannot be placed on GPU 1000000000 .*: the GPUs are 0 to 99$`},
		"invents-slice": {run.KindInvalid, `request 2: .* cannot be placed on GPU 0 at slice -1`},
		"overlaps":      {run.KindInvalid, `request 2: .* slices of it are in use`},
	}))
	common := with(faults, midway)
	if !deep.On() { // a dispatcher's dialogue is a placer's in what they have in common
		common = with(map[string]ending{"well": faults["well"]}, midway)
	}
	fail(t, dispatches, with(common, map[string]ending{
		"invents-slice": {run.KindInvalid, `job 2 was dispatched to slice -1, which does not exist`},
		"overlaps":      {run.KindInvalid, `job 2 was dispatched to slice \d+, which is busy`},
	}))
}

// A process that has answered before and fails is replaced, and the simulation begins again.
func TestADialogueIsHadAgain(t *testing.T) {
	for _, series := range []store.Series{placements, dispatches, coruns} {
		series.Algorithm = command("well")
		n := deep.N(2, 4)
		want := engine(t, series, n, 1)
		series.Algorithm = command("tires")
		for i, row := range engine(t, series, n, 1) {
			if row.Kind != "" || fmt.Sprint(row.Metrics) != fmt.Sprint(want[i].Metrics) {
				t.Errorf("%s: %v, want %v", series.Track, row, want[i])
			}
		}
	}
}

func TestADialogueCanBeCancelled(t *testing.T) {
	for _, series := range []store.Series{placements, dispatches, coruns} {
		series.Algorithm = command("hangs") + "&timeout=1h" // the program itself ends after a minute
		span, err := run.SpanOf(new(mig.Catalog), series, 1)
		if err != nil {
			t.Fatal(err)
		}
		st, err := store.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		begin := time.Now()
		if err := (&run.Engine{Store: st, Workers: 1}).Run(ctx, []run.Span{span}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", series.Track, err)
		}
		if took := time.Since(begin); took > 50*time.Second {
			t.Errorf("%s: it took %v to stop", series.Track, took)
		}
	}
}

func TestFaultsOfPlanners(t *testing.T) {
	all := with(faults, map[string]ending{
		"invents-job":       {run.KindInvalid, `there is no job 100`},
		"overlaps":          {run.KindInvalid, `job 0 .* is in group 1 already`},
		"forgets":           {run.KindInvalid, `job 0 .* is in no group`},
		"says-fraction":     {run.KindInvalid, `1 jobs on .*, which is for 2`},
		"invents-partition": {run.KindInvalid, `gives no plan: group 1: GPU instance 1 of .* the clients have 1.1`},
		"says-nonsense":     {run.KindInvalid, `gives no plan: group 1: partition "all of it": GPU instance 1`},
	})
	delete(all, "says-nan") // a plan has no such number
	fail(t, coruns, all)
}

// fail runs programs with faults on two instances of a series each, and compares the rows.
func fail(t *testing.T, series store.Series, faults map[string]ending) {
	for fault, want := range faults {
		t.Run(series.Track+"/"+fault, func(t *testing.T) {
			t.Parallel()
			want.text, _, _ = strings.Cut(want.text, "; standard error") // which is not stored
			if want.kind == store.KindTimeout {
				want.text = `did not answer within \S+ \(\?timeout=\)$`
			}
			patiently(t, want, command(fault), func(id string) (kind, text string) {
				own := series
				own.Algorithm = id
				rows := engine(t, own, 2, 1)
				if first := rows[0]; !want.met(first.Kind, first.Error) {
					return first.Kind, first.Error
				}
				return rows[1].Kind, rows[1].Error
			})
		})
	}
}

// A program that does what an algorithm of this program does has the same metrics. The
// examples for placement and dispatch are first fit and EFT with true durations.
func TestProgramsDoAsAlgorithmsDo(t *testing.T) {
	for _, c := range []struct {
		track                  string
		dataset, gpu, own, run string
	}{
		{algo.TrackPlacement, "mfi/uniform?load=85", "A100", "ff", "firstfit.py"},
		{algo.TrackPlacement, "mfi/skew-small?gpus=7&lifespan=steady", "A30", "ff", "firstfit.py"},
		{algo.TrackDispatch, "deadline/tight", "A100", "eft-true", "earliestfinish.py"},
		{algo.TrackDispatch, "deadline/relaxed?gpus=7+4-3+2-2-2-1", "A100", "eft-true", "earliestfinish.py"},
	} {
		t.Run(c.track+"/"+c.own, func(t *testing.T) {
			id := python(t, c.run)
			if id == "" {
				t.Skip("no python3")
			}
			n := deep.N(1, 4)
			series := store.Series{Track: c.track, Dataset: c.dataset, GPU: c.gpu, Algorithm: c.own}
			want := engine(t, series, n, 2)
			series.Algorithm = id
			for i, row := range engine(t, series, n, 2) {
				if row.Kind != "" || fmt.Sprint(row.Metrics) != fmt.Sprint(want[i].Metrics) {
					t.Errorf("instance %d: %v, want %v", i, row, want[i])
				}
			}
		})
	}
}

func TestPairsPlansEverywhere(t *testing.T) {
	id := python(t, "pairs.py")
	if id == "" {
		t.Skip("no python3")
	}
	for _, dataset := range []string{"corun/queues", "corun/ci-dominant", "corun/drawn?cmax=1", "corun/balanced?w=11"} {
		series := store.Series{Track: algo.TrackCorun, Dataset: dataset, GPU: "A100", Algorithm: id}
		for _, row := range engine(t, series, 3, 2) {
			if row.Kind != "" {
				t.Errorf("%s: %s: %s", dataset, row.Kind, row.Error)
			}
		}
	}
	series := placements
	series.Algorithm = id
	if _, err := run.Resolve(new(mig.Catalog), series); err == nil || !strings.Contains(err.Error(), `it declines: "only corun"`) {
		t.Errorf("%v", err)
	}
}

// BenchmarkDecision takes about 70 us a decision, so that the default limit of 10 s for an
// instance is enough for 100,000.
func BenchmarkDecision(b *testing.B) {
	a, err := algo.ParseFor(command("well"), algo.TrackPlacement)
	if err != nil {
		b.Fatal(err)
	}
	g := mig.MustLookup("A100")
	p, err := a.Placer(sim.PlacementSetting{GPU: g, GPUs: 100})
	if err != nil {
		b.Fatal(err)
	}
	requests := make([]task.Request, b.N)
	for i := range requests {
		requests[i] = task.Request{Arrival: i, Lifespan: 50, Profile: g.Profiles[0]}
	}
	b.ResetTimer()
	if err := p.(algo.Dialogue).Converse(b.Context(), func() error {
		_, err := sim.RunPlacement(g, 100, requests, p, sim.SteadyWindow, task.Migration{})
		return err
	}); err != nil {
		b.Fatal(err)
	}
}
