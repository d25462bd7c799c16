package bounds_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"miglab/bounds"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// bruteForce replays every order of the tasks on every choice of instances of at
// most two GPUs.
func bruteForce(p algo.Problem) mig.Seconds {
	type slicesBusy [2][8]mig.Seconds
	best := mig.Seconds(math.Inf(1))
	var extend func(done int, end mig.Seconds, busy slicesBusy)
	extend = func(done int, end mig.Seconds, busy slicesBusy) {
		if done == 1<<len(p.Tasks)-1 {
			best = min(best, end)
			return
		}
		for i := range p.Tasks {
			if done>>i&1 != 0 {
				continue
			}
			for g := range p.GPUs() {
				for _, in := range p.GPU.Tree() {
					if !p.Tasks[i].Fits(in.Size()) {
						continue
					}
					var start mig.Seconds
					for k := in.Start; k < in.Start+in.Profile.Length; k++ {
						start = max(start, busy[g][k])
					}
					stop, after := start+p.Tasks[i].On(in.Size()), busy
					for k := in.Start; k < in.Start+in.Profile.Length; k++ {
						after[g][k] = stop
					}
					extend(done|1<<i, max(end, stop), after)
				}
			}
		}
	}
	extend(0, 0, slicesBusy{})
	return best
}

func TestOptimumFreeIsThatOfBruteForce(t *testing.T) {
	for _, c := range []struct {
		gpu         string
		count, most int
	}{{"A30", 1, 4}, {"A30", 2, 3}, {"A100", 1, 4}, {"A100", 2, 3}} {
		t.Run(fmt.Sprintf("%d %s", c.count, c.gpu), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				g := mig.MustLookup(c.gpu)
				p := algo.Problem{GPU: g, Count: c.count, Model: mig.Free, Tasks: drawBatch(t, g, 1, c.most)}
				got, err := bounds.OptimumFree(context.Background(), p)
				if err != nil {
					t.Fatal(err)
				}
				if want := bruteForce(p); math.Abs(float64(got-want)) > 1e-9 {
					t.Fatalf("optimum %v, brute force %v", got, want)
				}
			})
		})
	}
}

func TestOptimumFreeRefuses(t *testing.T) {
	g := mig.MustLookup("A30")
	const other = "optimum-free takes tasks that are there at time 0 and cannot be stopped, on empty GPUs"
	for want, problems := range map[string][]algo.Problem{
		"optimum-free takes at most 6 tasks; the batch has 7": {{Tasks: randomBatch(g, 1, bounds.MaxOptimumFreeTasks+1)}},
		other: {
			{Restart: 1}, {Release: []mig.Seconds{0, 3}}, {Start: []schedule.Existing{existing(t, g, 2, 0, 3)}},
		},
	} {
		for _, p := range problems {
			p.GPU = g
			if p.Tasks == nil {
				p.Tasks = randomBatch(g, 1, 2)
			}
			if _, err := bounds.OptimumFree(t.Context(), p); err == nil || err.Error() != want {
				t.Errorf("%+v: error %v, want %s", p, err, want)
			}
		}
	}
}
