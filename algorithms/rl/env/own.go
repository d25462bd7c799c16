package env

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"miglab/algorithms/plan"
	"miglab/harness/mig"
)

// Own is our own formulation of batch scheduling on one GPU, independent of the DRL paper's model. An action chooses
// the next task and its instance. The task runs as soon as the slices are free and the instance exists, so that no
// action for waiting or reconfiguring is needed. An episode has one step for each task. With [Own.Endgame], the agent
// decides only while more than a few tasks are left.
//
// In observations, times are divided by a lower bound on the makespan of the batch, and instants count from the one at
// which the first slice is free. Slices that differ only in their place are sorted.
//
// The reward is minus the growth of the potential, a lower bound on the makespan: the larger of the makespan so far and
// the area used up or still needed, divided by the number of slices. It begins at the area bound and ends at the
// makespan.
type Own struct {
	capacity int
	source   Source
	start    float64 // the probability that an episode begins on a busy GPU

	layout  *layout
	device  *Device
	drawn   []Times
	tasks   []ownTask // the tasks left, in the order of [compareTasks]
	unit    float64   // the lower bound by which times are divided, in seconds
	release float64   // the earliest release of a task, in seconds
	left    float64   // the least area of the tasks left, in slice-seconds
	bound   float64   // the potential, in seconds
	width   float64   // the number of compute slices
	view    view

	// last is the number of tasks in the endgame; 0 means no endgame.
	last    int
	endgame *plan.LastTasks
	planned []plannedTask // the tasks that the endgame has placed and that have not run yet
}

// RewardScale scales the rewards of [Own]: they add up to -RewardScale if the potential grows by the lower bound that
// divides times.
const RewardScale = 10

// scalars is the number of values in an observation that are neither by slice, by node nor by task, without the first.
const scalars = 7

// OwnShape is the layout of observations of [Own]: the number of tasks left, Globals values, then a row for each task
// left, padded with zeros to the capacity. Action a puts task a/Nodes on node a%Nodes.
type OwnShape struct{ Capacity, Globals, Row, Nodes int }

// An ownTask is a task that is left.
type ownTask struct {
	Times
	index   int     // in the problem
	area    float64 // the least one, in slice-seconds
	least   float64 // the least time, in seconds
	release float64 // in seconds
}

// NewOwn returns an environment for batches of up to capacity tasks, drawn from the source, which may be nil if only
// Load is used. With probability start an episode begins on a GPU that is partitioned and busy for a while.
func NewOwn(g *mig.GPU, model mig.Reconfiguration, capacity int, source Source, start float64) *Own {
	l := newLayout(g)
	o := &Own{
		capacity: capacity, source: source, start: start, layout: l,
		device: NewDevice(g, model), width: float64(l.computeSlices),
		drawn: make([]Times, capacity), tasks: make([]ownTask, 0, capacity),
	}
	o.view.start = make([]float64, len(l.nodes))
	return o
}

// Layout returns the layout of observations and actions; see [Own.Observe].
func (o *Own) Layout() OwnShape {
	l := o.layout
	return OwnShape{
		Capacity: o.capacity, Globals: l.computeSlices + 2*len(l.nodes) + scalars, Row: 3*len(l.sizes) + 2,
		Nodes: len(l.nodes),
	}
}

// Shape implements [Env].
func (o *Own) Shape() Shape {
	l := o.Layout()
	return Shape{Observation: 1 + l.Globals + l.Capacity*l.Row, Actions: l.Capacity * l.Nodes}
}

// Bounds implements [Scheduler].
func (o *Own) Bounds() []Range {
	return []Range{
		{Count: 1, Low: 0, High: float64(o.capacity)},
		{Count: o.Shape().Observation - 1, Low: -featureLimit, High: featureLimit},
	}
}

// Device implements [Scheduler].
func (o *Own) Device() *Device { return o.device }

// Reset implements [Env].
func (o *Own) Reset(rng *rand.Rand) {
	n := o.source(rng, o.drawn)
	o.device.Reset()
	if rng.Float64() < o.start {
		o.busyStart(rng, o.drawn[:n])
	}
	_ = o.Load(o.drawn[:n], 0, nil) // drawn has the capacity
}

// busyStart creates one of the GPU's partitions. Each instance is busy for up to half the mean time for which the tasks
// occupy a slice.
func (o *Own) busyStart(rng *rand.Rand, tasks []Times) {
	load := 0.0
	for i := range tasks {
		area, _ := o.layout.least(&tasks[i])
		load += area
	}
	p := o.layout.partitions[rng.IntN(len(o.layout.partitions))]
	for _, instance := range p {
		o.device.Preset(instance, rng.Float64()*load/o.width/2)
	}
}

// Load implements [Scheduler], for at most capacity tasks. Each task must fit some instance. The observation shows only
// the earliest release.
func (o *Own) Load(tasks []Times, first int, releases []float64) error {
	if len(tasks) > o.capacity {
		return fmt.Errorf("own environment: %d tasks; there is room for %d, the option tasks",
			len(tasks), o.capacity)
	}
	o.tasks = o.tasks[:0]
	o.release, o.left, o.unit = 0, 0, 0
	if releases != nil {
		o.release = slices.Min(releases)
	}
	for i := range tasks {
		area, least := o.layout.least(&tasks[i])
		t := ownTask{Times: tasks[i], index: first + i, area: area, least: least}
		if releases != nil {
			t.release = releases[i]
		}
		o.tasks = append(o.tasks, t)
	}
	slices.SortFunc(o.tasks, compareTasks)
	for i := range o.tasks {
		o.left += o.tasks[i].area
		o.unit = max(o.unit, o.tasks[i].least)
	}
	o.unit = max(o.unit, o.left/o.width)
	o.updateView()
	o.bound = o.potential()
	o.planned = o.planned[:0]
	return nil
}

// compareTasks orders tasks by their durations, the longest first; equal tasks stay in the order of arrival.
func compareTasks(a, b ownTask) int {
	return cmp.Or(slices.Compare(b.Times[:], a.Times[:]), a.index-b.index)
}

// potential returns a lower bound on the makespan, whatever the further decisions. It ignores reconfigurations and how
// tasks pack into instances.
func (o *Own) potential() float64 {
	area := o.left
	for _, f := range o.view.free[:o.layout.computeSlices] {
		area += f
	}
	return max(o.device.Makespan(), area/o.width)
}

// Step implements [Env].
func (o *Own) Step(action int) (reward float32, done bool) {
	j, node := action/len(o.layout.nodes), action%len(o.layout.nodes)
	t := o.tasks[j]
	instance := o.layout.real[o.view.renaming][node]
	o.device.Run(instance, t.index, t.Times[o.layout.nodes[node].size], t.release)
	o.left -= t.area
	o.tasks = slices.Delete(o.tasks, j, j+1)
	o.planned = slices.DeleteFunc(o.planned, func(p plannedTask) bool { return p.index == t.index })
	if len(o.tasks) == 0 {
		o.left = 0
	}
	o.updateView()
	before := o.bound
	o.bound = o.potential() // which never falls, except by rounding
	return float32(-RewardScale * (o.bound - before) / o.unit), len(o.tasks) == 0
}

// A view is the GPU as the agent sees it, with slices renamed (see [layout]). All times are in seconds.
type view struct {
	renaming int
	order    [8]int8    // by canonical compute slice, the real slice
	free     [8]float64 // by canonical compute slice, when its last task so far ends, at least the release
	first    float64    // when the first slice is free
	start    []float64  // by node, when a task could start there if no other reconfiguration delayed it
	exists   uint32     // bit n set if node n exists
}

// updateView sets the view to the state of the device.
func (o *Own) updateView() {
	l, v := o.layout, &o.view
	var free [8]float64 // by real slice, as size
	var size [8]int8
	for s := range l.computeSlices {
		here, until := o.device.Here(s)
		free[s] = max(until, o.release)
		if here != absent {
			size[s] = int8(o.device.instances[here].Size())
		}
	}
	v.renaming = l.rename(&free, &size, &v.order)
	v.first = math.Inf(1)
	for s := range l.computeSlices {
		v.free[s] = free[v.order[s]]
		v.first = min(v.first, v.free[s])
	}
	v.exists = 0
	for i := range l.nodes {
		start, exists := o.nodeStart(i)
		v.start[i] = start
		if exists {
			v.exists |= 1 << i
		}
	}
}

// nodeStart returns when a task could start on a node, and whether the node exists. If not, its slices must be free,
// their instances are destroyed at the same time, and the node is created.
func (o *Own) nodeStart(node int) (start float64, exists bool) {
	n, own := &o.layout.nodes[node], o.layout.real[o.view.renaming][node]
	exists = true
	destroy := 0.0
	for s := n.first; s < n.end(); s++ {
		start = max(start, o.view.free[s])
		here, _ := o.device.Here(int(o.view.order[s]))
		exists = exists && here == own
		if here != absent {
			destroy = max(destroy, o.device.destroy[here])
		}
	}
	if !exists {
		start += destroy + o.device.create[own]
	}
	return start, exists
}

// Observe implements [Env]. An observation has, with the number of values first (K compute slices, S sizes, I nodes):
//
//	1       the number of tasks left
//	K       when each slice is free
//	I       1 for each node that exists, else 0
//	I       when a task could start on each node
//	1       the potential
//	1       the makespan so far
//	1       the least area of the tasks left, over K
//	1       the number of tasks left over 14
//	1       ten times the time of creating and destroying an instance of the smallest size
//	1       when the last operation so far ends, under [mig.Sequential]
//	1       1/(n+1), where n is the number of tasks left
//	rows    the tasks left, the longest first, then zeros; a row has
//	          S  the time on each size
//	          S  the area on each size over the least one, minus 1
//	          S  when the task could end on each size at the earliest, minus the potential
//	          1  the least area over K
//	          1  the least time
//
// All but the first value are clipped at [featureLimit]. With an endgame, the mask allows one action once only the
// endgame's tasks are left.
func (o *Own) Observe(observation []float32, mask []bool) {
	l := o.layout
	shape := o.Layout()
	clear(observation)
	clear(mask)
	observation[0] = float32(len(o.tasks))
	o.observeGlobals(observation[1 : 1+shape.Globals])
	var earliest [8]float64 // by size index
	for i := range l.sizes {
		earliest[i] = math.Inf(1)
	}
	for i := range l.nodes {
		k := l.nodes[i].class
		earliest[k] = min(earliest[k], o.view.start[i])
	}
	rows := observation[1+shape.Globals:]
	scale := 1 / o.unit
	for j := range o.tasks {
		t := &o.tasks[j]
		row := rows[j*shape.Row : (j+1)*shape.Row]
		for k, s := range l.sizes {
			d := t.Times[s]
			row[k] = clip(d * scale)
			row[len(l.sizes)+k] = clip(float64(s)*d/t.area - 1)
			row[2*len(l.sizes)+k] = clip((earliest[k] + d - o.bound) * scale)
		}
		row[3*len(l.sizes)] = clip(t.area / o.width * scale)
		row[3*len(l.sizes)+1] = clip(t.least * scale)
		allowed := mask[j*shape.Nodes : (j+1)*shape.Nodes]
		for i := range l.nodes {
			allowed[i] = !math.IsInf(t.Times[l.nodes[i].size], 1)
		}
	}
	if len(o.tasks) <= o.last {
		clear(mask)
		mask[o.nextPlanned()] = true
	}
}

// featureLimit is the largest absolute value of a feature.
const featureLimit = 8

// usualTasks is the number of tasks of most batches (DRL 5.1.3).
const usualTasks = 14

// clip limits a feature; +Inf becomes the limit.
func clip(x float64) float32 { return float32(min(max(x, -featureLimit), featureLimit)) }

// observeGlobals writes the part of an observation between the number of tasks and the rows.
func (o *Own) observeGlobals(out []float32) {
	l, v := o.layout, &o.view
	scale := 1 / o.unit
	i := 0
	put := func(x float64) {
		out[i] = clip(x)
		i++
	}
	for s := range l.computeSlices {
		put((v.free[s] - v.first) * scale)
	}
	for n := range l.nodes {
		put(float64(v.exists >> n & 1))
	}
	for n := range l.nodes {
		put((v.start[n] - v.first) * scale)
	}
	put((o.bound - v.first) * scale)
	put((max(o.device.Makespan(), v.first) - v.first) * scale)
	put(o.left / o.width * scale)
	put(float64(len(o.tasks)) / usualTasks)
	put(o.layout.cost * scale * 10)
	put((max(o.device.Busy(), v.first) - v.first) * scale)
	put(1 / float64(len(o.tasks)+1))
}
