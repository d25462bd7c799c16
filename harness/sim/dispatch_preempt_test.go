package sim_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// TestPreemptionByHand runs three jobs on a GPU with slices 4 and 3, on which they take as long.
//
//	slice 4: job 0 [1,3)  job 1 [3,4)  job 2 [4,5)  job 1 [5,6)
//	slice 3: job 1 [2,3)  job 0 [3,4)  job 1 [4,5)
//
// Job 0 needs 3 min from 1, job 1 needs 4 min from 2, and job 2 needs 1 min from 4.
func TestPreemptionByHand(t *testing.T) {
	jobs := []task.Job{jobOf(1, 9, 3), jobOf(2, 7, 4), jobOf(4, 5, 1)}
	fleet := fleetOf(t, "4-3")
	fleet.Preemptive = true
	// The head of the queue goes to slice 4 but at 2, when job 1, of the earlier deadline, goes to slice 3.
	r, err := sim.RunDispatch(jobs, fleet, choose(func(q *sim.Queue) int {
		if q.Now() == 2 && q.Waiting() == 2 {
			return 1
		}
		return firstFree(q)
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := []sim.Run{
		{Job: 0, Slice: 0, Start: 1, End: 2},
		{Job: 0, Slice: 0, Start: 2, End: 4},
		{Job: 1, Slice: 1, Start: 2, End: 4},
		{Job: 2, Slice: 0, Start: 4, End: 5},
		{Job: 1, Slice: 1, Start: 4, End: 5},
		{Job: 1, Slice: 0, Start: 5, End: 6},
	}
	if !slices.Equal(r.Runs, want) {
		t.Errorf("runs %v\nwant %v", r.Runs, want)
	}
	if r.Jobs != 3 || r.Late != 0 || r.Makespan != 6 {
		t.Errorf("%+v", r)
	}
	// Idle [0,1) at 10 W and [1,6) at 40 W; as released, the jobs that end at 4, 5 and 6 leave 3, 3 and 0 busy slices.
	if r.Energy != 10+5*40 || r.EnergyAsReleased != 10+40+2*40+40+10 {
		t.Errorf("energies %v, %v", r.Energy, r.EnergyAsReleased)
	}
}

// judgePieces has a referee read the log of a pre-emptive fleet: from the jobs and the fleet alone, and without the
// engine's arithmetic, it checks that no slice and no job does two things at once, that a job runs only after it
// arrived and exactly until its work is done, that after each event the jobs of the earliest deadlines run, as many as
// there are slices, and that stays end at events alone. It returns when each job ends.
func judgePieces(t *rapid.T, r *referee) []task.Minutes {
	ends, work := make([]task.Minutes, len(r.jobs)), make([]float64, len(r.jobs))
	for i, a := range r.runs {
		j := &r.jobs[a.Job]
		if a.Start < j.Arrival || a.End < a.Start {
			t.Fatalf("%+v of %+v", a, j)
		}
		work[a.Job] += float64((a.End - a.Start) / j.On(r.slices[a.Slice].Size()))
		ends[a.Job] = max(ends[a.Job], a.End)
		for _, b := range r.runs[:i] {
			if (a.Slice == b.Slice || a.Job == b.Job) && a.Start < b.End && b.Start < a.End {
				t.Fatalf("%+v and %+v overlap", b, a)
			}
		}
	}
	events := slices.Clone(ends)
	for i := range r.jobs {
		events = append(events, r.jobs[i].Arrival)
		if !near(work[i], 1) {
			t.Fatalf("job %d does %v of its work", i, work[i])
		}
	}
	for _, a := range r.runs {
		if !slices.Contains(events, a.End) {
			t.Fatalf("%+v ends without an event", a)
		}
	}
	for _, at := range events {
		var there, run []int
		for i := range r.jobs {
			if r.jobs[i].Arrival <= at && at < ends[i] {
				there = append(there, i)
			}
		}
		for _, a := range r.runs {
			if a.Start <= at && at < a.End {
				run = append(run, a.Job)
			}
		}
		slices.SortStableFunc(there, func(a, b int) int { return cmp.Compare(r.jobs[a].Deadline, r.jobs[b].Deadline) })
		there = there[:min(len(there), len(r.slices))]
		slices.Sort(there)
		if slices.Sort(run); !slices.Equal(there, run) {
			t.Fatalf("jobs %v run at %v, want %v", run, at, there)
		}
	}
	return ends
}

// TestPreemptionConserves runs a random dispatcher on random queues, in which many events coincide.
func TestPreemptionConserves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs, fleet := drawQueue(t)
		fleet.Preemptive = true
		fleet.Float32 = rapid.Bool().Draw(t, "float32")
		result, err := sim.RunDispatch(jobs, fleet, choose(func(q *sim.Queue) int {
			return rapid.SampledFrom(freeSlices(q)).Draw(t, "slice")
		}))
		if err != nil {
			t.Fatal(err)
		}
		if fleet.Float32 {
			return // A rounded clock does not conserve work exactly; that it comes to an end is enough.
		}
		r := newReferee(jobs, fleet, result.Runs)
		late, tardiness := 0, 0.0
		for i, end := range judgePieces(t, r) {
			if end > jobs[i].Deadline {
				late++
				tardiness += float64(end - jobs[i].Deadline)
			}
		}
		if result.Jobs != len(jobs) || result.Late != late ||
			!near(float64(result.Tardiness)*float64(len(jobs)), tardiness) {
			t.Fatalf("%+v; want %d jobs late and %v min of tardiness", result, late, tardiness)
		}
		if right, _ := r.energies(); !near(float64(result.Energy), right) {
			t.Fatalf("energy %v, by the log %v", result.Energy, right)
		}
	})
}

func freeSlices(q *sim.Queue) (free []int) {
	for i, s := range q.Slices() {
		if !s.Busy {
			free = append(free, i)
		}
	}
	return free
}

// notebook simulates a day as the loop of the authors' first notebook does: a list of events, sorted after each change,
// one event at a time, and durations that shrink by the share that was run. pick chooses among the free slices. It
// returns when each job ends and the energy.
func notebook(jobs []task.Job, fleet task.Fleet, pick func(free []int) int) (ends []float64, energy float64) {
	type event struct {
		at, began  float64
		job, slice int // no slice for an arrival
	}
	jobs, ends = slices.Clone(jobs), make([]float64, len(jobs))
	var events []event
	var working []int
	var sizes []mig.Slices
	var gpus []int
	for gpu, p := range fleet.Partitions {
		for _, in := range p {
			sizes, gpus = append(sizes, in.Size()), append(gpus, gpu)
		}
	}
	for i := range jobs {
		events = append(events, event{at: float64(jobs[i].Arrival), job: i, slice: -1})
	}
	busy, charged := make([]bool, len(sizes)), 0.0
	for len(events) > 0 {
		slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
		e := events[0]
		events = events[1:]
		if e.slice < 0 {
			working = append(working, e.job)
		} else {
			ends[e.job], busy[e.slice] = e.at, false
		}
		for gpu := range fleet.Partitions {
			n := 0
			for i := range sizes {
				if busy[i] && gpus[i] == gpu {
					n += int(sizes[i])
				}
			}
			energy += fleet.Watts[min(n, len(fleet.Watts)-1)] * (e.at - charged)
		}
		charged = e.at
		for _, run := range events {
			if run.slice >= 0 {
				j := &jobs[run.job]
				for _, s := range a100.Sizes() {
					j.Set(s, j.On(s)*task.Minutes(1-(e.at-run.began)/(run.at-run.began)))
				}
				working = append(working, run.job)
			}
		}
		events = slices.DeleteFunc(events, func(run event) bool { return run.slice >= 0 })
		clear(busy)
		slices.SortStableFunc(working, func(a, b int) int { return cmp.Compare(jobs[a].Deadline, jobs[b].Deadline) })
		for range min(len(working), len(sizes)) {
			var free []int
			for i := range busy {
				if !busy[i] {
					free = append(free, i)
				}
			}
			s, job := pick(free), working[0]
			working, busy[s] = working[1:], true
			events = append(events, event{e.at + float64(jobs[job].On(sizes[s])), e.at, job, s})
		}
	}
	return ends, energy
}

// TestPreemptionIsTheNotebooks compares the engine with notebook on days in which events do not coincide.
func TestPreemptionIsTheNotebooks(t *testing.T) {
	fleet := fleetOf(t, "7", "4-3", "2-2-2-1")
	fleet.Preemptive = true
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		jobs, at := make([]task.Job, 150), 0.0
		for i := range jobs {
			at += rng.ExpFloat64()
			jobs[i] = jobOf(task.Minutes(at), task.Minutes(at+10*rng.Float64()), 0)
			for _, s := range a100.Sizes() {
				jobs[i].Set(s, task.Minutes(8*rng.Float64()+0.1))
			}
		}
		picker := func() func([]int) int {
			rng := rand.New(rand.NewPCG(seed, 2))
			return func(free []int) int { return free[rng.IntN(len(free))] }
		}
		pick := picker()
		got, err := sim.RunDispatch(jobs, fleet, choose(func(q *sim.Queue) int { return pick(freeSlices(q)) }))
		if err != nil {
			t.Fatal(err)
		}
		ends := make([]float64, len(jobs))
		for _, a := range got.Runs {
			ends[a.Job] = float64(a.End)
		}
		want, energy := notebook(jobs, fleet, picker())
		for i := range ends {
			if math.Abs(ends[i]-want[i]) > 1e-9*want[i] {
				t.Fatalf("seed %d: job %d ends at %v, want %v", seed, i, ends[i], want[i])
			}
		}
		if !near(float64(got.EnergyAsReleased), energy) {
			t.Errorf("seed %d: energy %v, want %v", seed, got.EnergyAsReleased, energy)
		}
	}
}
