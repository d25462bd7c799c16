package placement

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// TestMovesWhileOthersWaitChangeWithTheVersionOnly runs every mover where requests wait. The golden files hold the
// dataset, the sum of the slots from arrival to end, the number of moves, and a hash of all places and moves.
func TestMovesWhileOthersWaitChangeWithTheVersionOnly(t *testing.T) {
	var answers []algotest.Answer
	for _, a := range algotest.Variants(algo.TrackPlacement) {
		var b strings.Builder
		for _, name := range []string{"mfi/uniform?gpus=8&lifespan=steady&moves=2&queue=retry&rho=1.2", "mfi/skew-small?downtime=5&gpus=6&lifespan=steady&moves=1&queue=fifo"} {
			g := mig.MustLookup("A100-80GB")
			in, err := datasets.InstanceOf[task.Requests](datasets.MustParse(name), g, 0)
			if err != nil {
				t.Fatal(err)
			}
			p, err := a.Placer(sim.PlacementSetting{GPU: g, GPUs: in.GPUs, Demand: in.Demand, Waiting: in.Waiting})
			if _, moves := p.(sim.Mover); err != nil || !moves {
				continue
			}
			r, err := sim.RunWaiting(g, in, p)
			if err == nil {
				err = sim.CheckWaiting(&r)
			}
			if err != nil {
				t.Fatal(err)
			}
			sum, h := 0, fnv.New64a()
			for i, end := range r.Ends {
				sum += end - in.Requests[i].Arrival
			}
			fmt.Fprint(h, r.Spots, r.Moved)
			fmt.Fprintf(&b, "%s,%d,%d,%016x\n", name, sum, len(r.Moved), h.Sum64())
		}
		if b.Len() > 0 {
			answers = append(answers, algotest.Answer{Key: algotest.GoldenName(a.ID, a.Spec), Text: b.String()})
		}
	}
	algotest.Golden(t, "testdata/waiting", answers)
}

// A clearer places requests where it is told to, and remembers what [mover.clear] says about the last one.
type clearer struct {
	*mover
	spots []sim.Spot
	got   clearance
}

func (c *clearer) Place(*sim.Cluster, int) (sim.Spot, bool) {
	if len(c.spots) == 0 {
		return sim.Spot{}, false
	}
	next := c.spots[0]
	c.spots = c.spots[1:]
	return next, true
}

func (c *clearer) Move(r *sim.Residents, profile int) (sim.Move, bool) {
	if len(c.spots) == 0 {
		c.got = c.clear(r, profile)
	}
	return sim.Move{}, false
}

// TestClearingAgainstBruteForce: on clusters of up to four GPUs the moves of clear make room, they are at least the
// fewest that brute force finds, and in nine of ten cases as few. In the others a workload in nobody's way would have to
// move first.
func TestClearingAgainstBruteForce(t *testing.T) {
	const most = 3
	seeds, found, more := deep.N(200, 1000), 0, 0
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 18))
		g := mig.GPUs()[rng.IntN(len(mig.GPUs()))]
		m := newMover(g)
		gpus, profile := drawLayouts(rng, g), rng.IntN(len(m.profiles))
		c := &clearer{mover: &m}
		in := []task.Request{}
		for gpu := range gpus {
			gpus[gpu] &^= 0x88888888 // nobody is fixed
			for start := range mig.MaxMemorySlices {
				if k, _, ok := gpus[gpu].workload(start); ok {
					c.spots = append(c.spots, sim.Spot{GPU: gpu, Start: start})
					in = append(in, task.Request{Lifespan: 9, Profile: m.profiles[k]})
				}
			}
		}
		in = append(in, task.Request{Arrival: 1, Lifespan: 9, Profile: m.profiles[profile]})
		if _, err := sim.RunPlacement(g, len(gpus), in, c, sim.SteadyWindow, task.Migration{Moves: 99, Window: 9}); err != nil {
			t.Fatal(err)
		}
		want, _, ok := byBruteForce(&m, gpus, profile, most)
		got := len(c.got.moves)
		switch {
		case !ok && got > 0 && got <= most || ok && got > 0 && got < want:
			t.Fatalf("seed %d, %s, %x, %v: %d moves; brute force %d (%v)", seed, g, gpus, m.profiles[profile], got, want, ok)
		case got > 0:
			for gpu, mask := range c.got.masks {
				if _, fits := firstFree(m.profiles[profile], m.profiles[profile].Starts, mask); fits {
					break
				} else if gpu == len(gpus)-1 {
					t.Fatalf("seed %d: %v fits nowhere after %v", seed, m.profiles[profile], c.got.moves)
				}
			}
		}
		if ok && want > 0 {
			found++
			if got != want {
				more++
			}
		}
	}
	t.Logf("%d with the fewest moves of %d", found-more, found)
	if found < seeds/10 || more*10 > found {
		t.Errorf("%d of %d plans are not the fewest moves", more, found)
	}
}

// TestPriceOfMovesByHand: two GPUs each with a 3g, and a 7g that waits. Without a move it begins in slot 100. A move puts
// eight slices to use for a mean lifespan of 100 slots with one request on a GPU, and costs the downtime on four slices.
func TestPriceOfMovesByHand(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	p := task.RequestProfiles(g)
	for _, c := range []struct {
		id       string
		downtime int
		ask      []task.Request
		want     string
	}{
		{"mfi", 0, nil, "0 0 100, 0 moves"},
		{"repack-head", 0, nil, "0 0 1, 1 moves"},
		{"repack-head", 1000, nil, "0 0 1, 1 moves"},
		{"replan", 0, nil, "0 0 1, 1 moves"},
		{"replan", 199, nil, "0 0 1, 1 moves"},
		{"replan", 200, nil, "0 0 100, 0 moves"},
		// Two 1g behind the 7g would use two of the slices without a move, so that only six are gained.
		{"replan", 149, []task.Request{{Arrival: 1, Lifespan: 100, Profile: p[0]}, {Arrival: 1, Lifespan: 100, Profile: p[0]}}, "0 0 1 100 100, 1 moves"},
		{"replan", 150, []task.Request{{Arrival: 1, Lifespan: 100, Profile: p[0]}, {Arrival: 1, Lifespan: 100, Profile: p[0]}}, "0 0 100 1 1, 1 moves"}, // of a 1g, in slot 100
	} {
		in := task.Requests{GPUs: 2, Waiting: task.Retry, Migration: task.Migration{Moves: 9, Window: 100, Downtime: c.downtime}}
		in.Requests = append([]task.Request{{Lifespan: 100, Profile: p[3]}, {Lifespan: 100, Profile: p[3]}, {Arrival: 1, Lifespan: 100, Profile: p[5]}}, c.ask...)
		placer := &scripted{Placer: build(t, mustParse(t, c.id), sim.PlacementSetting{GPU: g, GPUs: 2, Waiting: task.Retry}), spots: []sim.Spot{{GPU: 0}, {GPU: 1}}}
		r, err := sim.RunWaiting(g, in, placer)
		if err == nil {
			err = sim.CheckWaiting(&r)
		}
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%s, %d moves", strings.Trim(fmt.Sprint(r.Starts), "[]"), len(r.Moved))
		if got != c.want {
			t.Errorf("%s, a downtime of %d: %s, want %s", c.id, c.downtime, got, c.want)
		}
	}
}

// TestOnlyTheHeadMakesRoom: a 1g is in the way of the 3g, which is not the first in the queue.
func TestOnlyTheHeadMakesRoom(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	p := task.RequestProfiles(g)
	in := task.Requests{GPUs: 1, Waiting: task.Retry, Migration: task.Migration{Moves: 9, Window: 100, Downtime: 1}, Requests: []task.Request{
		{Lifespan: 30, Profile: p[0]}, {Lifespan: 40, Profile: p[2]}, {Arrival: 1, Lifespan: 10, Profile: p[5]}, {Arrival: 2, Lifespan: 10, Profile: p[3]},
	}}
	for id, want := range map[string]string{"repack-head": "[0 0 40 30] 0", "replan": "[0 0 40 2] 1"} {
		c := &scripted{Placer: build(t, mustParse(t, id), sim.PlacementSetting{GPU: g, GPUs: 1, Waiting: task.Retry}), spots: []sim.Spot{{Start: 0}, {Start: 4}}}
		r, err := sim.RunWaiting(g, in, c)
		if err == nil {
			err = sim.CheckWaiting(&r)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(r.Starts, len(r.Moved)); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

// scripted puts the first requests at given places.
type scripted struct {
	sim.Placer
	spots []sim.Spot
}

func (s *scripted) Place(c *sim.Cluster, profile int) (sim.Spot, bool) {
	if len(s.spots) > 0 {
		next := s.spots[0]
		s.spots = s.spots[1:]
		return next, true
	}
	return s.Placer.Place(c, profile)
}

func (s *scripted) Move(r *sim.Residents, profile int) (sim.Move, bool) {
	if m, ok := s.Placer.(sim.Mover); ok && len(s.spots) == 0 {
		return m.Move(r, profile)
	}
	return sim.Move{}, false
}
