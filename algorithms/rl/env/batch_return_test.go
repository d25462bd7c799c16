package env

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// A witness watches an episode of a [Batch] in continuous time and says what was waited
// or done for nothing, which the MDP pays for and the device leaves out.
type witness struct {
	*Batch
	// free is, by real slice, the instant from which it is free; unused is true from a
	// reconfiguration of it to the next task on it.
	free   [8]float64
	unused [8]bool
	// starts are the instants of the executions.
	starts []float64
	wasted bool
}

// realSizes is the partition as it really is: the instance's size by slice.
func (w *witness) realSizes() (size sizeVector) {
	for s, real := range w.sigma[:w.options.GPU.ComputeSlices] {
		size[real] = w.tables.forms[w.tables.partitions[w.partition].form][s]
	}
	return size
}

func (w *witness) look() {
	for s, real := range w.sigma[:w.options.GPU.ComputeSlices] {
		if w.remaining[s] > 0 {
			w.free[real] = w.clock + w.remaining[s]
		}
	}
}

func (w *witness) step(action int) (reward float32, done bool) {
	now, sizes, executed := w.clock, w.realSizes(), len(w.device.placements)
	reward, done = w.Batch.Step(action)
	if len(w.device.placements) > executed {
		x := w.device.placements[executed]
		ready := w.arrival[x.Task]
		for m := w.device.masks[slices.Index(w.device.instances, x.Instance)] & (1<<w.options.GPU.ComputeSlices - 1); m != 0; m &= m - 1 {
			s := slices.Index([]uint8{1, 2, 4, 8, 16, 32, 64}, m&-m)
			ready = max(ready, w.free[s])
			w.unused[s] = false
		}
		w.starts = append(w.starts, now)
		w.wasted = w.wasted || ready < now
	} else if action > 0 {
		after := w.realSizes()
		for s := range sizes {
			if sizes[s] != after[s] {
				w.wasted = w.wasted || w.unused[s] || w.free[s] < now
				w.unused[s] = true
			}
		}
	}
	w.look()
	if done {
		w.wasted = w.wasted || slices.Contains(w.unused[:], true)
	}
	return reward, done
}

// prompt executes if it can, any task anywhere, and else reconfigures now and then.
func prompt(rng *rand.Rand, mask []bool, partitions int) int {
	execute := mask[1+partitions:]
	if slices.Contains(execute, true) {
		return 1 + partitions + choose(rng, execute)
	}
	if reconfigure := mask[1 : 1+partitions]; slices.Contains(reconfigure, true) && (!mask[0] || rng.IntN(2) == 0) {
		return 1 + choose(rng, reconfigure)
	}
	return 0
}

// What the agent is paid by is the schedule's makespan. In continuous time and with
// parallel reconfigurations no task starts later than in the MDP, and so the return is
// never shorter than the makespan; where nothing was waited or reconfigured for nothing,
// all starts and the return are the same.
func TestBatchReturnIsTheMakespan(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	equal, longer := map[bool]int{}, map[bool]int{} // by Direct
	drawn := deep.N(60, 300)                        // each for 20 episodes
	for range drawn {
		o := randomOptions(rng)
		o.Model, o.Levels, o.Encoding, o.Released, o.Reconfiguration = mig.Parallel, 0, Float, false, 0
		b := mustBatch(t, o, randomTasks(o.GPU))
		observation, mask := make([]float32, b.Shape().Observation), make([]bool, b.Shape().Actions)
		for range 20 {
			release := loaded(t, rng, b)
			p := problemOf(o.GPU, o.Model, b.tasks)
			p.Start = existing(b.device)
			begin := 0.0
			if release != nil { // Load begins when a slice and a task are there.
				begin = math.Inf(1)
				for _, e := range p.Start {
					begin = min(begin, float64(e.BusyUntil))
				}
				begin = max(begin, slices.Min(release))
			}
			for _, r := range release {
				p.Release = append(p.Release, mig.Seconds(r))
			}
			w := &witness{Batch: b}
			for _, e := range p.Start {
				for s := e.Instance.Start; s < e.Instance.Start+e.Instance.Size(); s++ {
					w.free[s] = b.snap(float64(e.BusyUntil) - begin)
				}
			}
			policy, paid := rng.IntN(10), 0.0
			for done := false; !done; {
				b.Observe(observation, mask)
				action := 0
				if policy < 5 {
					action = greedy(policy, rng, mask, len(b.tables.partitions))
				} else {
					action = prompt(rng, mask, len(b.tables.partitions))
				}
				var r float32
				r, done = w.step(action)
				paid -= float64(r)
			}
			s := b.device.Schedule()
			if v := schedule.Check(p, s); len(v) > 0 {
				t.Fatalf("%+v: %v", o, v)
			}
			// Rewards are in single precision, times in 2^-30 of a unit.
			end, rounding := begin+paid*b.unit, 1e-6*(1+paid)*b.unit
			makespan := 0.0
			for _, e := range p.Start { // The MDP ends when all slices are idle.
				makespan = max(makespan, float64(e.BusyUntil))
			}
			for i, x := range s.Placements {
				makespan = max(makespan, float64(x.End))
				late := begin + w.starts[i]*b.unit - float64(x.Start)
				if late < -rounding || !w.wasted && late > rounding {
					t.Fatalf("%+v, wasted %v: task %d starts at %v, in the MDP %v s later", o, w.wasted, x.Task, x.Start, late)
				}
			}
			switch {
			case end < makespan-rounding:
				t.Fatalf("%+v: the return is %v s, the makespan %v s", o, end, makespan)
			case !w.wasted && end > makespan+rounding:
				t.Fatalf("%+v: nothing was wasted, and the return is %v s, the makespan %v s", o, end, makespan)
			case !w.wasted:
				equal[o.Direct]++
			case end > makespan+rounding:
				longer[o.Direct]++
			}
		}
	}
	t.Logf("as long: %v, longer: %v of %d", equal, longer, 20*drawn)
	for _, direct := range []bool{false, true} {
		if least := 20 * drawn / 12; equal[direct] < least || longer[direct] < least {
			t.Errorf("direct %v: the return was as long as the makespan in %d episodes without waste and longer in %d only", direct, equal[direct], longer[direct])
		}
	}
}

// Reset leaves the instances on the device with which the MDP begins.
func TestBatchResetAgreesWithItsDevice(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 6))
	for range 500 {
		o := randomOptions(rng)
		b := mustBatch(t, o, randomTasks(o.GPU))
		b.Reset(rng)
		size := (&witness{Batch: b}).realSizes()
		for s, real := range b.sigma[:o.GPU.ComputeSlices] {
			here, until := b.device.Here(int(real))
			if here == absent || int8(b.device.instances[here].Size()) != size[real] {
				t.Fatalf("%+v: slice %d belongs to instance %d of the device, and to one of size %d", o, real, here, size[real])
			}
			if math.Abs(until-b.remaining[s]*b.unit) > 1e-9*b.unit {
				t.Fatalf("%+v: slice %d is busy until %v s on the device, want %v", o, real, until, b.remaining[s]*b.unit)
			}
		}
	}
}
