package run_test

import (
	"context"
	"fmt"
	"os"

	"miglab/harness/mig"

	_ "miglab/algorithms"
	"miglab/harness/algo"
	"miglab/harness/run"
	"miglab/harness/stats"
	"miglab/harness/store"
)

// FAR on five batches of the DRL paper's workload. A second run would find all results in the
// database.
func ExampleEngine_Run() {
	dir, err := os.MkdirTemp("", "miglab")
	check(err)
	defer os.RemoveAll(dir)
	db, err := store.Open(dir)
	check(err)
	defer db.Close()

	series := store.Series{Track: algo.TrackBatch, Dataset: "drl/WIDETIMES", GPU: "A100", Algorithm: "far"}
	span, err := run.SpanOf(new(mig.Catalog), series, 5)
	check(err)
	check((&run.Engine{Store: db}).Run(context.Background(), []run.Span{span}))
	makespans, err := span.Values(db, "makespan_s")
	check(err)
	summary, err := stats.Summarize(makespans)
	fmt.Printf("%d makespans, mean %.1f s, %v\n", summary.N, summary.Mean, err)
	// Output:
	// 5 makespans, mean 103.9 s, <nil>
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
