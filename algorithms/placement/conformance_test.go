package placement

import (
	"context"
	"encoding/binary"
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

func build(t *testing.T, a algo.Algorithm, s sim.PlacementSetting) sim.Placer {
	t.Helper()
	p, err := a.Placer(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// stream returns an instance of a dataset as a problem.
func stream(t *testing.T, gpu, spec string, index int) algotest.PlacementProblem {
	t.Helper()
	g := mig.MustLookup(gpu)
	in, err := datasets.InstanceOf[task.Requests](datasets.MustParse(spec), g, index)
	if err != nil {
		t.Fatal(err)
	}
	return algotest.PlacementProblem{GPU: g, GPUs: in.GPUs, Requests: in.Requests, Demand: in.Demand, Migration: in.Migration}
}

func TestPlacers(t *testing.T) {
	suite := algotest.Suite[algotest.PlacementProblem, algotest.PlacementAnswer]{
		Track: algotest.Placement, Problems: deep.N(16, 80), Draw: drawStream,
	}
	suite.Test(t)
}

// drawStream draws requests for a small cluster that fills.
func drawStream(rng *rand.Rand) algotest.PlacementProblem {
	gpus := mig.GPUs()
	p := algotest.PlacementProblem{GPU: gpus[rng.IntN(len(gpus))], GPUs: 1 + rng.IntN(5)}
	profiles := task.RequestProfiles(p.GPU)
	for range profiles {
		p.Demand = append(p.Demand, 1/float64(len(profiles)))
	}
	if rng.IntN(2) == 0 {
		p.Migration = task.Migration{Moves: 1 + rng.IntN(9), Window: 1 + rng.IntN(40), Downtime: rng.IntN(9)}
	}
	arrival := 0
	for range 1 + rng.IntN(200) {
		arrival += rng.IntN(3)
		r := task.Request{Arrival: arrival, Lifespan: 1 + rng.IntN(40), Profile: profiles[rng.IntN(len(profiles))]}
		if rng.IntN(20) == 0 {
			r.Lifespan = task.Forever
		}
		p.Requests = append(p.Requests, r)
	}
	return p
}

// TestDecisionsChangeWithTheVersionOnly runs every scheduler on streams of every
// geometry. The golden files hold the GPU, the dataset, the number of accepted requests and a hash of
// all decisions.
func TestDecisionsChangeWithTheVersionOnly(t *testing.T) {
	var answers []algotest.Answer
	for _, a := range algotest.Variants(algo.TrackPlacement) {
		var b strings.Builder
		for _, gpu := range []string{"A100-80GB", "A30"} {
			specs := []string{"mfi/uniform?gpus=20&lifespan=steady&rho=1.3", "mfi/skew-small?gpus=70&lifespan=forever&load=110"}
			if _, ok := build(t, a, sim.PlacementSetting{GPU: mig.MustLookup(gpu), GPUs: 1, Demand: stream(t, gpu, specs[0], 0).Demand}).(sim.Mover); ok {
				specs = []string{"mfi/uniform?gpus=20&lifespan=steady&moves=1", "mfi/skew-small?gpus=20&lifespan=steady&rho=1.3&moves=0.25&downtime=5"}
			}
			for _, spec := range specs {
				got, err := algotest.Placement.Run(context.Background(), a, stream(t, gpu, spec, 0))
				if err != nil {
					t.Fatalf("%s on %s, %s: %v", a.ID, gpu, spec, err)
				}
				fmt.Fprintf(&b, "%s,%s,%d,%016x\n", gpu, spec, got.Result.Accepted.Requests, hash(got.Decisions, got.Result.Moved))
			}
		}
		answers = append(answers, algotest.Answer{Key: algotest.GoldenName(a.ID, a.Spec), Text: b.String()})
	}
	algotest.Golden(t, "testdata/golden", answers)
}

func hash(decisions []algotest.Decision, moved []sim.Moved) (sum uint64) {
	for _, m := range moved {
		decisions = append(decisions, algotest.Decision{Spot: m.To}, algotest.Decision{Spot: sim.Spot{GPU: m.Before, Start: mig.Slices(m.Request)}})
	}
	for _, d := range decisions {
		f := fnv.New64a()
		binary.Write(f, binary.LittleEndian, []uint64{sum, uint64(d.Spot.GPU), uint64(d.Spot.Start)}) // a hash accepts all input
		if d.Accepted {
			f.Write([]byte{1})
		}
		sum = f.Sum64()
	}
	return sum
}

// TestOnlyStrictPlacersRejectWhatFits lets the others decide on every model.
func TestOnlyStrictPlacersRejectWhatFits(t *testing.T) {
	for _, a := range algotest.Variants(algo.TrackPlacement) {
		if mayReject(a) || a.Spec.Name == "grmu" || a.Spec.Name == "nos" {
			continue
		}
		for _, g := range mig.GPUs() {
			in := stream(t, g.Name, "mfi/bimodal?gpus=4&lifespan=steady&rho=1.3", 1)
			p := build(t, a, sim.PlacementSetting{GPU: g, GPUs: in.GPUs, Demand: in.Demand})
			if _, err := sim.RunPlacement(g, in.GPUs, in.Requests, &eager{t, a.ID, p}, sim.SteadyWindow, task.Migration{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// eager fails the test when a placer rejects a request that fits.
type eager struct {
	t  *testing.T
	id string
	sim.Placer
}

func (e *eager) Place(c *sim.Cluster, profile int) (sim.Spot, bool) {
	spot, ok := e.Placer.Place(c, profile)
	for gpu := range c.GPUs() {
		if _, fits := firstFree(c.Profiles()[profile], c.Profiles()[profile].Starts, c.Mask(gpu)); !ok && fits {
			e.t.Fatalf("%s rejects %v, which fits GPU %d with the mask %08b", e.id, c.Profiles()[profile], gpu, c.Mask(gpu))
		}
	}
	return spot, ok
}

// played runs a scheduler on A100-80GB GPUs and requests for profiles by name. All stay, but one
// with a ! leaves before the last request.
func played(t *testing.T, id string, gpus int, rules task.Migration, names []string) algotest.PlacementAnswer {
	t.Helper()
	g := mig.MustLookup("A100-80GB")
	p := algotest.PlacementProblem{GPU: g, GPUs: gpus, Migration: rules}
	for i, name := range names {
		name, short := strings.CutSuffix(name, "!")
		profile, err := g.ProfileByName(name)
		if err != nil {
			t.Fatal(err)
		}
		q := task.Request{Arrival: i, Lifespan: task.Forever, Profile: profile}
		if short {
			q.Lifespan = len(names) - 1 - i
		}
		p.Requests = append(p.Requests, q)
	}
	a, err := algotest.Placement.Run(t.Context(), algo.MustParse(id), p)
	if err == nil {
		err = algotest.Placement.Check(p, a)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// spots lists "gpu@start" for each decision, or "-".
func spots(a algotest.PlacementAnswer) string {
	var out []string
	for _, d := range a.Decisions {
		if out = append(out, "-"); d.Accepted {
			out[len(out)-1] = fmt.Sprintf("%d@%d", d.Spot.GPU, d.Spot.Start)
		}
	}
	return strings.Join(out, " ")
}

func TestWalks(t *testing.T) {
	const one, two, three, four, seven = "1g.10gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"
	const double = "1g.20gb"
	for _, c := range []struct {
		id   string
		gpus int
		ask  []string
		want string
	}{
		// GPU 0 has 7 free slices, but the only start of 4g is taken.
		{"ff", 2, []string{one, four, four}, "0@0 1@0 -"},
		{"ff?index=strict", 2, []string{one, four, four}, "0@0 - -"},
		{"ff", 2, []string{one, one, two, three, one}, "0@0 0@1 0@2 0@4 1@0"},
		{"rr", 3, []string{one, one, one, four, two}, "0@0 1@0 2@0 - 0@2"},
		{"rr", 3, []string{one, four, one, four}, "0@0 1@0 2@0 -"},
		// A rejecting GPU has had its turn.
		{"ff?index=slice", 2, []string{one, two, one, two, three}, "0@0 - 0@1 0@2 0@4"},
		{"rr?index=slice", 2, []string{one, two, two, one, two}, "0@0 1@0 - 1@2 -"},
		{"rr?index=strict", 3, []string{four, one, one, four, two}, "0@0 1@0 2@0 - 1@2"},
		// 1g goes to 6, 5, 4, then 3; 2g to 4; double memory to 6.
		{"bf-bi", 2, []string{one, one, one, one, two}, "0@6 0@5 0@4 0@3 0@0"},
		{"bf-bi", 2, []string{two, double, one, four}, "0@4 0@6 0@3 1@0"},
		{"bf-bi", 2, []string{three, two, four}, "0@4 0@2 1@0"},
		{"bf-bi?index=strict", 2, []string{three, two, four, seven}, "0@4 0@2 1@0 -"},
		{"bf-bi?index=strict", 2, []string{one, one, one, one, four}, "0@6 0@5 0@4 0@3 -"},
		{"bf-bi", 2, []string{one, one, one, one, four}, "0@6 0@5 0@4 0@3 1@0"},
		{"wf-bi", 2, []string{one, one, one, four, four}, "0@6 1@6 0@5 1@0 0@0"},
		{"wf-bi", 2, []string{seven, one, one}, "0@0 1@6 1@5"},
		// F({6}) is least: 1g@6 takes 1 + 2 + 4 slices of placements, 1g@0 another 4 of 2g
		// and 4g.
		{"mfi", 2, []string{one}, "0@6"},
		// Filling GPU 0 beside 1g@6 costs less than opening GPU 1.
		{"mfi", 2, []string{one, four, two}, "0@6 0@0 0@4"},
		// 1g@0 leaves a run of seven slices, 1g@6 one of six.
		{"hami-binpack", 2, []string{one, one, four}, "0@0 0@1 1@0"},
		// The slices of the list come first, then the others in order.
		{"dra-first-fit?first=4-6", 2, []string{one, three, two, double, one}, "0@4 0@0 1@4 0@6 0@5"},
		// GPU 0 is for whole ones alone, and they have no other.
		{"grmu", 3, []string{one, seven, seven, four, four}, "1@0 0@0 - 2@0 -"},
		{"hami-spread", 2, []string{one, one, four, three}, "0@0 1@0 - 0@4"},
	} {
		if got := spots(played(t, c.id, c.gpus, task.Migration{}, c.ask)); got != c.want {
			t.Errorf("%s, %d GPUs, %v: %s, want %s", c.id, c.gpus, c.ask, got, c.want)
		}
	}
}
