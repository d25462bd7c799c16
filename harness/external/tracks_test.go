//go:build unix

package external

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"miglab/harness/algo"
	"miglab/harness/run"
	"miglab/harness/store"
)

// small are datasets of the tracks that have no schedules.
var small = map[algo.Track]string{
	algo.TrackPlacement: "mfi/uniform?load=85",
	algo.TrackDispatch:  "deadline/tight",
	algo.TrackCorun:     "corun/queues",
}

// The faults of a dialogue come with its third decision.
func TestFaultsInDialogues(t *testing.T) {
	midway := map[string]ending{
		"ends-after-answer": {KindCrashed, `ended \(exit status 0\) before it answered$`},
		"says-more-later":   {KindProtocol, `gives a wrong answer: type "" is neither|writes more than an answer`},
		"forgets":           {KindProtocol, `gives a wrong answer: .*slice is missing`},
		"says-fraction":     {KindProtocol, `no message: .*cannot unmarshal JSON number 0.5`},
		"says-1e999":        {KindProtocol, `no message: .*cannot unmarshal JSON number 1e999`},
	}
	onTrack(t, algo.TrackPlacement, with(with(faults, midway), map[string]ending{
		"invents-gpu":   {run.KindInvalid, `request 2: .* cannot be placed on GPU 1000000000 .*: the GPUs are 0 to 99$`},
		"invents-slice": {run.KindInvalid, `request 2: .* cannot be placed on GPU 0 at slice -1`},
		"overlaps":      {run.KindInvalid, `request 2: .* slices of it are in use`},
	}))
	onTrack(t, algo.TrackDispatch, with(with(faults, midway), map[string]ending{
		"invents-slice": {run.KindInvalid, `job 2 was dispatched to slice -1, which does not exist`},
		"overlaps":      {run.KindInvalid, `job 2 was dispatched to slice \d+, which is busy`},
	}))
}

// A process that has answered before and fails is replaced, and the simulation begins again.
func TestADialogueIsHadAgain(t *testing.T) {
	for track, dataset := range small {
		series := run.Series{Track: track, Dataset: dataset, GPU: "A100", Algorithm: command("well")}
		want := engine(t, series, 4, 1)
		series.Algorithm = command("tires")
		for i, row := range engine(t, series, 4, 1) {
			if row.Kind != "" || fmt.Sprint(row.Metrics) != fmt.Sprint(want[i].Metrics) {
				t.Errorf("%s: %v, want %v", track, row, want[i])
			}
		}
	}
}

func TestADialogueCanBeCancelled(t *testing.T) {
	for track, dataset := range map[algo.Track]string{algo.TrackPlacement: small[algo.TrackPlacement], algo.TrackDispatch: small[algo.TrackDispatch]} {
		cells, err := run.Series{Track: track, Dataset: dataset, GPU: "A100", Algorithm: command("hangs")}.Cells(1)
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
		if _, err := (&run.Engine{Store: st, Workers: 1}).Run(ctx, cells); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", track, err)
		}
		if took := time.Since(begin); took > 8*time.Second {
			t.Errorf("%s: it took %v to stop", track, took)
		}
	}
}

func TestFaultsOfPlanners(t *testing.T) {
	all := with(faults, map[string]ending{
		"invents-job":       {run.KindInvalid, `there is no job 100`},
		"overlaps":          {run.KindInvalid, `job 0 .* is in group 1 already`},
		"forgets":           {run.KindInvalid, `job 0 .* is in no group`},
		"says-fraction":     {run.KindInvalid, `1 jobs on .*, which is for 2`},
		"invents-partition": {run.KindInvalid, `gives no plan: group 1: partition .* the clients have 1.1`},
		"says-nonsense":     {run.KindInvalid, `gives no plan: group 1: partition "all of it", position 1`},
	})
	delete(all, "says-nan") // a plan has no such number
	onTrack(t, algo.TrackCorun, all)
}

// onTrack runs programs with faults on two instances each, and compares the rows.
func onTrack(t *testing.T, track algo.Track, faults map[string]ending) {
	for fault, want := range faults {
		t.Run(string(track)+"/"+fault, func(t *testing.T) {
			t.Parallel()
			id := command(fault)
			if want.kind == store.KindTimeout {
				id += "&timeout=300ms"
			}
			series := run.Series{Track: track, Dataset: small[track], GPU: "A100", Algorithm: id}
			for _, row := range engine(t, series, 2, 1) {
				check(t, want, row.Kind, row.Error)
			}
		})
	}
}
