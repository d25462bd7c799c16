package sim

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// wanderer places at random or rejects, and remembers the answers for the instances of the
// request that is asked for.
type wanderer struct {
	rng     *rand.Rand
	answers []*Spot
}

func (w *wanderer) Place(c *Cluster, profile int) (Spot, bool) {
	p := c.Profiles()[profile]
	var options []Spot
	for gpu := range c.GPUs() {
		for _, s := range p.Starts {
			if (mig.Instance{Profile: p, Start: s}).Mask()&c.Mask(gpu) == 0 {
				options = append(options, Spot{gpu, s})
			}
		}
	}
	if len(options) == 0 || w.rng.IntN(10) == 0 {
		w.answers = append(w.answers, nil)
		return Spot{}, false
	}
	s := options[w.rng.IntN(len(options))]
	w.answers = append(w.answers, &s)
	return s, true
}

// places groups the answers by request.
func (w *wanderer) places(requests []task.Request) [][]Spot {
	places := make([][]Spot, len(requests))
	for i := range requests {
		for range requests[i].Instances() {
			answer := w.answers[0]
			w.answers = w.answers[1:]
			if answer == nil {
				places[i] = nil
				break
			}
			places[i] = append(places[i], *answer)
		}
	}
	return places
}

func drawGangs(t *rapid.T, g *mig.GPU) []task.Request {
	requests := requestsOf(g, rapid.SliceOfN(rapid.Byte(), 3, 240).Draw(t, "stream"))
	// While every GPU is empty, several of them can be given to one request.
	if rapid.Bool().Draw(t, "several GPUs first") {
		whole := slices.IndexFunc(task.RequestProfiles(g), func(p *mig.Profile) bool { return p.Length == g.MemorySlices })
		requests[0].Profile = task.RequestProfiles(g)[whole]
	}
	for i := range requests {
		if requests[i].Profile.Length == g.MemorySlices {
			requests[i].GPUs = rapid.IntRange(0, 4).Draw(t, "gpus of a request")
		}
	}
	return requests
}

// TestSeveralGPUsOrNone runs streams in which requests need several GPUs. The referee finds
// nothing wrong with what the engine did, the totals are those of the places, and the referee
// refuses the same places with one instance of such a request missing.
func TestSeveralGPUsOrNone(t *testing.T) {
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom(mig.GPUs()).Draw(t, "gpu")
		requests := drawGangs(t, g)
		gpus := rapid.IntRange(1, 6).Draw(t, "gpus")
		w := &wanderer{rng: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))}
		r, err := RunPlacement(g, gpus, requests, w, SteadyWindow, task.Migration{})
		if err != nil {
			t.Fatal(err)
		}
		places := w.places(requests)
		if err := CheckPlacement(g, gpus, requests, places, nil, task.Migration{}); err != nil {
			t.Fatal(err)
		}
		var accepted Tally
		running, used := 0, 0
		end := requests[len(requests)-1].Arrival
		for i := range requests {
			q := &requests[i]
			if places[i] == nil {
				continue
			}
			accepted.add(q)
			if q.Lifespan > end-q.Arrival {
				running++
				used += q.Slices()
			}
		}
		if r.Accepted != accepted || r.Final.Running != float64(running) || r.Final.UsedSlices != float64(used) {
			t.Fatalf("accepted %+v, at the end %+v; want %+v, %d running on %d slices", r.Accepted, r.Final, accepted, running, used)
		}
		for i := range places {
			if len(places[i]) < 2 {
				continue
			}
			half := slices.Clone(places)
			half[i] = places[i][1:]
			if err := CheckPlacement(g, gpus, requests, half, nil, task.Migration{}); err == nil || !strings.Contains(err.Error(), "instances that it needs") {
				t.Fatalf("request %d with an instance missing: %v", i, err)
			}
			refused++
		}
	})
	if refused == 0 {
		t.Error("no request for several GPUs was ever accepted")
	}
}

// TestRefereeRefusesMutatedPlacements puts each instance of what the engine did where another one
// runs at the same time, on a GPU that does not exist, and where no instance of its profile can
// begin. The referee refuses each of these.
func TestRefereeRefusesMutatedPlacements(t *testing.T) {
	overlapping := 0
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom(mig.GPUs()).Draw(t, "gpu")
		requests := requestsOf(g, rapid.SliceOfN(rapid.Byte(), 3, 120).Draw(t, "stream"))
		gpus := rapid.IntRange(1, 4).Draw(t, "gpus")
		w := &wanderer{rng: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))}
		if _, err := RunPlacement(g, gpus, requests, w, SteadyWindow, task.Migration{}); err != nil {
			t.Fatal(err)
		}
		places := w.places(requests)
		refuse := func(i int, to Spot, want string) {
			t.Helper()
			mutated := slices.Clone(places)
			mutated[i] = []Spot{to}
			if err := CheckPlacement(g, gpus, requests, mutated, nil, task.Migration{}); err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("request %d on %v: %v; want %q", i, to, err, want)
			}
		}
		for i, at := range places {
			if at == nil {
				continue
			}
			refuse(i, Spot{gpus, at[0].Start}, "where it cannot be")
			refuse(i, Spot{at[0].GPU, g.MemorySlices}, "where it cannot be")
			for j := range i {
				q := &requests[j]
				runs := places[j] != nil && q.Lifespan > requests[i].Arrival-q.Arrival
				if runs && slices.Contains(requests[i].Profile.Starts, places[j][0].Start) {
					refuse(i, places[j][0], "is used by request")
					overlapping++
				}
			}
		}
	})
	if overlapping == 0 {
		t.Error("no instance was ever put where another one runs")
	}
}

// TestRefereeOfPlacements moves every instance of a full cluster onto another one.
func TestRefereeOfPlacements(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	whole, small := profileOf(t, g, "7g.80gb"), profileOf(t, g, "1g.10gb")
	requests := []task.Request{{Lifespan: 2, Profile: whole, GPUs: 2}, {Arrival: 1, Lifespan: 3, Profile: small}}
	for _, c := range []struct {
		spots [][]Spot
		want  string
	}{
		{[][]Spot{{{0, 0}, {1, 0}}, {{2, 6}}}, ""},
		{[][]Spot{nil, {{2, 6}}}, ""},
		{[][]Spot{{{0, 0}}, nil}, "request 0 has 1 of the 2 instances that it needs"},
		{[][]Spot{{{0, 0}, {0, 0}}, nil}, "slice 0 of GPU 0 is used by request 0 until slot 2 and by request 0 from slot 0"},
		{[][]Spot{{{0, 0}, {1, 0}}, {{1, 6}}}, "slice 6 of GPU 1 is used by request 0 until slot 2 and by request 1 from slot 1"},
		{[][]Spot{nil, {{3, 0}}}, "request 1 has 1g.10gb on GPU 3 at slice 0, where it cannot be"},
		{[][]Spot{nil, {{0, 7}}}, "at slice 7, where it cannot be"},
		{[][]Spot{nil}, "places for 1 requests of 2"},
	} {
		err := CheckPlacement(g, 3, requests, c.spots, nil, task.Migration{})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v; want %q", c.spots, err, c.want)
		}
	}
	requests[1].GPUs = 2
	if _, err := RunPlacement(g, 3, requests, firstSpot{}, SteadyWindow, task.Migration{}); err == nil || !strings.Contains(err.Error(), "request 1 asks for 1g.10gb on 2 GPUs") {
		t.Errorf("several GPUs with a small profile: %v", err)
	}
}
