package schedule_test

import (
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

var (
	a100 = mig.MustLookup("A100")
	h100 = mig.MustLookup("H100")
	inf  = mig.Seconds(math.Inf(1))
	nan  = mig.Seconds(math.NaN())
)

// at returns a standard instance of the A100.
func at(size, start mig.Slices) mig.Instance {
	in, err := a100.Instance(size, start)
	if err != nil {
		panic(err)
	}
	return in
}

// media returns a 1g.5gb+me instance of the A100. There may be one at a time.
func media(start mig.Slices) mig.Instance {
	p, err := a100.ProfileByName("1g.5gb+me")
	if err != nil {
		panic(err)
	}
	return mig.Instance{Profile: p, Start: start}
}

// The operations and placements of valid, by position.
const (
	create2, create3, destroy2, create4, destroy7, createMedia = 0, 1, 2, 3, 4, 5
	runA, runC, runB, runD, runE, runF                         = 0, 1, 2, 3, 4, 5
)

// valid returns a schedule for two GPUs. The second holds a 7-slice instance at first. Only
// task e is released late.
func valid() (schedule.Problem, schedule.Schedule) {
	p := schedule.Problem{
		GPU: a100, Count: 2, Model: mig.Sequential,
		Start:   []schedule.Existing{{GPU: 1, Instance: at(7, 0), BusyUntil: 0.4}},
		Release: []mig.Seconds{0, 0, 0, 0, 0.5, 0},
		Tasks: task.Batch{
			task.New("a", map[mig.Slices]mig.Seconds{1: 1.8, 2: 1, 3: 0.9, 4: 0.6}),
			task.New("b", map[mig.Slices]mig.Seconds{2: 2}),
			task.New("c", map[mig.Slices]mig.Seconds{3: 1.5, 4: 1.2}),
			task.New("d", map[mig.Slices]mig.Seconds{4: 3}),
			task.New("e", map[mig.Slices]mig.Seconds{7: 0.5}),
			task.New("f", map[mig.Slices]mig.Seconds{1: 1}),
		},
	}
	s := schedule.Schedule{
		GPU: a100, Algorithm: "hand", Model: mig.Sequential,
		Placements: []schedule.Placement{
			{Task: 0, GPU: 0, Instance: at(2, 0), Start: 0.17, End: 1.17},
			{Task: 2, GPU: 0, Instance: at(3, 4), Start: 0.37, End: 1.87},
			{Task: 1, GPU: 0, Instance: at(2, 0), Start: 1.17, End: 3.17},
			{Task: 3, GPU: 0, Instance: at(4, 0), Start: 3.58, End: 6.58},
			{Task: 4, GPU: 1, Instance: at(7, 0), Start: 0.5, End: 1},
			{Task: 5, GPU: 1, Instance: media(6), Start: 1.38, End: 2.38},
		},
		Operations: []schedule.Operation{
			{Op: schedule.Create, GPU: 0, Instance: at(2, 0), Start: 0, End: 0.17},
			{Op: schedule.Create, GPU: 0, Instance: at(3, 4), Start: 0.17, End: 0.37},
			{Op: schedule.Destroy, GPU: 0, Instance: at(2, 0), Start: 3.17, End: 3.37},
			{Op: schedule.Create, GPU: 0, Instance: at(4, 0), Start: 3.37, End: 3.58},
			{Op: schedule.Destroy, GPU: 1, Instance: at(7, 0), Start: 1, End: 1.22},
			{Op: schedule.Create, GPU: 1, Instance: media(6), Start: 1.22, End: 1.38},
		},
	}
	return p, s
}

// An edit spoils a problem or a schedule for it.
type edit = func(*schedule.Problem, *schedule.Schedule)

func editProblem(change func(*schedule.Problem)) edit {
	return func(p *schedule.Problem, _ *schedule.Schedule) { change(p) }
}

func editSchedule(change func(*schedule.Schedule)) edit {
	return func(_ *schedule.Problem, s *schedule.Schedule) { change(s) }
}

func editRun(i int, change func(*schedule.Placement)) edit {
	return editSchedule(func(s *schedule.Schedule) { change(&s.Placements[i]) })
}

func editOp(i int, change func(*schedule.Operation)) edit {
	return editSchedule(func(s *schedule.Schedule) { change(&s.Operations[i]) })
}

// moveRun shifts a run.
func moveRun(i int, by mig.Seconds) edit {
	return editRun(i, func(r *schedule.Placement) { r.Start, r.End = r.Start+by, r.End+by })
}

// moveOp shifts an operation.
func moveOp(i int, by mig.Seconds) edit {
	return editOp(i, func(o *schedule.Operation) { o.Start, o.End = o.Start+by, o.End+by })
}

// addOp adds an operation.
func addOp(op schedule.Op, gpu int, in mig.Instance, start, end mig.Seconds) edit {
	return editSchedule(func(s *schedule.Schedule) {
		s.Operations = append(s.Operations, schedule.Operation{Op: op, GPU: gpu, Instance: in, Start: start, End: end})
	})
}

// addExisting adds an instance to the start partition.
func addExisting(e schedule.Existing) edit {
	return editProblem(func(p *schedule.Problem) { p.Start = append(p.Start, e) })
}

// Each schedule differs from the valid one by one edit. The first kind is the fault that
// the edit makes; the others follow from it. No further kind may be found.
var broken = []struct {
	name string
	edit edit
	want []schedule.Kind
}{
	{"no GPU model", editProblem(func(p *schedule.Problem) { p.GPU = nil }), []schedule.Kind{schedule.BadProblem}},
	{"unknown reconfiguration model", editProblem(func(p *schedule.Problem) { p.Model = 9 }), []schedule.Kind{schedule.BadProblem}},
	{"profile longer than the GPU", editProblem(func(p *schedule.Problem) {
		p.GPU = &mig.GPU{Profiles: []*mig.Profile{{Size: 1, Length: 9, Starts: []mig.Slices{0}}}}
	}), []schedule.Kind{schedule.BadProblem}},
	{"one release too few", editProblem(func(p *schedule.Problem) { p.Release = p.Release[:5] }), []schedule.Kind{schedule.BadProblem}},
	{"release is NaN", editProblem(func(p *schedule.Problem) { p.Release[0] = nan }), []schedule.Kind{schedule.BadProblem}},
	{"start partition with one instance twice", editProblem(func(p *schedule.Problem) { p.Start = append(p.Start, p.Start[0]) }), []schedule.Kind{schedule.BadProblem}},
	{"start partition with sharing instances", addExisting(schedule.Existing{GPU: 1, Instance: at(1, 0)}), []schedule.Kind{schedule.InvalidPartition}},
	{"start partition on a GPU beyond the last", addExisting(schedule.Existing{GPU: 2, Instance: at(1, 0)}), []schedule.Kind{schedule.BadProblem}},
	{"schedule of another GPU", editSchedule(func(s *schedule.Schedule) { s.GPU = h100 }), []schedule.Kind{schedule.WrongGPU}},
	{"schedule of no GPU", editSchedule(func(s *schedule.Schedule) { s.GPU = nil }), []schedule.Kind{schedule.WrongGPU}},
	{"schedule of another model", editSchedule(func(s *schedule.Schedule) { s.Model = mig.Parallel }), []schedule.Kind{schedule.WrongModel}},
	{"run of a task that is not there", editRun(runA, func(r *schedule.Placement) { r.Task = 6 }), []schedule.Kind{schedule.UnknownTask, schedule.MissingTask}},
	{"no run of the last task", editSchedule(func(s *schedule.Schedule) { s.Placements = s.Placements[:runF] }), []schedule.Kind{schedule.MissingTask}},
	{"same task twice, one after the other", editSchedule(func(s *schedule.Schedule) {
		again := s.Placements[runC]
		again.Start, again.End = 1.87, 3.37
		s.Placements = append(s.Placements, again)
	}), []schedule.Kind{schedule.RepeatedTask}},
	{"start is NaN", editRun(runA, func(r *schedule.Placement) { r.Start = nan }), []schedule.Kind{schedule.BadTime}},
	{"end is infinite", editRun(runD, func(r *schedule.Placement) { r.End = inf }), []schedule.Kind{schedule.BadTime}},
	{"end before start", editRun(runA, func(r *schedule.Placement) { r.End = 0.1 }), []schedule.Kind{schedule.BadTime}},
	{"negative time", moveOp(create2, -0.5), []schedule.Kind{schedule.BadTime, schedule.NoInstance, schedule.NotExisting}},
	{"GPU beyond the last", editRun(runE, func(r *schedule.Placement) { r.GPU = 2 }), []schedule.Kind{schedule.UnknownGPU}},
	{"operation on a negative GPU", editOp(create3, func(o *schedule.Operation) { o.GPU = -1 }), []schedule.Kind{schedule.UnknownGPU, schedule.NoInstance}},
	{"2 slices at 1", editRun(runA, func(r *schedule.Placement) { r.Instance.Start = 1 }), []schedule.Kind{schedule.BadInstance}},
	{"instance of another GPU model", editRun(runA, func(r *schedule.Placement) { r.Instance.Profile = h100.Profile(2) }), []schedule.Kind{schedule.BadInstance}},
	{"instance without a profile", editOp(create4, func(o *schedule.Operation) { o.Instance.Profile = nil }), []schedule.Kind{schedule.BadInstance, schedule.NoInstance}},
	{"neither create nor destroy", editOp(createMedia, func(o *schedule.Operation) { o.Op = 2 }), []schedule.Kind{schedule.UnknownOp, schedule.NoInstance}},
	{"task on a size that it does not fit", editProblem(func(p *schedule.Problem) { p.Tasks[1] = task.New("b", map[mig.Slices]mig.Seconds{3: 2}) }), []schedule.Kind{schedule.DoesNotFit}},
	{"run a little too short", editRun(runD, func(r *schedule.Placement) { r.End -= 1e-6 }), []schedule.Kind{schedule.WrongDuration}},
	{"start before release", editProblem(func(p *schedule.Problem) { p.Release[4] = 0.6 }), []schedule.Kind{schedule.BeforeRelease}},
	{"run begins within the create", moveRun(runC, -0.1), []schedule.Kind{schedule.NoInstance}},
	{"run ends after the destroy began", moveRun(runB, 0.1), []schedule.Kind{schedule.NoInstance}},
	{"run begins while the start partition is busy", editProblem(func(p *schedule.Problem) { p.Start[0].BusyUntil = 0.6 }), []schedule.Kind{schedule.NoInstance}},
	{"instance never created", editSchedule(func(s *schedule.Schedule) { s.Operations = slices.Delete(s.Operations, create3, create3+1) }), []schedule.Kind{schedule.NoInstance}},
	{"run on the instance of the other GPU", editRun(runC, func(r *schedule.Placement) { r.GPU = 1 }), []schedule.Kind{schedule.NoInstance, schedule.TaskOverlap}},
	{"two tasks on one instance", moveRun(runB, -0.2), []schedule.Kind{schedule.TaskOverlap}},
	{"destroy left out", editSchedule(func(s *schedule.Schedule) { s.Operations = slices.Delete(s.Operations, destroy2, destroy2+1) }), []schedule.Kind{schedule.InvalidPartition}},
	{"create begins within the destroy of what is in the way", moveOp(create4, -0.1), []schedule.Kind{schedule.InvalidPartition, schedule.OperationOverlap}},
	{"create on slices of an instance that stays", addOp(schedule.Create, 0, at(1, 5), 1, 1.16), []schedule.Kind{schedule.InvalidPartition}},
	{"second instance with media extensions", addOp(schedule.Create, 1, media(5), 2, 2.16), []schedule.Kind{schedule.TooManyInstances}},
	{"create of what exists", addOp(schedule.Create, 0, at(2, 0), 2, 2.17), []schedule.Kind{schedule.AlreadyExists}},
	{"destroy of what does not exist", addOp(schedule.Destroy, 0, at(1, 2), 2, 2.2), []schedule.Kind{schedule.NotExisting}},
	{"destroy twice", addOp(schedule.Destroy, 0, at(2, 0), 5, 5.2), []schedule.Kind{schedule.NotExisting}},
	{"destroy before the create ends", editSchedule(func(s *schedule.Schedule) {
		s.Operations = append(s.Operations,
			schedule.Operation{Op: schedule.Create, Instance: at(1, 2), Start: 1, End: 1.16},
			schedule.Operation{Op: schedule.Destroy, Instance: at(1, 2), Start: 1.1, End: 1.3})
	}), []schedule.Kind{schedule.NotExisting, schedule.OperationOverlap}},
	{"destroy while the start partition is busy", func(p *schedule.Problem, s *schedule.Schedule) {
		p.Start = append(p.Start, schedule.Existing{Instance: at(1, 2), BusyUntil: 2.5})
		s.Operations = append(s.Operations, schedule.Operation{Op: schedule.Destroy, Instance: at(1, 2), Start: 2, End: 2.2})
	}, []schedule.Kind{schedule.StillBusy}},
	{"create too fast", editOp(create3, func(o *schedule.Operation) { o.End -= 0.01 }), []schedule.Kind{schedule.WrongCost}},
	{"destroy that costs nothing", editOp(destroy7, func(o *schedule.Operation) { o.End = 1 }), []schedule.Kind{schedule.WrongCost}},
	{"everything costs under free reconfiguration", func(p *schedule.Problem, s *schedule.Schedule) { p.Model, s.Model = mig.Free, mig.Free }, []schedule.Kind{schedule.WrongCost}},
	{"two creates at once", moveOp(create3, -0.1), []schedule.Kind{schedule.OperationOverlap}},
	{"task of less than a microsecond", editProblem(func(p *schedule.Problem) { p.Tasks[0].Set(7, 9e-7) }), []schedule.Kind{schedule.BadProblem}},
	{"task that goes on too early", func(p *schedule.Problem, s *schedule.Schedule) {
		*p, *s = stopped()
		p.Restart = 1.1
	}, []schedule.Kind{schedule.EarlyRestart}},
	{"task whose parts do too little", func(p *schedule.Problem, s *schedule.Schedule) {
		*p, *s = stopped()
		s.Placements[0].Start += 1e-6
	}, []schedule.Kind{schedule.WrongDuration}},
	{"task whose parts do too much", func(p *schedule.Problem, s *schedule.Schedule) {
		*p, *s = stopped()
		s.Placements[0].End += 1e-6
	}, []schedule.Kind{schedule.WrongDuration}},
	{"task that runs all over again", func(p *schedule.Problem, s *schedule.Schedule) {
		*p, *s = stopped()
		again := s.Placements[0]
		again.Start, again.End = 5, 7
		s.Placements = append(s.Placements, again)
	}, []schedule.Kind{schedule.WrongDuration}},
	{"two parts of a task at once", func(p *schedule.Problem, s *schedule.Schedule) {
		*p, *s = stopped()
		s.Placements[0].GPU, s.Placements[0].Start, s.Placements[0].End = 1, 0.5, 2
		s.Operations[1].GPU = 1
	}, []schedule.Kind{schedule.EarlyRestart}},
	{"stopped although tasks cannot be", func(p *schedule.Problem, s *schedule.Schedule) {
		*p, *s = stopped()
		p.Restart = 0
	}, []schedule.Kind{schedule.RepeatedTask, schedule.WrongDuration}},
	{"restart of NaN", editProblem(func(p *schedule.Problem) { p.Restart = nan }), []schedule.Kind{schedule.BadProblem}},
	{"restart that goes back in time", editProblem(func(p *schedule.Problem) { p.Restart = -1 }), []schedule.Kind{schedule.BadProblem}},
	{"two tasks on the whole GPU at once", func(p *schedule.Problem, s *schedule.Schedule) { *p, *s = atOnce(2, 1) }, []schedule.Kind{schedule.TooMuchWork, schedule.TaskOverlap}},
}

// stopped returns a task that does a quarter of its work on 2 slices, and the rest on 4 slices a restart later.
func stopped() (schedule.Problem, schedule.Schedule) {
	p := schedule.Problem{
		GPU: a100, Count: 2, Model: mig.Free, Restart: 1,
		Tasks: task.Batch{task.New("a", map[mig.Slices]mig.Seconds{2: 4, 4: 2})},
	}
	return p, schedule.Schedule{
		GPU: a100, Model: mig.Free,
		Operations: []schedule.Operation{instant(schedule.Create, at(2, 4), 0), instant(schedule.Create, at(4, 0), 0)},
		Placements: []schedule.Placement{{Instance: at(4, 0), Start: 2, End: 3.5}, {Instance: at(2, 4), Start: 0, End: 1}},
	}
}

func TestCheckTakesStoppedTasks(t *testing.T) {
	p, s := stopped()
	m, err := schedule.Measure(p, s)
	if err != nil || m.Makespan != 3.5 || m.Busy != 8 {
		t.Errorf("%+v, %v; want a makespan of 3.5 s and 2 slices for 1 s and 4 for 1.5 s", m, err)
	}
}

func TestCheckRejectsTheBroken(t *testing.T) {
	for _, b := range broken {
		t.Run(b.name, func(t *testing.T) {
			p, s := valid()
			b.edit(&p, &s)
			found := schedule.Check(p, s)
			var got []schedule.Kind
			for _, v := range found {
				if !strings.HasPrefix(v.Error(), string(v.Kind)+": ") {
					t.Errorf("message %q does not begin with the rule", v.Error())
				}
				got = append(got, v.Kind)
			}
			if !slices.Contains(got, b.want[0]) {
				t.Errorf("%q is not among what was found: %v", b.want[0], found)
			}
			want := slices.Sorted(slices.Values(b.want))
			slices.Sort(got)
			if got = slices.Compact(got); !slices.Equal(got, want) {
				t.Errorf("found %q, want %q: %v", got, want, found)
			}
		})
	}
}

func TestEveryKindIsCovered(t *testing.T) {
	covered := map[schedule.Kind]bool{}
	for _, b := range broken {
		covered[b.want[0]] = true
	}
	source, err := os.ReadFile("violation.go")
	kinds := regexp.MustCompile(` Kind = "(.*)"`).FindAllSubmatch(source, -1)
	if err != nil || len(kinds) == 0 {
		t.Fatal("no kinds", err)
	}
	for _, k := range kinds {
		if !covered[schedule.Kind(k[1])] {
			t.Errorf("no broken schedule for %q", k[1])
		}
	}
}

func TestCheckListsEveryViolation(t *testing.T) {
	p, s := valid()
	moveRun(runB, -0.2)(&p, &s)
	s.Placements[runD].End += 1
	s.Operations[createMedia].End -= 0.01
	s.Model = mig.Free
	var got []schedule.Kind
	for _, v := range schedule.Check(p, s) {
		got = append(got, v.Kind)
	}
	want := []schedule.Kind{schedule.WrongModel, schedule.WrongDuration, schedule.WrongCost, schedule.TaskOverlap}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// C runs all the time. B and then A run at the same time as C, all on one instance.
func TestCheckNamesEveryRunWithinALongerOne(t *testing.T) {
	p := schedule.Problem{GPU: a100, Model: mig.Free}
	s := schedule.Schedule{GPU: a100, Model: mig.Free, Operations: []schedule.Operation{instant(schedule.Create, at(2, 0), 0)}}
	for i, r := range [][2]mig.Seconds{{5, 6}, {2, 3}, {1, 9}} {
		p.Tasks = append(p.Tasks, task.New(string(rune('a'+i)), map[mig.Slices]mig.Seconds{2: r[1] - r[0]}))
		s.Placements = append(s.Placements, schedule.Placement{Task: i, Instance: at(2, 0), Start: r[0], End: r[1]})
	}
	found := schedule.Check(p, s)
	if len(found) != 2 || !strings.HasPrefix(found[0].Detail, `"b" on 2@0 and "c" on 2@0 both run`) || !strings.HasPrefix(found[1].Detail, `"a" on 2@0 and "c" on 2@0 both run`) {
		t.Errorf("%v", found)
	}
}

func TestAnInfiniteEndDoesNotHideOtherViolations(t *testing.T) {
	p, s := valid()
	s.Placements[runD].End = inf
	moveRun(runB, -0.2)(&p, &s)
	found := schedule.Check(p, s)
	if len(found) != 2 || found[0].Kind != schedule.BadTime || found[1].Kind != schedule.TaskOverlap {
		t.Errorf("%v", found)
	}
}

func TestViolationSaysWhere(t *testing.T) {
	p, s := valid()
	moveRun(runB, -0.2)(&p, &s)
	found := schedule.Check(p, s)
	if len(found) != 1 {
		t.Fatalf("found %v", found)
	}
	if want := `"b" on 2@0 and "a" on 2@0 both run on GPU 0 between `; !strings.HasPrefix(found[0].Detail, want) {
		t.Errorf("%v, want %s", found[0], want)
	}

	p, s = valid()
	moveOp(create3, -0.1)(&p, &s)
	found = schedule.Check(p, s)
	if want := "the create of 3@4 begins at "; len(found) != 1 || !strings.HasPrefix(found[0].Detail, want) || !strings.Contains(found[0].Detail, "before the create of 2@0 ends") {
		t.Errorf("%v, want %s", found, want)
	}
}

// free returns a problem of one task under free reconfiguration. It runs on 7@0 from 1 s.
func free(ops ...schedule.Operation) (schedule.Problem, schedule.Schedule) {
	p := schedule.Problem{
		GPU: a100, Model: mig.Free,
		Start: []schedule.Existing{{Instance: at(4, 0), BusyUntil: 1}},
		Tasks: task.Batch{task.New("t", map[mig.Slices]mig.Seconds{7: 1})},
	}
	s := schedule.Schedule{
		GPU: a100, Model: mig.Free,
		Placements: []schedule.Placement{{Instance: at(7, 0), Start: 1, End: 2}},
		Operations: ops,
	}
	return p, s
}

func instant(op schedule.Op, in mig.Instance, t mig.Seconds) schedule.Operation {
	return schedule.Operation{Op: op, Instance: in, Start: t, End: t}
}

func TestOneInstantMayHoldManyOperations(t *testing.T) {
	d4, c7 := instant(schedule.Destroy, at(4, 0), 1), instant(schedule.Create, at(7, 0), 1)
	d7, c2, d2 := instant(schedule.Destroy, at(7, 0), 1), instant(schedule.Create, at(2, 0), 1), instant(schedule.Destroy, at(2, 0), 1)
	for name, ops := range map[string][]schedule.Operation{
		"in order":               {d4, c7},
		"against the order":      {c7, d4},
		"one instance for a tie": {d4, c2, d2, c7},
		"created twice":          {d4, c7, c7, d7},
		"within the tolerance":   {instant(schedule.Destroy, at(4, 0), 1+1e-10), instant(schedule.Create, at(7, 0), 1-1e-10)},
		"destroyed at the end":   {d4, c7, instant(schedule.Destroy, at(7, 0), 2)},
	} {
		if found := schedule.Check(free(ops...)); found != nil {
			t.Errorf("%s: %v", name, found)
		}
	}
	for name, c := range map[string]struct {
		ops  []schedule.Operation
		want schedule.Kind
	}{
		"not destroyed":            {[]schedule.Operation{c7}, schedule.InvalidPartition},
		"destroyed twice":          {[]schedule.Operation{d4, d4, c7}, schedule.NotExisting},
		"created thrice":           {[]schedule.Operation{d4, c7, d7, c7, c7}, schedule.AlreadyExists},
		"destroyed later":          {[]schedule.Operation{instant(schedule.Destroy, at(4, 0), 1.1), c7}, schedule.InvalidPartition},
		"another within its life":  {[]schedule.Operation{d4, c7, instant(schedule.Create, at(2, 0), 1.5), instant(schedule.Destroy, at(2, 0), 1.5)}, schedule.InvalidPartition},
		"destroyed under the task": {[]schedule.Operation{d4, c7, instant(schedule.Destroy, at(7, 0), 1.5)}, schedule.NoInstance},
	} {
		found := schedule.Check(free(c.ops...))
		if len(found) != 1 || found[0].Kind != c.want {
			t.Errorf("%s: found %v, want one %q", name, found, c.want)
		}
	}
}

func TestDestroyAtZeroMakesRoom(t *testing.T) {
	p, s := free(instant(schedule.Destroy, at(4, 0), 0), instant(schedule.Create, at(7, 0), 0))
	p.Start[0].BusyUntil = 0
	if found := schedule.Check(p, s); found != nil {
		t.Errorf("%v", found)
	}
	p.Start = append(p.Start, schedule.Existing{Instance: at(3, 0)})
	s.Operations = append(s.Operations, instant(schedule.Destroy, at(3, 0), 0))
	found := schedule.Check(p, s)
	if len(found) != 1 || found[0].Kind != schedule.InvalidPartition {
		t.Errorf("4@0 and 3@0 in the start partition: %v", found)
	}
}

func TestParallelLetsDisjointInstancesReconfigureAtOnce(t *testing.T) {
	p, s := valid()
	p.Model, s.Model = mig.Parallel, mig.Parallel
	moveOp(create3, -0.1)(&p, &s)
	if found := schedule.Check(p, s); found != nil {
		t.Errorf("%v", found)
	}
	moveOp(create4, -0.1)(&p, &s)
	found := schedule.Check(p, s)
	if len(found) != 1 || found[0].Kind != schedule.InvalidPartition {
		t.Errorf("found %v, want an invalid partition", found)
	}
}
