package leaderboard_test

import (
	"context"
	"fmt"
	"os"

	"miglab/harness/mig"

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
	spans, err := run.Competition(new(mig.Catalog), base, []string{"far", "nomig"}, []string{"drl/WIDETIMES"}, 20)
	if err == nil {
		err = (&run.Engine{Store: db}).Run(context.Background(), spans)
	}
	check(err)

	standings, err := leaderboard.Standings(db, leaderboard.Conditions{Track: track.Batch, GPU: mig.MustLookup("A100"), Count: 1})
	check(err)
	for _, s := range standings {
		fmt.Printf("%d %s: %.1f %% above the bound\n", s.Rank, s.Algorithm, s.Gap)
	}
	// Output:
	// 1 far: 6.6 % above the bound
	// 2 nomig: 156.4 % above the bound
}

// Places under four costs of reconfiguration on two datasets.
func ExampleAcross() {
	dir, err := os.MkdirTemp("", "miglab")
	check(err)
	defer os.RemoveAll(dir)
	db, err := store.Open(dir)
	check(err)
	defer db.Close()
	var all leaderboard.Across
	var models mig.Catalog
	for _, gpu := range []string{
		"A100", "A100?create=0&destroy=0", "A100?create=0.05&destroy=0.12", "A100?create=60x&destroy=60x",
	} {
		for _, dataset := range []string{"drl/WIDETIMES", "drl/POORSCALING"} {
			base := store.Series{Track: algo.TrackBatch, GPU: gpu}
			spans, err := run.Competition(&models, base, []string{"far", "fixpartbest", "miso", "nomig"}, []string{dataset}, 30)
			if err == nil {
				err = (&run.Engine{Store: db}).Run(context.Background(), spans)
			}
			check(err)
			g, err := models.Lookup(gpu)
			check(err)
			standings, err := leaderboard.Standings(db, leaderboard.Conditions{
				Track: track.Batch, GPU: g, Count: 1, Datasets: []string{dataset},
			})
			check(err)
			all = append(all, standings)
		}
	}
	table := all.Table()
	check(table.Text(os.Stdout))
	// Output:
	// Places of the algorithms of the batch track by GPU model and dataset
	//
	// gpu                            dataset          instances  far  fixpartbest     miso    nomig  same  open  reversed
	// -----------------------------  ---------------  ---------  ---  -----------  -------  -------  ----  ----  --------
	// A100                           drl/WIDETIMES           30    1            2        3        4     6     0         0
	// A100                           drl/POORSCALING         30    2            1        3        4     5     0         1
	// A100?create=0&destroy=0        drl/WIDETIMES           30    1            2        3        4     6     0         0
	// A100?create=0&destroy=0        drl/POORSCALING         30    2            1        3        4     5     0         1
	// A100?create=0.05&destroy=0.12  drl/WIDETIMES           30    1            2        3        4     6     0         0
	// A100?create=0.05&destroy=0.12  drl/POORSCALING         30    2            1        3        4     5     0         1
	// A100?create=60x&destroy=60x    drl/WIDETIMES           30    2            1  4 (3-4)  3 (3-4)     4     1         1
	// A100?create=60x&destroy=60x    drl/POORSCALING         30    2            1        3        4     5     0         1
	//
	// a place is by the mean; in brackets from the best to the worst that the 95 % bootstrap intervals of the paired differences allow, each pair by itself
	// same, open, reversed: of the pairs of algorithms that the first row tells apart, how many have the same order with the same certainty, cannot be told apart, and have the other order
	// reversed on A100, drl/POORSCALING: fixpartbest before far
	// reversed on A100?create=0&destroy=0, drl/POORSCALING: fixpartbest before far
	// reversed on A100?create=0.05&destroy=0.12, drl/POORSCALING: fixpartbest before far
	// reversed on A100?create=60x&destroy=60x, drl/WIDETIMES: fixpartbest before far
	// reversed on A100?create=60x&destroy=60x, drl/POORSCALING: fixpartbest before far
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
