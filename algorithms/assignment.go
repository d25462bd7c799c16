package algorithms

import (
	"cmp"
	"context"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/schedule"
)

// A load sums up the tasks on the nodes of one GPU.
type load struct {
	// seconds is, by node, the sum of its tasks' durations.
	seconds [maxNodes]float64
	// count is, by node, its number of tasks.
	count [maxNodes]int32
	// used has the nodes with tasks.
	used nodeSet
}

func (l *load) add(node int, t float64) {
	l.seconds[node] += t
	l.count[node]++
	l.used |= 1 << node
}

func (l *load) remove(node int, t float64) {
	l.seconds[node] -= t
	l.count[node]--
	if l.count[node] == 0 {
		l.seconds[node] = 0
		l.used &^= 1 << node
	}
}

// An assignment is the plan of treedp and lns: the node of the repartitioning trees on which each task runs. Each node
// is used once, after the nodes above it. Operations go in the order of [longestTail].
type assignment struct {
	p    algo.Problem
	tree *tree
	// holds is, by GPU, its state at the start.
	holds []remnant
	// node is, by task, its node, numbered over all GPUs.
	node  []int32
	loads []load
	timer *timer
	// ends is, by GPU, when its last task ends, in seconds.
	ends []float64
}

func newAssignment(p algo.Problem, holds []remnant) *assignment {
	return &assignment{
		p: p, tree: newTree(p), holds: holds, timer: newTimer(p, longestTail),
		node: make([]int32, len(p.Tasks)), loads: make([]load, p.GPUs()), ends: make([]float64, p.GPUs()),
	}
}

// seconds returns the duration of a task on a node.
func (a *assignment) seconds(task, node int32) float64 {
	_, v := a.tree.locate(node)
	return float64(a.p.Tasks[task].On(a.tree.nodes[v].Size()))
}

func (a *assignment) put(task, node int32) {
	a.node[task] = node
	g, v := a.tree.locate(node)
	a.loads[g].add(v, a.seconds(task, node))
}

// take undoes put.
func (a *assignment) take(task int32) {
	node := a.node[task]
	g, v := a.tree.locate(node)
	a.loads[g].remove(v, a.seconds(task, node))
}

// time computes the ends of all GPUs and returns the latest.
func (a *assignment) time() float64 {
	last := 0.0
	for g := range a.loads {
		a.timeOne(g)
		last = max(last, a.ends[g])
	}
	return last
}

func (a *assignment) timeOne(g int) {
	c, l := &a.timer.clocks[g], &a.loads[g]
	c.begin(&a.holds[g])
	for used := l.used; used != 0; used &= used - 1 {
		v := lowestBit(used)
		u := use{gpu: g, in: a.tree.nodes[v].Instance, seconds: l.seconds[v]}
		if !c.sums {
			u.tasks = a.tasksOn(int32(g*len(a.tree.nodes) + v))
		}
		c.add(u, 0)
	}
	a.ends[g] = c.run()
}

// endsAt returns the used nodes of a GPU that end at an instant. It relies on the last call of time.
func (a *assignment) endsAt(gpu int, at float64) nodeSet {
	c := &a.timer.clocks[gpu]
	var out nodeSet
	i := c.existing
	for used := a.loads[gpu].used; used != 0; used &= used - 1 {
		if c.uses[i].end == at {
			out |= used & -used
		}
		i++
	}
	return out
}

// tasksOn returns the tasks of a node in the order in which it runs them.
func (a *assignment) tasksOn(node int32) []timedTask {
	var out []timedTask
	for i, v := range a.node {
		if v == node {
			out = append(out, timedTask{a.seconds(int32(i), node), int32(i)})
		}
	}
	slices.SortStableFunc(out, func(x, y timedTask) int {
		return cmp.Compare(a.p.ReleaseOf(int(x.task)), a.p.ReleaseOf(int(y.task)))
	})
	return out
}

// answer returns the assignment as a schedule, and the error of ctx. If the search failed, it returns that error
// alone.
func (a *assignment) answer(ctx context.Context, failure error) (schedule.Schedule, error) {
	if failure != nil {
		return schedule.Schedule{}, failure
	}
	out, _ := a.schedule()
	return out, ctx.Err()
}

// schedule returns the assignment as a schedule, and the state of the GPUs in the end.
func (a *assignment) schedule() (schedule.Schedule, []remnant) {
	plan := make([]use, a.tree.count())
	for node := range plan {
		g, v := a.tree.locate(int32(node))
		u := use{gpu: g, in: a.tree.nodes[v].Instance, tasks: a.tasksOn(int32(node))}
		// The sums in the loads have drifted, because every put and take rounds them.
		for _, t := range u.tasks {
			u.seconds += t.time
		}
		plan[node] = u
	}
	a.timer.time(a.holds, plan)
	return a.timer.schedule(), a.timer.remnants()
}
