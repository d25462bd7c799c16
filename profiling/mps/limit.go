package mps

import (
	"context"
	"fmt"
	"strconv"

	"miglab/harness/mig"
	"miglab/profiling"
)

// CountSMs counts the multiprocessors of a GPU of a UUID.
type CountSMs func(ctx context.Context, uuid string) (int, error)

// modelOf returns the model of a GPU and its number of multiprocessors: those of the table, or a
// model by the number that count tells, if the table does not have it.
func modelOf(ctx context.Context, id profiling.Identity, count CountSMs) (*mig.GPU, int, error) {
	g, unknown := profiling.Model(id.Name, id.MemoryMiB)
	if unknown == nil {
		var all int
		all, unknown = g.Multiprocessors()
		if board, ok := mig.BoardMultiprocessors(profiling.Label(id.Name)); ok && board != all {
			unknown = fmt.Errorf("%s has %d multiprocessors; how many each MIG profile has is only known for other "+
				"boards of %s",
				id.Name, board, g)
		}
		if unknown == nil {
			return g, all, nil
		}
	}
	sms, err := count(ctx, id.UUID)
	if err != nil {
		return nil, 0, fmt.Errorf("%w, and CUDA does not tell how many multiprocessors it has: %w", unknown, err)
	}
	if g, err = byCount(id, sms); err != nil {
		return nil, 0, err
	}
	return g, sms, nil
}

// byCount returns the model of a board with a number of multiprocessors. Its sizes have the shares
// of the multiprocessors and of the memory that those of an H100 have; nothing is known about
// sizes under MIG, if the board has any.
func byCount(id profiling.Identity, all int) (*mig.GPU, error) {
	like := mig.MustLookup("H100")
	whole := like.Profile(like.ComputeSlices).SMs
	g := &mig.GPU{
		Name: fmt.Sprintf("%s-MPS-%dSM", profiling.Label(id.Name), all),
		Origin: fmt.Sprintf("by the %d multiprocessors of %s; sizes have the shares of an H100's, and are not "+
			"those of MIG", all, id.Name),
		ComputeSlices: like.ComputeSlices, MemorySlices: like.MemorySlices,
	}
	for _, size := range like.Sizes() {
		p := *like.Profile(size)
		p.SMs = max(1, p.SMs*all/whole)
		p.MemoryGB = max(1, id.MemoryMiB/1000*int(p.Length)/int(like.MemorySlices))
		p.Create, p.Destroy, g.CostSource = like.CostsLike(size)
		g.Profiles = append(g.Profiles, &p)
	}
	return mig.Register(g)
}

// Percentage returns 100 n/all, cut after two decimals. If the driver rounds this limit up,
// a client has n of all multiprocessors.
func Percentage(n, all int) float64 { return float64(10000*n/all) / 100 }

func formatPercentage(p float64) string { return strconv.FormatFloat(p, 'f', -1, 64) }
