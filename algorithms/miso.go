package algorithms

import (
	"context"
	"slices"

	"miglab/algorithms/plan"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

var _ = algo.Register(algo.Spec{
	Name: "miso", Version: 1, Cite: "FAR 6.5, MISO-OPT; Li et al., SoCC 2022",
	Summary: "partition after partition, each with the largest sum of speedups of the next tasks",
	Params: []algo.Param{{
		Name: "order", Default: "arrival", Values: []string{"arrival", "permute"},
		Doc: "the next tasks take a partition's instances as they arrived, or in the order with the largest sum",
	}},
	New: algo.NewBatch(func(a algo.Args) (algo.Batch, error) { return miso{permute: a["order"] == "permute"}, nil }),
})

// miso is the optimiser of MISO as FAR 6.5 states it (MISO-OPT). Let T_k be the next task in order of arrival. The next
// partition P is the one with the largest sum of speedups t(1)/t(|P_i|) of tasks T_k, T_k+1, ... on its instances from
// left to right; on a tie, the first in the order of FAR Fig. 1. A partition may have more instances than tasks remain.
// Each instance starts as soon as its own slices are free, which reproduces the published numbers.
//
// The paper's tasks fit every size. Here, the speedup of a task that does not fit one slice is relative to its smallest
// size. The first task that does not fit its instance of P waits for the next partition, with all tasks after it.
//
// With several GPUs, each decision takes the GPU that is free first.
//
// With order=permute, the next m tasks take the m instances of a partition in the order with the largest sum; on a tie,
// the first in lexicographic order. A task that fits no remaining instance waits, and later tasks go first. FAR Table 5
// is by the script compare_size_test of March 2024, which permutes in this way. The paper's text and later code do not.
type miso struct{ permute bool }

func (m miso) Schedule(ctx context.Context, p algo.Problem) (schedule.Schedule, error) {
	uses := make([]plan.Use, 0, len(p.Tasks))
	tasks := make([]plan.Task, len(p.Tasks))
	ends := make([][]float64, p.GPUs()) // by GPU and memory slice
	for g := range ends {
		ends[g] = make([]float64, p.GPU.MemorySlices)
	}
	choice := misoChoice{p: p, parts: p.GPU.Partitions(), permute: m.permute}
	choice.reference = secondsOnFirst(p, p.GPU.Sizes())
	for waiting := numbered[int32](len(p.Tasks)); len(waiting) > 0; waiting = waiting[len(choice.tasks):] {
		if err := ctx.Err(); err != nil {
			return schedule.Schedule{}, err
		}
		g := firstFree(ends)
		choice.choose(waiting)
		for i, k := range choice.tasks {
			in := choice.instances[i]
			own := ends[g][in.Start : in.Start+in.Profile.Length]
			start := max(float64(p.ReleaseOf(int(k))), slices.Max(own))
			tasks[k] = plan.Task{Seconds: float64(p.Tasks[k].On(in.Size())), Index: k}
			for s := range own {
				own[s] = start + tasks[k].Seconds
			}
			uses = append(uses, plan.Use{GPU: g, Instance: in, Tasks: tasks[k : k+1]})
		}
	}
	return plan.Schedule(p, uses), nil
}

// secondsOnFirst returns, by task, its duration on the first of the sizes that it fits; 0 if it fits no size.
func secondsOnFirst(p algo.Problem, sizes []mig.Slices) []float64 {
	out := make([]float64, len(p.Tasks))
	for i := range p.Tasks {
		k := slices.IndexFunc(sizes, p.Tasks[i].Fits)
		if k >= 0 {
			out[i] = float64(p.Tasks[i].On(sizes[k]))
		}
	}
	return out
}

// numbered returns the numbers from 0 to n-1: tasks in order of arrival, or GPUs.
func numbered[T int | int32](n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = T(i)
	}
	return out
}

// A misoChoice is the search for the next partition of miso.
type misoChoice struct {
	p         algo.Problem
	parts     []mig.Partition
	reference []float64 // by task: the seconds that its speedup is relative to
	permute   bool
	full      bool // skips partitions that leave an instance idle

	// instances and tasks are the best choice so far: instances[i] runs tasks[i]. most is its sum of speedups.
	instances mig.Partition
	tasks     []int32
	most      float64
	// part is the partition to try; next are the tasks for its instances.
	part mig.Partition
	next []int32
	top  [mig.MaxSize + 1]float64 // the largest speedup of the next tasks, by size
}

// choose finds the instances for the next of the waiting tasks, of which there must be at least one. With all
// partitions of the model it finds some, because each size is the first of a partition. It moves the chosen tasks to
// the front of waiting.
func (c *misoChoice) choose(waiting []int32) {
	c.most, c.tasks = 0, c.tasks[:0]
	c.findTop(waiting[:min(int(c.p.GPU.ComputeSlices), len(waiting))])
	for _, part := range c.parts {
		c.part = part
		c.next = append(c.next[:0], waiting[:min(len(part), len(waiting))]...)
		c.assign(0, 0)
	}
	if c.permute {
		slices.SortStableFunc(waiting[:min(int(c.p.GPU.ComputeSlices), len(waiting))], func(a, b int32) int {
			return c.place(a) - c.place(b)
		})
	}
}

// place returns the index of the instance that runs a task, or len(c.tasks) if the task was not chosen.
func (c *misoChoice) place(task int32) int {
	i := slices.Index(c.tasks, task)
	if i >= 0 {
		return i
	}
	return len(c.tasks)
}

func (c *misoChoice) findTop(tasks []int32) {
	clear(c.top[:])
	for _, k := range tasks {
		for _, s := range c.p.GPU.Sizes() {
			if c.p.Tasks[k].Fits(s) {
				c.top[s] = max(c.top[s], c.speedup(k, s))
			}
		}
	}
}

func (c *misoChoice) speedup(task int32, size mig.Slices) float64 {
	return c.reference[task] / float64(c.p.Tasks[task].On(size))
}

// ceiling returns an upper bound on sum plus the speedups of any choice for the partition's instances from i on. It
// adds larger numbers in the same order, so that rounding cannot make it smaller.
func (c *misoChoice) ceiling(i int, sum float64) float64 {
	for ; i < len(c.next); i++ {
		sum += c.top[c.part[i].Size()]
	}
	return sum
}

// assign tries the tasks from next[i] on for the partition's instances from i on. The tasks before have speedups sum.
func (c *misoChoice) assign(i int, sum float64) {
	if c.ceiling(i, sum) <= c.most {
		return
	}
	end := min(i+1, len(c.next))
	if c.permute {
		end = len(c.next)
	}
	complete := true // no further task fits
	for j := i; j < end; j++ {
		size := c.part[i].Size()
		k := c.next[j]
		if !c.p.Tasks[k].Fits(size) {
			continue
		}
		complete = false
		// Task j goes to the front and the others keep their order.
		copy(c.next[i+1:j+1], c.next[i:j])
		c.next[i] = k
		c.assign(i+1, sum+c.speedup(k, size))
		copy(c.next[i:j], c.next[i+1:j+1])
		c.next[j] = k
	}
	if complete && sum > c.most && (!c.full || i == len(c.part)) {
		c.most, c.instances = sum, c.part
		c.tasks = append(c.tasks[:0], c.next[:i]...)
	}
}

// firstFree returns the GPU of which all slices are free first. ends is by GPU and slice.
func firstFree(ends [][]float64) int {
	best := 0
	for g := range ends {
		if slices.Max(ends[g]) < slices.Max(ends[best]) {
			best = g
		}
	}
	return best
}
