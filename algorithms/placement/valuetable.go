package placement

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/gocarina/gocsv"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
)

var _ = algo.Register(algo.Spec{
	Name: "value-table", Version: 1, Track: algo.TrackPlacement,
	Cite:    "ours; the form is that of MFI Algorithm 2",
	Summary: "least growth of a cost by mask that was tuned on simulated streams",
	New: func(_ algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		return newTable(s.GPU, increment(nil, valueTables()[s.GPU.MemorySlices])), nil
	},
})

// value-table.csv gives the cost of a GPU's mask in thousandths of a memory slice, for
// the models with 8 memory slices and with 4 (A30); masks that no instances make up
// are left out.
//
// It was made by hill climbing (tune_test.go): from the lost placements of
// mfi-weighted under equal demand, one mask's cost is changed at random, and the
// change stays if more requests are accepted, on average over the four distributions
// of MFI Table II, in steady state at an offered load of 1. Its streams have another
// seed than the default of the datasets, so that results with that default are not
// those that it was tuned on. What it gains there it pays for while the cluster still
// fills: up to a demand of two capacities it accepts less than mfi. To make it again:
//
//	go test ./algorithms/placement -run TunedTable -tune
//
//go:embed value-table.csv
var valueTableCSV []byte

// A valueRow is a line of value-table.csv.
type valueRow struct {
	MemorySlices mig.Slices `csv:"memory_slices"`
	Mask         mig.Mask   `csv:"mask"`
	Value        int        `csv:"value"`
}

// valueTables returns the tables by the model's memory slices. The file is part of the
// program: one that is not valid is a programmer's mistake.
var valueTables = sync.OnceValue(func() map[mig.Slices]*[sim.Masks]int {
	var rows []valueRow
	if err := gocsv.UnmarshalBytes(valueTableCSV, &rows); err != nil {
		panic(fmt.Sprintf("placement: value-table.csv: %v", err))
	}
	out := map[mig.Slices]*[sim.Masks]int{4: {}, 8: {}}
	for _, r := range rows {
		out[r.MemorySlices][r.Mask] = r.Value
	}
	return out
})
