package bounds

import (
	"context"
	"fmt"
	"slices"

	"miglab/bounds/certificate"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/task"
)

var _ = algo.Register(algo.Spec{
	Name: "offline-bound", Version: 2, Track: algo.TrackOffline,
	Cite:    "ours; proof in bounds.AcceptedAtMost",
	Summary: "proven upper bound on the accepted requests of a stream",
	New:     func(algo.Args) (algo.Offline, error) { return offline{}, nil },
})

type offline struct{}

func (offline) AcceptedAtMost(ctx context.Context, g *mig.GPU, gpus int, requests []task.Request) (int, error) {
	return AcceptedAtMost(ctx, g, gpus, requests)
}

// AcceptedAtMost returns the upper bound that the prices of [ProveOffline] prove. The error is about
// requests that the model cannot run, or is that of ctx.
func AcceptedAtMost(ctx context.Context, g *mig.GPU, gpus int, requests []task.Request) (int, error) {
	instants, err := ProveOffline(ctx, g, gpus, requests)
	if err != nil {
		return 0, err
	}
	return certificate.AcceptedAtMost(g, gpus, requests, instants)
}

// ProveOffline returns prices that prove an upper bound on how many of the requests a scheduler can
// accept even if it knows all of them in advance; [certificate.AcceptedAtMost] says why. The GPUs
// are empty at first. If a request departs or needs several GPUs, they are the prices of
// [ProveAccepted]. Otherwise there are prices in the last slot alone, where everything accepted runs
// at once, from a grid.
//
// The error is about requests that the model cannot run, or is that of ctx.
func ProveOffline(ctx context.Context, g *mig.GPU, gpus int, requests []task.Request) ([]certificate.Instant, error) {
	if slices.ContainsFunc(requests, func(q task.Request) bool {
		return q.Lifespan != task.Forever || q.Instances() > 1
	}) {
		return ProveAccepted(ctx, g, gpus, requests)
	}
	return proveForever(g, gpus, requests)
}

// proveForever returns prices in the last slot that bound how many requests for one GPU can be
// accepted if none departs.
//
// Let y_p, from 0 to 1, be a price for each profile p, n_p the number of requests for it,
// and V the largest sum of prices that a valid partition of one GPU can hold. The bound is
// the least value of
//
//	floor( gpus V(y) + sum over p of n_p (1 - y_p) )
//
// over a grid of prices. A larger profile is never cheaper than a smaller one.
//
// PROVEN. Suppose that a_p <= n_p requests for p are accepted. Since no request departs,
// each GPU finally holds a valid partition of what it accepted. So the sum of prices over
// all accepted requests, sum y_p a_p, is at most gpus V(y). Then
//
//	sum a_p = sum y_p a_p + sum (1 - y_p) a_p <= gpus V(y) + sum (1 - y_p) n_p,
//
// because 1 - y_p >= 0. The number of accepted requests is whole, so rounding down is
// valid. In a certificate the prices are rounded down, which changes the bound only for a million
// requests or more. The prices are dual variables of the linear relaxation: any of them prove a bound, and the grid
// only decides how tight it is.
func proveForever(g *mig.GPU, gpus int, requests []task.Request) ([]certificate.Instant, error) {
	profiles := task.RequestProfiles(g)
	counts := make([]int, len(profiles))
	for i, q := range requests {
		p := slices.Index(profiles, q.Profile)
		if p < 0 {
			return nil, fmt.Errorf("request %d asks for %v, which %v does not have", i, q.Profile, g)
		}
		counts[p]++
	}
	best, least := make([]int, len(profiles)), len(requests)*priceScale
	for _, y := range prices(g) {
		value := gpus * y.most
		for p, n := range counts {
			value += n * (priceScale - y.of[p])
		}
		if value < least {
			best, least = y.of, value
		}
	}
	if slices.Max(best) == 0 {
		return nil, nil
	}
	at := certificate.Instant{Slot: requests[len(requests)-1].Arrival, Prices: make([]int, len(profiles))}
	for p, y := range best {
		at.Prices[p] = y * certificate.PriceScale / priceScale
	}
	return []certificate.Instant{at}, nil
}

// priceScale represents the price 1. It is a multiple of the numbers of instances that a
// partition may hold.
const priceScale = 840

// priceList is a price for each profile, and the most that a partition can hold.
type priceList struct {
	of   []int
	most int
}

// prices returns the grid: multiples of 1/n, where n is how many instances of a profile fit
// in the place of a larger one.
var prices = mig.Derived(func(g *mig.GPU) []priceList {
	var grid []int
	for v := range priceScale + 1 {
		if slices.ContainsFunc([]int{2, 3, 4, 7, 8}, func(n int) bool { return v*n%priceScale == 0 }) {
			grid = append(grid, v)
		}
	}
	profiles := task.RequestProfiles(g)
	held := heldByPartitions(g, profiles)
	var out []priceList
	of := make([]int, len(profiles))
	var choose func(p, from int)
	choose = func(p, from int) {
		if p == len(of) {
			most := 0
			for _, h := range held {
				sum := 0
				for i, n := range h {
					sum += n * of[i]
				}
				most = max(most, sum)
			}
			out = append(out, priceList{slices.Clone(of), most})
			return
		}
		for i := from; i < len(grid); i++ {
			of[p] = grid[i]
			choose(p+1, i)
		}
	}
	choose(0, 0)
	return out
})

// heldByPartitions returns how many instances of each profile the maximal partitions
// hold, without repetition.
func heldByPartitions(g *mig.GPU, profiles []*mig.Profile) [][]int {
	var out [][]int
	for _, part := range g.PartitionsOf(func(p *mig.Profile) bool { return !p.MediaExtensions }) {
		held := make([]int, len(profiles))
		for _, in := range part {
			held[slices.Index(profiles, in.Profile)]++
		}
		out = append(out, held)
	}
	slices.SortFunc(out, slices.Compare)
	return slices.CompactFunc(out, slices.Equal)
}
