package sim_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

var a100 = mig.MustLookup("A100")

// fleetOf returns GPUs with the partitions, which draw 10 W times their busy slices
// plus 1, up to 3 slices.
func fleetOf(t interface{ Fatal(...any) }, partitions ...string) task.Fleet {
	f := task.Fleet{Watts: []float64{10, 20, 30, 40}}
	for _, name := range partitions {
		p, err := a100.ParsePartition(name)
		if err != nil {
			t.Fatal(err)
		}
		f.Partitions = append(f.Partitions, p)
	}
	return f
}

// jobOf returns a job that takes the same time on every size but 7, and half on that.
func jobOf(arrival, deadline, minutes task.Minutes) task.Job {
	j := task.Job{Arrival: arrival, Deadline: deadline}
	for _, s := range a100.Sizes() {
		j.Set(s, minutes)
	}
	j.Set(7, minutes/2)
	return j
}

// choose is a dispatcher made of a function.
type choose func(*sim.Queue) int

func (c choose) Dispatch(q *sim.Queue) int { return c(q) }

// firstFree dispatches to the first free slice.
func firstFree(q *sim.Queue) int {
	return slices.IndexFunc(q.Slices(), func(s sim.Slice) bool { return !s.Busy })
}

// TestWorkedExample runs four jobs on a GPU with slices 4 and 3.
//
//	slice 4: job 0 [1,5)  job 3 [5,6)
//	slice 3: job 1 [2,6)  job 2 [6,8)
//
// Job 3 arrives at 5, when job 0 ends: arrivals win, so that it is before job 2 in the
// queue, with the earlier deadline, when the slice becomes free.
func TestWorkedExample(t *testing.T) {
	jobs := []task.Job{jobOf(1, 5, 4), jobOf(2, 5, 4), jobOf(3, 8.5, 2), jobOf(5, 5.5, 1)}
	r, err := sim.RunDispatch(jobs, fleetOf(t, "4-3"), choose(firstFree))
	if err != nil {
		t.Fatal(err)
	}
	runs := []sim.Run{{Job: 0, Slice: 0, Start: 1, End: 5}, {Job: 1, Slice: 1, Start: 2, End: 6}, {Job: 2, Slice: 0, Start: 6, End: 8}, {Job: 3, Slice: 0, Start: 5, End: 6}}
	if !slices.Equal(r.Runs, runs) {
		t.Errorf("runs %v, want %v", r.Runs, runs)
	}
	// Jobs 1 and 3 are late by 1 and 0.5 min; jobs 0 and 2 end by their deadlines.
	if r.Jobs != 4 || r.Late != 2 || r.LatePercent() != 50 || r.Tardiness != 1.5/4 || r.Makespan != 8 {
		t.Errorf("%+v", r)
	}
	// Idle [0,1) at 10 W, [1,8) at 40 W, the most of the table.
	if want := sim.WattMinutes(10 + 7*40); r.Energy != want || r.Energy.Joules() != 60*290 {
		t.Errorf("energy %v, want %v", r.Energy, want)
	}
	// As released, arrivals at 3 and 5 charge [2,5) at 40 W, [5,6) goes at 10 W since both
	// slices are free by then, and so does [6,8).
	if want := sim.WattMinutes(10 + 4*40 + 10 + 2*10); r.EnergyAsReleased != want {
		t.Errorf("energy as released %v, want %v", r.EnergyAsReleased, want)
	}
	var text []string
	for _, m := range r.Metrics() {
		text = append(text, fmt.Sprintf("%s=%v", m.Name, m.Value))
	}
	const metrics = "energy_as_released_wmin=200 energy_j=17400 energy_wmin=290 jobs=4 late_percent=50 makespan_min=8 tardiness_min=0.375"
	if got := strings.Join(text, " "); got != metrics {
		t.Errorf("metrics\n got %s\nwant %s", got, metrics)
	}
}

func TestNoJobs(t *testing.T) {
	r, err := sim.RunDispatch(nil, fleetOf(t, "7"), nil)
	if err != nil || r.Jobs != 0 || r.LatePercent() != 0 || r.Energy != 0 || r.Tardiness != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestTiesOfDeadlinesGoByArrivalAndThenAsListed(t *testing.T) {
	jobs := []task.Job{jobOf(0, 1, 1), jobOf(0, 9, 1), jobOf(0, 9, 1), jobOf(0.5, 9, 1), jobOf(0.5, 8, 1)}
	r, err := sim.RunDispatch(jobs, fleetOf(t, "7"), choose(firstFree))
	if err != nil {
		t.Fatal(err)
	}
	for job, start := range []task.Minutes{0, 1, 1.5, 2, 0.5} {
		if r.Runs[job].Start != start {
			t.Errorf("job %d starts at %v, want %v", job, r.Runs[job].Start, start)
		}
	}
}

func TestWrongChoices(t *testing.T) {
	jobs := []task.Job{jobOf(0, 1, 1), jobOf(0.25, 1, 1)}
	for slice, reason := range map[int]string{
		-1: "job 0 was dispatched to slice -1, which does not exist; choose a free one from 0 to 1",
		2:  "job 0 was dispatched to slice 2, which does not exist; choose a free one from 0 to 1",
		1:  "job 1 was dispatched to slice 1, which is busy until 1 min; choose one of the 1 free ones",
	} {
		_, err := sim.RunDispatch(jobs, fleetOf(t, "4-3"), choose(func(*sim.Queue) int { return slice }))
		if _, ok := errors.AsType[*sim.ChoiceError](err); !ok || err.Error() != reason {
			t.Errorf("%v\nwant %s", err, reason)
		}
	}
	e, err := sim.NewDispatch(jobs, fleetOf(t, "4-3"))
	if err != nil {
		t.Fatal(err)
	}
	e.Next()
	if e.Place(7) == nil || e.Place(0) != nil || e.Result().Jobs != 1 {
		t.Errorf("a wrong choice must change nothing: %+v", e.Result())
	}
}

func TestBadJobs(t *testing.T) {
	inf, nan := task.Minutes(math.Inf(1)), task.Minutes(math.NaN())
	lacking := task.Job{Deadline: 1}
	lacking.Set(4, 1)
	for _, c := range []struct {
		job  task.Job
		want string
	}{
		{jobOf(0, 2, 1), "arrives at 0 min, before job 0 at 1 min; list jobs by ascending arrival"},
		{jobOf(-1, 2, 1), "arrives at -1 min; instants are from 0 to 1e+09"},
		{jobOf(nan, 2, 1), "arrives at NaN min"},
		{jobOf(3, 2, 1), "has its deadline at 2 min; it must be from its arrival at 3 to 1e+09"},
		{jobOf(3, inf, 1), "has its deadline at +Inf min"},
		{jobOf(3, nan, 1), "has its deadline at NaN min"},
		{jobOf(3, 4, -1), "takes -1 min on size 3; durations are positive and at most 1e+09 on every size in the fleet"},
		{jobOf(3, 4, 1e10), "takes 1e+10 min on size 3"},
		{jobOf(3, 4, nan), "takes NaN min on size 3"},
		{lacking, "takes +Inf min on size 3"},
	} {
		_, err := sim.NewDispatch([]task.Job{jobOf(1, 2, 1), c.job}, fleetOf(t, "4-3"))
		if err == nil || !strings.HasPrefix(err.Error(), "job 1 "+c.want) {
			t.Errorf("%v\nwant job 1 %s", err, c.want)
		}
	}
}

func TestBadFleets(t *testing.T) {
	at := func(size, start mig.Slices) mig.Instance {
		in, err := a100.Instance(size, start)
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	whole := mig.Partition{at(7, 0)}
	for want, f := range map[string]task.Fleet{
		"the fleet has no GPUs": {Watts: []float64{1}},

		`the fleet has GPU 1 with the partition "", which has no slices`:                       {Partitions: []mig.Partition{whole, nil}, Watts: []float64{1}},
		`the fleet has GPU 0 with the partition "4-2", in which 2@2 overlaps another instance`: {Partitions: []mig.Partition{{at(4, 0), at(2, 2)}}, Watts: []float64{1}},

		"the fleet has no power table":                     {Partitions: []mig.Partition{whole}},
		"the fleet draws -1 W a GPU with 1 busy slices":    {Partitions: []mig.Partition{whole}, Watts: []float64{1, -1}},
		"the fleet draws NaN W a GPU with 0 busy slices":   {Partitions: []mig.Partition{whole}, Watts: []float64{math.NaN()}},
		"the fleet draws 1e+07 W a GPU with 0 busy slices": {Partitions: []mig.Partition{whole}, Watts: []float64{1e7}},
	} {
		_, err := sim.RunDispatch(nil, f, choose(firstFree))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// drawQueue draws a fleet and jobs whose instants are multiples of a quarter, so
// that many coincide.
func drawQueue(t *rapid.T) ([]task.Job, task.Fleet) {
	var names []string
	for _, p := range a100.Partitions() {
		names = append(names, p.String())
	}
	f := fleetOf(t, rapid.SliceOfN(rapid.SampledFrom(names), 1, 3).Draw(t, "gpus")...)
	f.Watts = rapid.SliceOfN(rapid.Float64Range(0, 500), 1, 9).Draw(t, "watts")
	quarters := func(low, high int, what string) task.Minutes {
		return task.Minutes(rapid.IntRange(low, high).Draw(t, what)) / 4
	}
	jobs := make([]task.Job, rapid.IntRange(0, 40).Draw(t, "jobs"))
	var arrival task.Minutes
	for i := range jobs {
		arrival += quarters(0, 4, "gap")
		jobs[i] = task.Job{Arrival: arrival, Deadline: arrival + quarters(0, 40, "slack")}
		for _, s := range a100.Sizes() {
			jobs[i].Set(s, quarters(1, 20, "minutes"))
		}
	}
	return jobs, f
}

// A referee judges a log from the jobs and the fleet alone. It looks at instants and
// intervals one by one, and shares no arithmetic with the engine.
type referee struct {
	jobs   []task.Job
	fleet  task.Fleet
	slices mig.Partition
	gpu    []int
	runs   []sim.Run
}

func newReferee(jobs []task.Job, f task.Fleet, runs []sim.Run) *referee {
	r := &referee{jobs: jobs, fleet: f, runs: runs}
	for gpu, p := range f.Partitions {
		for _, in := range p {
			r.slices, r.gpu = append(r.slices, in), append(r.gpu, gpu)
		}
	}
	return r
}

// conserve checks that every job runs once, no sooner than it arrives, for as long as
// it takes, and alone on its slice.
func (r *referee) conserve(t *rapid.T) {
	if len(r.runs) != len(r.jobs) {
		t.Fatalf("%d runs of %d jobs", len(r.runs), len(r.jobs))
	}
	for i, a := range r.runs {
		if a.Start < r.jobs[i].Arrival || a.End != a.Start+r.jobs[i].On(r.slices[a.Slice].Size()) {
			t.Fatalf("job %d: %+v runs as %+v", i, r.jobs[i], a)
		}
		for k, b := range r.runs[:i] {
			if a.Slice == b.Slice && a.Start < b.End && b.Start < a.End {
				t.Fatalf("jobs %d and %d share slice %d: %+v, %+v", k, i, a.Slice, a, b)
			}
		}
	}
}

// keepOrder checks EDF, and that no job waits while a slice is free.
func (r *referee) keepOrder(t *rapid.T) {
	for _, at := range r.instants() {
		for i := range r.jobs {
			if r.jobs[i].Arrival > at || r.runs[i].Start <= at {
				continue
			}
			for k := range r.jobs {
				later := r.jobs[k].Deadline > r.jobs[i].Deadline || r.jobs[k].Deadline == r.jobs[i].Deadline && k > i
				if r.runs[k].Start == at && later {
					t.Fatalf("job %d starts at %v, and job %d of an earlier deadline waits", k, at, i)
				}
			}
			if busy := r.busy(at, false); len(busy) < len(r.slices) {
				t.Fatalf("job %d waits at %v with slices %v busy", i, at, busy)
			}
		}
	}
}

// instants lists arrivals and completions, ascending, each once.
func (r *referee) instants() []task.Minutes {
	var at []task.Minutes
	for i := range r.jobs {
		at = append(at, r.jobs[i].Arrival)
	}
	for _, a := range r.runs {
		at = append(at, a.End)
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// busy returns the slices with a job just after an instant, or just before it.
func (r *referee) busy(at task.Minutes, before bool) []int {
	var out []int
	for _, a := range r.runs {
		if a.Start <= at && at < a.End && !before || a.Start < at && at <= a.End && before {
			out = append(out, a.Slice)
		}
	}
	return out
}

// watts returns what the fleet draws with some slices busy.
func (r *referee) watts(busy []int) float64 {
	count := make([]int, len(r.fleet.Partitions))
	for _, s := range busy {
		count[r.gpu[s]] += int(r.slices[s].Size())
	}
	sum := 0.0
	for _, n := range count {
		sum += r.fleet.Watts[min(n, len(r.fleet.Watts)-1)]
	}
	return sum
}

// energies integrates the log over the intervals between instants.
func (r *referee) energies() (right, asReleased float64) {
	var last task.Minutes
	for _, at := range r.instants() {
		d := float64(at - last)
		during := r.busy(at, true)
		right += d * r.watts(during)
		// An interval that an arrival ends is charged rightly; one that only completions
		// end, without the slices that they free.
		arrival := slices.ContainsFunc(r.jobs, func(j task.Job) bool { return j.Arrival == at })
		if !arrival {
			during = nil
			for _, a := range r.runs {
				if a.Start < at && a.End > at {
					during = append(during, a.Slice)
				}
			}
		}
		asReleased += d * r.watts(during)
		last = at
	}
	return right, asReleased
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

// conserves runs a random dispatcher on a random queue and has the referee judge it.
func conserves(t *rapid.T) {
	jobs, fleet := drawQueue(t)
	served := map[*task.Job]bool{}
	result, err := sim.RunDispatch(jobs, fleet, choose(func(q *sim.Queue) int {
		checkQueue(t, q, jobs, served)
		served[q.Head()] = true
		var free []int
		for i, s := range q.Slices() {
			if !s.Busy {
				free = append(free, i)
			}
		}
		if len(free) != q.Free() {
			t.Fatalf("Free() = %d, slices %v are", q.Free(), free)
		}
		return rapid.SampledFrom(free).Draw(t, "slice")
	}))
	if err != nil {
		t.Fatal(err)
	}
	r := newReferee(jobs, fleet, result.Runs)
	r.conserve(t)
	r.keepOrder(t)
	late, tardiness, makespan := 0, 0.0, task.Minutes(0)
	for i, a := range result.Runs {
		if a.End > jobs[i].Deadline {
			late++
		}
		tardiness += max(0, float64(a.End-jobs[i].Deadline))
		makespan = max(makespan, a.End)
	}
	if result.Jobs != len(jobs) || result.Late != late || !near(float64(result.Tardiness)*float64(len(jobs)), tardiness) || result.Makespan != makespan {
		t.Fatalf("%+v; want %d jobs late, %v min of tardiness, makespan %v", result, late, tardiness, makespan)
	}
	right, asReleased := r.energies()
	if !near(float64(result.Energy), right) || !near(float64(result.EnergyAsReleased), asReleased) {
		t.Fatalf("energies %v and %v, by the log %v and %v", result.Energy, result.EnergyAsReleased, right, asReleased)
	}
}

// checkQueue compares what a queue shows with the jobs that have arrived and not been
// served.
func checkQueue(t *rapid.T, q *sim.Queue, jobs []task.Job, served map[*task.Job]bool) {
	var waiting []*task.Job
	for i := range jobs {
		if jobs[i].Arrival <= q.Now() && !served[&jobs[i]] {
			waiting = append(waiting, &jobs[i])
		}
	}
	slices.SortStableFunc(waiting, func(a, b *task.Job) int { return int(4 * (a.Deadline - b.Deadline)) })
	got := slices.Collect(q.All())
	if q.Waiting() != len(waiting) || len(got) != len(waiting) || got[0] != waiting[0] || q.Head() != waiting[0] {
		t.Fatalf("head %+v of %d, want %+v of %d", q.Head(), q.Waiting(), waiting[0], len(waiting))
	}
	for _, j := range waiting {
		if !slices.Contains(got, j) {
			t.Fatalf("All lacks %+v", j)
		}
	}
	if next := append(waiting, nil)[1]; q.Next() != next {
		t.Fatalf("Next is %+v, want %+v", q.Next(), next)
	}
}

func TestDispatchConserves(t *testing.T) { rapid.Check(t, conserves) }

func FuzzDispatch(f *testing.F) { f.Fuzz(rapid.MakeFuzz(conserves)) }

func TestWatts(t *testing.T) {
	jobs := []task.Job{jobOf(0, 9, 1), jobOf(0, 9, 1)}
	first := true
	_, err := sim.RunDispatch(jobs, fleetOf(t, "2-2-2-1", "7"), choose(func(q *sim.Queue) int {
		want := []float64{10, 20, 40} // idle, one slice more, all that the table has
		if !first {
			want = []float64{30, 40, 40}
		}
		if got := []float64{q.Watts(0, 0), q.Watts(0, 1), q.Watts(0, 7)}; !slices.Equal(got, want) {
			t.Errorf("watts %v, want %v", got, want)
		}
		first = false
		return firstFree(q)
	}))
	if err != nil {
		t.Fatal(err)
	}
}

// TestResetIsANewEngine resets an engine in the middle of a day.
func TestResetIsANewEngine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs, fleet := drawQueue(t)
		fleet.Preemptive = rapid.Bool().Draw(t, "preemptive")
		e, err := sim.NewDispatch(jobs, fleet)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, len(jobs)).Draw(t, "served") {
			if err := e.Place(firstFree(e.Next())); err != nil {
				t.Fatal(err)
			}
		}
		other := jobs[rapid.IntRange(0, len(jobs)).Draw(t, "from"):]
		if err := e.Reset(other); err != nil {
			t.Fatal(err)
		}
		if q := e.Next(); q != nil && (q.Free() != len(q.Slices()) || slices.ContainsFunc(q.Slices(), func(s sim.Slice) bool { return s.FreeAt != 0 || s.Busy })) {
			t.Fatalf("slices %v at the beginning", q.Slices())
		}
		for q := e.Next(); q != nil; q = e.Next() {
			if err := e.Place(firstFree(q)); err != nil {
				t.Fatal(err)
			}
		}
		want, err := sim.RunDispatch(other, fleet, choose(firstFree))
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Result(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("after a reset %+v, by a new engine %+v", got, want)
		}
	})
}

func TestResetRefusesBadJobsAndGoesOn(t *testing.T) {
	e, err := sim.NewDispatch([]task.Job{jobOf(1, 2, 1)}, fleetOf(t, "7"))
	if err != nil {
		t.Fatal(err)
	}
	e.Next()
	if err := e.Reset([]task.Job{{}}); err == nil || !strings.HasPrefix(err.Error(), "job 0 ") {
		t.Errorf("%v", err)
	}
	if err := e.Place(0); err != nil || e.Next() != nil || e.Result().Makespan != 1.5 {
		t.Errorf("%v, %+v", err, e.Result())
	}
}

func TestResetReusesMemory(t *testing.T) {
	jobs := []task.Job{jobOf(0, 9, 1), jobOf(0, 9, 1), jobOf(0, 9, 1)}
	e, err := sim.NewDispatch(jobs, fleetOf(t, "4-3"))
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(10, func() {
		if err := e.Reset(jobs); err != nil {
			t.Fatal(err)
		}
		for q := e.Next(); q != nil; q = e.Next() {
			if err := e.Place(firstFree(q)); err != nil {
				t.Fatal(err)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations a day", n)
	}
}

// TestFloat32Clock rounds the end of a job: 1 + 2^-30 min is 1 min on a float32 clock.
func TestFloat32Clock(t *testing.T) {
	const little = task.Minutes(1.) / (1 << 30)
	jobs := []task.Job{jobOf(0, 1, 2+2*little), jobOf(1, 3, 2)} // halved on size 7
	fleet := fleetOf(t, "7")
	for _, c := range []struct {
		float32 bool
		end     task.Minutes
		late    int
	}{{false, 1 + little, 1}, {true, 1, 0}} {
		fleet.Float32 = c.float32
		r, err := sim.RunDispatch(jobs, fleet, choose(firstFree))
		if err != nil {
			t.Fatal(err)
		}
		if r.Runs[0].End != c.end || r.Runs[1].Start != c.end || r.Late != c.late {
			t.Errorf("float32 %v: %+v", c.float32, r)
		}
	}
	jobs[1].Arrival += little
	_, err := sim.RunDispatch(jobs, fleet, choose(firstFree))
	if err == nil || !strings.HasPrefix(err.Error(), "job 1 arrives at ") || !strings.Contains(err.Error(), "is not a float32 number; the fleet's clock is float32") {
		t.Errorf("an arrival between two float32 numbers: %v", err)
	}
}

// all is a batch dispatcher made of a function.
type all struct{ choose }

func (a all) DispatchAll(queues []*sim.Queue, choices []int) {
	for i, q := range queues {
		choices[i] = a.choose(q)
	}
}

func TestRunDispatches(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	last := func(q *sim.Queue) int {
		for i, s := range slices.Backward(q.Slices()) {
			if !s.Busy {
				return i
			}
		}
		panic("no slice is free")
	}
	var days []task.Queue
	var want []sim.DispatchResult
	for _, n := range []int{30, 0, 1, 80, 50} {
		day := task.Queue{Fleet: fleetOf(t, "4-3", "2-2-2-1")}
		day.Fleet.Preemptive = n == 50
		at := task.Minutes(0)
		for range n {
			at += task.Minutes(r.IntN(4))
			day.Jobs = append(day.Jobs, jobOf(at, at+task.Minutes(r.IntN(20)), task.Minutes(1+r.IntN(15))))
		}
		alone, err := sim.RunDispatch(day.Jobs, day.Fleet, choose(last))
		if err != nil {
			t.Fatal(err)
		}
		days, want = append(days, day), append(want, alone)
	}
	together := all{func(q *sim.Queue) int {
		if q.Free() < 2 {
			t.Error("asked for a decision without a choice")
		}
		return last(q)
	}}
	if got, err := sim.RunDispatches(days, together); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("days together gave %v, %v, want %v", got, err, want)
	}
	_, err := sim.RunDispatches(days, all{func(*sim.Queue) int { return 99 }})
	var wrong *sim.ChoiceError
	if !errors.As(err, &wrong) {
		t.Errorf("slice 99 gave %v", err)
	}
	if _, err := sim.RunDispatches([]task.Queue{{}, {Fleet: task.Fleet{Watts: []float64{-1}}}}, together); err == nil {
		t.Error("accepted a bad fleet")
	}
}
