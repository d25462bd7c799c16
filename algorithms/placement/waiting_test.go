package placement

import (
	"math/rand/v2"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/bounds"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// drawWaiting draws requests, for profiles or for work and memory, for a small cluster on which they wait.
func drawWaiting(t *testing.T, rng *rand.Rand) (*mig.GPU, task.Requests) {
	t.Helper()
	g := mig.GPUs()[rng.IntN(len(mig.GPUs()))]
	profiles := task.RequestProfiles(g)
	in := task.Requests{GPUs: 1 + rng.IntN(5), PerNode: rng.IntN(3), Waiting: []task.Waiting{task.Retry, task.FIFO}[rng.IntN(2)]}
	work, arrival := rng.IntN(2) == 0, 0
	for range 1 + rng.IntN(150) {
		arrival += rng.IntN(3)
		q := task.Request{Arrival: arrival, Lifespan: 1 + rng.IntN(30), Profile: profiles[rng.IntN(len(profiles))]}
		if work {
			q.Work, q.MemoryMB = 1+rng.IntN(30), q.Profile.MemoryMB()-rng.IntN(1000)
			if err := q.SetProfile(g); err != nil {
				t.Fatal(err)
			}
		}
		in.Requests = append(in.Requests, q)
	}
	return g, in
}

// TestPlacersOnClustersThatWait: whoever schedules, the referee finds nothing, and nobody is faster than the bound.
func TestPlacersOnClustersThatWait(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range deep.N(20, 100) {
		g, in := drawWaiting(t, rng)
		demand := make([]float64, len(task.RequestProfiles(g)))
		for i := range demand {
			demand[i] = 1 / float64(len(demand))
		}
		turnaround, end := bounds.WaitingAtLeast(g, in)
		for _, a := range algotest.Variants(algo.TrackPlacement) {
			p := build(t, a, sim.PlacementSetting{GPU: g, GPUs: in.GPUs, PerNode: in.PerNode, Demand: demand})
			r, err := sim.RunWaiting(g, in, p)
			if err != nil {
				t.Fatalf("%s: %v", a.ID, err)
			}
			if err := sim.CheckWaiting(in, r.Starts, r.Spots); err != nil {
				t.Fatalf("%s: %v", a.ID, err)
			}
			sum, last := 0, 0
			for i := range in.Requests {
				q := &in.Requests[i]
				at := r.Starts[i] + q.Lifespan
				sum, last = sum+at-q.Arrival, max(last, at)
			}
			if turnaround > float64(sum) || end > last {
				t.Fatalf("%s: %d and %d on %+v; the bounds are %v and %d", a.ID, sum, last, in, turnaround, end)
			}
		}
	}
}

// TestHAMi210ByHand: two nodes of two GPUs. GPU 3 is the emptiest of the fuller node; its 1g starts at the highest slice.
func TestHAMi210ByHand(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	p := task.RequestProfiles(g) // 1g 1g.20gb 2g 3g 4g 7g
	request := func(profile int) task.Request { return task.Request{Lifespan: 100, Profile: p[profile]} }
	in := task.Requests{GPUs: 4, PerNode: 2, Waiting: task.Retry, Requests: []task.Request{
		request(5), // GPU 0: all are empty
		request(3), // GPU 1, slice 4: node 0 is the fuller one, and GPU 0 has no room
		request(0), // GPU 1, slice 3: the highest slice that is free
		request(3), // GPU 2: on GPU 1, 3g has no start, nor have 4g and 7g
		request(1), // GPU 1, slice 0
		request(0), // GPU 1, slice 2
	}}
	r, err := sim.RunWaiting(g, in, build(t, mustParse(t, "hami-2.10"), sim.PlacementSetting{GPU: g, GPUs: 4, PerNode: 2}))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []sim.Spot{{GPU: 0, Start: 0}, {GPU: 1, Start: 4}, {GPU: 1, Start: 3}, {GPU: 2, Start: 4}, {GPU: 1, Start: 0}, {GPU: 1, Start: 2}} {
		if r.Spots[i][0] != want {
			t.Errorf("request %d is at %v, want %v", i, r.Spots[i][0], want)
		}
	}
}

// TestNoRequestEscalates: where a profile has no free start, those that HAMi tries next have none. It tries them by memory,
// then compute slices.
func TestNoRequestEscalates(t *testing.T) {
	for _, g := range mig.GPUs() {
		for _, p := range task.RequestProfiles(g) {
			for _, larger := range task.RequestProfiles(g) {
				if larger.MemoryGB < p.MemoryGB || larger.MemoryGB == p.MemoryGB && larger.Size < p.Size {
					continue
				}
				for m := range 1 << g.MemorySlices {
					if free(p, mig.Mask(m)) == 0 && free(larger, mig.Mask(m)) > 0 {
						t.Fatalf("%s, %08b: %v has no free start, but %v has", g, m, p, larger)
					}
				}
			}
		}
	}
}

func free(p *mig.Profile, occupied mig.Mask) (n int) {
	for range (freeStarts{p, occupied}).all {
		n++
	}
	return n
}

func mustParse(t *testing.T, id string) algo.Algorithm {
	t.Helper()
	a, err := algo.Parse(id)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestDotProductCountsComputeSlices: a 3g on the upper half leaves four compute slices, and four 1g on the lower one leave three
// and a memory slice.
func TestDotProductCountsComputeSlices(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	score := dotProduct(g)
	p := g.Profile(1)
	upper, _ := score(p, 0xf0)
	lower, _ := score(p, 0x0f)
	if upper.cost[0] != 4*1*8*8+4*1*7*7 || lower.cost[0] != 3*1*8*8+4*1*7*7 {
		t.Errorf("the costs are %v and %v", upper.cost, lower.cost)
	}
}
