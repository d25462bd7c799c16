package leaderboard_test

import (
	"context"
	"fmt"
	"os"

	_ "miglab/algorithms"
	_ "miglab/bounds"
	"miglab/harness/algo"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/track"
	"miglab/reports/leaderboard"
)

// Two algorithms run on twenty batches, with the bounds that the track compares them with, and
// are ranked by their gaps to the certified bound.
func ExampleStandings() {
	dir, err := os.MkdirTemp("", "miglab")
	check(err)
	defer os.RemoveAll(dir)
	db, err := store.Open(dir)
	check(err)
	defer db.Close()
	base := store.Series{Track: algo.TrackBatch, GPU: "A100"}
	spans, err := run.Competition(base, []string{"far", "nomig"}, []string{"drl/WIDETIMES"}, 20)
	if err == nil {
		err = (&run.Engine{Store: db}).Run(context.Background(), spans)
	}
	check(err)

	standings, err := leaderboard.Standings(db, leaderboard.Conditions{Track: track.Batch, GPU: "A100", Count: 1})
	check(err)
	for _, s := range standings {
		fmt.Printf("%d %s: %.1f %% above the bound\n", s.Rank, s.Algorithm, s.Gap)
	}
	// Output:
	// 1 far: 6.5 % above the bound
	// 2 nomig: 156.4 % above the bound
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
