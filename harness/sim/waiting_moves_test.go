package sim

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// A movable is a workload that may move, and where it is.
type movable struct {
	request, profile int
	at               Spot
}

// choose draws a move, or none, from what a mover sees. It draws by a hash of all of it, so that two simulations that
// show the same choose the same.
func choose(profiles []*mig.Profile, seen string, who []movable, free func(gpu int, s mig.Slices) bool, gpus int) (Move, bool) {
	var options []Move
	slices.SortFunc(who, func(a, b movable) int { return cmp.Compare(a.request, b.request) })
	for _, w := range who {
		p := profiles[w.profile]
		for gpu := range gpus {
			for _, start := range p.Starts {
				fits := true
				for k := range p.Length {
					fits = fits && free(gpu, start+k)
				}
				if fits {
					options = append(options, Move{w.request, Spot{gpu, start}})
				}
			}
		}
	}
	h := fnv.New64a()
	fmt.Fprint(h, seen, who)
	draw := h.Sum64()
	if len(options) == 0 || draw%3 == 0 {
		return Move{}, false
	}
	return options[draw/3%uint64(len(options))], true
}

// A whim is a mover that chooses with choose.
type whim struct{ firstSpot }

func (whim) Move(r *Residents, profile int) (Move, bool) {
	c := r.Cluster()
	var who []movable
	for gpu := range c.GPUs() {
		for _, w := range r.On(nil, gpu) {
			if !w.Fixed {
				who = append(who, movable{w.Request, w.Profile, Spot{gpu, w.Start}})
			}
		}
	}
	seen := fmt.Sprintln(r.Slot(), profile, r.Left(), r.Head(), slices.Collect(r.Behind))
	return choose(c.Profiles(), seen, who, func(gpu int, s mig.Slices) bool { return c.Mask(gpu)>>s&1 == 0 }, c.GPUs())
}

// A naiveRun is a cluster of which every slot is played. owner has the request that holds a slice, plus one; left has
// the slots that a request has still to work.
type naiveRun struct {
	g                         *mig.GPU
	in                        task.Requests
	profiles                  []*mig.Profile
	owner                     [][]int
	starts, ends, left, pause []int
	spots                     [][]Spot
	at                        []Spot
	moved                     []WaitingMove
	memory, queued, slots     int
}

func naiveMoving(g *mig.GPU, in task.Requests) *naiveRun {
	n := len(in.Requests)
	r := &naiveRun{
		g: g, in: in, profiles: task.RequestProfiles(g), starts: slices.Repeat([]int{-1}, n), ends: slices.Repeat([]int{-1}, n),
		left: make([]int, n), pause: make([]int, n), spots: make([][]Spot, n), at: make([]Spot, n),
	}
	for range in.GPUs {
		r.owner = append(r.owner, make([]int, g.MemorySlices))
	}
	last := in.Requests[n-1].Arrival
	for now := 0; slices.Contains(r.ends, -1); now++ {
		event := false
		for i := range r.left {
			if r.starts[i] >= 0 && r.ends[i] < 0 && r.left[i] == 0 {
				r.ends[i], event = now, true
				for _, owners := range r.owner {
					for s := range owners {
						if owners[s] == i+1 {
							owners[s] = 0
						}
					}
				}
			}
			event = event || in.Requests[i].Arrival == now
		}
		if event {
			r.serve(now)
		}
		waits := false
		for i, q := range in.Requests {
			waits = waits || q.Arrival <= now && r.starts[i] < 0
			if r.starts[i] >= 0 && r.ends[i] < 0 && now >= r.pause[i] {
				r.left[i]--
			}
		}
		if float64(now)*in.SlotSeconds >= WarmUp && now < last {
			r.slots++
			for _, owners := range r.owner {
				for _, o := range owners {
					r.memory += min(o, 1)
				}
			}
			if waits {
				r.queued++
			}
		}
	}
	return r
}

// serve tries every request that waits.
func (r *naiveRun) serve(now int) {
	failed := map[[2]int]bool{}
	for i, q := range r.in.Requests {
		kind := r.kind(i)
		if q.Arrival > now || r.starts[i] >= 0 || failed[kind] {
			continue
		}
		if len(failed) > 0 && r.in.Waiting == task.FIFO {
			return
		}
		for q.GPUs <= 1 && r.movesLeft(now) > 0 {
			m, ok := r.choose(now, i, failed)
			if !ok {
				break
			}
			p := r.in.Requests[m.Request].Profile
			for k := range p.Length {
				from, to := r.at[m.Request], m.To
				r.owner[from.GPU][from.Start+k] = 0
				r.owner[to.GPU][to.Start+k] = m.Request + 1
			}
			r.at[m.Request], r.pause[m.Request] = m.To, now+r.in.Migration.Downtime
			r.moved = append(r.moved, WaitingMove{now, Moved{i, m}})
		}
		if !r.place(i, now) {
			failed[kind] = true
		}
	}
}

func (r *naiveRun) kind(i int) [2]int {
	q := r.in.Requests[i]
	return [2]int{slices.Index(r.profiles, q.Profile), max(q.GPUs, 1)}
}

func (r *naiveRun) movesLeft(now int) int {
	left := r.in.Migration.Moves
	for _, m := range r.moved {
		if m.Slot > now-r.in.Migration.Window {
			left--
		}
	}
	return left
}

func (r *naiveRun) choose(now, i int, failed map[[2]int]bool) (Move, bool) {
	head := true
	var behind []int
	for k, q := range r.in.Requests {
		if q.Arrival > now || r.starts[k] >= 0 {
			continue
		}
		head = head && k >= i
		if k > i && q.GPUs <= 1 && !failed[r.kind(k)] {
			behind = append(behind, r.kind(k)[0])
		}
	}
	var who []movable
	for k, q := range r.in.Requests {
		if r.starts[k] >= 0 && r.ends[k] < 0 && q.GPUs <= 1 && r.pause[k] <= now {
			who = append(who, movable{k, r.kind(k)[0], r.at[k]})
		}
	}
	seen := fmt.Sprintln(now, r.kind(i)[0], r.movesLeft(now), head, behind)
	return choose(r.profiles, seen, who, func(gpu int, s mig.Slices) bool { return r.owner[gpu][s] == 0 }, r.in.GPUs)
}

// place gives request i the first free places.
func (r *naiveRun) place(i, now int) bool {
	q := r.in.Requests[i]
	var spots []Spot
	for gpu := 0; gpu < r.in.GPUs; gpu++ {
		for _, start := range q.Profile.Starts {
			fits := len(spots) < max(q.GPUs, 1)
			for k := range q.Profile.Length {
				fits = fits && r.owner[gpu][start+k] == 0
			}
			if fits {
				spots = append(spots, Spot{gpu, start})
				break // a further instance needs a whole GPU
			}
		}
	}
	if len(spots) < max(q.GPUs, 1) {
		return false
	}
	for _, s := range spots {
		for k := range q.Profile.Length {
			r.owner[s.GPU][s.Start+k] = i + 1
		}
	}
	r.starts[i], r.left[i], r.spots[i], r.at[i] = now, q.Lifespan, spots, spots[0]
	return true
}

// TestMovesWhileOthersWaitAreNaive compares the engine with a simulation of every slot that counts the work of each
// request down, on 1,000 streams, and has the referee agree.
func TestMovesWhileOthersWaitAreNaive(t *testing.T) {
	moves, streams, later := 0, 0, 0
	for range 10 { // a hundred draws each
		rapid.Check(t, func(t *rapid.T) {
			g, in := drawWaiting(t)
			in.Geometry, in.SlotSeconds = nil, 5
			in.Migration = task.Migration{
				Moves: rapid.IntRange(1, 5).Draw(t, "moves"), Window: rapid.IntRange(1, 9).Draw(t, "window"),
				Downtime: rapid.IntRange(0, 6).Draw(t, "downtime"),
			}
			got, err := RunWaiting(g, in, whim{})
			if err != nil {
				t.Fatal(err)
			}
			want := naiveMoving(g, in)
			if !slices.Equal(got.Starts, want.starts) || !slices.Equal(got.Ends, want.ends) || !slices.Equal(got.Moved, want.moved) {
				t.Fatalf("starts %v, ends %v, moves %v; want %v, %v, %v", got.Starts, got.Ends, got.Moved, want.starts, want.ends, want.moved)
			}
			if fmt.Sprint(got.Spots) != fmt.Sprint(want.spots) {
				t.Fatalf("places %v, want %v", got.Spots, want.spots)
			}
			capacity := float64(want.slots * in.GPUs * int(g.MemorySlices))
			if u := got.Use; u.Slots != want.slots || u.Slots > 0 && (!near(u.Memory*capacity, want.memory) || !near(u.Queued*float64(want.slots), want.queued)) {
				t.Fatalf("%+v, want %d slots, %d of memory, %d queued", u, want.slots, want.memory, want.queued)
			}
			if err := CheckWaiting(&got); err != nil {
				t.Fatal(err)
			}
			moves, streams = moves+len(got.Moved), streams+1
			for i, q := range in.Requests {
				later += got.Ends[i] - got.Starts[i] - q.Lifespan
			}
		})
	}
	if streams < 1000 || moves < streams || later < streams {
		t.Errorf("%d streams with %d moves and %d slots of pauses", streams, moves, later)
	}
}

func near(x float64, want int) bool { return x-float64(want) < 1e-6 && float64(want)-x < 1e-6 }

// TestCheckWaitingFindsMovesThatBreakRules changes a stream in which the 3g of GPU 1 moves beside the other one, so that a
// 7g begins: it pauses for five slots and leaves in slot 25.
func TestCheckWaitingFindsMovesThatBreakRules(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	p := func(name string) *mig.Profile { return profileOf(t, g, name) }
	valid := func() *WaitingResult {
		return &WaitingResult{
			In: task.Requests{GPUs: 4, Waiting: task.Retry, Migration: task.Migration{Moves: 1, Window: 9, Downtime: 5}, Requests: []task.Request{
				{Arrival: 0, Lifespan: 20, Profile: p("3g.40gb")},
				{Arrival: 0, Lifespan: 20, Profile: p("3g.40gb")},
				{Arrival: 0, Lifespan: 40, Profile: p("7g.80gb"), GPUs: 2},
				{Arrival: 2, Lifespan: 6, Profile: p("7g.80gb")},
				{Arrival: 4, Lifespan: 10, Profile: p("7g.80gb")},
				{Arrival: 26, Lifespan: 10, Profile: p("7g.80gb")},
			}},
			Starts: []int{0, 0, 0, 2, 8, 26}, Ends: []int{20, 25, 40, 8, 18, 36},
			Spots: [][]Spot{{{0, 0}}, {{1, 0}}, {{2, 0}, {3, 0}}, {{1, 0}}, {{1, 0}}, {{0, 0}}},
			Moved: []WaitingMove{{2, Moved{3, Move{1, Spot{0, 4}}}}},
		}
	}
	if err := CheckWaiting(valid()); err != nil {
		t.Fatal(err)
	}
	again := func(slot, before, request int, to Spot) func(*WaitingResult) {
		return func(r *WaitingResult) {
			r.Moved = append(r.Moved, WaitingMove{slot, Moved{before, Move{request, to}}})
			if request >= 0 && request < len(r.Ends) {
				r.Ends[request] += 5
			}
		}
	}
	for _, c := range []struct {
		name   string
		mutate func(r *WaitingResult)
		want   string
	}{
		{"to slices in use", func(r *WaitingResult) { r.Moved[0].To = Spot{0, 0} }, "slice 0 of GPU 0 is used by request 0 until slot 20 and by request 1 from slot 2"},
		{"to its own slices", func(r *WaitingResult) { r.Moved[0].To = Spot{1, 0} }, "slice 0 of GPU 1 is used by request 1 until slot 20 and by request 1 from slot 2"},
		{"overlapping a later request", func(r *WaitingResult) { r.Starts[5], r.Ends[5], r.In.Requests[5].Arrival = 20, 30, 20 }, "slice 4 of GPU 0 is used by request 1 until slot 25 and by request 5 from slot 20"},
		{"of a request that has ended", again(26, 5, 0, Spot{1, 0}), "move 1 in slot 26 is of request 0, which does not run"},
		{"of a request that ends then", again(20, 5, 0, Spot{1, 4}), "move 1 in slot 20 is of request 0, which does not run"},
		{"of a request that waits", func(r *WaitingResult) { r.Moved[0].Request = 4 }, "of request 4, which does not run"},
		{"of no request", again(26, 5, 9, Spot{1, 0}), "of request 9, which does not run"},
		{"of a request on two GPUs", func(r *WaitingResult) { r.Moved[0] = WaitingMove{8, Moved{4, Move{2, Spot{1, 0}}}} }, "of request 2, which does not run or is on several GPUs"},
		{"without the pause", func(r *WaitingResult) { r.Ends[1] = 20 }, "request 1 leaves in slot 20; with its lifespan and its pauses it leaves in slot 25"},
		{"with too long a pause", func(r *WaitingResult) { r.Ends[1] = 26 }, "request 1 leaves in slot 26; with its lifespan and its pauses it leaves in slot 25"},
		{"wrong start", func(r *WaitingResult) { r.Moved[0].To.Start = 2 }, "request 1 has 3g.40gb on GPU 0 at slice 2, where it cannot be"},
		{"to a GPU that does not exist", func(r *WaitingResult) { r.Moved[0].To.GPU = 4 }, "request 1 has 3g.40gb on GPU 4 at slice 4, where it cannot be"},
		{"forgotten", func(r *WaitingResult) { r.Moved = nil }, "slice 0 of GPU 1 is used by request 1 until slot 20 and by request 3 from slot 2"},
		{"without an event", func(r *WaitingResult) { r.Moved[0].Slot = 1 }, "move 0 is in slot 1, in which nothing arrives or leaves"},
		{"before a request that has begun", again(18, 3, 0, Spot{1, 0}), "move 1 in slot 18 is before request 3, which does not wait"},
		{"before a request that has not arrived", again(18, 5, 0, Spot{1, 0}), "move 1 in slot 18 is before request 5, which does not wait"},
		{"before a request on two GPUs", func(r *WaitingResult) { r.Moved[0].Before = 2 }, "move 0 in slot 2 is before request 2, which does not wait then for one GPU"},
		{"too many", again(8, 4, 1, Spot{1, 4}), "move 1 in slot 8: more than 1 moves in 9 slots"},
		{"none allowed", func(r *WaitingResult) { r.In.Migration.Moves = 0 }, "move 0 in slot 2: more than 0 moves in 9 slots"},
		{"in a pause", again(4, 4, 1, Spot{1, 4}), "move 1 in slot 4 is of request 1, which stands still until slot 7"},
		{"out of order", func(r *WaitingResult) {
			r.Moved = append([]WaitingMove{{18, Moved{5, Move{0, Spot{1, 0}}}}}, r.Moved...)
		}, "move 1 comes before move 0"},
		{"too late for the request", func(r *WaitingResult) { r.Moved[0].Slot, r.Moved[0].Before = 4, 4 }, "slice 0 of GPU 1 is used by request 1 until slot 20 and by request 3 from slot 2"},
	} {
		r := valid()
		c.mutate(r)
		if err := CheckWaiting(r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// TestRandomMutationsOfMoves changes one number of one move in streams of the engine so that it breaks a rule.
func TestRandomMutationsOfMoves(t *testing.T) {
	refused, kinds := 0, map[int]int{}
	rapid.Check(t, func(t *rapid.T) {
		g, in := drawWaiting(t)
		in.Geometry = nil
		in.Migration = task.Migration{Moves: 3, Window: 5, Downtime: rapid.IntRange(1, 6).Draw(t, "downtime")}
		r, err := RunWaiting(g, in, whim{})
		if err != nil || len(r.Moved) == 0 {
			t.Skip("no moves")
		}
		k := rapid.IntRange(0, len(r.Moved)-1).Draw(t, "move")
		m := &r.Moved[k]
		kind := rapid.IntRange(0, 4).Draw(t, "kind")
		switch kind {
		case 0:
			m.Slot += rapid.SampledFrom([]int{-1 << 40, 1 << 40}).Draw(t, "slot")
		case 1:
			m.Request = rapid.IntRange(-1, len(in.Requests)).Filter(func(i int) bool { return i != m.Request }).Draw(t, "request")
		case 2:
			r.Ends[m.Request] -= in.Migration.Downtime
		case 3:
			r.Moved = slices.Delete(r.Moved, k, k+1)
		case 4:
			m.To.GPU += in.GPUs
		}
		if CheckWaiting(&r) == nil {
			t.Fatalf("change %d of move %d, %+v, is accepted", kind, k, m)
		}
		refused++
		kinds[kind]++
	})
	if refused < 20 || len(kinds) < 5 {
		t.Errorf("%d changes of %v kinds", refused, kinds)
	}
}
