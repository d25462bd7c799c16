package bounds_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"miglab/bounds"
	"miglab/bounds/certificate"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// A gangSearch tries every choice, every order of time and every place for requests with gangs.
type gangSearch struct {
	requests []task.Request
	// users has the request that uses a memory slice of a GPU in a slot, plus one; slice 8 is the media extensions.
	users [][][9]int // by slot and GPU
	// accepted, sum and end are the best of all ways to accept requests, and to place all of them with waiting.
	accepted, sum, end int
}

func newGangSearch(gpus int, requests []task.Request) *gangSearch {
	s := &gangSearch{requests: requests, sum: math.MaxInt, end: math.MaxInt}
	slots := requests[len(requests)-1].Arrival
	for i := range requests {
		slots += requests[i].Lifespan
	}
	for range slots {
		s.users = append(s.users, make([][9]int, gpus))
	}
	return s
}

// place calls then for every way to place members k and later of request i from a slot on. gpu is the GPU of the first.
func (s *gangSearch) place(i, k, gpu, from int, then func()) {
	q := &s.requests[i]
	if k == q.Instances() {
		then()
		return
	}
	m, life := q.Member(k), s.users[from:from+q.Lifespan]
	for at := range life[0] {
		if k > 0 && q.Gang != nil && q.Gang.OneGPU && at != gpu {
			continue
		}
		for _, start := range m.Profile.Starts {
			var taken []int
			for slice := start; slice < start+m.Profile.Length; slice++ {
				taken = append(taken, int(slice))
			}
			if m.Media {
				taken = append(taken, 8)
			}
			if !s.use(life, at, taken, 0, i+1) {
				continue
			}
			s.place(i, k+1, at, from, then)
			s.use(life, at, taken, i+1, 0)
		}
	}
}

// use changes the user of resources that all have one user; false if they do not.
func (s *gangSearch) use(life [][][9]int, gpu int, taken []int, from, to int) bool {
	for _, slot := range life {
		for _, k := range taken {
			if slot[gpu][k] != from && from == 0 {
				return false
			}
		}
	}
	for _, slot := range life {
		for _, k := range taken {
			slot[gpu][k] = to
		}
	}
	return true
}

func (s *gangSearch) accept(i, accepted int) {
	s.accepted = max(s.accepted, accepted)
	if i == len(s.requests) || accepted+len(s.requests)-i <= s.accepted {
		return
	}
	s.place(i, 0, 0, s.requests[i].Arrival, func() { s.accept(i+1, accepted+1) })
	s.accept(i+1, accepted)
}

func (s *gangSearch) wait(i, sum, end int) {
	if i == len(s.requests) {
		s.sum, s.end = min(s.sum, sum), min(s.end, end)
		return
	}
	q := &s.requests[i]
	for from := q.Arrival; from+q.Lifespan <= len(s.users); from++ {
		s.place(i, 0, 0, from, func() { s.wait(i+1, sum+from+q.Lifespan-q.Arrival, max(end, from+q.Lifespan)) })
	}
}

func drawGangRequests(rng *rand.Rand, g *mig.GPU, most, slots int) (out []task.Request) {
	profiles := task.RequestProfiles(g)
	slot := 0
	for range 1 + rng.IntN(most) {
		slot += rng.IntN(2)
		for {
			var members []task.Member
			for range 1 + rng.IntN(3) {
				m := task.Member{Profile: profiles[rng.IntN(len(profiles))]}
				m.Media = m.Profile == profiles[0] && rng.IntN(2) == 0
				members = append(members, m)
			}
			q := task.Request{Arrival: slot, Lifespan: 1 + rng.IntN(slots)}
			q.SetGang(members, rng.IntN(2) == 0)
			if q.CheckGPUs(g) == nil {
				out = append(out, q)
				break
			}
		}
	}
	return out
}

// TestAcceptedGangsAgainstBruteForce: no bound is below the optimum, whatever the prices, and most are equal to it.
func TestAcceptedGangsAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	equal, streams := 0, deep.N(400, 4000)
	for n := range streams {
		g, gpus := mig.MustLookup([]string{"A30", "A30", "A100-80GB"}[rng.IntN(3)]), 1+rng.IntN(2)
		requests := drawGangRequests(rng, g, 5, 4)
		s := newGangSearch(gpus, requests)
		s.accept(0, 0)
		instants, err := bounds.ProveOffline(t.Context(), g, gpus, requests)
		if err != nil {
			t.Fatal(err)
		}
		c, err := certificate.NewAcceptance(g, gpus, requests, instants)
		if err != nil || c.AtMost < s.accepted {
			t.Fatalf("stream %d, %d GPUs, %+v: at most %d, %v; %d are possible", n, gpus, requests, c.AtMost, err, s.accepted)
		}
		if err := certificate.VerifyAcceptance(g, gpus, requests, c); err != nil {
			t.Fatal(err)
		}
		if other, err := certificate.AcceptedAtMost(g, gpus, requests, anyPrices(rng, g)); err != nil || other < s.accepted {
			t.Fatalf("stream %d, %+v: other prices prove %d, %v; %d are possible", n, requests, other, err, s.accepted)
		}
		if c.AtMost == s.accepted {
			equal++
		}
	}
	if t.Logf("%d of %d bounds are the optimum", equal, streams); equal*10 < streams*7 {
		t.Errorf("%d of %d bounds are the optimum", equal, streams)
	}
}

// TestWaitingGangsAgainstBruteForce: no schedule is better than the bounds on sums of turnarounds and on the last end.
func TestWaitingGangsAgainstBruteForce(t *testing.T) {
	g, rng := mig.MustLookup("A30"), rand.New(rand.NewPCG(5, 6))
	for range deep.N(150, 1000) {
		gpus := 1 + rng.IntN(2)
		requests := drawGangRequests(rng, g, 3, 2)
		s := newGangSearch(gpus, requests)
		s.wait(0, 0, 0)
		in := task.Requests{GPUs: gpus, Requests: requests}
		turnaround, end := bounds.TurnaroundAtLeast(g, in)
		lifespans := 0
		for i := range requests {
			lifespans += requests[i].Lifespan
		}
		wait := bounds.WaitAtLeast(g, in)
		if s.sum < math.MaxInt && (turnaround > float64(s.sum) || end > s.end || wait > float64(s.sum-lifespans)) {
			t.Fatalf("%v on %d GPUs: at least %v, %v and %d, but %d and %d are possible", requests, gpus, turnaround, wait, end, s.sum, s.end)
		}
	}
}
