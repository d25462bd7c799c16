package env

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Reset implements [Env].
func (b *Batch) Reset(rng *rand.Rand) {
	b.device.Reset()
	n := b.source(rng, b.tasks[:b.options.Stream])
	b.tasks, b.release, b.firstNumber = b.tasks[:n], b.release[:0], 0
	b.scale()
	b.remaining = [8]float64{}
	b.partition = b.tables.whole
	if b.options.RandomStart {
		b.partition = rng.IntN(len(b.tables.partitions))
		b.busyStart(rng)
	} else {
		b.device.Preset(b.deviceInstance(0), 0)
	}
	b.begin(0, b.tables.partitions[b.partition].form)
}

// busyStart creates the partition's instances, some of them busy.
func (b *Batch) busyStart(rng *rand.Rand) {
	p := &b.tables.partitions[b.partition]
	for m := range p.instances {
		units := b.drawBusyTime(rng)
		b.device.Preset(b.deviceInstance(m), units*b.unit)
		for s := p.instances[m]; s != 0; s &= s - 1 {
			b.remaining[bits.TrailingZeros8(s)] = units
		}
	}
}

// drawBusyTime draws the time for which an instance is busy at a random start, in units.
func (b *Batch) drawBusyTime(rng *rand.Rand) float64 {
	switch {
	case b.options.Released:
		return float64(rng.IntN(b.options.Levels + 1))
	case rng.IntN(2) > 0:
		return 0
	case b.options.Levels > 0:
		return float64(1 + rng.IntN(b.options.Levels))
	}
	return float64(1+rng.IntN(grid)) / grid
}

// deviceInstance returns the device's number of the partition's m-th instance, while slices have their real names.
func (b *Batch) deviceInstance(m int) int {
	p := &b.tables.partitions[b.partition]
	first := bits.TrailingZeros8(p.instances[m])
	return int(b.tables.instance[b.tables.forms[p.form][first]][first])
}

// Load implements [Scheduler], for any number of tasks, in order of arrival, as [task.Batch.Validate] accepts them. The
// error is always nil.
//
// The episode begins once a slice is free and a task has arrived. Its partition is the useful one that agrees with the
// device on the most slices, of equals the first by class. No useful partition has an instance of 3 slices at slice 0.
// If the device has one beside other instances, the agent sees an instance of 4 that is busy for the same time.
func (b *Batch) Load(tasks []Times, first int, release []float64) error {
	b.tasks = append(b.tasks[:0], tasks...)
	b.release = append(b.release[:0], release...)
	b.firstNumber = first
	b.scale()
	b.adopt()
	return nil
}

// adopt begins the episode in the state of the device.
func (b *Batch) adopt() {
	k := int(b.options.GPU.ComputeSlices)
	var free [8]float64 // seconds
	for s := range k {
		_, free[s] = b.device.Here(s)
	}
	start := slices.Min(free[:k])
	if len(b.release) > 0 {
		start = max(start, slices.Min(b.release))
	}
	most, form := -1, 0
	for f := range b.tables.forms {
		agreeing := 0
		for s := range k {
			if here, _ := b.device.Here(s); here == int(b.tables.instance[b.tables.forms[f][s]][s]) {
				agreeing++
			}
		}
		if agreeing > most {
			most, form = agreeing, f
		}
	}
	for s := range k {
		busy := max(0, free[s]-start)
		if b.options.StartInLevels && !b.device.Used() {
			busy *= b.unit
		}
		b.remaining[s] = b.snap(busy)
	}
	b.begin(start, form)
}

// begin adds the first tasks to the batch. start is the episode's instant 0, in seconds, and form the partition.
// remaining still has the slices under their real names.
func (b *Batch) begin(start float64, form int) {
	for i, seconds := range b.release {
		b.arrival[i] = b.snap(max(0, seconds-start))
	}
	b.clock, b.joined, b.waiting = 0, 0, 0
	b.batch = b.batch[:0]
	b.reconfigured = false
	b.join()
	for s := range b.sigma {
		b.sigma[s] = int8(s)
	}
	b.rename(form)
}
