package placement

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// naiveNos plans as the source does, step by step: every plan counts the instances of every GPU and tries every
// geometry.
type naiveNos struct {
	g          *mig.GPU
	profiles   []*mig.Profile
	geometries []map[*mig.Profile]int
	gpus       []mig.Partition
}

func newNaiveNos(g *mig.GPU, gpus int) *naiveNos {
	n := &naiveNos{g: g, profiles: task.RequestProfiles(g), gpus: make([]mig.Partition, gpus)}
	for _, p := range g.PartitionsOf(func(p *mig.Profile) bool { return !p.MediaExtensions }) {
		_, geometry := tally(p, 0xff)
		n.geometries = append(n.geometries, geometry)
	}
	return n
}

// tally counts the free instances by profile and those in use.
func tally(exist mig.Partition, occupied mig.Mask) (free, used map[*mig.Profile]int) {
	free, used = map[*mig.Profile]int{}, map[*mig.Profile]int{}
	for _, in := range exist {
		if in.Mask()&occupied == 0 {
			free[in.Profile]++
		} else {
			used[in.Profile]++
		}
	}
	return free, used
}

func (n *naiveNos) take(c *sim.Cluster, profile int) (sim.Spot, bool) {
	for gpu, exist := range n.gpus {
		for _, in := range exist {
			if in.Profile == n.profiles[profile] && in.Mask()&c.Mask(gpu) == 0 {
				return sim.Spot{GPU: gpu, Start: in.Start}, true
			}
		}
	}
	return sim.Spot{}, false
}

func (n *naiveNos) Place(c *sim.Cluster, profile int) (sim.Spot, bool) {
	if spot, ok := n.take(c, profile); ok {
		return spot, true
	}
	lacking := map[*mig.Profile]int{}
	for p := range n.profiles {
		lacking[n.profiles[p]] = c.Waiting(p)
	}
	lacking[n.profiles[profile]] = max(lacking[n.profiles[profile]], 1)
	provide := func(numbers map[*mig.Profile]int) {
		for p, k := range numbers {
			lacking[p] = max(lacking[p]-k, 0)
		}
	}
	for gpu, exist := range n.gpus {
		free, _ := tally(exist, c.Mask(gpu))
		provide(free)
	}
	for gpu := range n.gpus {
		free, used := tally(n.gpus[gpu], c.Mask(gpu))
		if fresh := n.best(free, used, lacking); fresh != nil {
			free = fresh
			n.apply(gpu, fresh, c.Mask(gpu))
		}
		provide(free)
	}
	return n.take(c, profile)
}

// best returns what the best geometry has beside the instances in use; nil if none provides what is lacking.
func (n *naiveNos) best(free, used, lacking map[*mig.Profile]int) (best map[*mig.Profile]int) {
	most := 0
	for _, geometry := range n.geometries {
		fresh, provided, possible := map[*mig.Profile]int{}, 0, true
		for _, p := range n.profiles {
			fresh[p] = geometry[p] - used[p]
			possible = possible && fresh[p] >= 0
			if free[p] < lacking[p] {
				provided += min(fresh[p], lacking[p])
			}
		}
		if possible && provided > most {
			most, best = provided, fresh
		}
	}
	return best
}

func (n *naiveNos) apply(gpu int, fresh map[*mig.Profile]int, occupied mig.Mask) {
	var want []*mig.Profile
	for _, p := range slices.Backward(n.profiles) {
		want = append(want, slices.Repeat([]*mig.Profile{p}, fresh[p])...)
	}
	n.gpus[gpu] = slices.DeleteFunc(n.gpus[gpu], func(in mig.Instance) bool { return in.Mask()&occupied == 0 })
	n.gpus[gpu] = append(n.gpus[gpu], n.arrange(want, occupied)...)
}

func (n *naiveNos) arrange(want []*mig.Profile, occupied mig.Mask) (best mig.Partition) {
	if len(want) == 0 {
		return nil
	}
	for start, at := range (freeStarts{want[0], occupied}).all {
		if made := append(n.arrange(want[1:], occupied|at), mig.Instance{Profile: want[0], Start: start}); len(made) > len(best) {
			best = made
		}
		if len(best) == len(want) {
			break
		}
	}
	if best == nil {
		best = n.arrange(want[1:], occupied)
	}
	return best
}

// pair asks two schedulers and goes on with the first one's answer.
type pair struct {
	t            *testing.T
	first, other sim.Placer
	asked        int
}

func (p *pair) Place(c *sim.Cluster, profile int) (sim.Spot, bool) {
	p.asked++
	spot, ok := p.first.Place(c, profile)
	want, wanted := p.other.Place(c, profile)
	if ok != wanted || spot != want {
		p.t.Fatalf("decision %d on %s: %v %v, step by step %v %v", p.asked, c.GPU(), spot, ok, want, wanted)
	}
	return spot, ok
}

// TestNosStepByStep compares the decisions of nos with naiveNos: on small clusters that wait, on others that reject,
// where a plan is for one request, and on long streams with a full queue.
func TestNosStepByStep(t *testing.T) {
	nos := mustParse(t, "nos")
	run := func(g *mig.GPU, in task.Requests) {
		p := &pair{t, build(t, nos, sim.PlacementSetting{GPU: g, GPUs: in.GPUs}), newNaiveNos(g, in.GPUs), 0}
		_, err := sim.RunWaiting(g, in, p)
		if in.Waiting == task.Reject {
			_, err = sim.RunPlacement(g, in.GPUs, in.Requests, p, sim.SteadyWindow, task.Migration{})
		}
		if _, wrong := errors.AsType[*sim.ChoiceError](err); err != nil && !wrong { // nos may let requests wait forever
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range deep.N(20, 100) {
		g, in := drawWaiting(t, rng)
		in.Waiting, in.Geometry = task.Retry, nil
		run(g, in)
		problem := drawStream(rng)
		run(problem.GPU, task.Requests{GPUs: problem.GPUs, Requests: problem.Requests})
	}
	for _, mix := range tableII {
		for _, in := range waits(t, mix, 5, 8, 5, 1) {
			run(mig.MustLookup("A100-80GB"), in)
		}
	}
}

// TestNosCosts: on a stream of a leaderboard, a decision of nos takes at most 20 times as long as one of first fit, and
// nos allocates nothing for situations that it has met. The least of several times counts, for other programs run beside
// the test.
func TestNosCosts(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	in := waits(t, "uniform", 1, 32, 5, 1)[0]
	each, allocations := map[string]float64{}, map[string]float64{}
	for _, id := range []string{"ff", "nos"} {
		p := &counter{Placer: build(t, mustParse(t, id), sim.PlacementSetting{GPU: g, GPUs: in.GPUs, Waiting: in.Waiting})}
		run := func() {
			began, before := time.Now(), p.asked
			if _, err := sim.RunWaiting(g, in, p); err != nil {
				t.Fatal(err)
			}
			if took := float64(time.Since(began)) / float64(p.asked-before); each[id] == 0 || took < each[id] {
				each[id] = took
			}
		}
		allocations[id] = testing.AllocsPerRun(50, run)
	}
	t.Logf("ns a decision: %v, allocations: %v", each, allocations)
	if each["nos"] > 20*each["ff"] {
		t.Errorf("a decision of nos takes %.0f ns, one of first fit %.0f", each["nos"], each["ff"])
	}
	if allocations["nos"] > allocations["ff"]+100 {
		t.Errorf("nos makes %.0f allocations in %d requests, first fit %.0f", allocations["nos"], len(in.Requests), allocations["ff"])
	}
}

// A counter counts decisions.
type counter struct {
	sim.Placer
	asked int
}

func (p *counter) Place(c *sim.Cluster, profile int) (sim.Spot, bool) {
	p.asked++
	return p.Placer.Place(c, profile)
}
