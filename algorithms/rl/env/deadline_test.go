package env_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/algorithms/rl/env"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/sim"
	"miglab/harness/task"
)

var _ env.Env = (*env.Deadline)(nil)

// reportFleet is the deadline report's: 20 slices (2.3).
func reportFleet(t testing.TB) task.Fleet {
	t.Helper()
	f := task.Fleet{Watts: []float64{40, 120, 160, 200, 240, 250, 250, 250}}
	for _, name := range []string{"7", "7", "4-3", "4-3", "4-2-1", "4-2-1", "2-2-2-1", "2-2-2-1"} {
		p, err := mig.MustLookup("A100").ParsePartition(name)
		if err != nil {
			t.Fatal(err)
		}
		f.Partitions = append(f.Partitions, p)
	}
	return f
}

// crowd draws n jobs much like those of the report's busiest hours.
func crowd(n int) env.JobSource {
	return func(rng *rand.Rand, buf []task.Job) []task.Job {
		jobs := buf[:0]
		arrival := 0.0
		for range n {
			arrival += rng.ExpFloat64() / 4
			g1 := 0.01 + 3*rng.ExpFloat64()
			if rng.Float64() < 0.2 {
				g1 = 30 + 40*rng.Float64()
			}
			j := task.Job{Arrival: task.Minutes(arrival)}
			for _, s := range []mig.Slices{1, 2, 3, 4, 7} {
				j.Set(s, task.Minutes(g1/float64(s)))
			}
			j.Deadline = j.Arrival + task.Minutes(1+3*rng.Float64())*j.On(7)
			jobs = append(jobs, j)
		}
		return jobs
	}
}

func newDeadline(t testing.TB, source env.JobSource, o env.DeadlineOptions) *env.Deadline {
	t.Helper()
	d, err := env.NewDeadline(reportFleet(t), source, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func pcg(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// allowed draws one of the allowed actions.
func allowed(rng *rand.Rand, mask []bool) int {
	for {
		if i := rng.IntN(len(mask)); mask[i] {
			return i
		}
	}
}

// chooser is a dispatcher made of a function.
type chooser func(*sim.Queue) int

func (c chooser) Dispatch(q *sim.Queue) int { return c(q) }

// episode is a day as the environment went through it.
type episode struct {
	actions      []int
	rewards      []float32
	observations [][]float32
	masks        [][]bool
	result       sim.DispatchResult
}

func play(d *env.Deadline, seed uint64, choices *rand.Rand) episode {
	var e episode
	d.Reset(pcg(seed))
	for done := false; !done; {
		o, m := make([]float32, d.Shape().Observation), make([]bool, d.Shape().Actions)
		d.Observe(o, m)
		action := allowed(choices, m)
		var r float32
		r, done = d.Step(action)
		e.actions, e.rewards = append(e.actions, action), append(e.rewards, r)
		e.observations, e.masks = append(e.observations, o), append(e.masks, m)
	}
	e.result = d.Result()
	return e
}

// TestDeadlineIsTheSimulation repeats an environment's actions as a dispatcher, which
// sees what the environment showed.
func TestDeadlineIsTheSimulation(t *testing.T) {
	d := newDeadline(t, crowd(300), env.DeadlineOptions{})
	for seed := range uint64(deep.N(4, 20)) {
		e := play(d, seed, pcg(seed+1000))
		o, m := make([]float32, 88), make([]bool, 20)
		i := 0
		want, err := sim.RunDispatch(crowd(300)(pcg(seed), nil), reportFleet(t), chooser(func(q *sim.Queue) int {
			(env.DeadlineOptions{}).Observe(q, o, m)
			if fmt.Sprint(o) != fmt.Sprint(e.observations[i]) {
				t.Fatalf("seed %d, decision %d: a dispatcher sees\n%v, the environment shows\n%v", seed, i, o, e.observations[i])
			}
			for s := range q.Slices() {
				if free := !q.Slices()[s].Busy; m[s] != free || e.masks[i][s] != free {
					t.Fatalf("seed %d, decision %d: masks %v and %v, free is %v", seed, i, m[s], e.masks[i][s], free)
				}
			}
			i++
			return e.actions[i-1]
		}))
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(want) != fmt.Sprint(e.result) {
			t.Fatalf("seed %d: %+v, by the simulation %+v", seed, e.result, want)
		}
	}
}

// naiveRewards works out the report's rewards from the log of a day, given which job
// each decision was about.
func naiveRewards(jobs []task.Job, order []int, r sim.DispatchResult, sizes []mig.Slices, energy float64) []float64 {
	rewards := make([]float64, len(order))
	late, tardiness := 0.0, 0.0
	for i, job := range order {
		run, j := r.Runs[job], jobs[job]
		rewards[i] += 0.01 * float64(sizes[run.Slice]) / 7
		over := float64(run.End - j.Deadline)
		completion := -0.2 * over
		if over <= 0 {
			rewards[i] += 0.05
			completion = 0.1
		} else {
			late++
			tardiness += over
		}
		// It goes to the last decision before the completion. Of draws like these, no arrival
		// coincides with a completion, so that a decision then is one on the slice set free.
		before := i
		for before+1 < len(order) && r.Runs[order[before+1]].Start < run.End {
			before++
		}
		rewards[before] += completion
	}
	n := float64(len(order))
	rewards[len(order)-1] += 10*(1-late/n) - tardiness/n - 2.25e-5*energy/n
	return rewards
}

func TestDeadlineRewards(t *testing.T) {
	var sizes []mig.Slices
	for _, p := range reportFleet(t).Partitions {
		for _, in := range p {
			sizes = append(sizes, in.Size())
		}
	}
	for _, charge := range []env.EnergyCharge{env.NoEnergy, env.EnergyAsReleased, env.EnergyRight} {
		shaped := newDeadline(t, crowd(200), env.DeadlineOptions{Energy: charge})
		sparse := newDeadline(t, crowd(200), env.DeadlineOptions{Energy: charge, Sparse: true})
		released := newDeadline(t, crowd(200), env.DeadlineOptions{Energy: charge, Released: true})
		for seed := range uint64(10) {
			e := play(shaped, seed, pcg(seed+7))
			jobs := crowd(200)(pcg(seed), nil)
			var order []int
			i := 0
			if _, err := sim.RunDispatch(jobs, reportFleet(t), chooser(func(q *sim.Queue) int {
				for k := range jobs {
					if q.Head() == &jobs[k] {
						order = append(order, k)
					}
				}
				i++
				return e.actions[i-1]
			})); err != nil {
				t.Fatal(err)
			}
			energy := map[env.EnergyCharge]sim.WattMinutes{env.EnergyAsReleased: e.result.EnergyAsReleased, env.EnergyRight: e.result.Energy}[charge]
			for i, want := range naiveRewards(jobs, order, e.result, sizes, float64(energy)) {
				if math.Abs(float64(e.rewards[i])-want) > 1e-5*max(1, math.Abs(want)) {
					t.Fatalf("%q, seed %d: reward %d of %d is %v, want %v", charge, seed, i, len(order), e.rewards[i], want)
				}
			}

			// As released, the last step has the terminal reward alone.
			last := len(e.rewards) - 1
			terminal := 10*(1-float64(e.result.Late)/200) - float64(e.result.Tardiness) - 2.25e-5*float64(energy)/200
			r := play(released, seed, pcg(seed+7)).rewards
			if fmt.Sprint(r[:last]) != fmt.Sprint(e.rewards[:last]) || math.Abs(float64(r[last])-terminal) > 1e-5 {
				t.Fatalf("%q, seed %d: as released the last reward is %v, want %v; the others\n%v, want\n%v", charge, seed, r[last], terminal, r[:last], e.rewards[:last])
			}

			e = play(sparse, seed, pcg(seed+7))
			for i, r := range e.rewards[:last] {
				if r != 0 {
					t.Fatalf("sparse reward %d is %v", i, r)
				}
			}
			tardiness := 0.0
			for i, r := range e.result.Runs {
				tardiness += max(0, float64(r.End-jobs[i].Deadline))
			}
			want := (-tardiness - 2.25e-5*float64(energy)) / (200*2.25e-5 + 1)
			if got := float64(e.rewards[last]); math.Abs(got/want-1) > 1e-5 {
				t.Fatalf("%q, seed %d: the sparse reward is %v, want %v", charge, seed, got, want)
			}
		}
	}
}

// penalties recomputes the rewards of the option Penalty but the last from the engine, driven by the same actions.
func penalties(t *testing.T, jobs []task.Job, fleet task.Fleet, actions []int) (rewards []float64, final float64) {
	const w = 2.25e-5
	e, err := sim.NewDispatch(jobs, fleet)
	if err != nil {
		t.Fatal(err)
	}
	type stay struct{ deadline, end task.Minutes }
	var running []stay
	q, last := e.Next(), e.Result()
	for _, action := range actions {
		now, deadline := q.Now(), q.Head().Deadline
		if err := e.Place(action); err != nil {
			t.Fatal(err)
		}
		running = append(running, stay{deadline, q.Slices()[action].FreeAt})
		e.Next()
		if q.Now() == now {
			rewards = append(rewards, 0)
			continue
		}
		n, minutes, r := 0, 0., e.Result()
		energy := float64(r.EnergyAsReleased - last.EnergyAsReleased)
		if fleet.Preemptive {
			n = len(running) - (r.Jobs - last.Jobs)
			for _, s := range running {
				minutes += max(0, float64(q.Now()-s.deadline))
			}
			running = running[:0]
		} else {
			energy = float64(r.EnergyAsReleased)
			for _, s := range running {
				if s.end <= q.Now() {
					n++
					minutes += max(0, float64(s.end-s.deadline))
				}
			}
			running = slices.DeleteFunc(running, func(s stay) bool { return s.end <= q.Now() })
			n = max(n, 1)
		}
		last = r
		reward := 0.
		if n > 0 {
			reward = (-minutes - w*energy) / (float64(n) * (w + 1))
		}
		rewards = append(rewards, reward)
	}
	n := float64(last.Jobs)
	return rewards, (-float64(last.Tardiness)*n - w*float64(last.EnergyAsReleased)) / (n*w + 1)
}

func TestDeadlinePenalty(t *testing.T) {
	for _, preemptive := range []bool{false, true} {
		fleet := reportFleet(t)
		fleet.Preemptive = preemptive
		o := env.DeadlineOptions{Penalty: true, First: preemptive, Energy: env.EnergyAsReleased}
		d, err := env.NewDeadline(fleet, crowd(200), o)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(5) {
			e := play(d, seed, pcg(seed+7))
			want, final := penalties(t, crowd(200)(pcg(seed), nil), fleet, e.actions)
			want[len(want)-1] = final
			paid := 0
			for i := range want {
				if math.Abs(float64(e.rewards[i])-want[i]) > 1e-5*max(1, math.Abs(want[i])) {
					t.Fatalf("preemptive %v, seed %d: reward %d of %d is %v, want %v", preemptive, seed, i, len(want), e.rewards[i], want[i])
				}
				if want[i] < -0.01 {
					paid++
				}
			}
			if paid < 50 {
				t.Errorf("preemptive %v, seed %d: only %d steps are charged", preemptive, seed, paid)
			}
		}
	}
}

// TestDeadlineResetForgets begins anew in the middle of a day.
func TestDeadlineResetForgets(t *testing.T) {
	want := play(newDeadline(t, crowd(60), env.DeadlineOptions{}), 1, pcg(2))
	used := newDeadline(t, crowd(60), env.DeadlineOptions{})
	used.Reset(pcg(3))
	for i := range 9 {
		used.Step(i)
	}
	if got := play(used, 1, pcg(2)); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("after a reset\n%v\nand by a new environment\n%v", got.rewards, want.rewards)
	}
}

// waitingThree is a day on which three jobs wait when the last slice becomes free.
func waitingThree() (jobs []task.Job) {
	job := func(arrival, deadline task.Minutes, g ...task.Minutes) task.Job {
		j := task.Job{Arrival: arrival, Deadline: deadline}
		for i, s := range []mig.Slices{1, 2, 3, 4, 7} {
			j.Set(s, g[i])
		}
		return j
	}
	// One job for each slice, from 0 to 100; from 1 to 3 min, three jobs arrive; slice 19,
	// of size 1, becomes free at 4.
	for i := range 20 {
		g := task.Minutes(100)
		if i == 19 {
			g = 4
		}
		jobs = append(jobs, job(0, task.Minutes(i), g, g, g, g, g))
	}
	return append(jobs,
		job(1, 10, 8, 4, 2, 1.9, 1),       // left 6: 6, 1.95, 1
		job(2, 2.5, 0.5, 0.25, 3, 1, 0.1), // left -1.5: .375, 2, .1
		job(3, 200, 90, 50, 30, 20, 10))   // left 196: 70, 25, 10
}

// reportSizes are the sizes of the slices of reportFleet.
var reportSizes = []float32{7, 7, 4, 3, 4, 3, 4, 2, 1, 4, 2, 1, 2, 2, 2, 1, 2, 2, 2, 1}

// observes compares what an agent sees on that day with what it should see.
func observes(t *testing.T, o env.DeadlineOptions, want []float32) {
	t.Helper()
	d := newDeadline(t, func(*rand.Rand, []task.Job) []task.Job { return waitingThree() }, o)
	d.Reset(nil)
	for i := range 20 {
		d.Step(i)
	}
	got, m := make([]float32, d.Shape().Observation), make([]bool, d.Shape().Actions)
	if d.Observe(got, m); len(got) != len(want) {
		t.Fatalf("%d features, want %d", len(got), len(want))
	}
	for i := range got {
		if math.Abs(float64(got[i]-want[i])) > 1e-6 {
			t.Errorf("%+v: feature %d is %v, want %v", o, i, got[i], want[i])
		}
	}
}

// TestDeadlineObservation works out one observation by hand.
func TestDeadlineObservation(t *testing.T) {
	for _, original := range []bool{false, true} {
		want := []float32{-1.5 / 4.5, .375 / 3.375, 2. / 5, .1 / 3.1}
		if !original {
			want = append(want, 1)
		}
		bins := make([]float32, 40)
		for _, i := range []int{2, 7, 9, 10 + 1, 10 + 5, 10 + 9, 20 + 3, 20 + 4, 20 + 7, 30 + 0, 30 + 3, 30 + 6} {
			bins[i] = 1. / 3
		}
		want = append(want, bins...)
		for range 19 {
			want = append(want, 1)
		}
		want = append(want, 0)
		if !original {
			for _, s := range reportSizes {
				want = append(want, s/7)
			}
			want = append(want, 3./19, 1./20, 1./7)
		}
		observes(t, env.DeadlineOptions{Original: original}, want)
	}
}

// TestReleasedObservation is the same day with the notebook's scales and bins.
func TestReleasedObservation(t *testing.T) {
	want := []float32{-.015, .00375, .02, .001, 1}
	bins := make([]float32, 40)
	for _, i := range []int{
		0, 6, 9, // left -1.5, 6, 196
		10 + 3, 10 + 6, 10 + 9, // .375, 6, 70
		20 + 5, 20 + 5, 20 + 8, // 2, 1.95, 25
		30 + 2, 30 + 5, 30 + 7, // .1, 1, 10
	} {
		bins[i] += 1. / 3
	}
	want = append(want, bins...)
	for range 19 {
		want = append(want, 1)
	}
	want = append(want, 0)
	for _, s := range reportSizes {
		want = append(want, s/7)
	}
	observes(t, env.DeadlineOptions{Released: true}, append(want, 3./100, 1./20, 1./7))

	// The notebooks before the enhanced one have no urgency, no sizes and no largest free size.
	before := slices.Concat(want[:4], want[5:65], []float32{3. / 100, 1. / 20})
	observes(t, env.DeadlineOptions{Released: true, Original: true}, before)

	// The first one has minutes, and four numbers of each slice.
	first := append([]float32{-1.5, .375, 2, .1}, bins...)
	gpus := []float32{0, 1, 2, 2, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7}
	for i, s := range reportSizes {
		first = append(first, gpus[i], float32(i), s, want[45+i])
	}
	observes(t, env.DeadlineOptions{First: true}, first)
}

// TestReleasedBins has four jobs that wait until 150 for the only slice, a whole GPU: at the ends
// of the notebook's bins, and beyond them.
func TestReleasedBins(t *testing.T) {
	whole, err := mig.MustLookup("A100").ParsePartition("7")
	if err != nil {
		t.Fatal(err)
	}
	job := func(arrival, deadline, minutes task.Minutes) task.Job {
		j := task.Job{Arrival: arrival, Deadline: deadline}
		j.Set(7, minutes)
		return j
	}
	jobs := []task.Job{job(0, 0, 150), job(1, 49, 0.05), job(1, 50, 1e9), job(1, 150, 30), job(1, 1e9, 0.04)}
	d, err := env.NewDeadline(task.Fleet{Watts: reportFleet(t).Watts, Partitions: []mig.Partition{whole}},
		func(*rand.Rand, []task.Job) []task.Job { return jobs }, env.DeadlineOptions{Released: true})
	if err != nil {
		t.Fatal(err)
	}
	d.Reset(nil)
	d.Step(0)
	o, m := make([]float32, d.Shape().Observation), make([]bool, 1)
	d.Observe(o, m)
	// No job fits smaller slices.
	if got, want := [4]float32(o), [4]float32{-1.01, 1e7, 1e7, 0.0005}; got != want {
		t.Errorf("the head is seen as %v, want %v", got, want)
	}
	for quantity, want := range [][10]float32{
		{0: .25, 1: .25, 9: .25},
		{},
		{},
		{1: .25, 2: .25, 9: .5},
	} {
		if got := [10]float32(o[5+10*quantity:]); got != want {
			t.Errorf("the bins of quantity %d are %v, want %v", quantity, got, want)
		}
	}
}

// TestObserveQueueStaysInRange takes jobs as extreme as the engine allows.
func TestObserveQueueStaysInRange(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		minutes := rapid.Float64Range(0, 1e9)
		source := func(*rand.Rand, []task.Job) (jobs []task.Job) {
			for range rapid.IntRange(1, 60).Draw(rt, "jobs") {
				j := task.Job{Deadline: task.Minutes(minutes.Draw(rt, "deadline"))}
				for _, s := range []mig.Slices{1, 2, 3, 4, 7} {
					j.Set(s, task.Minutes(max(1e-300, minutes.Draw(rt, "minutes"))))
				}
				jobs = append(jobs, j)
			}
			return jobs
		}
		d := newDeadline(t, source, env.DeadlineOptions{})
		for _, o := range play(d, 0, pcg(rapid.Uint64().Draw(rt, "seed"))).observations {
			for i, v := range o {
				low := float32(0)
				if i == 0 {
					low = -1
				}
				if !(v >= low && v <= 1) {
					rt.Fatalf("feature %d is %v", i, v)
				}
			}
			for k := range 4 {
				sum := float32(0)
				for _, v := range o[5+10*k:][:10] {
					sum += v
				}
				if math.Abs(float64(sum-1)) > 1e-5 {
					rt.Fatalf("the bins of quantity %d add up to %v", k, sum)
				}
			}
		}
	})
}

func TestDeadlinePanicsOnProgrammersErrors(t *testing.T) {
	busy := newDeadline(t, crowd(5), env.DeadlineOptions{})
	busy.Reset(pcg(1))
	empty := newDeadline(t, crowd(0), env.DeadlineOptions{})
	bad := newDeadline(t, func(*rand.Rand, []task.Job) []task.Job { return make([]task.Job, 1) }, env.DeadlineOptions{})
	for name, f := range map[string]func(){
		"no such slice": func() { busy.Step(20) },
		"empty day":     func() { empty.Reset(pcg(1)) },
		"bad job":       func() { bad.Reset(pcg(1)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
	if _, err := env.NewDeadline(task.Fleet{}, crowd(1), env.DeadlineOptions{}); err == nil {
		t.Error("a fleet without GPUs is accepted")
	}
	for want, o := range map[string]env.DeadlineOptions{
		"first excludes released and original": {Original: true, First: true},
		"penalty and sparse exclude":           {Sparse: true, Penalty: true},
	} {
		if _, err := env.NewDeadline(reportFleet(t), crowd(1), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestEnergyChargesHaveNames(t *testing.T) {
	var o env.DeadlineOptions
	if err := json.Unmarshal([]byte(`{"original":true,"sparse":true,"energy":"as-released"}`), &o); err != nil || o != (env.DeadlineOptions{Original: true, Sparse: true, Energy: env.EnergyAsReleased}) {
		t.Errorf("%+v, %v", o, err)
	}
	err := json.Unmarshal([]byte(`{"energy":"as released"}`), &o)
	if unknown, ok := errors.AsType[*nearest.UnknownError](err); !ok || unknown.Nearest != "as-released" {
		t.Errorf("%v", err)
	}
}

func TestDeadlineDoesNotAllocate(t *testing.T) {
	d := newDeadline(t, crowd(200), env.DeadlineOptions{})
	o, m := make([]float32, d.Shape().Observation), make([]bool, d.Shape().Actions)
	stream := rand.NewPCG(0, 0)
	rng := rand.New(stream)
	day := func() {
		stream.Seed(1, 0)
		d.Reset(rng)
		for done := false; !done; {
			d.Observe(o, m)
			_, done = d.Step(allowed(rng, m))
		}
	}
	if n := testing.AllocsPerRun(20, day); n != 0 {
		t.Errorf("%v allocations a day", n)
	}
}
