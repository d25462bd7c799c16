package placement

import (
	"errors"
	"fmt"
	"math/rand/v2"
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
	if rng.IntN(2) == 0 {
		in.Migration = task.Migration{Moves: 1 + rng.IntN(9), Window: 1 + rng.IntN(40), Downtime: rng.IntN(9)}
	} else if rng.IntN(2) == 0 {
		names := []string{g.Partitions()[0].String()} // for those that need a whole GPU
		for range rng.IntN(in.GPUs) {
			names = append(names, g.Partitions()[rng.IntN(len(g.Partitions()))].String())
		}
		if err := in.UseGeometry(g, names); err != nil {
			t.Fatal(err)
		}
	}
	return g, in
}

// TestPlacersOnClustersThatWait: whoever schedules, the referee finds nothing, and nobody is faster than the bound. Fixed
// instances of a profile are all the same to those that wait, so that no rule makes a difference which takes one that is
// free.
func TestPlacersOnClustersThatWait(t *testing.T) {
	rng, moved := rand.New(rand.NewPCG(1, 2)), 0
	for range deep.N(20, 300) {
		g, in := drawWaiting(t, rng)
		demand := make([]float64, len(task.RequestProfiles(g)))
		for i := range demand {
			demand[i] = 1 / float64(len(demand))
		}
		turnaround, end := bounds.TurnaroundAtLeast(g, in)
		wait, slots := bounds.WaitAtLeast(g, in), rng.IntN(20)
		late := bounds.LateAtLeast(g, in, slots)
		var fixed []int
		for _, a := range algotest.Variants(algo.TrackPlacement) {
			p, err := a.Placer(sim.PlacementSetting{
				GPU: g, GPUs: in.GPUs, PerNode: in.PerNode, Waiting: in.Waiting, Geometry: in.Geometry, Demand: demand,
			})
			if _, refused := errors.AsType[*algo.UnsupportedError](err); refused && (a.Spec.Name == "nos" || a.Spec.Name == "grmu" && in.Geometry != nil) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			r, err := sim.RunWaiting(g, in, p)
			if err != nil {
				t.Fatalf("%s: %v", a.ID, err)
			}
			if err := sim.CheckWaiting(&r); err != nil {
				t.Fatalf("%s: %v", a.ID, err)
			}
			if in.Geometry != nil && !mayReject(a) {
				if fixed == nil {
					fixed = r.Starts
				}
				if !slices.Equal(r.Starts, fixed) {
					t.Fatalf("%s on %v: %v, others %v", a.ID, in.Geometry, r.Starts, fixed)
				}
			}
			sum, waits, last, waiting := 0, 0, 0, 0
			for i := range in.Requests {
				q := &in.Requests[i]
				sum, waits, last = sum+r.Ends[i]-q.Arrival, waits+r.Ends[i]-q.Arrival-q.Lifespan, max(last, r.Ends[i])
				if r.Starts[i] > q.Arrival+slots {
					waiting++
				}
			}
			if turnaround > float64(sum) || end > last || wait > float64(waits) || late > waiting {
				t.Fatalf("%s: %d, %d, %d and %d on %+v; the bounds are %v, %d, %v and %d", a.ID, sum, last, waits, waiting, in, turnaround, end, wait, late)
			}
			moved += len(r.Moved)
		}
	}
	if moved < 100 {
		t.Errorf("%d moves", moved)
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
	score := dotProduct(nil, g)
	p := g.Profile(1)
	upper, _ := score(p, 0xf0)
	lower, _ := score(p, 0x0f)
	if upper.cost[0] != 4*1*8*8+4*1*7*7 || lower.cost[0] != 3*1*8*8+4*1*7*7 {
		t.Errorf("the costs are %v and %v", upper.cost, lower.cost)
	}
}

// TestRulesByHand lets requests arrive at 0, 1, ... on A100-80GB GPUs, each for a profile and a number of slots, and
// lists when and where they start. Beside each rule is what first fit does.
func TestRulesByHand(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	for _, c := range []struct {
		id, geometry  string
		gpus, perNode int
		ask           []string
		want          string
	}{
		// One 3g is in use when the last request comes.
		{"ff", "3-3", 2, 0, []string{"3 3", "3 2", "3 99", "3 1"}, "0:0@0 1:0@4 2:1@0 3:0@0"},
		{"packed", "3-3", 2, 0, []string{"3 3", "3 2", "3 99", "3 1"}, "0:0@0 1:0@4 2:1@0 3:1@4"},
		{"distributed", "3-3", 2, 0, []string{"3 3", "3 2", "3 99", "3 1"}, "0:0@0 1:1@0 2:0@4 3:1@0"},
		// Instances of other profiles do not count: neither GPU has a 2g in use.
		{"distributed", "4-2-1", 2, 0, []string{"4 9", "1 9", "2 9"}, "0:0@0 1:0@6 2:0@4"},
		// 2g waits for one of the two instances, though other slices are free; 3g asks for 4g, which has its memory.
		{"mfi", "4-2-1", 1, 0, []string{"2 5", "2 5", "3 1"}, "0:0@4 5:0@4 2:0@0"},
		// Node 0 has less free.
		{"ff", "", 4, 2, []string{"1 9", "1 9", "4 9"}, "0:0@0 1:0@1 2:1@0"},
		{"instaslice", "", 4, 2, []string{"1 9", "1 9", "4 9"}, "0:0@0 1:2@0 2:1@0"},
		// Of node 0, 4 of 16 memory slices are in use, of node 1, which has a GPU, 3 of 8.
		{"hami-2.10?node=spread", "", 3, 2, []string{"3 9", "1 9", "2 9", "1 9"}, "0:0@4 1:2@6 2:2@0 3:1@6"},
		{"instaslice", "", 4, 4, []string{"1 9", "1 9", "4 9"}, "0:0@0 1:0@1 2:1@0"},
	} {
		in := task.Requests{GPUs: c.gpus, PerNode: c.perNode, Waiting: task.Retry}
		for i, ask := range c.ask {
			q, size := task.Request{Arrival: i}, mig.Slices(0)
			if _, err := fmt.Sscan(ask, &size, &q.Lifespan); err != nil {
				t.Fatal(err)
			}
			q.Profile = g.Profile(size)
			in.Requests = append(in.Requests, q)
		}
		if c.geometry != "" {
			if err := in.UseGeometry(g, []string{c.geometry}); err != nil {
				t.Fatal(err)
			}
		}
		p := build(t, mustParse(t, c.id), sim.PlacementSetting{GPU: g, GPUs: c.gpus, PerNode: c.perNode, Geometry: in.Geometry})
		if got := startsOf(t, g, in, p); got != c.want {
			t.Errorf("%s, %q, %v: %s, want %s", c.id, c.geometry, c.ask, got, c.want)
		}
	}
}

// startsOf lists "slot:gpu@start" for each request.
func startsOf(t *testing.T, g *mig.GPU, in task.Requests, p sim.Placer) string {
	t.Helper()
	r, err := sim.RunWaiting(g, in, p)
	if err == nil {
		err = sim.CheckWaiting(&r)
	}
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i, s := range r.Spots {
		out = append(out, fmt.Sprintf("%d:%d@%d", r.Starts[i], s[0].GPU, s[0].Start))
	}
	return strings.Join(out, " ")
}

// TestNosByHand: the geometry is for all that wait, 3-3 and not one for the 2g that came first. And 4-2-1 is possible by
// numbers beside a 2g in use, but not beside one at slice 2; once that has left, 4g comes with 4-3.
func TestNosByHand(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	request := func(arrival, lifespan int, size mig.Slices) task.Request {
		return task.Request{Arrival: arrival, Lifespan: lifespan, Profile: g.Profile(size)}
	}
	for _, c := range []struct {
		requests []task.Request
		want     string
		metrics  []sim.Metric
	}{
		{
			[]task.Request{request(0, 5, 2), request(0, 5, 3), request(0, 6, 3)},
			"5:0@4 0:0@4 0:0@0",
			[]sim.Metric{{Name: "geometry_changes", Value: 2}, {Name: "geometries_impossible", Value: 0}},
		},
		{
			[]task.Request{request(0, 50, 2), request(0, 5, 2), request(0, 5, 3), request(9, 5, 4)},
			"0:0@2 0:0@0 0:0@4 50:0@0",
			[]sim.Metric{{Name: "geometry_changes", Value: 3}, {Name: "geometries_impossible", Value: 1. / 3}},
		},
	} {
		p := build(t, mustParse(t, "nos"), sim.PlacementSetting{GPU: g, GPUs: 1})
		in := task.Requests{GPUs: 1, Waiting: task.Retry, Requests: c.requests}
		if got := startsOf(t, g, in, p); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		if got := p.(sim.Reporter).Report(); !slices.Equal(got, c.metrics) {
			t.Errorf("%v, want %v", got, c.metrics)
		}
	}
}

// modelOf reads a model of two slices whose profiles have no numbers, with some of double memory.
func modelOf(t *testing.T, name string, double int) *mig.GPU {
	t.Helper()
	var more strings.Builder
	for i := range double {
		fmt.Fprintf(&more, `{"size": 1, "length": 2, "double_memory": true, "starts": [0], "max": 1, "memory_gb": %d, "create_s": 1, "destroy_s": 1},`, 20+i)
	}
	g, err := new(mig.Catalog).Parse(fmt.Appendf(nil, `{"gpu": "%s", "compute_slices": 2, "memory_slices": 2, "profiles": [
		{"size": 1, "length": 1, "starts": [0, 1], "max": 2, "memory_gb": 10, "create_s": 1, "destroy_s": 1}, %s
		{"size": 2, "length": 2, "starts": [0], "max": 1, "memory_gb": 20, "create_s": 1, "destroy_s": 1}]}`, name, more.String()), name)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestModelsWithoutIDs: a file of a model need not number its profiles.
func TestModelsWithoutIDs(t *testing.T) {
	g := modelOf(t, "Unnumbered", 0)
	if got := bestIndex(g)(g.Profile(1)); !slices.Equal(got, []mig.Slices{1, 0}) {
		t.Errorf("1g begins at %v, want 1 and 0", got)
	}
}

// TestNosOfManyProfiles: a model with more profiles than nos counts is refused before anything runs.
func TestNosOfManyProfiles(t *testing.T) {
	_, err := mustParse(t, "nos").Placer(sim.PlacementSetting{GPU: modelOf(t, "Many", 15), GPUs: 1})
	if _, refused := errors.AsType[*algo.UnsupportedError](err); !refused || !strings.Contains(err.Error(), "17 profiles") {
		t.Error(err)
	}
	build(t, mustParse(t, "nos"), sim.PlacementSetting{GPU: modelOf(t, "Fewer", 14), GPUs: 1})
}

// TestGRMUOfFixedInstances: the only whole instance is in the basket for small profiles, so that a request would wait forever.
func TestGRMUOfFixedInstances(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	in := task.Requests{GPUs: 2, Waiting: task.Retry, Requests: []task.Request{{Lifespan: 1, Profile: g.Profile(7)}}}
	if err := in.UseGeometry(g, []string{"3-3", "7"}); err != nil {
		t.Fatal(err)
	}
	a := mustParse(t, "grmu")
	_, err := a.Placer(sim.PlacementSetting{GPU: g, GPUs: 2, Geometry: in.Geometry})
	if _, refused := errors.AsType[*algo.UnsupportedError](err); !refused {
		t.Error(err)
	}
}
