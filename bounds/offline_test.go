package bounds_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"miglab/bounds"
	"miglab/bounds/certificate"
	"miglab/datasets"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// A chooser finds the most requests that can be accepted by trying every choice and every place.
type chooser struct {
	requests []task.Request
	masks    []mig.Mask
	running  []held
	best     int
}

type held struct {
	gpu, request int
	mask         mig.Mask
}

func mostAccepted(gpus int, requests []task.Request) int {
	c := chooser{requests: requests, masks: make([]mig.Mask, gpus)}
	c.decide(0, 0)
	return c.best
}

func (c *chooser) decide(i, accepted int) {
	if c.best = max(c.best, accepted); i == len(c.requests) || accepted+len(c.requests)-i <= c.best {
		return
	}
	masks, running := slices.Clone(c.masks), slices.Clone(c.running)
	q := &c.requests[i]
	c.running = nil
	for _, h := range running {
		if of := &c.requests[h.request]; q.Arrival-of.Arrival >= of.Lifespan {
			c.masks[h.gpu] &^= h.mask
		} else {
			c.running = append(c.running, h)
		}
	}
	c.place(i, accepted, q.Instances(), 0)
	c.decide(i+1, accepted)
	c.masks, c.running = masks, running
}

// place tries every place for so many more instances of a request, on GPUs from one on.
func (c *chooser) place(i, accepted, more, from int) {
	if more == 0 {
		c.decide(i+1, accepted+1)
		return
	}
	q := &c.requests[i]
	for gpu := from; gpu < len(c.masks); gpu++ {
		if slices.Contains(c.masks[from:gpu], c.masks[gpu]) && more == 1 {
			continue // the same again
		}
		for _, start := range q.Profile.Starts {
			if m := (mig.Instance{Profile: q.Profile, Start: start}).Mask(); m&c.masks[gpu] == 0 {
				c.masks[gpu] |= m
				c.running = append(c.running, held{gpu, i, m})
				c.place(i, accepted, more-1, gpu+1)
				c.running = c.running[:len(c.running)-1]
				c.masks[gpu] &^= m
			}
		}
	}
}

// smallStream draws a few requests that crowd each other. In every fourth stream on the mean all stay.
func smallStream(rng *rand.Rand) (g *mig.GPU, gpus int, requests []task.Request) {
	g = mig.MustLookup([]string{"A30", "A100-80GB"}[rng.IntN(2)])
	gpus = 1 + rng.IntN(2)
	profiles := task.RequestProfiles(g)
	slot, stay := 0, rng.IntN(4) == 0
	for range 2 + rng.IntN(7) {
		slot += rng.IntN(2)
		p := profiles[rng.IntN(len(profiles))]
		q := task.Request{Arrival: slot, Lifespan: 1 + rng.IntN(6), Profile: p}
		if p.Length == g.MemorySlices {
			q.GPUs = rng.IntN(4)
		}
		if stay {
			q.Lifespan = task.Forever
		}
		requests = append(requests, q)
	}
	return g, gpus, requests
}

// TestAcceptedAtMostAgainstBruteForce compares the bound with the optimum of many small streams. It
// never lies below, is the optimum for most, and any other prices prove no less than the optimum.
func TestAcceptedAtMostAgainstBruteForce(t *testing.T) {
	streams := deep.N(800, 4_000)
	rng := rand.New(rand.NewPCG(17, 2))
	equal, optima, all := 0, 0, 0
	for n := range streams {
		g, gpus, requests := smallStream(rng)
		optimum := mostAccepted(gpus, requests)
		bound, err := bounds.AcceptedAtMost(t.Context(), g, gpus, requests)
		if err != nil {
			t.Fatal(err)
		}
		if bound < optimum || bound > len(requests) {
			t.Fatalf("stream %d, %d GPUs, %+v: bound %d, optimum %d", n, gpus, requests, bound, optimum)
		}
		if other, err := certificate.AcceptedAtMost(g, gpus, requests, anyPrices(rng, g)); err != nil || other < optimum {
			t.Fatalf("stream %d, %d GPUs, %+v: other prices prove %d, %v; optimum %d", n, gpus, requests, other, err, optimum)
		}
		if bound == optimum {
			equal++
		}
		optima, all = optima+optimum, all+len(requests)
	}
	t.Logf("%d of %d bounds are the optimum; %d of %d requests can be accepted", equal, streams, optima, all)
	if equal < streams*9/10 || optima > all*9/10 {
		t.Errorf("only %d of %d bounds are the optimum, where %d of %d requests can be accepted", equal, streams, optima, all)
	}
}

func anyPrices(rng *rand.Rand, g *mig.GPU) []certificate.Instant {
	var out []certificate.Instant
	for slot := range 8 {
		at := certificate.Instant{Slot: slot}
		for range task.RequestProfiles(g) {
			at.Prices = append(at.Prices, rng.IntN(certificate.PriceScale)>>rng.IntN(5))
		}
		out = append(out, at)
	}
	return out
}

func streamOf(g *mig.GPU, counts []int) []task.Request {
	var out []task.Request
	for i, p := range task.RequestProfiles(g) {
		for range counts[i] {
			out = append(out, task.Request{Arrival: len(out), Lifespan: task.Forever, Profile: p})
		}
	}
	return out
}

// TestAcceptedOfThoseThatStayByHand needs partitions: by memory slices alone, eight instances of 1g
// would fit a GPU, and two of 4g.
func TestAcceptedOfThoseThatStayByHand(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	for _, c := range []struct {
		gpus   int
		counts []int // 1g, 1g with double memory, 2g, 3g, 4g, 7g
		want   int
	}{
		{1, []int{20, 0, 0, 0, 0, 0}, 7},
		{3, []int{0, 20, 0, 0, 0, 0}, 12},
		{3, []int{0, 0, 20, 0, 0, 0}, 9},
		{3, []int{0, 0, 0, 20, 0, 0}, 6},
		{3, []int{0, 0, 0, 0, 20, 0}, 3},
		{3, []int{0, 0, 0, 2, 20, 0}, 5},
		{3, []int{1, 0, 0, 0, 0, 5}, 3},
		{2, []int{7, 0, 0, 0, 0, 5}, 8},
		{2, []int{1, 1, 1, 1, 1, 1}, 5},
	} {
		got, err := bounds.AcceptedAtMost(t.Context(), g, c.gpus, streamOf(g, c.counts))
		if err != nil || got != c.want {
			t.Errorf("%d GPUs, requests %v: %d, %v; want %d", c.gpus, c.counts, got, err, c.want)
		}
	}
}

// TestAcceptedAtMostByHand has streams whose optimum is plain. The arguments are the profile's
// index, arrival, lifespan and GPUs.
func TestAcceptedAtMostByHand(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	for _, c := range []struct {
		name     string
		gpus     int
		requests [][4]int
		want     int
	}{
		{"one after the other", 1, [][4]int{{5, 0, 2, 0}, {5, 2, 2, 0}, {5, 4, 2, 0}}, 3},
		{"the second overlaps both", 1, [][4]int{{5, 0, 2, 0}, {5, 1, 2, 0}, {5, 2, 2, 0}}, 2},
		{"two of 4g do not share a GPU", 3, slices.Repeat([][4]int{{4, 0, 5, 0}}, 6), 3},
		{"2g takes a third of a GPU", 2, slices.Repeat([][4]int{{2, 1, 5, 0}}, 7), 6},
		{"a gang of two and a single one", 2, [][4]int{{5, 0, 3, 2}, {5, 1, 3, 0}, {5, 2, 3, 0}}, 2},
		{"a gang larger than the cluster", 2, [][4]int{{5, 0, 3, 3}, {0, 1, 3, 0}}, 1},
	} {
		var requests []task.Request
		for _, r := range c.requests {
			requests = append(requests, task.Request{Profile: task.RequestProfiles(g)[r[0]], Arrival: r[1], Lifespan: r[2], GPUs: r[3]})
		}
		if got, err := bounds.AcceptedAtMost(t.Context(), g, c.gpus, requests); err != nil || got != c.want {
			t.Errorf("%s: %d, %v; want %d", c.name, got, err, c.want)
		}
	}
}

// TestProveAcceptedComesNear compares bounds of whole streams with the linear program's optimum,
// which was computed once with ten times as many steps.
func TestProveAcceptedComesNear(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	all := []struct {
		dataset      string
		instance     int
		from, atMost int
	}{
		{"openb?pods=shared&gpus=12", 1, 2602, 2602},
		{"mfi/uniform?lifespan=steady", 1, 1129, 1129},
		{"mfi/uniform?lifespan=steady&rho=1.3", 1, 1073, 1074},
	}
	for _, c := range all[:deep.N(1, len(all))] {
		in, err := datasets.InstanceOf[task.Requests](datasets.MustParse(c.dataset), g, c.instance)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := bounds.AcceptedAtMost(t.Context(), g, in.GPUs, in.Requests); err != nil || got < c.from || got > c.atMost {
			t.Errorf("%s: %d, %v; want %d to %d", c.dataset, got, err, c.from, c.atMost)
		}
	}
}

func TestAcceptedAtMostRefuses(t *testing.T) {
	g := mig.MustLookup("A30")
	p := task.RequestProfiles(g)
	good := []task.Request{{Lifespan: 2, Profile: p[0]}}
	other := []task.Request{{Lifespan: 2, Profile: task.RequestProfiles(mig.MustLookup("A100"))[0]}}
	for _, c := range []struct {
		requests []task.Request
		instants []certificate.Instant
		want     string
	}{
		{other, nil, "request 0 asks for"},
		{[]task.Request{{Lifespan: 2, Profile: p[0], GPUs: 2}}, nil, "on 2 GPUs"},
		{good, []certificate.Instant{{Slot: 0, Prices: []int{1, 2}}}, "give the 3 prices"},
		{good, []certificate.Instant{{Slot: 1, Prices: []int{1, 2, 3}}, {Slot: 1, Prices: []int{1, 2, 3}}}, "by ascending slot"},
		{good, []certificate.Instant{{Slot: 0, Prices: []int{1, 2, -3}}}, "a price of -3"},
		{good, []certificate.Instant{{Slot: 0, Prices: []int{1, 2, certificate.PriceScale + 1}}}, "prices are from 0 to"},
	} {
		if _, err := certificate.AcceptedAtMost(g, 1, c.requests, c.instants); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v, %+v: %v; want %q", c.requests, c.instants, err, c.want)
		}
	}
	if _, err := bounds.AcceptedAtMost(t.Context(), g, 1, other); err == nil {
		t.Error("a request for another model has a bound")
	}
	if _, err := bounds.AcceptedAtMost(t.Context(), g, 1, []task.Request{{Lifespan: task.Forever, Profile: other[0].Profile}}); err == nil {
		t.Error("a request for another model that stays has a bound")
	}
}
