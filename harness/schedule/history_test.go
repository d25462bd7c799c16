package schedule

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
)

// drawHistory draws work on whole seconds, so that many arrivals, starts and ends coincide.
func drawHistory(t *rapid.T) History {
	h := History{Slices: 56, Due: true}
	for range rapid.IntRange(0, 12).Draw(t, "work") {
		at := rapid.IntRange(0, 9).Draw(t, "arrival")
		w := Work{Arrival: mig.Seconds(at), Late: rapid.Bool().Draw(t, "late")}
		for range rapid.IntRange(1, 3).Draw(t, "stays") {
			at += rapid.IntRange(0, 3).Draw(t, "wait")
			s := Stay{Start: mig.Seconds(at), Slices: rapid.IntRange(1, 7).Draw(t, "slices")}
			at += rapid.IntRange(1, 3).Draw(t, "length")
			s.End = mig.Seconds(at)
			w.Stays = append(w.Stays, s)
		}
		h.Work = append(h.Work, w)
	}
	return h
}

// valueAt is the value of a count at an instant.
func valueAt(steps []Step, at mig.Seconds) (n int) {
	for _, s := range steps {
		if s.At <= at {
			n = s.N
		}
	}
	return n
}

// A run is counted from its start on and no longer at its end, so that ends come before starts and arrivals.
func TestStepsCountTheWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t)
		for half := range 80 {
			at := mig.Seconds(half) / 2
			var used, waiting, late int
			for _, w := range h.Work {
				running := false
				for _, s := range w.Stays {
					if s.Start <= at && at < s.End {
						used += s.Slices
						running = true
					}
				}
				ended := at >= w.Stays[len(w.Stays)-1].End
				if w.Arrival <= at && !running && !ended {
					waiting++
				}
				if ended && w.Late {
					late++
				}
			}
			usedSteps, waitingSteps, lateSteps := h.Steps()
			for _, c := range []struct {
				name  string
				steps []Step
				want  int
			}{{"used", usedSteps, used}, {"waiting", waitingSteps, waiting}, {"late", lateSteps, late}} {
				if got := valueAt(c.steps, at); got != c.want {
					t.Fatalf("%s at %v s is %d, want %d: %v", c.name, at, got, c.want, c.steps)
				}
				if c.steps[0].At != 0 || !slices.IsSortedFunc(c.steps, func(a, b Step) int {
					if a.At < b.At && a.N != b.N {
						return -1
					}
					return 1
				}) {
					t.Fatalf("%s: steps do not rise from 0 s, or repeat a value: %v", c.name, c.steps)
				}
			}
		}
	})
}

// Instants that are the same for the referee are one step: no count dips or peaks between them.
func TestStepsToleratesRounding(t *testing.T) {
	stay := func(start, end mig.Seconds) []Stay { return []Stay{{Start: start, End: end, Slices: 7}} }
	h := History{Slices: 7, Work: []Work{{Stays: stay(0, 1)}, {Stays: stay(1-1e-9, 2)}, {Stays: stay(2+1e-9, 3)}}}
	used, waiting, _ := h.Steps()
	if want := []Step{{0, 7}, {3, 0}}; !slices.Equal(used, want) {
		t.Errorf("%v, want %v", used, want)
	}
	if len(waiting) != 3 || waiting[0].N != 2 {
		t.Errorf("%v, want steps from 2 to 1 and 0", waiting)
	}
}
