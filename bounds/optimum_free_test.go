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
					start := p.ReleaseOf(i)
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
	var busy slicesBusy
	for _, e := range p.Start {
		for k := e.Instance.Start; k < e.Instance.Start+e.Instance.Profile.Length; k++ {
			busy[e.GPU][k] = e.BusyUntil
		}
	}
	extend(0, 0, busy)
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
				drawState(t, &p)
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

func TestOptimumFreeRefusesLargeBatches(t *testing.T) {
	g := mig.MustLookup("A30")
	_, err := bounds.OptimumFree(context.Background(), algo.Problem{GPU: g, Tasks: randomBatch(g, 1, bounds.MaxOptimumFreeTasks+1)})
	if want := "optimum-free takes at most 6 tasks; the batch has 7"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
