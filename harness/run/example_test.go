package run_test

import (
	"context"
	"fmt"
	"os"

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
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	db, err := store.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()

	series := store.Series{Track: algo.TrackBatch, Dataset: "drl/WIDETIMES", GPU: "A100", Algorithm: "far"}
	span, err := run.SpanOf(series, 5)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := (&run.Engine{Store: db}).Run(context.Background(), []run.Span{span}); err != nil {
		fmt.Println(err)
		return
	}
	makespans, err := span.Values(db, "makespan_s")
	if err != nil {
		fmt.Println(err)
		return
	}
	summary, err := stats.Summarize(makespans)
	fmt.Printf("%d makespans, mean %.1f s, %v\n", summary.N, summary.Mean, err)
	// Output:
	// 5 makespans, mean 103.9 s, <nil>
}
