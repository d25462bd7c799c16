package bounds

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// function turns a plain function into an [algo.Bound].
type function func(context.Context, algo.Problem) (mig.Seconds, error)

func (f function) Bound(ctx context.Context, p algo.Problem) (mig.Seconds, error) { return f(ctx, p) }

// register registers a bound. proven promises that it holds for every schedule and exists for every batch.
func register(name string, version int, proven bool, cite, summary string, b algo.Bound) algo.Spec {
	return algo.Register(algo.Spec{
		Name: name, Version: version, Cite: cite, Summary: summary, Proven: proven,
		New: algo.NewBound(func(algo.Args) (algo.Bound, error) { return b, nil }),
	})
}

// quick turns a function that needs no context, since it takes no longer than reading the tasks, into a [function].
func quick(f func(algo.Problem) (mig.Seconds, error)) function {
	return func(_ context.Context, p algo.Problem) (mig.Seconds, error) { return f(p) }
}

// A weight is the number of slices that a task is charged for while it runs on an instance of a size.
type weight struct {
	size   mig.Slices
	slices float64
}

// leastWork returns the sum over the tasks of the least charge, in slice-seconds. It is +Inf if a task fits no size.
func leastWork(tasks task.Batch, weights []weight) float64 {
	var sum float64
	for i := range tasks {
		least := math.Inf(1)
		for _, w := range weights {
			// The conversion rounds the product, which must not be fused into the sum.
			least = min(least, float64(w.slices*float64(tasks[i].On(w.size))))
		}
		sum += least
	}
	return sum
}

// sums returns the sum of the values of each set; bit i of a set represents values[i].
func sums[T ~float64 | ~int64](values []T) []T {
	out := make([]T, 1<<len(values))
	for set := 1; set < len(out); set++ {
		out[set] = out[set&(set-1)] + values[bits.TrailingZeros(uint(set))]
	}
	return out
}

// bySlice holds an instant for each memory slice of a GPU.
type bySlice [8]mig.Seconds

// latest returns the latest instant of some slices, 0 if of is empty.
func (b *bySlice) latest(of mig.Mask) mig.Seconds {
	var latest mig.Seconds
	for ; of != 0; of &= of - 1 {
		latest = max(latest, b[bits.TrailingZeros8(uint8(of))])
	}
	return latest
}

func (b *bySlice) set(of mig.Mask, to mig.Seconds) {
	for ; of != 0; of &= of - 1 {
		b[bits.TrailingZeros8(uint8(of))] = to
	}
}

// leastDestroys returns by size the shortest destroy of an instance of that size or of a larger one. No schedule is
// faster, and with these times the destroy of the topmost used node is the longest on a slice. On the models of
// package mig they equal the destroys of the size itself.
func leastDestroys(p *algo.Problem) (out [mig.MaxSize + 1]mig.Seconds) {
	least := mig.Seconds(math.Inf(1))
	for _, s := range slices.Backward(p.GPU.Sizes()) {
		least = min(least, p.Model.Cost(p.GPU.Profile(s).Destroy))
		out[s] = least
	}
	return out
}

// capacity returns the number of compute slices of all GPUs.
func capacity(p *algo.Problem) float64 { return float64(int(p.GPU.ComputeSlices) * p.GPUs()) }

// subsets returns the non-empty sets of a model's sizes, each in ascending order.
func subsets(g *mig.GPU) [][]mig.Slices {
	sizes := g.Sizes()
	var out [][]mig.Slices
	for bits := 1; bits < 1<<len(sizes); bits++ {
		var s []mig.Slices
		for i, size := range sizes {
			if bits>>i&1 != 0 {
				s = append(s, size)
			}
		}
		out = append(out, s)
	}
	return out
}
