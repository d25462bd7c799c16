package bounds_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"miglab/bounds"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// TestTurnaroundAtLeastByHand: a 7g of 10 slots, then a 7g of 2 slots that arrives in slot 1 and may interrupt it: they end in
// slots 12 and 3. Two 3g of 5 slots weigh one half each, or run one after the other if only one fits.
func TestTurnaroundAtLeastByHand(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	p := func(name string) *mig.Profile {
		p, err := g.ProfileByName(name)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, c := range []struct {
		gpus       int
		requests   []task.Request
		turnaround float64
		end        int
	}{
		{1, []task.Request{{Lifespan: 10, Profile: p("7g.80gb")}, {Arrival: 1, Lifespan: 2, Profile: p("7g.80gb")}}, 12 + 2, 12},
		{2, []task.Request{{Lifespan: 10, Profile: p("7g.80gb")}, {Arrival: 1, Lifespan: 2, Profile: p("7g.80gb")}}, 12, 10},
		{1, slices.Repeat([]task.Request{{Lifespan: 5, Profile: p("3g.40gb")}}, 4), 2.5 + 5 + 7.5 + 10, 10},
		{1, slices.Repeat([]task.Request{{Lifespan: 5, Profile: p("4g.40gb")}}, 2), 5 + 10, 10},
		{2, []task.Request{{Lifespan: 6, Profile: p("7g.80gb"), GPUs: 2}, {Lifespan: 6, Profile: p("7g.80gb")}}, 3 + 9, 9},
	} {
		turnaround, end := bounds.TurnaroundAtLeast(g, task.Requests{GPUs: c.gpus, Requests: c.requests})
		if math.Abs(turnaround-c.turnaround) > 1e-6 || end != c.end {
			t.Errorf("%d GPUs, %v: %v, %d; want %v, %d", c.gpus, c.requests, turnaround, end, c.turnaround, c.end)
		}
	}
}

// TestTurnaroundAtLeastHoldsAnywhereInTime: a shift of all arrivals by 2^31 slots shifts the last end and nothing else. A request
// keeps the cluster busy for so short a time that it would be rounded in slots counted from 0.
func TestTurnaroundAtLeastHoldsAnywhereInTime(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	const n, shift = 100_000, 1 << 31
	in := task.Requests{GPUs: 1 << 12, Requests: slices.Repeat([]task.Request{{Lifespan: 1, Profile: task.RequestProfiles(g)[0]}}, n)}
	turnaround, end := bounds.TurnaroundAtLeast(g, in)
	if want := n * (n + 1) / 2. / 7 / (1 << 12); math.Abs(turnaround-want) > 1e-6*want {
		t.Errorf("at least %v, want %v", turnaround, want)
	}
	for i := range in.Requests {
		in.Requests[i].Arrival += shift
	}
	later, laterEnd := bounds.TurnaroundAtLeast(g, in)
	if math.Abs(later-turnaround) > 1e-9*turnaround || laterEnd != end+shift {
		t.Errorf("at least %v and %d, but %v and %d after a shift", turnaround, end, later, laterEnd-shift)
	}
}

// A waiter finds the least sum of turnarounds and the least end by trying every order and every place.
type waiter struct {
	gpus     int
	requests []task.Request
	masks    [][]mig.Mask // by slot and GPU
	sum, end int
}

// TestNoScheduleBeatsTurnaroundAtLeast tries all schedules of small streams. On most of them, the bounds are reached.
func TestNoScheduleBeatsTurnaroundAtLeast(t *testing.T) {
	g := mig.MustLookup("A30")
	profiles := task.RequestProfiles(g)
	rng := rand.New(rand.NewPCG(1, 29))
	tight, streams := 0, deep.N(250, 1000)
	for range streams {
		w := waiter{gpus: 1 + rng.IntN(2), sum: math.MaxInt, end: math.MaxInt}
		slot, horizon := 0, 0
		for range 1 + rng.IntN(4) {
			slot += rng.IntN(3)
			q := task.Request{Arrival: slot, Lifespan: 1 + rng.IntN(3), Profile: profiles[rng.IntN(len(profiles))]}
			w.requests = append(w.requests, q)
			horizon += q.Lifespan
		}
		for range slot + horizon {
			w.masks = append(w.masks, make([]mig.Mask, w.gpus))
		}
		w.try(0, 0, 0)
		turnaround, end := bounds.TurnaroundAtLeast(g, task.Requests{GPUs: w.gpus, Requests: w.requests})
		if turnaround > float64(w.sum) || end > w.end {
			t.Fatalf("%v on %d GPUs: at least %v and %d, but %d and %d are possible", w.requests, w.gpus, turnaround, end, w.sum, w.end)
		}
		if turnaround > float64(w.sum)-1e-6 && end == w.end {
			tight++
		}
	}
	if t.Logf("both bounds are reached on %d of %d streams", tight, streams); tight*100 < 60*streams {
		t.Errorf("the bounds are reached on %d of %d streams, want 60 %%", tight, streams)
	}
}

func (w *waiter) try(i, sum, end int) {
	if i == len(w.requests) {
		w.sum, w.end = min(w.sum, sum), min(w.end, end)
		return
	}
	q := &w.requests[i]
	for from := q.Arrival; from+q.Lifespan <= len(w.masks); from++ {
		for gpu := range w.gpus {
			for _, start := range q.Profile.Starts {
				mask := mig.Instance{Profile: q.Profile, Start: start}.Mask()
				life := w.masks[from : from+q.Lifespan]
				if slices.ContainsFunc(life, func(m []mig.Mask) bool { return m[gpu]&mask != 0 }) {
					continue
				}
				for _, m := range life {
					m[gpu] |= mask
				}
				w.try(i+1, sum+from+q.Lifespan-q.Arrival, max(end, from+q.Lifespan))
				for _, m := range life {
					m[gpu] &^= mask
				}
			}
		}
	}
}
