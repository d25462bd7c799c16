package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// nomad places and moves at random, and checks what it is shown about its moves.
type nomad struct {
	wanderer
	t     *rapid.T
	slots []int
}

func (n *nomad) Move(r *Residents, _ int) (Move, bool) {
	recent := 0
	for _, s := range n.slots {
		if r.Slot()-s < r.Rules().Window {
			recent++
		}
	}
	if r.Left() != r.Rules().Moves-recent {
		n.t.Fatalf("%d moves left of %d after %d", r.Left(), r.Rules().Moves, recent)
	}
	var options []Move
	var buffer []Resident
	for gpu := range r.Cluster().GPUs() {
		buffer = r.On(buffer[:0], gpu)
		var used mig.Mask
		for _, w := range buffer {
			p := r.Cluster().Profiles()[w.Profile]
			used |= mig.Instance{Profile: p, Start: w.Start}.Mask()
			for to := range r.Cluster().GPUs() {
				for _, s := range p.Starts {
					if !w.Fixed && (mig.Instance{Profile: p, Start: s}).Mask()&r.Cluster().Mask(to) == 0 {
						options = append(options, Move{w.Request, Spot{to, s}})
					}
				}
			}
		}
		if used != r.Cluster().Mask(gpu) {
			n.t.Fatalf("GPU %d has the mask %08b, its residents %08b", gpu, r.Cluster().Mask(gpu), used)
		}
	}
	if len(options) == 0 || n.rng.IntN(4) == 0 {
		return Move{}, false
	}
	n.slots = append(n.slots, r.Slot())
	return options[n.rng.IntN(len(options))], true
}

type migrationCase struct {
	requests []task.Request
	rules    task.Migration
	r        PlacementResult
}

// TestMigrations moves at random. The referee accepts what the engine did; who runs at the end, and
// the moves in each window, are counted apart from both.
func TestMigrations(t *testing.T) {
	moved := 0
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom(mig.GPUs()).Draw(t, "gpu")
		gpus := rapid.IntRange(1, 4).Draw(t, "gpus")
		c := migrationCase{requests: drawGangs(t, g)}
		if rapid.Bool().Draw(t, "one a slot") {
			for i := range c.requests {
				c.requests[i].Arrival = i
			}
		}
		c.rules = task.Migration{
			Moves: rapid.IntRange(1, 5).Draw(t, "moves"), Window: rapid.IntRange(1, 9).Draw(t, "window"), Downtime: rapid.IntRange(0, 6).Draw(t, "downtime"),
		}
		n := &nomad{t: t, wanderer: wanderer{rng: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))}}
		var err error
		if c.r, err = RunPlacement(g, gpus, c.requests, n, SteadyWindow, c.rules); err != nil {
			t.Fatal(err)
		}
		if err := CheckPlacement(gpus, c.requests, c.r.Spots, c.r.Moved, c.rules); err != nil {
			t.Fatal(err)
		}
		running, used := c.atTheEnd()
		if c.r.Final.Running != float64(running) || c.r.Final.UsedSlices != float64(used) {
			t.Fatalf("at the end %+v, want %d on %d slices", c.r.Final, running, used)
		}
		if n := c.busiestWindow(); n > c.rules.Moves {
			t.Fatalf("%d moves in %d slots; %d are allowed", n, c.rules.Window, c.rules.Moves)
		}
		moved += len(c.r.Moved)
	})
	if moved == 0 {
		t.Error("nothing was ever moved")
	}
}

// atTheEnd counts who runs after the last arrival: departures are late by the downtimes.
func (c *migrationCase) atTheEnd() (running, used int) {
	end := c.requests[len(c.requests)-1].Arrival
	for i, q := range c.requests {
		delay := 0
		for _, m := range c.r.Moved {
			if m.Request == i {
				delay += c.rules.Downtime
			}
		}
		if c.r.Spots[i] != nil && (q.Lifespan == task.Forever || q.Arrival+q.Lifespan+delay > end) {
			running++
			used += q.Slices()
		}
	}
	return running, used
}

// busiestWindow returns the most moves in a window, by trying every slot.
func (c *migrationCase) busiestWindow() int {
	most := 0
	for from := range c.requests[len(c.requests)-1].Arrival + 1 {
		n := 0
		for _, m := range c.r.Moved {
			if at := c.requests[m.Before].Arrival; at >= from && at < from+c.rules.Window {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// restless makes one move.
type restless struct {
	firstSpot
	before int
	move   Move
}

func (r *restless) Move(v *Residents, _ int) (Move, bool) { return r.move, v.Slot() >= r.before }

// TestImpossibleMoves has requests 0 and 1 on GPU 0 at slices 0 and 1, and request 2 on two whole
// GPUs.
func TestImpossibleMoves(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	small, whole := profileOf(t, g, "1g.10gb"), profileOf(t, g, "7g.80gb")
	requests := []task.Request{
		{Arrival: 0, Lifespan: 9, Profile: small},
		{Arrival: 1, Lifespan: 2, Profile: small},
		{Arrival: 2, Lifespan: 9, Profile: whole, GPUs: 2},
		{Arrival: 5, Lifespan: 9, Profile: small},
	}
	for text, move := range map[string]Move{
		"there is no such request":           {4, Spot{3, 0}},
		"request -1":                         {-1, Spot{3, 0}},
		"request 1 cannot be moved to GPU 3": {1, Spot{3, 0}}, // it has left
		"request 3 cannot be moved to GPU 3 at slice 0: it does not run": {3, Spot{3, 0}},
		"it is on several GPUs":         {2, Spot{3, 0}},
		"the GPUs are 0 to 3":           {0, Spot{4, 0}},
		"it may start at":               {0, Spot{3, 7}},
		"the GPU has the mask 11111111": {0, Spot{1, 0}},
		"the GPU has the mask 00000001": {0, Spot{0, 0}},
		"or its last move is not over":  {0, Spot{3, 0}}, // the second time
	} {
		_, err := RunPlacement(g, 4, requests, &restless{before: 5, move: move}, SteadyWindow, task.Migration{Moves: 9, Window: 1, Downtime: 3})
		if _, ok := errors.AsType[*ChoiceError](err); !ok || !strings.Contains(err.Error(), text) {
			t.Errorf("%+v: %v; want a ChoiceError with %q", move, err, text)
		}
	}
	if _, err := RunPlacement(g, 4, requests, firstSpot{}, SteadyWindow, task.Migration{Moves: 1}); err == nil || !strings.Contains(err.Error(), "1 moves in 0 slots") {
		t.Errorf("no window: %v", err)
	}
}

// TestRefereeOfMoves follows two workloads on two GPUs by hand.
func TestRefereeOfMoves(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	half := profileOf(t, g, "3g.40gb")
	requests := []task.Request{{Arrival: 0, Lifespan: 4, Profile: half}, {Arrival: 0, Lifespan: 9, Profile: half}, {Arrival: 5, Lifespan: 1, Profile: half}, {Arrival: 6, Lifespan: 1, Profile: half}}
	spots := [][]Spot{{{0, 0}}, {{0, 4}}, {{0, 0}}, nil}
	rules := task.Migration{Moves: 1, Window: 3, Downtime: 2}
	for _, c := range []struct {
		moves []Moved
		want  string
	}{
		{nil, ""},
		{[]Moved{{2, Move{1, Spot{1, 0}}}}, ""},
		// Two workloads change places: the first destination is in use.
		{[]Moved{{1, Move{0, Spot{0, 4}}}}, "slice 4 of GPU 0 is used by request 0 until slot 6 and by request 1 from slot 0"},
		// Moved and back: until slot 6 it uses what request 2 gets in slot 5.
		{[]Moved{{1, Move{0, Spot{0, 0}}}}, "slice 0 of GPU 0 is used by request 0"},
		{[]Moved{{2, Move{1, Spot{1, 0}}}, {3, Move{1, Spot{1, 4}}}}, "more than 1 moves in 3 slots"},
		{[]Moved{{2, Move{1, Spot{1, 0}}}, {3, Move{1, Spot{1, 4}}}}, "stands still until slot 7"},
		{[]Moved{{2, Move{0, Spot{1, 0}}}}, "request 0, which does not run"},
		{[]Moved{{3, Move{1, Spot{1, 0}}}, {2, Move{1, Spot{1, 4}}}}, "comes after moves"},
		{[]Moved{{4, Move{1, Spot{1, 0}}}}, "request 4, which does not exist"},
		{[]Moved{{2, Move{1, Spot{2, 0}}}}, "where it cannot be"},
		{[]Moved{{2, Move{9, Spot{1, 0}}}}, "request 9, which does not run"},
	} {
		err := CheckPlacement(2, requests, spots, c.moves, rules)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v; want %q", c.moves, err, c.want)
		}
	}
	if err := CheckPlacement(2, requests, spots, []Moved{{2, Move{1, Spot{1, 0}}}}, task.Migration{}); err == nil {
		t.Error("a move where none is allowed is accepted")
	}
}

// TestStayingMoverIsAPlacer: rules without a mover change no decision.
func TestStayingMoverIsAPlacer(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	rapid.Check(t, func(t *rapid.T) {
		requests := requestsOf(g, rapid.SliceOfN(rapid.Byte(), 3, 90).Draw(t, "stream"))
		plain, err := RunPlacement(g, 3, requests, firstSpot{}, SteadyWindow, task.Migration{})
		if err != nil {
			t.Fatal(err)
		}
		still, err := RunPlacement(g, 3, requests, &restless{before: 1 << 60}, SteadyWindow, task.Migration{Moves: 3, Window: 2, Downtime: 1})
		if err != nil {
			t.Fatal(err)
		}
		still.Rules, still.Spots = plain.Rules, plain.Spots
		if fmt.Sprint(still) != fmt.Sprint(plain) {
			t.Fatalf("%+v, want %+v", still, plain)
		}
	})
}
