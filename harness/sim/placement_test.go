package sim

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// firstSpot takes the first GPU and start that is free, by a scan.
type firstSpot struct{}

func (firstSpot) Place(c *Cluster, profile int) (Spot, bool) {
	p := c.Profiles()[profile]
	for gpu := range c.GPUs() {
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

// witness places at random, and checks the cluster that it is shown against its own
// books, kept slice by slice.
type witness struct {
	t        fataler
	requests []task.Request
	rng      *rand.Rand
	asked    int
	live     []living
	accepted int
}

type living struct {
	gpu   int
	in    mig.Instance
	until int
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

func (w *witness) Place(c *Cluster, profile int) (Spot, bool) {
	q := w.requests[w.asked]
	w.asked++
	if c.Profiles()[profile] != q.Profile {
		w.t.Fatalf("request %d is for %v, the engine says %v", w.asked-1, q.Profile, c.Profiles()[profile])
	}
	owners := map[[2]int]int{}
	kept := w.live[:0]
	for _, l := range w.live {
		if l.until > q.Arrival {
			kept = append(kept, l)
			for s := l.in.Start; s < l.in.Start+l.in.Profile.Length; s++ {
				owners[[2]int{l.gpu, int(s)}]++
			}
		}
	}
	w.live = kept
	var options []Spot
	for gpu := range c.GPUs() {
		for s := range c.GPU().MemorySlices {
			n := owners[[2]int{gpu, int(s)}]
			if n > 1 {
				w.t.Fatalf("slice %d of GPU %d is given out %d times", s, gpu, n)
			}
			if occupied := int(c.Mask(gpu) >> s & 1); occupied != n {
				w.t.Fatalf("before request %d, slice %d of GPU %d: in use %d, owners %d", w.asked-1, s, gpu, occupied, n)
			}
		}
		for _, s := range q.Profile.Starts {
			if (mig.Instance{Profile: q.Profile, Start: s}).Mask()&c.Mask(gpu) == 0 {
				options = append(options, Spot{gpu, s})
			}
		}
	}
	if len(options) == 0 || w.rng.IntN(8) == 0 {
		return Spot{}, false
	}
	spot := options[w.rng.IntN(len(options))]
	until := math.MaxInt
	if q.Lifespan <= math.MaxInt-q.Arrival {
		until = q.Arrival + q.Lifespan
	}
	w.live = append(w.live, living{spot.GPU, mig.Instance{Profile: q.Profile, Start: spot.Start}, until})
	w.accepted++
	return spot, true
}

// conserves runs a stream under a witness and checks the totals.
func conserves(t fataler, g *mig.GPU, gpus int, requests []task.Request, seed uint64) {
	t.Helper()
	w := &witness{t: t, requests: requests, rng: rand.New(rand.NewPCG(seed, 0))}
	r, err := RunPlacement(g, gpus, requests, w, SteadyWindow, task.Migration{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	byProfile, used := 0, 0
	for _, n := range r.AcceptedByProfile {
		byProfile += n
	}
	for _, l := range w.live {
		used += int(l.in.Profile.Length)
	}
	if r.Arrived.Requests != len(requests) || w.asked != len(requests) || r.Accepted.Requests != w.accepted || byProfile != w.accepted {
		t.Fatalf("%d arrived, %d asked, %d of %d requests accepted by %+v", r.Arrived.Requests, w.asked, w.accepted, len(requests), r)
	}
	if r.Final.Running != float64(len(w.live)) || r.Final.UsedSlices != float64(used) {
		t.Fatalf("at the end %+v; %d run on %d slices", r.Final, len(w.live), used)
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

func TestConservation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom(mig.GPUs()).Draw(t, "gpu")
		text := rapid.SliceOfN(rapid.Byte(), 3, 300).Draw(t, "stream")
		requests := requestsOf(g, text)
		if rapid.Bool().Draw(t, "one a slot") {
			first := rapid.IntRange(0, 9).Draw(t, "first")
			for i := range requests {
				requests[i].Arrival = first + i
			}
		}
		conserves(t, g, rapid.IntRange(1, 5).Draw(t, "gpus"), requests, rapid.Uint64().Draw(t, "seed"))
	})
}

func FuzzConservation(f *testing.F) {
	f.Add(uint64(1), uint8(0), []byte("\x00\x01\x05\x80\x01\x00\xff\xff\x02\x81\x00\x03"))
	f.Fuzz(func(t *testing.T, seed uint64, which uint8, text []byte) {
		g := mig.GPUs()[int(which)%len(mig.GPUs())]
		if requests := requestsOf(g, text); len(requests) > 0 && len(requests) < 300 {
			conserves(t, g, 1+int(which)/64, requests, seed)
		}
	})
}

// TestMeansAgainstSlotBySlot recomputes the means by visiting every slot.
func TestMeansAgainstSlotBySlot(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	rapid.Check(t, func(t *rapid.T) {
		requests := requestsOf(g, rapid.SliceOfN(rapid.Byte(), 3, 90).Draw(t, "stream"))
		const gpus = 3
		log := &logged{}
		got, err := RunPlacement(g, gpus, requests, log, SteadyWindow, task.Migration{})
		if err != nil {
			t.Fatal(err)
		}
		var sum Load
		end := requests[len(requests)-1].Arrival
		for slot := 0; slot <= end; slot++ {
			var masks [gpus]mig.Mask
			for i, q := range requests {
				if spot := log.spots[i]; spot != nil && q.Arrival <= slot && (q.Lifespan == task.Forever || slot < q.Arrival+q.Lifespan) {
					masks[spot.GPU] |= mig.Instance{Profile: q.Profile, Start: spot.Start}.Mask()
					sum.Running++
				}
			}
			for _, m := range masks {
				sum.UsedSlices += float64(m.Count())
				if m != 0 {
					sum.ActiveGPUs++
				}
				for r := range readings {
					sum.Fragmentation[r] += float64(Fragmentation(g, r)[m])
				}
			}
		}
		slots := float64(end + 1)
		want := Load{Running: sum.Running / slots, ActiveGPUs: sum.ActiveGPUs / slots, UsedSlices: sum.UsedSlices / slots}
		for r := range readings {
			want.Fragmentation[r] = sum.Fragmentation[r] / slots / gpus
		}
		if got.Mean != want {
			t.Fatalf("means %+v, want %+v", got.Mean, want)
		}
	})
}

// logged is firstSpot with a memory.
type logged struct {
	firstSpot
	spots []*Spot
}

func (l *logged) Place(c *Cluster, profile int) (Spot, bool) {
	spot, ok := l.firstSpot.Place(c, profile)
	if l.spots = append(l.spots, nil); ok {
		l.spots[len(l.spots)-1] = &spot
	}
	return spot, ok
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
