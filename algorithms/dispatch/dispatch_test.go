package dispatch_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"miglab/algorithms/algotest"
	_ "miglab/algorithms/dispatch"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

var a100 = mig.MustLookup("A100")

func dispatcher(t testing.TB, name string, seed uint64) sim.Dispatcher {
	t.Helper()
	a := algo.MustParse(name)
	d, err := a.Dispatcher(sim.DispatchSetting{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func serve(t testing.TB, name string, p algotest.DispatchProblem) sim.DispatchResult {
	t.Helper()
	r, err := algotest.Dispatch.Run(context.Background(), algo.MustParse(name), p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// queue returns an instance of a dataset as a problem. The seed is 1.
func queue(t testing.TB, spec string, index int) algotest.DispatchProblem {
	t.Helper()
	in, err := datasets.InstanceOf[task.Queue](datasets.MustParse(spec), a100, index)
	if err != nil {
		t.Fatal(err)
	}
	return algotest.DispatchProblem{Queue: in, Seed: 1}
}

// drawQueue draws a fleet of any partitions and jobs whose durations fall with the
// size, strictly or not.
func drawQueue(rng *rand.Rand, strictly bool) algotest.DispatchProblem {
	g := []*mig.GPU{a100, mig.MustLookup("A30")}[rng.IntN(2)]
	p := algotest.DispatchProblem{
		Queue: task.Queue{
			Fleet: task.Fleet{Watts: []float64{40, 120, 160, 200, 240, 250}}, Jobs: make([]task.Job, 1+rng.IntN(50)),
		},
		Seed: rng.Uint64(),
	}
	for range 1 + rng.IntN(4) {
		p.Fleet.Partitions = append(p.Fleet.Partitions, g.Partitions()[rng.IntN(len(g.Partitions()))])
	}
	var arrival task.Minutes
	for i := range p.Jobs {
		arrival += task.Minutes(rng.IntN(5))
		p.Jobs[i] = task.Job{Arrival: arrival, Deadline: arrival + task.Minutes(rng.IntN(61))}
		d := task.Minutes(0)
		for _, s := range slices.Backward(g.Sizes()) {
			d += task.Minutes(rng.IntN(11))
			if d == 0 || strictly {
				d++
			}
			p.Jobs[i].Set(s, d)
		}
	}
	return p
}

func TestDispatchers(t *testing.T) {
	suite := algotest.Suite[algotest.DispatchProblem, sim.DispatchResult]{
		Track: algotest.Dispatch, Problems: deep.N(100, 1000),
		Draw: func(rng *rand.Rand) algotest.DispatchProblem { return drawQueue(rng, false) },
	}
	suite.Test(t)
}

// TestChoicesChangeWithTheVersionOnly holds the slices of the jobs that arrive in the
// busiest hours of a day, in order of arrival, 50 a line.
func TestChoicesChangeWithTheVersionOnly(t *testing.T) {
	var answers []algotest.Answer
	for _, s := range algo.All(algo.TrackDispatch) {
		var b strings.Builder
		for _, spec := range []string{"deadline/relaxed", "deadline/tight?gpus=7+3-3+2-1-1-3+1-1-1-1-1-1-1"} {
			p := queue(t, spec, 0)
			p.Jobs = p.Jobs[1200:1600]
			r := serve(t, s.Name, p)
			fmt.Fprintf(&b, "# %s, instance 0, jobs 1200 to 1599: %d late\n", spec, r.Late)
			for i, run := range r.Runs {
				sep := " "
				if i%50 == 49 {
					sep = "\n"
				}
				fmt.Fprint(&b, run.Slice, sep)
			}
		}
		answers = append(answers, algotest.Answer{Key: algotest.GoldenName(s.Name, s), Text: b.String()})
	}
	algotest.Golden(t, "testdata/golden", answers)
}

// TestEFTWithTrueDurationsIsLargestFirst holds wherever a larger slice is faster; the
// report prints them as two methods.
func TestEFTWithTrueDurationsIsLargestFirst(t *testing.T) {
	for seed := range uint64(200) {
		p := drawQueue(rand.New(rand.NewPCG(seed, 1)), true)
		if a, b := serve(t, "eft-true", p), serve(t, "largest-first", p); !slices.Equal(a.Runs, b.Runs) {
			t.Fatalf("seed %d: %+v and %+v", seed, a, b)
		}
	}
}

// TestLeastSlackAndEnergyAwareTakeTheSameSizes holds for the same reason: they differ
// in the GPU alone.
func TestLeastSlackAndEnergyAwareTakeTheSameSizes(t *testing.T) {
	for seed := range uint64(200) {
		p := drawQueue(rand.New(rand.NewPCG(seed, 2)), true)
		a, b := serve(t, "least-slack", p), serve(t, "energy-aware", p)
		for i := range a.Runs {
			if a.Runs[i].Start != b.Runs[i].Start || a.Runs[i].End != b.Runs[i].End {
				t.Fatalf("seed %d, job %d: %+v and %+v", seed, i, a.Runs[i], b.Runs[i])
			}
		}
	}
}

// A situation is a fleet, for how many minutes its first slices are busy, and the jobs
// that wait at minute 0 (the head first).
type situation struct {
	partitions []string
	busy       []task.Minutes
	waiting    []task.Job
}

// job takes d[i] minutes on the i-th of the sizes 1, 2, 3, 4, 7.
func job(deadline task.Minutes, d ...task.Minutes) task.Job {
	j := task.Job{Deadline: deadline}
	for i, s := range a100.Sizes() {
		j.Set(s, d[i])
	}
	return j
}

// choice returns the size and the GPU of the slice that a scheduler takes.
func (s situation) choice(t *testing.T, name string) (mig.Slices, int) {
	t.Helper()
	var f task.Fleet
	for _, p := range s.partitions {
		parsed, err := a100.ParsePartition(p)
		if err != nil {
			t.Fatal(err)
		}
		f.Partitions = append(f.Partitions, parsed)
	}
	f.Watts = []float64{40, 120, 160, 200, 240, 250, 250, 250}
	var jobs []task.Job
	for _, d := range s.busy {
		if d > 0 {
			jobs = append(jobs, job(0, d, d, d, d, d)) // the earliest deadlines of all
		}
	}
	e, err := sim.NewDispatch(append(jobs, s.waiting...), f)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range s.busy {
		if d == 0 {
			continue
		}
		e.Next()
		if err := e.Place(i); err != nil {
			t.Fatal(err)
		}
	}
	q := e.Next()
	slice := q.Slices()[dispatcher(t, name, 1).Dispatch(q)]
	return slice.Size, slice.GPU
}

func TestChoices(t *testing.T) {
	fast := job(10, 14, 7, 5, 4, 2)
	late := job(1, 14, 7, 5, 4, 2)
	for _, c := range []struct {
		name, scheduler string
		situation
		size mig.Slices
		gpu  int
	}{
		{"largest", "largest-first", situation{[]string{"4-2-1", "7"}, nil, []task.Job{fast}}, 7, 1},
		{"first of equal sizes", "largest-first", situation{[]string{"4-3", "4-3"}, nil, []task.Job{fast}}, 4, 0},
		{"smallest", "smallest-first", situation{[]string{"4-2-1", "2-2-2-1"}, nil, []task.Job{fast}}, 1, 0},
		{"true finish", "eft-true", situation{[]string{"3-3", "4-3"}, nil, []task.Job{fast}}, 4, 1},
		{"3 is as good as 4 for the released code", "eft", situation{[]string{"3-3", "4-3"}, nil, []task.Job{fast}}, 3, 0},
		{"1 is as good as 2", "eft", situation{[]string{"1-1-2-3"}, nil, []task.Job{job(10, 9, 7, 8, 8, 2)}}, 1, 0},
		{"7 alone", "eft", situation{[]string{"4-3", "7"}, nil, []task.Job{fast}}, 7, 1},
		{"least slack", "least-slack", situation{[]string{"4-2-1", "7"}, nil, []task.Job{fast}}, 2, 0},
		{"the deadline itself is in time", "least-slack", situation{[]string{"4-2-1", "7"}, nil, []task.Job{job(7, 14, 7, 5, 4, 2)}}, 2, 0},
		{"no slice is in time", "least-slack", situation{[]string{"4-2-1", "7"}, nil, []task.Job{late}}, 7, 1},
		{"smallest in time", "energy-aware", situation{[]string{"4-2-1", "7"}, nil, []task.Job{fast}}, 2, 0},
		{"no slice is in time, either", "energy-aware", situation{[]string{"4-2-1", "7"}, nil, []task.Job{late}}, 7, 1},
		// On an idle GPU 2 slices cost 120 W more, beside a busy 4 only 10.
		{"where power rises least", "energy-aware", situation{[]string{"4-2-1", "2-2-2-1"}, []task.Minutes{50}, []task.Job{fast}}, 2, 0},
		{"where power rises least, not first", "energy-aware", situation{[]string{"2-2-3", "4-2-1"}, []task.Minutes{0, 0, 0, 50}, []task.Job{fast}}, 2, 1},
		// The head is in time on 3 and on 4, the next job on 4 alone.
		{"leave 4 to the next", "look-ahead", situation{[]string{"4-3"}, nil, []task.Job{job(5, 14, 7, 5, 4, 2), job(6, 14, 10, 9, 6, 5)}}, 3, 0},
		{"4 is best for both", "look-ahead", situation{[]string{"4-3"}, nil, []task.Job{job(4, 14, 7, 5, 4, 2), job(6, 14, 10, 6, 6, 5)}}, 4, 0},
		// One slice is free: the next job gets the one that ends first.
		{"no choice", "look-ahead", situation{[]string{"4-3"}, []task.Minutes{3}, []task.Job{fast, fast}}, 3, 0},
		{"alone: the least slice-minutes in time", "look-ahead", situation{[]string{"4-2-1"}, nil, []task.Job{fast}}, 2, 0},
		{"alone and late: the least tardiness", "look-ahead", situation{[]string{"4-2-1", "7"}, nil, []task.Job{late}}, 7, 1},
	} {
		size, gpu := c.choice(t, c.scheduler)
		if size != c.size || gpu != c.gpu {
			t.Errorf("%s, %s: size %d of GPU %d, want size %d of GPU %d", c.scheduler, c.name, size, gpu, c.size, c.gpu)
		}
	}
}

func TestRandomTakesEveryFreeSliceEquallyOften(t *testing.T) {
	in := queue(t, "deadline/relaxed", 0)
	in.Jobs = in.Jobs[:1]
	const n = 20_000
	counts := make([]int, 20)
	d := dispatcher(t, "random", 7)
	for range n {
		e, err := sim.NewDispatch(in.Jobs, in.Fleet)
		if err != nil {
			t.Fatal(err)
		}
		counts[d.Dispatch(e.Next())]++
	}
	for i, c := range counts {
		if c < 1000-4*31 || c > 1000+4*31 { // 31 = sqrt(n p (1-p))
			t.Errorf("slice %d is taken %d times of %d, want about 1000", i, c, n)
		}
	}
}
