package schedule_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// otherTimes returns the problem with other durations.
func otherTimes(t *rapid.T, p schedule.Problem) schedule.Problem {
	p.Tasks = slices.Clone(p.Tasks)
	for i := range p.Tasks {
		for _, size := range p.GPU.Sizes() {
			if p.Tasks[i].Fits(size) {
				p.Tasks[i].Set(size, mig.Seconds(rapid.Float64Range(task.MinSeconds, 20).Draw(t, "seconds")))
			}
		}
	}
	return p
}

// step is a task or an operation of a schedule.
type step struct {
	gpu                  int
	mask                 mig.Mask
	operation            bool
	start, end           mig.Seconds
	earliest, takes, own mig.Seconds
}

func stepsOf(p schedule.Problem, s schedule.Schedule) (out []step) {
	for _, o := range s.Operations {
		takes := o.Instance.Profile.Create
		if o.Op == schedule.Destroy {
			takes = o.Instance.Profile.Destroy
		}
		if p.Model == mig.Free {
			takes = 0
		}
		out = append(out, step{o.GPU, o.Instance.Mask(), true, o.Start, o.End, 0, takes, 0})
	}
	for _, pl := range s.Placements {
		out = append(out, step{
			pl.GPU, pl.Instance.Mask(), false, pl.Start, pl.End, p.ReleaseOf(pl.Task), p.Tasks[pl.Task].On(pl.Instance.Size()), 0,
		})
	}
	for i := range out {
		for _, e := range p.Start {
			if e.GPU == out[i].gpu && e.Instance.Mask()&out[i].mask != 0 {
				out[i].earliest = max(out[i].earliest, e.BusyUntil)
			}
		}
		out[i].own = out[i].earliest
	}
	return out
}

// earliestStarts delays steps until each waits for those before it with which it shares slices or the right to operate.
func earliestStarts(p schedule.Problem, s schedule.Schedule) []mig.Seconds {
	steps := stepsOf(p, s)
	for changed := true; changed; {
		changed = false
		for i := range steps {
			for j := range steps {
				a, b := &steps[i], &steps[j]
				shares := a.mask&b.mask != 0 || a.operation && b.operation && p.Model == mig.Sequential
				before := a.start < b.start && a.end <= b.end+1e-7 && a.end <= b.start+1e-7
				if a.gpu == b.gpu && shares && before && b.own < a.own+a.takes-1e-12 {
					b.own, changed = a.own+a.takes, true
				}
			}
		}
	}
	var out []mig.Seconds
	for i := range steps {
		out = append(out, steps[i].own)
	}
	return out
}

func TestReplaysAreValidAndAsEarlyAsTheOrderAllows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, s := drawValid(t, 12, true)
		before := slices.Clone(s.Placements)
		other := otherTimes(t, p)
		r := schedule.Replay(other, s)
		if v := schedule.Check(other, r); v != nil {
			t.Fatalf("the replay is invalid: %v", v)
		}
		if !slices.Equal(before, s.Placements) {
			t.Fatal("the replay changes the schedule that it was given")
		}
		if again := schedule.Replay(other, r); !slices.Equal(again.Placements, r.Placements) || !slices.Equal(again.Operations, r.Operations) {
			t.Fatal("a replay of the replay differs")
		}
		if p.Model == mig.Free { // operations of no time have no order that starts alone tell
			return
		}
		want := earliestStarts(other, s)
		for i, st := range stepsOf(other, r) {
			if math.Abs(float64(st.start-want[i])) > 1e-7 {
				t.Fatalf("step %d starts at %v s; the order allows %v s", i, st.start, want[i])
			}
		}
	})
}

func TestReplayOfOwnTimesEndsNoLater(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, s := drawValid(t, 12, true)
		r := schedule.Replay(p, s)
		if v := schedule.Check(p, r); v != nil || r.Makespan() > s.Makespan()+1e-9 {
			t.Fatalf("%v; the replay ends at %v s, the schedule at %v s", v, r.Makespan(), s.Makespan())
		}
	})
}

// The task on 4 slices ends at 5 s and, as it turns out, the one on 3 slices at 8 s in place of 5 s. The instance of 7
// slices waits for both, wherever its create is listed.
func TestOperationsOfNoTimeAreReplayedInTheirOrder(t *testing.T) {
	g := mig.MustLookup("A100")
	instance := func(size, start mig.Slices) mig.Instance {
		in, err := g.Instance(size, start)
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	four, three, seven := instance(4, 0), instance(3, 4), instance(7, 0)
	p := schedule.Problem{GPU: g, Model: mig.Free, Tasks: task.Batch{
		task.New("a", map[mig.Slices]mig.Seconds{4: 5}), task.New("b", map[mig.Slices]mig.Seconds{3: 8}),
		task.New("c", map[mig.Slices]mig.Seconds{7: 2}),
	}}
	s := schedule.Schedule{
		GPU: g, Model: mig.Free,
		Placements: []schedule.Placement{{2, 0, seven, 5, 6}, {0, 0, four, 0, 5}, {1, 0, three, 0, 5}},
		Operations: []schedule.Operation{
			{schedule.Create, 0, seven, 5, 5},
			{schedule.Destroy, 0, four, 5, 5},
			{schedule.Destroy, 0, three, 5, 5},
			{schedule.Create, 0, four, 0, 0},
			{schedule.Create, 0, three, 0, 0},
		},
	}
	r := schedule.Replay(p, s)
	if v := schedule.Check(p, r); v != nil {
		t.Fatal(v)
	}
	wantRuns := []schedule.Placement{{2, 0, seven, 8, 10}, {0, 0, four, 0, 5}, {1, 0, three, 0, 8}}
	wantOperations := []schedule.Operation{
		{schedule.Create, 0, seven, 8, 8},
		{schedule.Destroy, 0, four, 5, 5},
		{schedule.Destroy, 0, three, 8, 8},
		{schedule.Create, 0, four, 0, 0},
		{schedule.Create, 0, three, 0, 0},
	}
	if !slices.Equal(r.Placements, wantRuns) || !slices.Equal(r.Operations, wantOperations) {
		t.Errorf("%v\n%v", r.Placements, r.Operations)
	}
}
