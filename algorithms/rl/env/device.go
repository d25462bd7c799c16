package env

import (
	"math"
	"math/bits"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// A Device carries out decisions on one GPU, one after the other: "this task next on that instance". Each task starts
// as soon as possible: after the earlier tasks on its slices, once overlapping instances are destroyed and its own is
// created. An existing instance is reused at no cost.
//
// Operations run at the earliest time at which they fit. Under [mig.Sequential] one runs
// at a time; a later decision may use a gap between two operations decided before.
//
// Package algorithms plans whole batches and then computes their times. An environment
// needs the times after each decision and therefore uses a Device.
type Device struct {
	gpu       *mig.GPU
	model     mig.Reconfiguration
	instances []mig.Instance // all instances of the GPU's repartitioning tree
	masks     []uint8        // by instance: its memory slices
	create    []float64      // by instance, in seconds
	destroy   []float64      // by instance, in seconds

	here [mig.MaxMemorySlices]int8 // by memory slice, the index of the instance that is there, or absent
	// free is, by memory slice, when it becomes free: at the end of its last task, of the work that Preset gave it, or
	// of the destruction of its last instance.
	free    [mig.MaxMemorySlices]float64
	channel []interval // the operations' times, ascending and disjoint, under mig.Sequential
	done    float64    // makespan

	placements []schedule.Placement
	operations []schedule.Operation
}

const absent = -1

type interval struct{ start, end float64 }

// NewDevice returns an empty GPU at time 0.
func NewDevice(g *mig.GPU, model mig.Reconfiguration) *Device {
	d := &Device{gpu: g, model: model}
	for _, n := range g.Tree() {
		d.instances = append(d.instances, n.Instance)
		d.masks = append(d.masks, uint8(n.Mask()))
		d.create = append(d.create, float64(model.Cost(n.Profile.Create)))
		d.destroy = append(d.destroy, float64(model.Cost(n.Profile.Destroy)))
	}
	d.Reset()
	return d
}

// Instances returns the instances by their number in the other methods: the GPU's
// repartitioning tree in preorder. The slice must not be changed.
func (d *Device) Instances() []mig.Instance { return d.instances }

// numberInstances returns the numbers of a GPU's instances on a [Device].
func numberInstances(g *mig.GPU) map[mig.Instance]int {
	number := map[mig.Instance]int{}
	for i, n := range g.Tree() {
		number[n.Instance] = i
	}
	return number
}

// Reset empties the GPU and returns to time 0.
func (d *Device) Reset() {
	for i := range d.here {
		d.here[i], d.free[i] = absent, 0
	}
	d.channel, d.placements, d.operations = d.channel[:0], d.placements[:0], d.operations[:0]
	d.done = 0
}

// Preset puts an instance on empty slices at time 0. It is busy until the given instant
// with work that is not part of the schedule.
func (d *Device) Preset(instance int, busyUntil float64) {
	for m := d.masks[instance]; m != 0; m &= m - 1 {
		s := bits.TrailingZeros8(m)
		d.here[s], d.free[s] = int8(instance), busyUntil
	}
}

// Here returns the instance on a memory slice, or -1, and when the slice becomes free.
func (d *Device) Here(slice int) (instance int, free float64) {
	return int(d.here[slice]), d.free[slice]
}

// Used reports whether a task has run since the device was reset.
func (d *Device) Used() bool { return len(d.placements) > 0 }

// Makespan returns the end of the last task.
func (d *Device) Makespan() float64 { return d.done }

// Busy returns when the last operation so far ends, under [mig.Sequential]; 0 otherwise and before the first.
func (d *Device) Busy() float64 {
	if len(d.channel) == 0 {
		return 0
	}
	return d.channel[len(d.channel)-1].end
}

// Run gives an instance its next task and returns when it runs. The task is numbered as in
// the problem and may not start before its release. seconds must be finite.
func (d *Device) Run(instance, task int, seconds, release float64) (start, end float64) {
	mask := d.masks[instance]
	ready := 0.0
	there := true
	for m := mask; m != 0; m &= m - 1 {
		s := bits.TrailingZeros8(m)
		there = there && int(d.here[s]) == instance
		ready = max(ready, d.free[s])
	}
	if !there {
		ready = d.createInstance(instance, mask)
	}
	start = max(ready, release)
	end = start + seconds
	for m := mask; m != 0; m &= m - 1 {
		d.free[bits.TrailingZeros8(m)] = end
	}
	d.done = max(d.done, end)
	d.placements = append(d.placements, schedule.Placement{
		Task: task, Instance: d.instances[instance], Start: mig.Seconds(start), End: mig.Seconds(end),
	})
	return start, end
}

// createInstance destroys the instances that overlap the given one, in the order in which they
// become free, creates it and returns when it exists.
func (d *Device) createInstance(instance int, mask uint8) float64 {
	for {
		blocker, first := absent, math.Inf(1)
		for m := mask; m != 0; m &= m - 1 {
			s := bits.TrailingZeros8(m)
			if b := int(d.here[s]); b != absent && (d.free[s] < first || d.free[s] == first && b < blocker) {
				blocker, first = b, d.free[s]
			}
		}
		if blocker == absent {
			break
		}
		at := d.operate(schedule.Destroy, blocker, first, d.destroy[blocker])
		for m := d.masks[blocker]; m != 0; m &= m - 1 {
			s := bits.TrailingZeros8(m)
			d.here[s], d.free[s] = absent, at
		}
	}
	ready := 0.0
	for m := mask; m != 0; m &= m - 1 {
		s := bits.TrailingZeros8(m)
		d.here[s] = int8(instance)
		ready = max(ready, d.free[s])
	}
	return d.operate(schedule.Create, instance, ready, d.create[instance])
}

// operate carries out an operation at the earliest instant from ready on, and returns its end.
func (d *Device) operate(op schedule.Op, instance int, ready, seconds float64) float64 {
	at := interval{ready, ready + seconds}
	if d.model == mig.Sequential {
		at = d.reserve(ready, seconds)
	}
	d.operations = append(d.operations, schedule.Operation{
		Op: op, Instance: d.instances[instance], Start: mig.Seconds(at.start), End: mig.Seconds(at.end),
	})
	return at.end
}

// reserve takes the first gap of the channel, from ready on, into which an operation of so many seconds fits.
func (d *Device) reserve(ready, seconds float64) interval {
	i := len(d.channel)
	for i > 0 && d.channel[i-1].end > ready {
		i--
	}
	start := ready
	for i < len(d.channel) && start+seconds > d.channel[i].start {
		start = d.channel[i].end
		i++
	}
	at := interval{start, start + seconds}
	d.channel = slices.Insert(d.channel, i, at)
	return at
}

// Schedule returns the decisions so far.
func (d *Device) Schedule() schedule.Schedule {
	out := schedule.Schedule{GPU: d.gpu, Model: d.model}
	out.Placements = append(out.Placements, d.placements...)
	out.Operations = append(out.Operations, d.operations...)
	return out
}
