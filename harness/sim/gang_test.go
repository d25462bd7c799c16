package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// firstPlacer takes the first GPU and start that the cluster allows.
type firstPlacer struct{}

func (firstPlacer) Place(c *Cluster, profile int) (Spot, bool) {
	for gpu := range c.GPUs() {
		p := c.Profile(gpu, profile)
		for _, start := range p.Starts {
			if (mig.Instance{Profile: p, Start: start}).Mask()&c.Mask(gpu) == 0 {
				return Spot{gpu, start}, true
			}
		}
	}
	return Spot{}, false
}

// drawInstances draws a stream of gangs, single instances and requests for whole GPUs.
func drawInstances(rng *rand.Rand, waiting task.Waiting) (*mig.GPU, task.Requests) {
	g := mig.MustLookup([]string{"A30", "A100-80GB"}[rng.IntN(2)])
	profiles := task.RequestProfiles(g)
	in := task.Requests{GPUs: 1 + rng.IntN(3), Waiting: waiting}
	arrival := 0
	for range 1 + rng.IntN(25) {
		arrival += rng.IntN(3)
		q := task.Request{Arrival: arrival, Lifespan: 1 + rng.IntN(12), Profile: profiles[rng.IntN(len(profiles))]}
		if rng.IntN(8) == 0 {
			q.Profile, q.GPUs = profiles[len(profiles)-1], in.GPUs
		}
		if rng.IntN(3) > 0 {
			q = drawMembers(rng, g, q, in.GPUs)
		}
		in.Requests = append(in.Requests, q)
	}
	return g, in
}

// drawMembers returns a request with a gang of up to four members that empty GPUs can hold one by one.
func drawMembers(rng *rand.Rand, g *mig.GPU, q task.Request, gpus int) task.Request {
	profiles := task.RequestProfiles(g)
	for {
		var members []task.Member
		for range 1 + rng.IntN(4) {
			m := task.Member{Profile: profiles[rng.IntN(len(profiles))]}
			m.Media = m.Profile == profiles[0] && rng.IntN(2) == 0
			members = append(members, m)
		}
		gang := task.Request{Arrival: q.Arrival, Lifespan: q.Lifespan}
		gang.SetGang(members, rng.IntN(2) == 0)
		empty := newNaive(g, gpus)
		if gang.CheckGPUs(g) == nil && empty.place(&gang) != nil {
			return gang
		}
	}
}

// A naive cluster has a list of the instances that run.
type naive struct {
	g       *mig.GPU
	gpus    int
	running []running
}

type running struct {
	request, gpu, from, to int // slices from to to
	media                  bool
}

func newNaive(g *mig.GPU, gpus int) *naive { return &naive{g: g, gpus: gpus} }

func (n *naive) free(gpu, from, to int, media bool) bool {
	for _, r := range n.running {
		if r.gpu == gpu && (from < r.to && r.from < to || media && r.media) {
			return false
		}
	}
	return true
}

// fits reports whether all members have places on a GPU.
func (n *naive) fits(gpu int, members []task.Member) bool {
	if len(members) == 0 {
		return true
	}
	for _, start := range members[0].Profile.Starts {
		from, to := int(start), int(start+members[0].Profile.Length)
		if !n.free(gpu, from, to, members[0].Media) {
			continue
		}
		n.running = append(n.running, running{gpu: gpu, from: from, to: to, media: members[0].Media})
		ok := n.fits(gpu, members[1:])
		n.running = n.running[:len(n.running)-1]
		if ok {
			return true
		}
	}
	return false
}

// place adds the first places for a request, or returns nil.
func (n *naive) place(q *task.Request) (spots []Spot) {
	before := len(n.running)
	members, oneGPU := slices.Repeat([]task.Member{{Profile: q.Profile}}, max(q.GPUs, 1)), false
	if q.Gang != nil {
		members, oneGPU = q.Gang.Members, q.Gang.OneGPU
	}
	for k, m := range members {
		found := false
		for gpu := 0; gpu < n.gpus && !found; gpu++ {
			if oneGPU && k > 0 && gpu != spots[0].GPU {
				continue
			}
			for _, start := range m.Profile.Starts {
				r := running{gpu: gpu, from: int(start), to: int(start + m.Profile.Length), media: m.Media}
				if !n.free(gpu, r.from, r.to, r.media) {
					continue
				}
				n.running = append(n.running, r)
				if !oneGPU || n.fits(gpu, members[k+1:]) {
					spots, found = append(spots, Spot{gpu, start}), true
					break
				}
				n.running = n.running[:len(n.running)-1]
			}
		}
		if !found {
			n.running = n.running[:before]
			return nil
		}
	}
	return spots
}

// admit is place for request i, which it names as the user.
func (n *naive) admit(i int, q *task.Request) []Spot {
	before := len(n.running)
	spots := n.place(q)
	for k := before; k < len(n.running); k++ {
		n.running[k].request = i
	}
	return spots
}

func (n *naive) leave(i int) {
	n.running = slices.DeleteFunc(n.running, func(r running) bool { return r.request == i })
}

// TestGangsAgainstANaiveSimulation compares all places, starts and ends on 1,000 streams.
func TestGangsAgainstANaiveSimulation(t *testing.T) {
	rng := rand.New(rand.NewPCG(27, 28))
	gangs, rejected, waited := 0, 0, 0
	for range deep.N(1000, 20_000) {
		g, in := drawInstances(rng, []task.Waiting{task.Reject, task.Retry, task.FIFO}[rng.IntN(3)])
		if !in.HasGangs() {
			continue
		}
		gangs++
		if in.Waiting == task.Reject {
			r, err := RunPlacement(g, in.GPUs, in.Requests, firstPlacer{}, SteadyWindow, task.Migration{})
			if err != nil {
				t.Fatal(err)
			}
			want := rejecting(g, in)
			if !reflect.DeepEqual(r.Spots, want) {
				t.Fatalf("%+v: places %v, want %v", in, r.Spots, want)
			}
			if err := CheckPlacement(in.GPUs, in.Requests, r.Spots, nil, task.Migration{}); err != nil {
				t.Fatal(err)
			}
			rejected += len(in.Requests) - r.Accepted.Requests
			continue
		}
		r, err := RunWaiting(g, in, firstPlacer{})
		if err != nil {
			t.Fatal(err)
		}
		starts, want := retrying(g, in)
		if !slices.Equal(r.Starts, starts) || !reflect.DeepEqual(r.Spots, want) {
			t.Fatalf("%+v: %v at %v, want %v at %v", in, r.Starts, r.Spots, starts, want)
		}
		if err := CheckWaiting(&r); err != nil {
			t.Fatal(err)
		}
		for i := range starts {
			waited += starts[i] - in.Requests[i].Arrival
		}
	}
	if gangs < 900 || rejected < 1000 || waited < 1000 {
		t.Errorf("%d streams with gangs, %d requests rejected, %d slots waited", gangs, rejected, waited)
	}
}

func rejecting(g *mig.GPU, in task.Requests) (out [][]Spot) {
	n := newNaive(g, in.GPUs)
	for i := range in.Requests {
		q := &in.Requests[i]
		for k := range i {
			if in.Requests[k].Arrival+in.Requests[k].Lifespan <= q.Arrival {
				n.leave(k)
			}
		}
		out = append(out, n.admit(i, q))
	}
	return out
}

func retrying(g *mig.GPU, in task.Requests) (starts []int, out [][]Spot) {
	n := newNaive(g, in.GPUs)
	starts = slices.Repeat([]int{-1}, len(in.Requests))
	out = make([][]Spot, len(in.Requests))
	for slot, left := 0, len(in.Requests); left > 0; slot++ {
		event := false
		for i := range in.Requests {
			if starts[i] >= 0 && starts[i]+in.Requests[i].Lifespan == slot {
				n.leave(i)
				event = true
			}
			event = event || in.Requests[i].Arrival == slot
		}
		failed := map[string]bool{}
		for i := range in.Requests {
			q := &in.Requests[i]
			kind := fmt.Sprint(q.Profile, q.GPUs)
			if q.Gang != nil {
				kind = q.Gang.String() + q.Gang.Where()
			}
			if !event || starts[i] >= 0 || q.Arrival > slot || failed[kind] {
				continue
			}
			if out[i] = n.admit(i, q); out[i] == nil {
				failed[kind] = true
				if in.Waiting == task.FIFO {
					break
				}
				continue
			}
			starts[i] = slot
			left--
		}
	}
	return starts, out
}

// gangOf returns a request for the members of an A100-80GB, by index, with m for media extensions.
func gangOf(lifespan int, oneGPU bool, members ...string) task.Request {
	profiles := task.RequestProfiles(mig.MustLookup("A100-80GB")) // 1g 1g.20gb 2g 3g 4g 7g
	var list []task.Member
	for _, m := range members {
		list = append(list, task.Member{Profile: profiles[m[0]-'0'], Media: len(m) > 1})
	}
	q := task.Request{Lifespan: lifespan}
	q.SetGang(list, oneGPU)
	return q
}

// TestRefereeOfGangs changes a valid result in every way in which a gang can be wrong.
func TestRefereeOfGangs(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	in := task.Requests{GPUs: 2, Waiting: task.Retry, Requests: []task.Request{
		gangOf(10, true, "3", "0m", "0"), // GPU 0: 3g@0, 1g+me@4, 1g@5
		gangOf(10, false, "4", "0m"),     // GPU 1: 4g@0, 1g+me@4
		gangOf(5, false, "0m", "0m"),     // waits for both
	}}
	for i, c := range []struct {
		want   string
		change func(*WaitingResult)
	}{
		{"", func(*WaitingResult) {}},
		{"request 0 has 2 of the 3 instances", func(r *WaitingResult) { r.Spots[0] = r.Spots[0][:2] }},
		{"request 0 has 0 of the 3 instances", func(r *WaitingResult) { r.Spots[0] = nil }},
		{"request 0 has 4 of the 3 instances", func(r *WaitingResult) { r.Spots[0] = append(r.Spots[0], Spot{0, 6}) }},
		{"request 0 is on GPUs 0 and 1; it needs all instances on one", func(r *WaitingResult) { r.Spots[0][2] = Spot{1, 6} }},
		{"slice 4 of GPU 0 is used by request 0 until slot 10 and by request 0 from slot 0", func(r *WaitingResult) { r.Spots[0][2] = Spot{0, 4} }},
		{"the media extensions of GPU 0 are used by request 0 until slot 10 and by request 1 from slot 0", func(r *WaitingResult) { r.Spots[1][1] = Spot{0, 6} }},
		{"the media extensions of GPU 0 are used by request 2 until slot 15 and by request 2 from slot 10", func(r *WaitingResult) { r.Spots[2][1] = Spot{0, 1} }},
		{"the media extensions of GPU 1 are used by request 1 until slot 10 and by request 2 from slot 0", func(r *WaitingResult) { r.Starts[2], r.Ends[2], r.Spots[2] = 0, 5, []Spot{{1, 5}, {0, 6}} }},
		{"request 0 leaves in slot 9", func(r *WaitingResult) { r.Ends[0] = 9 }},
		{"request 0 has 3g.40gb on GPU 0 at slice 1, where it cannot be", func(r *WaitingResult) { r.Spots[0][0] = Spot{0, 1} }},
		{"request 0 has 1g.10gb on GPU 2 at slice 4, where it cannot be", func(r *WaitingResult) { r.Spots[0][1] = Spot{2, 4} }},
		{"move 0 in slot 10 is of request 0, which does not run or is on several GPUs or a gang", func(r *WaitingResult) {
			r.In.Migration = task.Migration{Moves: 9, Window: 1}
			r.Moved = []WaitingMove{{10, Moved{2, Move{0, Spot{1, 6}}}}}
		}},
	} {
		r, err := RunWaiting(g, in, firstPlacer{})
		if err != nil {
			t.Fatal(err)
		}
		if want := [][]Spot{{{0, 0}, {0, 4}, {0, 5}}, {{1, 0}, {1, 4}}, {{0, 0}, {1, 0}}}; !reflect.DeepEqual(r.Spots, want) {
			t.Fatalf("places %v, want %v", r.Spots, want)
		}
		c.change(&r)
		err = CheckWaiting(&r)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("case %d: %v, want %q", i, err, c.want)
		}
	}
	for want, spots := range map[string][][]Spot{
		"request 0 has 1 of the 3 instances":                         {{{0, 0}}, nil, nil},
		"request 0 is on GPUs 0 and 1":                               {{{0, 0}, {1, 4}, {0, 5}}, nil, nil},
		"the media extensions of GPU 1 are used by request 1 until":  {nil, {{1, 0}, {1, 4}}, {{1, 5}, {0, 6}}},
		"slice 0 of GPU 1 is used by request 1 until slot 10 and by": {nil, {{1, 0}, {1, 0}}, nil},
	} {
		err := CheckPlacement(2, in.Requests, spots, nil, task.Migration{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", spots, err, want)
		}
	}
}

// jointPlacer answers a gang with fixed places.
type jointPlacer struct {
	firstPlacer
	spots []Spot
}

func (p jointPlacer) PlaceGang(*Cluster, *task.Gang) ([]Spot, bool) { return p.spots, p.spots != nil }

// TestJointChoicesAreChecked: the engine refuses impossible places, and leaves no member behind a rejection.
func TestJointChoicesAreChecked(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	for _, c := range []struct {
		spots []Spot
		want  string
	}{
		{[]Spot{{0, 4}, {0, 0}}, ""},
		{nil, ""},
		{[]Spot{{0, 4}}, "3g.40gb+1g.10gb+me has 2 members; there are places for 1"},
		{[]Spot{{0, 4}, {1, 0}}, "1g.10gb+me of 3g.40gb+1g.10gb+me (gang=gpu) cannot be placed on GPU 1 at slice 0: its gang needs one GPU with room for all"},
		{[]Spot{{0, 4}, {0, 5}}, "cannot be placed on GPU 0 at slice 5: slices of it are in use"},
		{[]Spot{{0, 2}, {0, 0}}, "3g.40gb of 3g.40gb+1g.10gb+me (gang=gpu) cannot be placed on GPU 0 at slice 2: it may start at [0 4]"},
		{[]Spot{{2, 0}, {2, 4}}, "the GPUs are 0 to 1"},
	} {
		requests := []task.Request{gangOf(5, true, "3", "0m")}
		r, err := RunPlacement(g, 2, requests, jointPlacer{spots: c.spots}, SteadyWindow, task.Migration{})
		if c.want != "" {
			if _, ok := errors.AsType[*ChoiceError](err); !ok || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: %v, want %q", c.spots, err, c.want)
			}
			continue
		}
		if used := 5 * min(len(c.spots), 1); err != nil || r.Final.UsedSlices != float64(used) {
			t.Errorf("%v: %v slices in use, %v", c.spots, r.Final.UsedSlices, err)
		}
	}
}

// TestMediaExtensionsAreFreedWithTheirInstance: in a cluster that rejects, a second +me is accepted once the first has
// left, whether the first was alone or a later member of a gang.
func TestMediaExtensionsAreFreedWithTheirInstance(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	requests := []task.Request{gangOf(3, true, "3", "0m"), gangOf(3, false, "0m"), gangOf(3, false, "0m"), gangOf(3, false, "0m")}
	for i, arrival := range []int{0, 2, 3, 4} {
		requests[i].Arrival = arrival
	}
	r, err := RunPlacement(g, 1, requests, firstPlacer{}, SteadyWindow, task.Migration{})
	if want := [][]Spot{{{0, 0}, {0, 4}}, nil, {{0, 0}}, nil}; err != nil || !reflect.DeepEqual(r.Spots, want) {
		t.Errorf("%v, %v; want %v", r.Spots, err, want)
	}
}

// TestGangsWithoutAPlaceWaitForever: an instance that a geometry lacks, and media extensions that there are not.
func TestGangsWithoutAPlaceWaitForever(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	for _, c := range []struct {
		q        task.Request
		geometry []string
		starves  bool
	}{
		{gangOf(5, true, "3", "3"), []string{"3-3", "4-2-1"}, false},
		{gangOf(5, false, "3", "3", "4"), []string{"3-3", "4-2-1"}, false},
		{gangOf(5, true, "2", "2"), []string{"4-2-1", "3-3"}, true},
		{gangOf(5, false, "2", "2"), []string{"4-2-1", "4-2-1"}, false},
		{gangOf(5, false, "0m", "0m"), nil, false},
		{gangOf(5, false, "0m", "0m", "0m"), nil, true},
	} {
		in := task.Requests{GPUs: 2, Waiting: task.Retry, Requests: []task.Request{c.q}}
		if c.geometry != nil {
			if err := in.UseGeometry(g, c.geometry); err != nil {
				t.Fatal(err)
			}
		}
		r, err := RunWaiting(g, in, firstPlacer{})
		if err == nil {
			err = CheckWaiting(&r)
		}
		if starves := err != nil && strings.Contains(err.Error(), "requests wait forever: the scheduler rejects 1 on an empty cluster"); starves != c.starves || err != nil && !starves {
			t.Errorf("%v on %v: %v", in.Requests[0].Gang, c.geometry, err)
		}
	}
}
