package agents

import (
	"context"
	"slices"
	"testing"

	"miglab/harness/mig"

	"miglab/harness/algo"
	"miglab/harness/run"
	"miglab/harness/store"
)

// The engine stores the same metrics for instances that it solves together and, one a run,
// alone.
func TestEngineSolvesTogether(t *testing.T) {
	const instances = 11
	for _, s := range []store.Series{
		{Track: algo.TrackBatch, Dataset: "drl/WIDETIMES", Algorithm: "rl-direct"},
		{Track: algo.TrackStream, Dataset: "drl/WIDETIMES?batches=3", Algorithm: "rl-online"},
	} {
		s.GPU = "A100"
		span, err := run.SpanOf(new(mig.Catalog), s, instances)
		if err != nil {
			t.Fatal(err)
		}
		var found []string // by instance, first those that were solved together
		for _, size := range []int{instances, 1} {
			db, err := store.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			e := run.Engine{Store: db, Workers: 1}
			for from := 0; from < instances; from += size {
				if err := e.Run(context.Background(), []run.Span{{Trial: span.Trial, From: from, To: from + size}}); err != nil {
					t.Fatal(err)
				}
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
