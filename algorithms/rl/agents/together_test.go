package agents

import (
	"context"
	"slices"
	"testing"
	"time"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/store"
)

// The engine stores the same metrics for instances that it solves together and, under a
// time-out, alone.
func TestEngineSolvesTogether(t *testing.T) {
	const instances = 11
	for _, s := range []run.Series{
		{Track: algo.TrackBatch, Dataset: "drl/WIDETIMES", Algorithm: "rl-direct"},
		{Track: algo.TrackStream, Dataset: "drl/WIDETIMES?batches=3", Algorithm: "rl-online"},
	} {
		s.GPU, s.Count, s.Model = "A100", 1, mig.Sequential
		cells, err := s.Cells(instances)
		if err != nil {
			t.Fatal(err)
		}
		var found []string // by instance, first those that were solved together
		for _, timeout := range []time.Duration{0, time.Hour} {
			db, err := store.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			r, err := (&run.Engine{Store: db, Workers: 1, Timeout: timeout}).Run(context.Background(), cells)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range cells {
				row, ok, err := r.Get(c)
				if err != nil || !ok || row.Kind != "" {
					t.Fatalf("%v: %+v, %v, %v", c, row, ok, err)
				}
				found = append(found, row.Metrics.String())
			}
		}
		if !slices.Equal(found[:instances], found[instances:]) {
			t.Errorf("%s: %v together, %v alone", s.Algorithm, found[:instances], found[instances:])
		}
	}
}
