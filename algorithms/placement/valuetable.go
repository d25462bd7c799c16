package placement

import (
	"embed"
	"sync"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/strictcsv"
)

var _ = algo.Register(algo.Spec{
	Name: "value-table", Version: 1,
	Cite:    "ours; the form is that of MFI Algorithm 2",
	Summary: "least growth of a cost for each mask, tuned on simulated streams",
	New: algo.NewPlacer(func(_ algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		values := valueTables()[s.GPU.MemorySlices]
		if values == nil {
			return nil, &algo.UnsupportedError{
				What:   "a GPU of model " + s.GPU.Name,
				Reason: "its costs are for GPUs with 4 and with 8 memory slices",
			}
		}
		return fixedTable("value-table", nil, s.GPU, func() rule { return incrementRule(values) }), nil
	}),
})

// value-table.csv has the cost of each mask of a GPU in thousandths of a memory slice, for the models with 8 memory
// slices and with 4 (A30). Masks that no set of instances can have are left out.
//
// It was made by hill climbing (tune_test.go). The start is the lost placements of mfi-weighted under equal demand. A
// step changes the cost of one mask at random and keeps the change if more requests are accepted, on average over the
// four distributions of MFI Table II, in steady state at an offered load of 1. The streams have another seed than the
// default of the datasets, so that the table is not tuned on the streams it is evaluated on. It accepts fewer requests
// than mfi while the cluster still fills, up to a demand of two capacities. To make it again, in ten minutes:
//
//	go test ./algorithms/placement -run TunedTable -tune -timeout 1h
//
//go:embed value-table.csv
var valueTableFile embed.FS

type valueRow struct {
	MemorySlices mig.Slices `csv:"memory_slices"`
	Mask         int        `csv:"mask"`
	Value        int        `csv:"value"`
}

// valueTables returns the tables by the model's number of memory slices. It panics if the embedded file is not valid.
var valueTables = sync.OnceValue(func() map[mig.Slices]*sim.Scores {
	out := map[mig.Slices]*sim.Scores{4: {}, 8: {}}
	for _, r := range strictcsv.Embedded[valueRow](valueTableFile, "value-table.csv") {
		out[r.MemorySlices][r.Mask] = int32(r.Value)
	}
	return out
})
