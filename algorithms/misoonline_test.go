package algorithms

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// TestMISOOnlineKeepsRunningTasks follows four tasks that no instance speeds up. Under Free,
// the first two take halves. When the first ends, the third and the fourth share its half.
func TestMISOOnlineKeepsRunningTasks(t *testing.T) {
	p := algo.Problem{GPU: mig.MustLookup("A100"), Model: mig.Free}
	for i, seconds := range []mig.Seconds{10, 30, 5, 5} {
		times := map[mig.Slices]mig.Seconds{}
		for _, s := range p.GPU.Sizes() {
			times[s] = seconds
		}
		p.Tasks = append(p.Tasks, task.New(fmt.Sprint(i), times))
	}
	want := map[int]mig.Seconds{0: 0, 1: 0, 2: 10, 3: 10}
	for _, pl := range streamOf(t, p, []int{2, 2}).Placements {
		if pl.Start != want[pl.Task] {
			t.Errorf("task %d starts at %v s instead of %v s", pl.Task, pl.Start, want[pl.Task])
		}
	}
}

// TestMISOOnlineLeavesNoTaskWaiting draws tasks that fit every size and arrive over time.
// While one of them waits, no slice is free.
func TestMISOOnlineLeavesNoTaskWaiting(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 3))
	waits := 0
	for range 200 {
		p := algo.Problem{GPU: mig.MustLookup("A100"), Model: mig.Free}
		for i := range 3 + rng.IntN(20) {
			times, now := map[mig.Slices]mig.Seconds{}, mig.Seconds(20+80*rng.Float64())
			for _, s := range p.GPU.Sizes() {
				times[s] = now
				now *= mig.Seconds(0.5 + rng.Float64()/2)
			}
			p.Tasks = append(p.Tasks, task.New(fmt.Sprint(i), times))
		}
		algotest.AddRelease(&p, rng)
		s := streamOf(t, p, []int{len(p.Tasks)})
		for _, late := range s.Placements {
			for _, e := range s.Placements {
				if at := e.End; at >= p.ReleaseOf(late.Task) && at < late.Start {
					waits++
					if free := freeSlices(s, at); free > 0 {
						t.Fatalf("at %v s task %d waits although %d compute slices are free", at, late.Task, free)
					}
				}
			}
		}
	}
	if waits < 1000 {
		t.Errorf("tasks waited at %d completions; 1000 would test something", waits)
	}
}

// freeSlices counts the slices on which a single slice could be created just after an instant.
func freeSlices(s schedule.Schedule, at mig.Seconds) int {
	var busy mig.Mask
	for _, pl := range s.Placements {
		if pl.Start <= at && at < pl.End {
			busy |= pl.Instance.Mask()
		}
	}
	free := 0
	for l := range int(s.GPU.ComputeSlices) {
		if busy>>l&1 == 0 {
			free++
		}
	}
	return free
}

func streamOf(t *testing.T, p algo.Problem, lengths []int) schedule.Schedule {
	t.Helper()
	s, err := algotest.Stream.Run(t.Context(), algo.MustParse("miso-online"), algotest.StreamProblem{Problem: p, Lengths: lengths})
	if err != nil {
		t.Fatal(err)
	}
	if v := schedule.Check(p, s); len(v) > 0 {
		t.Fatal(v)
	}
	return s
}
