package plan

import (
	"math"
	"testing"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// exampleProblem has three tasks of 10, 5 and 6 s, whatever the size.
func exampleProblem(model mig.Reconfiguration) algo.Problem {
	p := algo.Problem{GPU: mig.MustLookup("A100"), Model: model}
	for i, d := range []mig.Seconds{10, 5, 6} {
		t := task.New(string(rune('a'+i)), nil)
		for _, s := range p.GPU.Sizes() {
			t.Set(s, d)
		}
		p.Tasks = append(p.Tasks, t)
	}
	return p
}

func instance(t *testing.T, size, start mig.Slices) mig.Instance {
	t.Helper()
	in, err := mig.MustLookup("A100").Instance(size, start)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// usesOf returns uses of the problem's GPU 0, each with its tasks by number.
func usesOf(p algo.Problem, list ...testUse) []Use {
	var out []Use
	for _, l := range list {
		u := Use{Instance: l.in}
		for _, i := range l.tasks {
			u.Tasks = append(u.Tasks, Task{float64(p.Tasks[i].On(l.in.Size())), i})
		}
		out = append(out, u)
	}
	return out
}

type testUse struct {
	in    mig.Instance
	tasks []int32
}

// TestClockByHand splits 7 slices into 4 and 3: by FAR Table 1, creating takes
// 0.24, 0.21 and 0.20 s, and destroying 7 slices 0.22 s.
func TestClockByHand(t *testing.T) {
	whole, left, right := instance(t, 7, 0), instance(t, 4, 0), instance(t, 3, 4)
	for model, want := range map[mig.Reconfiguration][]float64{
		mig.Sequential: {0.24, 10.67, 10.87}, // the second creation waits for the first
		mig.Parallel:   {0.24, 10.67, 10.66},
		mig.Free:       {0, 10, 10},
	} {
		p := exampleProblem(model)
		s := Schedule(p, usesOf(p, testUse{whole, []int32{0}}, testUse{left, []int32{1}}, testUse{right, []int32{2}}))
		if v := schedule.Check(p, s); len(v) > 0 {
			t.Fatalf("%v: %v", model, v)
		}
		got := make([]float64, 3)
		for _, pl := range s.Placements {
			got[pl.Task] = float64(pl.Start)
		}
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-12 {
				t.Errorf("%v: the tasks start at %v, want %v", model, got, want)
				break
			}
		}
		if n := len(s.Operations); n != 4 {
			t.Errorf("%v: %d operations, want 3 creates and 1 destroy", model, n)
		}
	}
}

// TestClockFollowsItsRule creates two instances at once. The first one in the plan goes
// first, or the one with the longer task.
func TestClockFollowsItsRule(t *testing.T) {
	left, right := instance(t, 4, 0), instance(t, 3, 4)
	p := exampleProblem(mig.Sequential)
	plan := usesOf(p, testUse{left, []int32{1}}, testUse{right, []int32{0}})
	for i := range plan {
		plan[i].seconds = plan[i].Tasks[0].Seconds
	}
	for r, want := range map[channelRule]mig.Instance{firstAsked: left, longestTail: right} {
		tm := newTimer(p, Start(p), r)
		tm.Time(plan)
		if got := tm.Schedule().Operations[0].Instance; got != want {
			t.Errorf("rule %d creates %v first, want %v", r, got, want)
		}
	}
}

// The work that waits for a creation includes the work of the uses that continue on the instance: 5 s and 6 s are more
// than 10 s.
func TestTailsIncludeSuccessors(t *testing.T) {
	left, right := instance(t, 4, 0), instance(t, 3, 4)
	p := exampleProblem(mig.Sequential)
	plan := usesOf(p, testUse{right, []int32{0}}, testUse{left, []int32{1}}, testUse{left, []int32{2}})
	for i := range plan {
		plan[i].seconds = plan[i].Tasks[0].Seconds
	}
	tm := newTimer(p, Start(p), longestTail)
	tm.Time(plan)
	if got := tm.Schedule().Operations[0].Instance; got != left {
		t.Errorf("%v is created first, want %v", got, left)
	}
}

// TestRemnantsRememberFreedSlices is a regression: a batch that follows must not take
// slices whose instance was destroyed for free from the start.
func TestRemnantsRememberFreedSlices(t *testing.T) {
	whole, left, right := instance(t, 7, 0), instance(t, 4, 0), instance(t, 3, 4)
	p := exampleProblem(mig.Free)
	first := NewTimer(p, Start(p))
	first.Time(usesOf(p, testUse{whole, []int32{0}}, testUse{left, []int32{1}}))
	next := NewTimer(p, first.State())
	next.Time(usesOf(p, testUse{right, []int32{2}}))
	if got := next.Schedule().Placements[0].Start; got != 10 {
		t.Errorf("the right half is taken at %v s, want 10, when the whole GPU's task has ended", got)
	}
}
