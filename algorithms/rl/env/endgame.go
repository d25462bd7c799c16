package env

import (
	"fmt"
	"math"
	"slices"

	"miglab/algorithms/plan"
	"miglab/harness/mig"
)

// maxEndgame is the largest number of tasks that an endgame places.
const maxEndgame = 10

// Endgame makes the environment plan the last tasks of each batch together, so that they end as early as possible. Once
// no more than last tasks are left, the mask allows only the next action of this plan. last is at most 10. The plan
// ignores releases that differ; they only delay tasks.
func (o *Own) Endgame(last int) *Own {
	if last > maxEndgame {
		panic(fmt.Sprintf("env: an endgame of %d tasks, want at most %d", last, maxEndgame))
	}
	o.last = last
	o.endgame = plan.NewLastTasks(o.device.gpu, o.device.model, func(task int, size mig.Slices) float64 {
		return o.tasks[task].Times[size]
	})
	return o
}

// A plannedTask is a task, by its index in the problem, and its instance, as numbered on the device.
type plannedTask struct{ index, instance int }

// nextPlanned returns the next action of the endgame: of the planned tasks, the one that can start first, of equals the
// one with the most work on its slices. The tasks of a larger instance come before tasks on instances within it.
func (o *Own) nextPlanned() (action int) {
	numbers := o.layout.real[o.view.renaming]
	if len(o.planned) == 0 {
		for j, v := range o.plan() {
			o.planned = append(o.planned, plannedTask{o.tasks[j].index, numbers[v]})
		}
	}
	masks := o.device.masks
	first, most := math.Inf(1), 0.0
	for _, p := range o.planned {
		waits, work := false, 0.0
		for _, q := range o.planned {
			both := masks[p.instance] & masks[q.instance]
			waits = waits || q.instance != p.instance && both == masks[p.instance]
			if both != 0 {
				work += o.tasks[o.find(q)].Times[o.device.instances[q.instance].Size()]
			}
		}
		v := slices.Index(numbers, p.instance)
		start := o.view.start[v]
		if !waits && (start < first || start == first && work > most) {
			first, most = start, work
			action = o.find(p)*len(o.layout.nodes) + v
		}
	}
	return action
}

// plan returns the node of each task left.
func (o *Own) plan() []int32 {
	v := &o.view
	return o.endgame.Place(len(o.tasks), &plan.GPUAtWork{
		Free: v.free[:o.layout.computeSlices], Start: v.start, Exists: v.exists,
		Bound: o.bound, Unit: o.unit,
	})
}

// find returns the place of a planned task in tasks.
func (o *Own) find(p plannedTask) int {
	return slices.IndexFunc(o.tasks, func(t ownTask) bool { return t.index == p.index })
}

// Undecided is an [Own] for training with an endgame. Its episodes have only the decisions before the endgame, and the
// reward of the last decision includes the rewards of the endgame. The source must draw more tasks than the endgame
// has.
type Undecided struct{ *Own }

// Step implements [Env].
func (u Undecided) Step(action int) (reward float32, done bool) {
	reward, done = u.Own.Step(action)
	for len(u.tasks) <= u.last && !done {
		var r float32
		r, done = u.Own.Step(u.nextPlanned())
		reward += r
	}
	return reward, done
}
