package dispatch_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "miglab/algorithms/dispatch"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

var a100 = mig.MustLookup("A100")

func dispatcher(t interface{ Fatal(...any) }, name string, seed uint64) sim.Dispatcher {
	a, err := algo.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	d, err := algo.Constructor[algo.NewDispatcher](a)(a.Args, sim.DispatchSetting{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func serve(t interface{ Fatal(...any) }, name string, seed uint64, in task.Queue) sim.DispatchResult {
	r, err := sim.RunDispatch(in.Jobs, in.Fleet, dispatcher(t, name, seed))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func instance(t interface{ Fatal(...any) }, spec string, index int) task.Queue {
	in, err := datasets.InstanceOf[task.Queue](datasets.MustParse(spec), a100, index)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// drawInstance draws a fleet of any partitions and jobs whose durations fall with the
// size, strictly or not.
func drawInstance(t *rapid.T, strictly bool) task.Queue {
	g := rapid.SampledFrom([]*mig.GPU{a100, mig.MustLookup("A30")}).Draw(t, "gpu")
	in := task.Queue{Fleet: task.Fleet{
		Partitions: rapid.SliceOfN(rapid.SampledFrom(g.Partitions()), 1, 4).Draw(t, "gpus"),
		Watts:      []float64{40, 120, 160, 200, 240, 250},
	}}
	in.Jobs = make([]task.Job, rapid.IntRange(1, 50).Draw(t, "jobs"))
	least := 0
	if strictly {
		least = 1
	}
	var arrival task.Minutes
	for i := range in.Jobs {
		j := &in.Jobs[i]
		arrival += task.Minutes(rapid.IntRange(0, 4).Draw(t, "gap"))
		*j = task.Job{Arrival: arrival, Deadline: arrival + task.Minutes(rapid.IntRange(0, 60).Draw(t, "slack"))}
		d := task.Minutes(0)
		for _, s := range slices.Backward(g.Sizes()) {
			d += task.Minutes(rapid.IntRange(max(least, boolInt(d == 0)), 10).Draw(t, "more"))
			j.Set(s, d)
		}
	}
	return in
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestConformance runs every scheduler on any queue: its choices are legal, and the
// same queue and seed give the same ones.
func TestConformance(t *testing.T) {
	specs := algo.All(algo.TrackDispatch)
	if len(specs) != 8 {
		t.Errorf("%d schedulers, want 8", len(specs))
	}
	for _, s := range specs {
		t.Run(s.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in, seed := drawInstance(t, false), rapid.Uint64().Draw(t, "seed")
				first, second := serve(t, s.Name, seed, in), serve(t, s.Name, seed, in)
				if first.Jobs != len(in.Jobs) || !slices.Equal(first.Runs, second.Runs) {
					t.Fatalf("%+v and then %+v", first, second)
				}
			})
		})
	}
}

// TestEFTWithTrueDurationsIsLargestFirst holds wherever a larger slice is faster; the
// report prints them as two methods.
func TestEFTWithTrueDurationsIsLargestFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInstance(t, true)
		if a, b := serve(t, "eft-true", 0, in), serve(t, "largest-first", 0, in); !slices.Equal(a.Runs, b.Runs) {
			t.Fatalf("%+v and %+v", a, b)
		}
	})
}

// TestLeastSlackAndEnergyAwareTakeTheSameSizes holds for the same reason: they differ
// in the GPU alone.
func TestLeastSlackAndEnergyAwareTakeTheSameSizes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInstance(t, true)
		a, b := serve(t, "least-slack", 0, in), serve(t, "energy-aware", 0, in)
		for i := range a.Runs {
			if a.Runs[i].Start != b.Runs[i].Start || a.Runs[i].End != b.Runs[i].End {
				t.Fatalf("job %d: %+v and %+v", i, a.Runs[i], b.Runs[i])
			}
		}
	})
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
	in := instance(t, "deadline/relaxed", 0)
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
