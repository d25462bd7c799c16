package bounds

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// TestWaitAtLeastByHand: three requests for a whole GPU that arrive together wait 0, 10 and 20 slots on one GPU. In the
// first ten slots two wait at least; the bound of areas has the rest.
func TestWaitAtLeastByHand(t *testing.T) {
	g := mig.MustLookup("A30")
	whole := g.Profile(4)
	in := task.Requests{GPUs: 1, Waiting: task.Retry, Requests: slices.Repeat([]task.Request{{Lifespan: 10, Profile: whole}}, 3)}
	if got := WaitAtLeast(g, in); got < 29.999 || got > 30 {
		t.Errorf("%v slots, want 30", got)
	}
	for slots, want := range map[int]int{0: 2, 9: 2, 10: 0} {
		if got := LateAtLeast(g, in, slots); got != want {
			t.Errorf("%d wait longer than %d slots, want %d", got, slots, want)
		}
	}
	in.Requests = append(in.Requests, slices.Repeat([]task.Request{{Arrival: 100, Lifespan: 10, Profile: whole}}, 3)...)
	if got := LateAtLeast(g, in, 3); got != 4 {
		t.Errorf("%d are late in two crowds, want 4", got)
	}
}

// TestMoreGPUsLowerTheBounds: what a search by halves needs.
func TestMoreGPUsLowerTheBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := mig.MustLookup("A100-80GB")
		in := task.Requests{Waiting: task.Retry}
		at := 0
		for range rapid.IntRange(1, 30).Draw(t, "requests") {
			at += rapid.IntRange(0, 5).Draw(t, "gap")
			in.Requests = append(in.Requests, task.Request{
				Arrival: at, Lifespan: rapid.IntRange(1, 40).Draw(t, "lifespan"), Profile: rapid.SampledFrom(task.RequestProfiles(g)).Draw(t, "profile"),
			})
		}
		slots := rapid.IntRange(0, 20).Draw(t, "slots")
		wait, late := 1e18, len(in.Requests)+1
		for in.GPUs = 1; in.GPUs < 6; in.GPUs++ {
			w, l := WaitAtLeast(g, in), LateAtLeast(g, in, slots)
			if w > wait*(1+1e-6)+1e-6 || l > late {
				t.Fatalf("%d GPUs: %v slots and %d late, more than %v and %d", in.GPUs, w, l, wait, late)
			}
			wait, late = w, l
		}
	})
}
