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

// TestRefereeOfPlacements follows two requests on three GPUs by hand.
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
		err := CheckPlacement(3, requests, c.spots, nil, task.Migration{})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v; want %q", c.spots, err, c.want)
		}
	}
	requests[1].GPUs = 2
	if _, err := RunPlacement(g, 3, requests, firstSpot{}, SteadyWindow, task.Migration{}); err == nil || !strings.Contains(err.Error(), "request 1 asks for 1g.10gb on 2 GPUs") {
		t.Errorf("several GPUs with a small profile: %v", err)
	}
}
