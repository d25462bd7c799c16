package bounds

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
)

// MaxOptimumFreeTasks is the largest batch that [OptimumFree] takes. Such a batch takes milliseconds on an A100, and
// each further task about five times as long.
const MaxOptimumFreeTasks = 6

// OptimumFree returns the optimal makespan in seconds of the moldable problem without reconfiguration costs
// ([mig.Free]), whatever the problem's model. The approximation factors of FAR 5 refer to it: 7/4 on one A30, 15/8 on
// two, 2 on A100 and H100. If reconfiguration costs something, the value is a lower bound.
//
// EXACT, up to rounding: the search of [Exact] finds the optimum of each set of tasks on each GPU, and OptimumFree
// compares every division of the tasks between the GPUs.
//
// It returns an error of [task.Batch.Validate], of ctx, for more than [MaxOptimumFreeTasks] tasks, and for problems
// that [Exact] does not search: if tasks can be stopped or have release times, or if GPUs hold instances at the start.
func OptimumFree(ctx context.Context, p algo.Problem) (mig.Seconds, error) {
	if err := p.Tasks.Validate(p.GPU); err != nil {
		return 0, err
	}
	n := len(p.Tasks)
	if n > MaxOptimumFreeTasks {
		return 0, fmt.Errorf("optimum-free takes at most %d tasks; the batch has %d", MaxOptimumFreeTasks, n)
	}
	if areaOnly(&p) || released(&p) {
		return 0, errors.New("optimum-free takes tasks that are there at time 0 and cannot be stopped, on empty GPUs")
	}
	p.Model = mig.Free
	own, err := optimaFree(ctx, p) // by set of tasks
	if err != nil {
		return 0, err
	}
	together := slices.Clone(own)
	for range p.GPUs() - 1 {
		for set := range slices.Backward(together) { // in descending order, as smaller sets must not have this GPU yet
			together[set] = leastSplit(taskSet(set), together, own)
		}
	}
	return together[1<<n-1], nil
}

// optimaFree returns the optimum of each set of tasks on one GPU.
func optimaFree(ctx context.Context, p algo.Problem) ([]mig.Seconds, error) {
	x := newSearch(ctx, &p, 0)
	out := make([]mig.Seconds, 1<<len(p.Tasks))
	for set := 1; set < len(out); set++ {
		// One of the tasks can run after the others, on its fastest instance.
		known := mig.Seconds(math.Inf(1))
		for i := range p.Tasks {
			if set>>i&1 == 0 {
				continue
			}
			for _, s := range p.GPU.Sizes() {
				known = min(known, out[set&^(1<<i)]+p.Tasks[i].On(s))
			}
		}
		x.improve(known)
		clear(x.visited)
		if err := x.visit(&state{stateKey: stateKey{left: taskSet(set)}}); err != nil {
			return nil, err
		}
		out[set] = x.best
	}
	return out, nil
}

var _ = register("optimum-free", 3, false, "the optimum that FAR 5 refers to",
	fmt.Sprintf("optimum without reconfiguration costs, of at most %d tasks; exact", MaxOptimumFreeTasks),
	function(OptimumFree))
