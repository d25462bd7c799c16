package sim

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// firstSpot takes the first GPU and start that is free, by a scan.
type firstSpot struct{}

func (firstSpot) Place(c *Cluster, profile int) (Spot, bool) {
	for gpu := range c.GPUs() {
		p := c.Profile(gpu, profile)
		for _, s := range p.Starts {
			if (mig.Instance{Profile: p, Start: s}).Mask()&c.Mask(gpu) == 0 {
				return Spot{gpu, s}, true
			}
		}
	}
	return Spot{}, false
}

// script answers what it was told to, and rejects afterwards.
type script []Spot

func (s *script) Place(*Cluster, int) (Spot, bool) {
	if len(*s) == 0 {
		return Spot{}, false
	}
	spot := (*s)[0]
	*s = (*s)[1:]
	return spot, true
}

func profileOf(t testing.TB, g *mig.GPU, name string) *mig.Profile {
	t.Helper()
	p, err := g.ProfileByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPlacementByHand follows two GPUs through five slots.
func TestPlacementByHand(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	p := func(name string) *mig.Profile { return profileOf(t, g, name) }
	requests := []task.Request{
		{Arrival: 0, Lifespan: 2, Profile: p("7g.80gb")},            // GPU 0 in slots 0 and 1
		{Arrival: 0, Lifespan: task.Forever, Profile: p("1g.10gb")}, // GPU 1, slice 0
		{Arrival: 1, Lifespan: 1, Profile: p("7g.80gb")},            // fits nowhere
		{Arrival: 4, Lifespan: 9, Profile: p("7g.80gb")},            // GPU 0, empty from slot 2 on
	}
	got, err := RunPlacement(g, 2, requests, firstSpot{}, Window{From: 0.5, To: 1.1}, task.Migration{})
	if err != nil {
		t.Fatal(err)
	}
	// One slice in use at 0: lost are 1g@0, two of 2 slices, 3g@0 and 4g@0; 7g needs more
	// than is free.
	const f = 1 + 2 + 2 + 4 + 4
	want := PlacementResult{
		GPU: g, GPUs: 2, Slots: 5,
		Arrived: Tally{4, 25}, Accepted: Tally{3, 17},
		// Before the requests, 0, 8, 9 and 17 slices of 16 are requested.
		SteadyArrived: Tally{3, 17}, SteadyAccepted: Tally{2, 9},
		AcceptedByProfile: []int{1, 0, 0, 0, 0, 2},
		Final:             Load{Running: 2, ActiveGPUs: 2, UsedSlices: 9, Fragmentation: [readings]float64{f / 2., (f - 1) / 2., 0}},
		Mean: Load{
			Running: (2 + 2 + 1 + 1 + 2) / 5., ActiveGPUs: (2 + 2 + 1 + 1 + 2) / 5., UsedSlices: (9 + 9 + 1 + 1 + 9) / 5.,
			Fragmentation: [readings]float64{f / 2., (f - 1) / 2., 0},
		},
	}
	// 17 of 16 slices are 1.0625 times the capacity.
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	metrics := map[string]float64{}
	for _, m := range got.Metrics() {
		if _, twice := metrics[m.Name]; twice {
			t.Errorf("metric %s is there twice", m.Name)
		}
		metrics[m.Name] = m.Value
	}
	for name, want := range map[string]float64{
		"arrived": 4, "accepted": 3, "acceptance": 0.75, "acceptance_slices": 17. / 25, "acceptance_steady": 2. / 3,
		"utilisation": 9. / 16, "utilisation_active": 9. / 16, "mean_utilisation_active": 29. / 5 / (8. / 5 * 8), "accepted_7g.80gb": 2,
	} {
		if math.Abs(metrics[name]-want) > 1e-12 {
			t.Errorf("%s = %v, want %v", name, metrics[name], want)
		}
	}
}

func TestImpossibleSpots(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	requests := []task.Request{
		{Arrival: 0, Lifespan: 5, Profile: profileOf(t, g, "1g.10gb")},
		{Arrival: 1, Lifespan: 5, Profile: profileOf(t, g, "2g.20gb")},
	}
	for text, spot := range map[string]Spot{
		"the GPUs are 0 to 1":               {2, 0},
		"GPU -1":                            {-1, 0},
		"it may start at [0 2 4]":           {1, 6},
		"slice 3: it may start at [0 2 4]":  {0, 3},
		"the GPU has the mask 00000010":     {0, 0},
		"request 1: 2g.20gb cannot be plac": {0, -1},
	} {
		_, err := RunPlacement(g, 2, requests, &script{{0, 1}, spot}, SteadyWindow, task.Migration{})
		_, ok := errors.AsType[*ChoiceError](err)
		where := fmt.Sprintf("request 1: 2g.20gb cannot be placed on GPU %d at slice %d: ", spot.GPU, spot.Start)
		if !ok || !strings.HasPrefix(err.Error(), where) || !strings.Contains(err.Error(), text) {
			t.Errorf("%+v: %v; want a ChoiceError with %q", spot, err, text)
		}
	}
}

func TestStreamsThatCannotBeSimulated(t *testing.T) {
	g := mig.MustLookup("A30")
	p := profileOf(t, g, "1g.6gb")
	other := profileOf(t, mig.MustLookup("A100"), "1g.5gb")
	for text, requests := range map[string][]task.Request{
		"there are 0 requests":                      nil,
		"request 1 arrives in slot 3, after slot 4": {{Arrival: 4, Lifespan: 1, Profile: p}, {Arrival: 3, Lifespan: 1, Profile: p}},
		"request 0 arrives in slot -1":              {{Arrival: -1, Lifespan: 1, Profile: p}},
		"slots go up to":                            {{Arrival: maxSlot + 1, Lifespan: 1, Profile: p}},
		"has a lifespan of 0 slots":                 {{Lifespan: 0, Profile: p}},
		"has a lifespan of -2 slots":                {{Lifespan: -2, Profile: p}},
		"asks for 1g.5gb; the model has [1g.6gb":    {{Lifespan: 1, Profile: other}},
	} {
		_, err := RunPlacement(g, 1, requests, firstSpot{}, SteadyWindow, task.Migration{})
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v; want %q", err, text)
		}
	}
	if _, err := RunPlacement(g, 0, []task.Request{{Lifespan: 1, Profile: p}}, firstSpot{}, SteadyWindow, task.Migration{}); err == nil {
		t.Error("no GPUs: no error")
	}
}

// requestsOf makes a stream of bytes: three a request.
func requestsOf(g *mig.GPU, text []byte) []task.Request {
	profiles := task.RequestProfiles(g)
	var out []task.Request
	slot := 0
	for ; len(text) >= 3; text = text[3:] {
		if text[0] >= 128 {
			slot += int(text[0]) - 127 // else in the slot of the one before
		}
		q := task.Request{Arrival: slot, Lifespan: 1 + int(text[1]), Profile: profiles[int(text[2])%len(profiles)]}
		if text[1] == 255 {
			q.Lifespan = task.Forever
		}
		out = append(out, q)
	}
	return out
}

// TestPlacementAgainstSlots places at random. The referee finds nothing wrong with what the engine
// did, and its totals and means are those of visiting every slot. The referee refuses the same
// places with one instance of a request for several GPUs missing.
func TestPlacementAgainstSlots(t *testing.T) {
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom(mig.GPUs()).Draw(t, "gpu")
		requests := drawGangs(t, g)
		if rapid.Bool().Draw(t, "one a slot") {
			first := rapid.IntRange(0, 9).Draw(t, "first")
			for i := range requests {
				requests[i].Arrival = first + i
			}
		}
		gpus := rapid.IntRange(1, 6).Draw(t, "gpus")
		w := &wanderer{rng: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))}
		got, err := RunPlacement(g, gpus, requests, w, SteadyWindow, task.Migration{})
		if err != nil {
			t.Fatal(err)
		}
		places := w.places(requests)
		if err := CheckPlacement(gpus, requests, places, nil, task.Migration{}); err != nil {
			t.Fatal(err)
		}
		var accepted Tally
		for i := range places {
			if places[i] != nil {
				accepted.add(&requests[i])
			}
			if len(places[i]) > 1 {
				half := slices.Clone(places)
				half[i] = places[i][1:]
				if CheckPlacement(gpus, requests, half, nil, task.Migration{}) == nil {
					t.Fatalf("request %d is accepted with an instance missing", i)
				}
				refused++
			}
		}
		if got.Accepted != accepted || got.Arrived.Requests != len(requests) {
			t.Fatalf("%+v arrived and %+v accepted, want %+v", got.Arrived, got.Accepted, accepted)
		}
		var sum, now Load
		slots := requests[len(requests)-1].Arrival + 1
		for slot := range slots {
			now = loadIn(slot, g, gpus, requests, places)
			sum.Running += now.Running
			sum.ActiveGPUs += now.ActiveGPUs
			sum.UsedSlices += now.UsedSlices
			for r := range readings {
				sum.Fragmentation[r] += now.Fragmentation[r]
				now.Fragmentation[r] /= float64(gpus)
			}
		}
		n := float64(slots)
		mean := Load{Running: sum.Running / n, ActiveGPUs: sum.ActiveGPUs / n, UsedSlices: sum.UsedSlices / n}
		for r := range readings {
			mean.Fragmentation[r] = sum.Fragmentation[r] / n / float64(gpus)
		}
		if got.Mean != mean || got.Final != now {
			t.Fatalf("means %+v, want %+v; at the end %+v, want %+v", got.Mean, mean, got.Final, now)
		}
	})
	if refused == 0 {
		t.Error("no request for several GPUs was ever accepted")
	}
}

// loadIn adds up the state at the end of a slot, without dividing the fragmentation by the GPUs.
func loadIn(slot int, g *mig.GPU, gpus int, requests []task.Request, places [][]Spot) (l Load) {
	masks := make([]mig.Mask, gpus)
	for i, q := range requests {
		if places[i] == nil || q.Arrival > slot || q.Lifespan != task.Forever && slot >= q.Arrival+q.Lifespan {
			continue
		}
		l.Running++
		for _, spot := range places[i] {
			masks[spot.GPU] |= mig.Instance{Profile: q.Profile, Start: spot.Start}.Mask()
		}
	}
	for _, m := range masks {
		l.UsedSlices += float64(m.Count())
		if m != 0 {
			l.ActiveGPUs++
		}
		for r := range readings {
			l.Fragmentation[r] += float64(Fragmentation(g, r)[m])
		}
	}
	return l
}

func TestDecisionsDoNotAllocate(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	rng := rand.New(rand.NewPCG(1, 1))
	requests := make([]task.Request, 20_000)
	for i := range requests {
		p := task.RequestProfiles(g)[rng.IntN(6)]
		requests[i] = task.Request{Arrival: i / 3, Lifespan: 1 + rng.IntN(60), Profile: p}
	}
	allocations := func(n int) float64 {
		return testing.AllocsPerRun(3, func() {
			if _, err := RunPlacement(g, 20, requests[:n], firstSpot{}, SteadyWindow, task.Migration{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	// The list of those who leave at once may grow a few times.
	if short, long := allocations(2_000), allocations(20_000); long > short+4 {
		t.Errorf("%v allocations for 2000 requests, %v for 20000", short, long)
	}
}
