package env

import (
	"math"
	"math/rand/v2"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// Own is our own formulation of batch scheduling on one GPU, free of the DRL
// paper's modelling. An action says which task comes next and on which instance; it
// runs as soon as the slices are free and the instance exists, so that there is
// nothing to wait for and no action for waiting or reconfiguring. An episode has as
// many steps as tasks.
//
// Times are divided by a lower bound of the batch and counted from the first slice
// that is free, so that neither the unit of time nor the instant matters. Slices
// that only differ in their place are sorted.
//
// The reward is minus the growth of a lower bound on the makespan, the potential:
// the larger of the makespan so far and of the area occupied so far and still to
// come, by slice. It begins at the area bound and ends as the makespan.
type Own struct {
	gpu      *mig.GPU
	capacity int
	source   Source
	// start is the probability with which an episode begins on a GPU at work.
	start float64

	layout  *layout
	device  *Device
	drawn   []Times
	tasks   []ownTask // left, in canonical order
	unit    float64   // seconds
	release float64
	left    float64 // area of the tasks left, in slice-seconds
	bound   float64 // potential, in seconds
	width   float64 // compute slices

	view view
}

// RewardScale is what an episode of [Own] earns, negated, for a makespan that
// exceeds the area bound by the batch's lower bound.
const RewardScale = 10

// rowFeatures describe a task: its time and its area on each size, when it could
// end there, and its least area and least time.
func rowFeatures(sizes int) int { return 3*sizes + 2 }

// globalFeatures describe the GPU: see observeGlobals.
func globalFeatures(l *layout) int { return l.width + 2*len(l.nodes) + 7 }

// OwnShape is how observations of [Own] are laid out: the number of tasks left,
// globals, then a row for each of them, zeros up to the capacity. Action a puts
// task a/Nodes on node a%Nodes.
type OwnShape struct{ Capacity, Globals, Row, Nodes int }

type ownTask struct {
	Times
	index   int // in the problem
	area    float64
	least   float64
	release float64
}

// NewOwn returns an environment for batches of up to capacity tasks, drawn from the
// source, which may be nil if only Load is used. With probability start an episode
// begins on a GPU that is partitioned and busy for a while.
func NewOwn(g *mig.GPU, model mig.Reconfiguration, capacity int, source Source, start float64) *Own {
	l := newLayout(g)
	o := &Own{
		gpu: g, capacity: capacity, source: source, start: start, layout: l,
		device: NewDevice(g, model), width: float64(l.width),
		drawn: make([]Times, capacity), tasks: make([]ownTask, 0, capacity),
	}
	o.view.start = make([]float64, len(l.nodes))
	return o
}

// Layout returns how observations and actions are laid out.
func (o *Own) Layout() OwnShape {
	return OwnShape{o.capacity, globalFeatures(o.layout), rowFeatures(len(o.layout.sizes)), len(o.layout.nodes)}
}

// Shape implements [Env].
func (o *Own) Shape() Shape {
	l := o.Layout()
	return Shape{Observation: 1 + l.Globals + l.Capacity*l.Row, Actions: l.Capacity * l.Nodes}
}

// Device returns the GPU that the decisions are carried out on.
func (o *Own) Device() *Device { return o.device }

// Reset implements [Env].
func (o *Own) Reset(rng *rand.Rand) {
	n := o.source(rng, o.drawn)
	o.device.Reset()
	if rng.Float64() < o.start {
		o.busyStart(rng, o.drawn[:n])
	}
	o.Load(o.drawn[:n], 0, nil)
}

// busyStart puts one of the GPU's partitions in place, each instance busy for up
// to half the mean load of a slice.
func (o *Own) busyStart(rng *rand.Rand, tasks []Times) {
	load := 0.0
	for i := range tasks {
		area, _ := o.layout.least(&tasks[i])
		load += area
	}
	p := o.layout.partitions[rng.IntN(len(o.layout.partitions))]
	for _, instance := range p {
		o.device.Exists(instance, rng.Float64()*load/o.width/2)
	}
}

// Load hands over tasks, numbered from first on, that may not start before their
// releases; nil if all may start at time 0. The GPU stays as the decisions so far
// have left it. There may be no more tasks than the capacity, and each must fit some
// instance. What the agent sees knows of the earliest release only.
func (o *Own) Load(tasks []Times, first int, releases []float64) {
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
	o.look()
	o.bound = o.potential()
}

// compareTasks orders tasks by their durations, the longest first, and equal ones
// as they came.
func compareTasks(a, b ownTask) int {
	if c := slices.Compare(b.Times[:], a.Times[:]); c != 0 {
		return c
	}
	return a.index - b.index
}

// Left returns how many tasks wait for a decision.
func (o *Own) Left() int { return len(o.tasks) }

// Makespan returns the end of the last task, in seconds.
func (o *Own) Makespan() float64 { return o.device.Makespan() }

// Schedule returns the decisions so far.
func (o *Own) Schedule() schedule.Schedule { return o.device.Schedule() }

// potential is a lower bound on the makespan of whatever is decided from here on,
// reconfigurations and the packing into instances left aside.
func (o *Own) potential() float64 {
	area := o.left
	for _, f := range o.view.free[:o.layout.width] {
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
	if len(o.tasks) == 0 {
		o.left = 0
	}
	o.look()
	was := o.bound
	// Rounding aside, the potential never falls.
	o.bound = o.potential()
	return float32(-RewardScale * (o.bound - was) / o.unit), len(o.tasks) == 0
}

// A view is what the GPU looks like from the agent's side, slices renamed.
type view struct {
	renaming int
	// free is, by canonical compute slice, when it has done all that it was given, and
	// not before the release.
	free [8]float64
	// size is the size of the instance there, 0 for none.
	size [8]int8
	// first is when the first slice is free.
	first float64
	// start is, by node, when a task could start there, waiting for other
	// reconfigurations left aside.
	start []float64
	// exists is, by node, whether the instance is there.
	exists uint32
}

// look takes a view of the device.
func (o *Own) look() {
	l, v := o.layout, &o.view
	var free [8]float64
	var size [8]int8
	for s := range l.width {
		here, until := o.device.Here(s)
		free[s] = max(until, o.release)
		if here != nothing {
			size[s] = int8(o.device.instances[here].Size())
		}
	}
	var order [8]int8
	v.renaming = l.rename(&free, &size, &order)
	v.first = math.Inf(1)
	for s := range l.width {
		v.free[s], v.size[s] = free[order[s]], size[order[s]]
		v.first = min(v.first, v.free[s])
	}
	v.exists = 0
	real := l.real[v.renaming]
	for i := range l.nodes {
		n := &l.nodes[i]
		ready, destroy := 0.0, 0.0
		blocked, there := false, true
		for s := n.first; s < n.first+n.width; s++ {
			ready = max(ready, v.free[s])
			here, _ := o.device.Here(int(order[s]))
			there = there && here == real[i]
			if here != nothing {
				blocked = true
				destroy = max(destroy, o.device.destroy[here])
			}
		}
		switch {
		case there:
			v.exists |= 1 << i
		case blocked:
			ready += destroy + o.device.create[real[i]]
		default:
			ready += o.device.create[real[i]]
		}
		v.start[i] = ready
	}
}

// Observe implements [Env].
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
}

// clip keeps a feature within what a network takes well; +Inf becomes the limit.
func clip(x float64) float32 {
	const limit = 8
	return float32(min(max(x, -limit), limit))
}

func (o *Own) observeGlobals(out []float32) {
	l, v := o.layout, &o.view
	scale := 1 / o.unit
	i := 0
	put := func(x float64) {
		out[i] = clip(x)
		i++
	}
	for s := range l.width {
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
	put(float64(len(o.tasks)) / 14)
	put(o.layout.cost * scale * 10)
	put((max(o.device.Busy(), v.first) - v.first) * scale)
	put(1 / float64(len(o.tasks)+1))
}
