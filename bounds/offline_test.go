package bounds_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"miglab/bounds"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// mostAccepted returns the optimum by trying every set of places for every set of
// requests, GPU by GPU.
func mostAccepted(g *mig.GPU, gpus int, counts []int) int {
	profiles := task.RequestProfiles(g)
	best := 0
	var fill func(gpu int, from int, m mig.Mask, accepted int)
	fill = func(gpu, from int, m mig.Mask, accepted int) {
		best = max(best, accepted)
		for p := from; p < len(profiles); p++ {
			if counts[p] == 0 {
				continue
			}
			for _, s := range profiles[p].Starts {
				if w := (mig.Instance{Profile: profiles[p], Start: s}).Mask(); w&m == 0 {
					counts[p]--
					fill(gpu, p, m|w, accepted+1)
					counts[p]++
				}
			}
		}
		if gpu+1 < gpus {
			fill(gpu+1, 0, 0, accepted)
		}
	}
	fill(0, 0, 0, 0)
	return best
}

func streamOf(g *mig.GPU, counts []int) []task.Request {
	var out []task.Request
	for i, p := range task.RequestProfiles(g) {
		for range counts[i] {
			out = append(out, task.Request{Arrival: len(out), Lifespan: task.Forever, Profile: p})
		}
	}
	return out
}

func TestOfflineBoundHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := mig.MustLookup(rapid.SampledFrom([]string{"A30", "A100-80GB"}).Draw(t, "gpu"))
		counts := make([]int, len(task.RequestProfiles(g)))
		for range rapid.IntRange(1, 6).Draw(t, "requests") {
			counts[rapid.IntRange(0, len(counts)-1).Draw(t, "profile")]++
		}
		gpus := rapid.IntRange(1, 2).Draw(t, "gpus")
		bound, err := bounds.AcceptedAtMost(t.Context(), g, gpus, streamOf(g, counts))
		if err != nil {
			t.Fatal(err)
		}
		optimum := mostAccepted(g, gpus, slices.Clone(counts))
		if bound < optimum || bound > optimum+1 {
			t.Fatalf("%d GPUs, requests %v: bound %d, optimum %d", gpus, counts, bound, optimum)
		}
	})
}

// TestOfflineBoundByHand needs partitions: by memory slices alone, eight instances of 1g
// would fit a GPU, and two of 4g.
func TestOfflineBoundByHand(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	for _, c := range []struct {
		gpus   int
		counts []int // 1g, 1g with double memory, 2g, 3g, 4g, 7g
		want   int
	}{
		{1, []int{20, 0, 0, 0, 0, 0}, 7},
		{3, []int{0, 20, 0, 0, 0, 0}, 12},
		{3, []int{0, 0, 20, 0, 0, 0}, 9},
		{3, []int{0, 0, 0, 20, 0, 0}, 6},
		{3, []int{0, 0, 0, 0, 20, 0}, 3},
		{3, []int{0, 0, 0, 2, 20, 0}, 5},
		{3, []int{1, 0, 0, 0, 0, 5}, 3},
		{2, []int{7, 0, 0, 0, 0, 5}, 8},
		{2, []int{1, 1, 1, 1, 1, 1}, 5},
	} {
		got, err := bounds.AcceptedAtMost(t.Context(), g, c.gpus, streamOf(g, c.counts))
		if err != nil || got != c.want {
			t.Errorf("%d GPUs, requests %v: %d, %v; want %d", c.gpus, c.counts, got, err, c.want)
		}
	}
}
