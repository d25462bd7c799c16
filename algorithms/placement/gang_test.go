package placement

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/bounds"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// readGangs reads requests for an A100-80GB, one word each: the profiles and, behind a slash, the gang.
func readGangs(t *testing.T, lines ...string) []task.Request {
	t.Helper()
	text := "arrival_slot,lifespan,profiles,gang\n"
	for i, line := range lines {
		text += fmt.Sprintf("%d,forever,%s\n", i, strings.Replace(line, "/", ",", 1))
	}
	in, err := task.ReadRequests(strings.NewReader(text), "t", mig.MustLookup("A100-80GB"), task.Requests{})
	if err != nil {
		t.Fatal(err)
	}
	return in.Requests
}

// drawGangs draws requests, most with gangs, for a cluster with at least as many GPUs as a gang has members, so that an
// empty cluster holds every gang in whatever order a rule places it.
func drawGangs(rng *rand.Rand) (*mig.GPU, task.Requests) {
	g := mig.MustLookup([]string{"A30", "A100-80GB", "H200"}[rng.IntN(3)])
	profiles := task.RequestProfiles(g)
	in := task.Requests{GPUs: 4 + rng.IntN(2), PerNode: rng.IntN(3), Waiting: []task.Waiting{task.Reject, task.Retry, task.FIFO}[rng.IntN(3)]}
	if rng.IntN(2) == 0 {
		in.Migration = task.Migration{Moves: 1 + rng.IntN(9), Window: 1 + rng.IntN(40), Downtime: rng.IntN(9)}
	}
	arrival := 0
	for len(in.Requests) < 60 {
		arrival += rng.IntN(3)
		var members []task.Member
		for range 1 + rng.IntN(4) {
			m := task.Member{Profile: profiles[rng.IntN(len(profiles))]}
			m.Media = m.Profile == profiles[0] && rng.IntN(2) == 0
			members = append(members, m)
		}
		q := task.Request{Arrival: arrival, Lifespan: 1 + rng.IntN(20)}
		q.SetGang(members, rng.IntN(2) == 0)
		if q.CheckGPUs(g) == nil {
			in.Requests = append(in.Requests, q)
		}
	}
	return g, in
}

// mayStarve reports whether a rule may reject a gang on an empty cluster: a strict index after its first member, and
// baskets that lack the GPUs.
func mayStarve(a algo.Algorithm) bool { return mayReject(a) || a.Spec.Name == "grmu" }

// mayReject reports whether a scheme may choose a GPU on which the profile has no free start.
func mayReject(a algo.Algorithm) bool {
	return a.Args["index"] == "strict" || a.Args["index"] == "slice"
}

// TestPlacersPlaceGangs: the referee finds nothing whoever schedules, no bound is broken, and nos refuses in words.
func TestPlacersPlaceGangs(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	bound, err := algo.Make[algo.Offline](algo.MustParse("offline-bound"))
	if err != nil {
		t.Fatal(err)
	}
	for range deep.N(12, 300) {
		g, in := drawGangs(rng)
		demand := slices.Repeat([]float64{1 / float64(len(task.RequestProfiles(g)))}, len(task.RequestProfiles(g)))
		most, err := bound.AcceptedAtMost(t.Context(), g, in.GPUs, in.Requests)
		if err != nil {
			t.Fatal(err)
		}
		turnaround, end := bounds.TurnaroundAtLeast(g, in)
		for _, a := range algotest.Variants(algo.TrackPlacement) {
			p, err := a.Placer(sim.PlacementSetting{
				GPU: g, GPUs: in.GPUs, PerNode: in.PerNode, Waiting: in.Waiting, Gangs: true, Demand: demand, Seed: 1,
			})
			if _, refused := errors.AsType[*algo.UnsupportedError](err); refused && a.Spec.Name == "nos" {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if in.Waiting == task.Reject {
				r, err := sim.RunPlacement(g, in.GPUs, in.Requests, p, sim.SteadyWindow, in.Migration)
				if err == nil {
					err = sim.CheckPlacement(in.GPUs, in.Requests, r.Spots, r.Moved, in.Migration)
				}
				if err != nil || r.Accepted.Requests > most {
					t.Fatalf("%s: %d accepted of at most %d, %v", a.ID, r.Accepted.Requests, most, err)
				}
				continue
			}
			r, err := sim.RunWaiting(g, in, p)
			if err != nil && mayStarve(a) && strings.Contains(err.Error(), "wait forever") {
				continue
			}
			if err == nil {
				err = sim.CheckWaiting(&r)
			}
			if err != nil {
				t.Fatalf("%s: %v", a.ID, err)
			}
			sum, last := 0, 0
			for i := range in.Requests {
				sum, last = sum+r.Ends[i]-in.Requests[i].Arrival, max(last, r.Ends[i])
			}
			if turnaround > float64(sum) || end > last {
				t.Fatalf("%s: %d and %d; the bounds are %v and %d", a.ID, sum, last, turnaround, end)
			}
		}
	}
}

// room reports by brute force whether a GPU has room for all members.
func room(members []task.Member, occupied mig.Mask) bool {
	if len(members) == 0 {
		return true
	}
	for _, s := range members[0].Profile.Starts {
		if w := window(members[0].Profile, s); w&occupied == 0 && room(members[1:], occupied|w) {
			return true
		}
	}
	return false
}

// TestNoGangOfOneGPUIsRejectedThatFits replays what every rule does and tries every place of each rejected gang.
func TestNoGangOfOneGPUIsRejectedThatFits(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 11))
	rejected, accepted := 0, 0
	for range deep.N(12, 200) {
		g, in := drawGangs(rng)
		in.Migration = task.Migration{}
		for _, a := range algotest.Variants(algo.TrackPlacement) {
			if mayStarve(a) || a.Spec.Name == "nos" {
				continue
			}
			p := build(t, a, sim.PlacementSetting{GPU: g, GPUs: in.GPUs, Gangs: true, Demand: slices.Repeat([]float64{0.2}, len(task.RequestProfiles(g)))})
			r, err := sim.RunPlacement(g, in.GPUs, in.Requests, p, sim.SteadyWindow, in.Migration)
			if err != nil {
				t.Fatal(err)
			}
			for i := range in.Requests {
				q := &in.Requests[i]
				if len(r.Spots[i]) > 0 {
					accepted++
					continue
				}
				if q.Gang == nil || !q.Gang.OneGPU {
					continue
				}
				rejected++
				masks, media := make([]mig.Mask, in.GPUs), make([]bool, in.GPUs)
				for k := range i {
					o := &in.Requests[k]
					for j, s := range r.Spots[k] {
						if o.Arrival+o.Lifespan > q.Arrival {
							masks[s.GPU] |= window(o.Member(j).Profile, s.Start)
							media[s.GPU] = media[s.GPU] || o.Member(j).Media
						}
					}
				}
				for gpu, mask := range masks {
					if !(media[gpu] && q.Gang.Media() > 0) && room(q.Gang.Members, mask) {
						t.Fatalf("%s rejects %v, which fits GPU %d with the mask %08b", a.ID, q.Gang, gpu, mask)
					}
				}
			}
		}
	}
	if rejected < 1000 || accepted < 1000 {
		t.Errorf("%d gangs rejected, %d requests accepted", rejected, accepted)
	}
}

// TestGangWalks has places that are plain.
func TestGangWalks(t *testing.T) {
	for _, c := range []struct {
		id   string
		ask  []string
		want string
	}{
		// 3g at 0 would leave no room for both 1g beside 2g, so that it is at 4.
		{"ff", []string{"3g.40gb+2g.20gb+1g.10gb+1g.10gb/gpu"}, "[[{0 4} {0 0} {0 2} {0 3}]]"},
		// Anywhere, each takes the first place.
		{"ff", []string{"3g.40gb+2g.20gb+1g.10gb+1g.10gb/any"}, "[[{0 0} {0 4} {0 6} {1 0}]]"},
		// A second +me has to be on the other GPU; a third is nowhere.
		{"ff", []string{"1g.10gb+me/any", "1g.10gb+me/any", "1g.10gb+me/any"}, "[[{0 0}] [{1 0}] []]"},
		{"ff", []string{"1g.10gb+me+1g.10gb+me/any", "3g.40gb+1g.10gb+me/gpu"}, "[[{0 0} {1 0}] []]"},
		// All or nothing: the 7g of the gang fits nowhere, so that its 1g is not placed.
		{"ff", []string{"1g.10gb/any", "1g.10gb/any", "7g.80gb+7g.80gb+1g.10gb/any", "7g.80gb/any"}, "[[{0 0}] [{0 1}] [] [{1 0}]]"},
		// The second 7g fits nowhere, and the turn stays with GPU 0.
		{"rr", []string{"1g.10gb/any", "7g.80gb+7g.80gb/any", "1g.10gb/any"}, "[[{0 0}] [] [{0 1}]]"},
		{"mfi", []string{"3g.40gb+1g.10gb/gpu", "1g.10gb+me/any"}, "[[{0 4} {0 0}] [{0 1}]]"},
		// 3g has two starts, 2g three and 1g seven: 3g comes first. At 4 it leaves a run of four slices as at 0, but ten
		// placements in place of seven.
		{"hami-2855", []string{"3g.40gb+2g.20gb+1g.10gb/gpu"}, "[[{0 4} {0 0} {0 2}]]"},
		// The fullest GPU with room for all comes first: GPU 1 for two 3g, and GPU 0 for the last gang.
		{"hami-2855", []string{"1g.10gb/any", "3g.40gb+3g.40gb/gpu", "3g.40gb+1g.10gb/gpu"}, "[[{0 0}] [{1 4} {1 0}] [{0 4} {0 1}]]"},
		{"hami-2855?gpu=spread", []string{"1g.10gb/any", "3g.40gb+1g.10gb/gpu"}, "[[{0 0}] [{1 4} {1 0}]]"},
		// No GPU has room for all three: one after another, and both +me on GPUs of their own.
		{"hami-2855", []string{"4g.40gb+4g.40gb+1g.10gb/any"}, "[[{0 0} {1 0} {0 4}]]"},
		{"hami-2855", []string{"1g.10gb+me+1g.10gb+me/any"}, "[[{0 0} {1 0}]]"},
	} {
		requests := readGangs(t, c.ask...)
		p := build(t, algo.MustParse(c.id), sim.PlacementSetting{GPU: mig.MustLookup("A100-80GB"), GPUs: 2, Gangs: true})
		r, err := sim.RunPlacement(mig.MustLookup("A100-80GB"), 2, requests, p, sim.SteadyWindow, task.Migration{})
		if got := fmt.Sprint(r.Spots); err != nil || got != c.want {
			t.Errorf("%s, %v: %s, %v; want %s", c.id, c.ask, got, err, c.want)
		}
	}
}

// TestJointPlanBacktracks: on every mask, hami-2855 places a gang exactly if there is room, and its first choice of each
// member leaves the longest run and then the most placements among those that can be completed.
func TestJointPlanBacktracks(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	rng := rand.New(rand.NewPCG(12, 13))
	backtracks := 0
	for _, mask := range reachable(g) {
		for range 30 {
			_, in := drawGangs(rng)
			q := in.Requests[rng.IntN(len(in.Requests))]
			if q.Gang == nil || !slices.Contains(task.RequestProfiles(g), q.Gang.Members[0].Profile) {
				continue
			}
			c, err := sim.NewCluster(g, 1)
			if err != nil {
				t.Fatal(err)
			}
			h := build(t, algo.MustParse("hami-2855"), sim.PlacementSetting{GPU: g, GPUs: 1, Gangs: true}).(*hami2855)
			starts := slices.Repeat([]mig.Slices{nowhere}, len(q.Gang.Members))
			ok := h.plan(c, 0, q.Gang.Members, mask, starts)
			if ok != room(q.Gang.Members, mask) {
				t.Fatalf("%v beside %08b: planned %v", q.Gang, mask, ok)
			}
			occupied := mask
			for k, m := range q.Gang.Members {
				if !ok {
					if starts[k] != nowhere {
						t.Fatalf("%v beside %08b: %v is left at %d", q.Gang, mask, m, starts[k])
					}
					continue
				}
				w := window(m.Profile, starts[k])
				if w&occupied != 0 || !slices.Contains(m.Profile.Starts, starts[k]) {
					t.Fatalf("%v beside %08b: %v at %d", q.Gang, mask, m, starts[k])
				}
				occupied |= w
			}
			if !ok && mask.Count()+mig.Slices(q.Slices()) <= g.MemorySlices {
				backtracks++
			}
		}
	}
	if backtracks < 10 {
		t.Errorf("%d gangs with enough free slices and no room", backtracks)
	}
}

// TestOnSingleInstancesTheJointRuleIsItsPart: without gangs, hami-2855 is hami-binpack, and hami-spread with gpu=spread.
func TestOnSingleInstancesTheJointRuleIsItsPart(t *testing.T) {
	for id, part := range map[string]string{"hami-2855": "hami-binpack", "hami-2855?gpu=spread": "hami-spread"} {
		var decisions [2][]algotest.Decision
		for i, name := range []string{id, part} {
			a, err := algotest.Placement.Run(t.Context(), algo.MustParse(name), stream(t, "A100-80GB", "mfi/uniform?gpus=20&lifespan=steady&rho=1.3", 0))
			if err != nil {
				t.Fatal(err)
			}
			decisions[i] = a.Decisions
		}
		if !reflect.DeepEqual(decisions[0], decisions[1]) {
			t.Errorf("%s decides otherwise than %s", id, part)
		}
	}
}

func TestNosRefusesGangs(t *testing.T) {
	_, err := algo.MustParse("nos").Placer(sim.PlacementSetting{GPU: mig.MustLookup("A100-80GB"), GPUs: 2, Gangs: true})
	if _, refused := errors.AsType[*algo.UnsupportedError](err); !refused || !strings.Contains(err.Error(), "several instances at once or for +me") {
		t.Error(err)
	}
}
