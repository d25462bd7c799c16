package bounds_test

import (
	"math"
	"slices"
	"testing"

	"miglab/bounds"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// Both bounds as the released code computed them.
func TestPublishedBoundsOfKnownBatches(t *testing.T) {
	known := 0
	for _, k := range readKnown(t, "published.json") {
		for name, want := range map[string]mig.Seconds{"area": k.Area, "l-bound": k.LBound} {
			if want == 0 {
				continue // of some batches only the area is known
			}
			known++
			if got := bound(t, name, k.problem()); math.Abs(float64(got-want)) > 1e-6 {
				t.Errorf("%s: %s %v, want %v", k.Name, name, got, want)
			}
		}
	}
	if known < 8 {
		t.Errorf("%d values are compared, want 8", known)
	}
}

// existing returns instances that exist at the start of a problem on one GPU.
func existing(t *testing.T, g *mig.GPU, size, start mig.Slices, busyUntil mig.Seconds) schedule.Existing {
	t.Helper()
	in, err := g.Instance(size, start)
	if err != nil {
		t.Fatal(err)
	}
	return schedule.Existing{Instance: in, BusyUntil: busyUntil}
}

// TestWorkedExamples compares each bound, and each term of a bound, with values that were worked out by hand.
func TestWorkedExamples(t *testing.T) {
	a100, a30, join := mig.MustLookup("A100"), mig.MustLookup("A30"), slices.Concat[task.Batch]
	at := func(size, start mig.Slices, busyUntil mig.Seconds) schedule.Existing {
		return existing(t, a100, size, start, busyUntil)
	}
	starts := func(all ...schedule.Existing) []schedule.Existing { return all }
	mixed := task.Batch{
		task.New("least on 2", map[mig.Slices]mig.Seconds{1: 10, 2: 4, 3: 3, 4: 2.5, 7: 2}),
		task.New("fits 3 and 7", map[mig.Slices]mig.Seconds{3: 2, 7: 1}),
	}
	registered := func(name string) func(algo.Problem) mig.Seconds {
		return func(p algo.Problem) mig.Seconds { return bound(t, name, p) }
	}
	type example struct {
		name string
		p    algo.Problem // on an A100, unless it names another model
		want mig.Seconds
	}
	for _, c := range []struct {
		bound    string
		compute  func(algo.Problem) mig.Seconds
		examples []example
	}{
		{"area", registered("area"), []example{
			{"8 + 6 slice-seconds", algo.Problem{Tasks: mixed}, 2},
			{"the same on two GPUs", algo.Problem{Count: 2, Tasks: mixed}, 1},
			{"three slices count three", algo.Problem{Tasks: only(3, 7)}, 3},
			{"seven slices", algo.Problem{Tasks: only(7, 7)}, 7},
		}},
		{"l-bound", registered("l-bound"), []example{
			{"1 slice", algo.Problem{Tasks: only(1, 7)}, (7 + 0.36) / 7},
			{"4 slices idle the other 3", algo.Problem{Tasks: only(4, 0.05)}, (7*0.05 + 4*0.42) / 7},
			{"unless 1 slice is cheaper", algo.Problem{Tasks: only(4, 7)}, (4*7 + 4*0.42 + 0.36) / 7},
			{"3 slices idle the other 4", algo.Problem{Tasks: only(3, 0.05)}, (7*0.05 + 3*0.41) / 7},
			{"2 and 4 slices idle 1", algo.Problem{Tasks: join(only(4, 0.05), only(2, 0.05))}, (5*0.05 + 3*0.05 + 4*0.42 + 2*0.37) / 7},
			{"1, 2 and 4 slices idle none", algo.Problem{Tasks: join(only(4, 7), only(2, 7), only(1, 7))}, (4*7 + 2*7 + 7 + 4*0.42 + 2*0.37 + 0.36) / 7},
			{"two GPUs", algo.Problem{GPU: a30, Count: 2, Tasks: only(2, 8)}, (2*8 + 2*0.22) / 8},
		}},
		{"area term", bounds.Occupied, []example{
			{"3 slices, create charged", algo.Problem{Tasks: only(3, 10, 10, 10)}, (3*30 + 3*0.20) / 7},
			{"2 and 4 slices", algo.Problem{Tasks: join(only(2, 10, 10), only(4, 10, 10, 10))}, (2*20 + 2*0.17 + 4*30 + 4*0.21) / 7},
			{"1 and 7 slices: the cheaper destroy", algo.Problem{Tasks: join(only(7, 10), only(1, 10))}, (70 + 7*0.24 + 10 + 0.16 + 0.20) / 7},
			{"an instance at the start", algo.Problem{Tasks: only(7, 10), Start: starts(at(7, 0, 0))}, 10},
			{"another instance at the start", algo.Problem{Tasks: only(7, 10), Start: starts(at(4, 0, 0))}, 10.24},
			{"nothing is charged under free", algo.Problem{Tasks: join(only(7, 10), only(1, 10)), Model: mig.Free}, 80. / 7},
			// 7 slices on one GPU and 4-3 on the other, no slice ever idle: an optimum, without any destroy.
			{"no destroy on two GPUs", algo.Problem{Tasks: join(only(7, 9.97), only(4, 10), only(3, 10.01)), Count: 2, Model: mig.Parallel}, 10.21},
		}},
		{"chains", func(p algo.Problem) mig.Seconds { return bounds.Chains(p, 100) }, []example{
			{"the second of two waits", algo.Problem{GPU: a30, Tasks: only(2, 5, 5)}, 0.12 + 0.12 + 5},
			{"unless it is the shorter", algo.Problem{GPU: a30, Tasks: only(2, 5, 4)}, 0.12 + 5},
			{"nobody waits under parallel", algo.Problem{GPU: a30, Model: mig.Parallel, Tasks: only(2, 5, 5)}, 0.12 + 5},
			{"the last of four waits for three", algo.Problem{GPU: a30, Tasks: only(1, 5, 5, 5, 5)}, 4*0.11 + 5},
			{"below another, too", algo.Problem{Tasks: join(only(7, 2), only(1, 5, 5, 5, 5, 5))}, 0.24 + 2 + 5*0.16 + 5 + 0.20},
			{"the longest goes first", algo.Problem{Tasks: only(1, 5, 5.1, 5.3, 5.6, 5.8)}, 0.16 + 5.8},
			{"on two GPUs nobody does", algo.Problem{GPU: a30, Count: 2, Tasks: only(2, 5, 5)}, 0.12 + 5},
			{"on each of two GPUs one of two waits", algo.Problem{GPU: a30, Count: 2, Tasks: only(2, 5, 5, 5, 5)}, 0.12 + 0.12 + 5},
			{"one destroy is paid", algo.Problem{Tasks: join(only(7, 5), only(4, 5))}, 0.24 + 5 + 0.21 + 0.21 + 5},
			{"merged again", algo.Problem{Tasks: join(only(7, 2), only(4, 2), only(3, 2))}, 0.24 + 2 + 0.20 + 0.20 + 2 + 0.21},
		}},
		{"exact", func(p algo.Problem) mig.Seconds { return exact(t, p).Lower }, []example{
			{"the longest create", algo.Problem{Tasks: only(7, 1)}, 0.24 + 1},
			{"creates one after the other", algo.Problem{Tasks: only(3, 1, 1)}, 0.2 + 0.2 + 1},
			{"creates at the same time", algo.Problem{Tasks: only(3, 1, 1), Model: mig.Parallel}, 0.2 + 1},
			{"no creates", algo.Problem{Tasks: only(3, 1, 1), Model: mig.Free}, 1},
		}},
		{"optimum-free", registered("optimum-free"), []example{
			{"three slices fit twice", algo.Problem{Tasks: only(3, 2, 2, 2)}, 4},
			{"four slices fit once", algo.Problem{Tasks: only(4, 2, 2)}, 4},
			{"four slices fit once on each GPU", algo.Problem{Count: 2, Tasks: only(4, 2, 2)}, 2},
			{"two slices fit three times", algo.Problem{Tasks: only(2, 5, 3, 2, 2)}, 5},
			{"one slice", algo.Problem{GPU: a30, Tasks: only(1, 3, 2, 2, 2, 1, 1)}, 3},
			{"twice whole, then split", algo.Problem{GPU: a30, Tasks: join(only(4, 1, 2), only(1, 4), only(2, 3))}, 7},
		}},
	} {
		for _, e := range c.examples {
			if e.p.GPU == nil {
				e.p.GPU = a100
			}
			if got := c.compute(e.p); !near(got, e.want) {
				t.Errorf("%s, %s: %v, want %v", c.bound, e.name, got, e.want)
			}
		}
	}
}
