package algorithms

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// flowOf is the mean flow time of an algorithm on tasks that arrive at their release times.
func flowOf(t *testing.T, id string, p algo.Problem) float64 {
	t.Helper()
	return meanFlow(p, flowSchedule(t, id, p))
}

// flowSchedule is the schedule of an algorithm for tasks that arrive at their release times.
func flowSchedule(t *testing.T, id string, p algo.Problem) schedule.Schedule {
	t.Helper()
	lengths := make([]int, len(p.Tasks))
	for i := range lengths {
		lengths[i] = 1
	}
	s, err := algotest.Stream.Run(t.Context(), algo.MustParse(id), algotest.StreamProblem{Problem: p, Lengths: lengths})
	if err != nil {
		t.Fatal(err)
	}
	if v := schedule.Check(p, s); len(v) > 0 {
		t.Fatal(v)
	}
	return s
}

func meanFlow(p algo.Problem, s schedule.Schedule) float64 {
	sum := 0.0
	for _, pl := range s.Placements {
		sum += float64(pl.End - p.ReleaseOf(pl.Task))
	}
	return sum / float64(len(s.Placements))
}

// poisson draws tasks that arrive one by one. alpha is how well they scale, from not at all (0) to
// perfectly (1).
func poisson(rng *rand.Rand, n int, alpha, seconds, between float64) algo.Problem {
	p := algo.Problem{GPU: mig.MustLookup("A100"), Model: mig.Sequential}
	now := 0.0
	for range n {
		one := seconds * rng.ExpFloat64()
		times := map[mig.Slices]mig.Seconds{}
		for _, size := range p.GPU.Sizes() {
			times[size] = mig.Seconds(one/math.Pow(float64(size), alpha) + 0.1)
		}
		p.Tasks = append(p.Tasks, task.New("t", times))
		now += between * rng.ExpFloat64()
		p.Release = append(p.Release, mig.Seconds(now))
	}
	return p
}

// Tasks that no instance speeds up take one slice each, so that all of them run at once, though a
// task that is alone could as well take the whole GPU.
func TestFlowStreamLeavesSlicesToOthers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	p := poisson(rng, 200, 0, 60, 15) // four tasks in the system on average, if none waits
	run := 0.0
	for i := range p.Tasks {
		run += float64(p.Tasks[i].On(1)) / 200
	}
	if flow := flowOf(t, "flow-stream", p); flow > 1.1*run {
		t.Errorf("the mean flow time is %v s; a task runs %v s", flow, run)
	}
}

// c arrives while the instance of a is destroyed for b. It starts when that is done, not when b ends.
func TestFlowStreamWaitsForDestruction(t *testing.T) {
	p := algo.Problem{GPU: mig.MustLookup("A100"), Model: mig.Sequential, Release: []mig.Seconds{0, 1, 10.3}}
	for _, size := range []mig.Slices{7, 4, 3} {
		p.Tasks = append(p.Tasks, task.New("t", map[mig.Slices]mig.Seconds{size: map[mig.Slices]mig.Seconds{7: 10, 4: 100, 3: 5}[size]}))
	}
	s := flowSchedule(t, "flow-stream", p)
	for _, pl := range s.Placements {
		if pl.Task == 2 && pl.Start > 11.5 {
			t.Errorf("c starts at %v s; its slices are free from %v s on", pl.Start, s.Operations[1].End)
		}
	}
}

// A change of the last bits of all times, as between processors, changes no decision.
func TestFlowStreamIgnoresTheLastBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	for range deep.N(10, 100) {
		p := poisson(rng, 100, rng.Float64(), 60, 60/7/0.8)
		for i := range p.Tasks {
			for _, size := range p.GPU.Sizes() { // so that many plans cost the same
				p.Tasks[i].Set(size, mig.Seconds(math.Ceil(float64(p.Tasks[i].On(size)/10))*10))
			}
			p.Release[i] = mig.Seconds(math.Ceil(float64(p.Release[i]/10)) * 10)
		}
		bits := map[mig.Seconds]mig.Seconds{} // equal times stay equal
		off := func(v mig.Seconds) mig.Seconds {
			if _, ok := bits[v]; !ok {
				bits[v] = v * mig.Seconds(1+0x1p-52*float64(rng.IntN(3)-1))
			}
			return bits[v]
		}
		q := p
		q.Tasks, q.Release = slices.Clone(p.Tasks), nil
		for i := range q.Tasks {
			for _, size := range p.GPU.Sizes() {
				q.Tasks[i].Set(size, off(p.Tasks[i].On(size)))
			}
			q.Release = append(q.Release, off(p.Release[i]))
		}
		slices.Sort(q.Release)
		a, b := flowSchedule(t, "flow-stream", p).Placements, flowSchedule(t, "flow-stream", q).Placements
		for i := range a {
			if a[i].Task != b[i].Task || a[i].Instance != b[i].Instance || math.Abs(float64(a[i].Start-b[i].Start)) > 1e-6 {
				t.Fatalf("run %d is of task %d on %v at %v s, and with other last bits of task %d on %v at %v s", i, a[i].Task, a[i].Instance,
					a[i].Start, b[i].Task, b[i].Instance, b[i].Start)
			}
		}
	}
}

// Few tasks that are all there have nearly the least mean flow time of all lists of them.
func TestFlowStreamIsNearTheOptimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	sum, cases := 0.0, deep.N(30, 200)
	for range cases {
		p := poisson(rng, 1+rng.IntN(4), rng.Float64(), 20, 0)
		p.GPU = mig.MustLookup("A30")
		for i := range p.Tasks {
			times := map[mig.Slices]mig.Seconds{}
			for _, size := range p.GPU.Sizes() {
				times[size] = p.Tasks[i].On(size)
			}
			p.Tasks[i] = task.New("t", times)
		}
		best := math.Inf(1)
		eachList(p, func(list []flowEntry) {
			q := newFlowQueue(p, flowStream{})
			q.list = list
			for ; len(q.list) > 0; q.wait() {
				q.sync()
				q.begin()
			}
			best = min(best, meanFlow(p, q.timer.Schedule()))
		})
		ratio := flowOf(t, "flow-stream?price=0", p) / best
		if ratio < 1-1e-9 {
			t.Errorf("%v of the least mean flow time", ratio)
		}
		sum += ratio
	}
	if mean := sum / float64(cases); mean > 1.01 {
		t.Errorf("the mean flow time is %v of the least one", mean)
	}
}

// eachList hands over all lists of the tasks, in every order and with all sizes.
func eachList(p algo.Problem, use func([]flowEntry)) {
	var list []flowEntry
	var extend func(left []int32)
	extend = func(left []int32) {
		if len(left) == 0 {
			use(append([]flowEntry(nil), list...))
		}
		for i, k := range left {
			rest := append(append([]int32(nil), left[:i]...), left[i+1:]...)
			for size := range p.GPU.Sizes() {
				list = append(list, flowEntry{k, int8(size)})
				extend(rest)
				list = list[:len(list)-1]
			}
		}
	}
	var all []int32
	for i := range p.Tasks {
		all = append(all, int32(i))
	}
	extend(all)
}

// Whether tasks scale well or badly, flow-stream is better than MISO.
func TestFlowStreamAgainstMISO(t *testing.T) {
	for _, alpha := range []float64{0.3, 0.6, 0.9} {
		rng := rand.New(rand.NewPCG(3, 13))
		ours, miso := 0.0, 0.0
		n := deep.N(3, 10)
		for range n {
			p := poisson(rng, 150, alpha, 60, 60/7/0.8)
			ours += flowOf(t, "flow-stream", p)
			miso += flowOf(t, "miso-online", p)
		}
		if ours > 0.95*miso {
			t.Errorf("tasks scale with %v: a mean flow time of %v s, MISO has %v s", alpha, ours/float64(n), miso/float64(n))
		}
	}
}
