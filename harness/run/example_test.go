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

	series, err := run.Series{Track: algo.TrackBatch, Dataset: "drl/WIDETIMES", GPU: "A100", Count: 1, Algorithm: "far"}.Canonical()
	if err != nil {
		fmt.Println(err)
		return
	}
	cells, err := series.Cells(5)
	if err != nil {
		fmt.Println(err)
		return
	}
	results, err := (&run.Engine{Store: db}).Run(context.Background(), cells)
	if err != nil {
		fmt.Println(err)
		return
	}
	makespans, err := results.Values(series, 0, 5, "makespan_s")
	if err != nil {
		fmt.Println(err)
		return
	}
	summary, err := stats.Summarize(makespans)
	fmt.Printf("%d makespans, mean %.1f s, %v\n", summary.N, summary.Mean, err)
	// Output:
	// 5 makespans, mean 103.9 s, <nil>
}
