package plan

import (
	"cmp"
	"context"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/schedule"
)

// A load sums up the tasks on the nodes of one GPU.
type load struct {
	seconds [maxNodes]float64 // by node, the sum of its tasks' durations
	count   [maxNodes]int32   // by node, its number of tasks
	used    nodeSet           // the nodes with tasks
}

// An assignment is the plan of treedp and lns: the node of the repartitioning trees on which each task runs. Each node
// is used once, after the nodes above it. Operations go in the order of [longestTail].
type assignment struct {
	p     algo.Problem
	tree  *Tree
	node  []int32 // by task, its node, numbered over all GPUs
	loads []load
	timer *Timer
	ends  []float64 // by GPU, when its last task ends, in seconds
}

func newAssignment(p algo.Problem, from State) *assignment {
	return &assignment{
		p: p, tree: NewTree(p), timer: newTimer(p, from, longestTail),
		node: make([]int32, len(p.Tasks)), loads: make([]load, p.GPUs()), ends: make([]float64, p.GPUs()),
	}
}

// seconds returns the duration of a task on a node.
func (a *assignment) seconds(task, node int32) float64 {
	_, v := a.tree.Locate(node)
	return float64(a.p.Tasks[task].On(a.tree.Nodes[v].Size()))
}

func (a *assignment) put(task, node int32) {
	a.node[task] = node
	g, v := a.tree.Locate(node)
	l := &a.loads[g]
	l.seconds[v] += a.seconds(task, node)
	l.count[v]++
	l.used |= 1 << v
}

// take undoes put.
func (a *assignment) take(task int32) {
	node := a.node[task]
	g, v := a.tree.Locate(node)
	l := &a.loads[g]
	l.seconds[v] -= a.seconds(task, node)
	l.count[v]--
	if l.count[v] == 0 {
		l.seconds[v] = 0
		l.used &^= 1 << v
	}
}

func (a *assignment) move(task, node int32) {
	a.take(task)
	a.put(task, node)
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
	c.begin(&a.timer.from[g])
	for used := l.used; used != 0; used &= used - 1 {
		v := lowestBit(used)
		u := Use{GPU: g, Instance: a.tree.Nodes[v].Instance, seconds: l.seconds[v]}
		if !c.sums {
			u.Tasks = a.tasksOn(int32(g*len(a.tree.Nodes) + v))
		}
		c.add(u, 0)
	}
	a.ends[g] = c.run()
}

// criticalNodes returns the used nodes of a GPU that end last, and those above them. It relies on the last call of
// time.
func (a *assignment) criticalNodes(gpu int, last float64) (out nodeSet) {
	c, used := &a.timer.clocks[gpu], a.loads[gpu].used
	i := c.existing
	for left := used; left != 0; left &= left - 1 {
		if c.uses[i].end == last {
			for u := lowestBit(left); u >= 0; u = a.tree.Nodes[u].Parent {
				out |= used & (1 << u)
			}
		}
		i++
	}
	return out
}

// tasksOn returns the tasks of a node in the order in which it runs them.
func (a *assignment) tasksOn(node int32) []Task {
	var out []Task
	for i, v := range a.node {
		if v == node {
			out = append(out, Task{a.seconds(int32(i), node), int32(i)})
		}
	}
	slices.SortStableFunc(out, func(x, y Task) int {
		return cmp.Compare(a.p.ReleaseOf(int(x.Index)), a.p.ReleaseOf(int(y.Index)))
	})
	return out
}

// answer returns the assignment as a schedule, the state of the GPUs in the end, and the error of ctx. If the search
// failed, it returns that error alone.
func (a *assignment) answer(ctx context.Context, failure error) (schedule.Schedule, State, error) {
	if failure != nil {
		return schedule.Schedule{}, nil, failure
	}
	plan := make([]Use, a.tree.Count())
	for node := range plan {
		g, v := a.tree.Locate(int32(node))
		u := Use{GPU: g, Instance: a.tree.Nodes[v].Instance, Tasks: a.tasksOn(int32(node))}
		// The sums in the loads have drifted, because every put and take rounds them.
		for _, t := range u.Tasks {
			u.seconds += t.Seconds
		}
		plan[node] = u
	}
	a.timer.Time(plan)
	return a.timer.Schedule(), a.timer.State(), ctx.Err()
}
