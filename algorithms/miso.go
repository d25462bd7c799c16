package algorithms

import (
	"context"
	"math"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

var _ = algo.Register(algo.Spec{
	Name: "miso", Version: 1, Track: algo.TrackBatch, Cite: "FAR 6.5, MISO-OPT; Li et al., SoCC 2022",
	Summary: "partition after partition, each with the largest sum of speedups of the next tasks",
	New:     func(algo.Args) (algo.Batch, error) { return miso{}, nil },
})

// miso is the optimiser of MISO as FAR 6.5 states it (MISO-OPT). Let T_k be the next
// task in order of arrival. The next partition P is the one with the largest sum of
// speedups t(1)/t(|P_i|) of tasks T_k, T_k+1, ... on its instances from left to right;
// on a tie, the first in the order of FAR Fig. 1. A partition may have more instances
// than tasks are left. Each instance starts as soon as its own slices are free, not
// when the whole GPU is free. This reproduces the published numbers.
//
// The paper's tasks fit every size. Here, the speedup of a task that does not fit one
// slice is relative to the smallest size it fits. The first task that does not fit its
// instance of P waits for the next partition, with all tasks after it.
//
// With several GPUs, each decision takes the GPU that is free first.
type miso struct{}

func (miso) Schedule(_ context.Context, p algo.Problem) (schedule.Schedule, error) {
	reference := make([]float64, len(p.Tasks))
	for i := range p.Tasks {
		reference[i] = math.Inf(1)
		for _, s := range p.GPU.Sizes() {
			if p.Tasks[i].Fits(s) {
				reference[i] = float64(p.Tasks[i].On(s))
				break
			}
		}
	}
	plan := make([]use, 0, len(p.Tasks))
	tasks := make([]timedTask, len(p.Tasks))
	ends := make([][]float64, p.GPUs()) // by GPU and memory slice
	for g := range ends {
		ends[g] = make([]float64, p.GPU.MemorySlices)
	}
	for k := 0; k < len(p.Tasks); {
		g := firstFree(ends)
		for _, in := range misoPartition(p, reference, k) {
			own := ends[g][in.Start : in.Start+in.Profile.Length]
			end := float64(p.ReleaseOf(k))
			for _, e := range own {
				end = max(end, e)
			}
			tasks[k] = timedTask{float64(p.Tasks[k].On(in.Size())), int32(k)}
			end += tasks[k].time
			for s := range own {
				own[s] = end
			}
			plan = append(plan, use{gpu: g, in: in, tasks: tasks[k : k+1]})
			k++
		}
	}
	return timed(p, plan), nil
}

// misoPartition returns the instances for the tasks from k on, one for each. There is
// at least one, as every size begins some partition.
func misoPartition(p algo.Problem, reference []float64, k int) mig.Partition {
	var best mig.Partition
	most := 0.0
	for _, part := range p.GPU.Partitions() {
		var sum float64
		n := 0
		for n < len(part) && k+n < len(p.Tasks) && p.Tasks[k+n].Fits(part[n].Size()) {
			sum += reference[k+n] / float64(p.Tasks[k+n].On(part[n].Size()))
			n++
		}
		if sum > most {
			best, most = part[:n], sum
		}
	}
	return best
}

// firstFree returns the GPU whose busiest slice is free first.
func firstFree(ends [][]float64) int {
	best, at := 0, math.Inf(1)
	for g, slices := range ends {
		var end float64
		for _, e := range slices {
			end = max(end, e)
		}
		if end < at {
			best, at = g, end
		}
	}
	return best
}
