package agents

import (
	"context"
	"slices"
	"testing"
	"time"

	"miglab/harness/algo"
	"miglab/harness/run"
	"miglab/harness/store"
)

// The engine stores the same metrics for instances that it solves together and, under a
// time-out, alone.
func TestEngineSolvesTogether(t *testing.T) {
	const instances = 11
	for _, s := range []store.Series{
		{Track: algo.TrackBatch, Dataset: "drl/WIDETIMES", Algorithm: "rl-direct"},
		{Track: algo.TrackStream, Dataset: "drl/WIDETIMES?batches=3", Algorithm: "rl-online"},
	} {
		s.GPU = "A100"
		span, err := run.SpanOf(s, instances)
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
			if err := (&run.Engine{Store: db, Workers: 1, Timeout: timeout}).Run(context.Background(), []run.Span{span}); err != nil {
				t.Fatal(err)
			}
			rows, err := db.Rows(span.Series, 0, instances)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				if row.Kind != "" {
					t.Fatalf("%v: %+v", span.Series, row)
				}
				found = append(found, row.Metrics.String())
			}
		}
		if len(found) != 2*instances || !slices.Equal(found[:instances], found[instances:]) {
			t.Errorf("%s: %v together, %v alone", s.Algorithm, found[:instances], found[instances:])
		}
	}
}
