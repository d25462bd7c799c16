package placement

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/stats"
	"miglab/harness/task"
)

// TestMoversWithoutMovesAreMFI: where nothing may move, they decide like mfi.
func TestMoversWithoutMovesAreMFI(t *testing.T) {
	p := stream(t, "A100-80GB", "mfi/uniform?gpus=10&lifespan=steady", 0)
	want, err := algotest.Placement.Run(t.Context(), algo.MustParse("mfi"), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"mfi-migrate", "repack", "repack-head", "replan"} {
		got, err := algotest.Placement.Run(t.Context(), algo.MustParse(id), p)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Decisions, want.Decisions) || got.Result.Moved != nil {
			t.Errorf("%s does not decide like mfi", id)
		}
	}
}

// TestMovesRaiseAcceptance: with one move a GPU per mean lifespan, more requests are accepted in
// the steady state than by mfi, with a 95 % interval above zero over pairs of streams. The
// referee checks every move.
func TestMovesRaiseAcceptance(t *testing.T) {
	instances := deep.N(8, 30)
	accepted := func(id string) []float64 {
		out := make([]float64, instances)
		for i := range out {
			p := stream(t, "A100-80GB", "mfi/uniform?lifespan=steady&moves=1", i)
			a, err := algotest.Placement.Run(t.Context(), algo.MustParse(id), p)
			if err == nil {
				err = algotest.Placement.Check(p, a)
			}
			if err != nil {
				t.Fatal(id, err)
			}
			out[i] = float64(a.Result.SteadyAccepted.Requests) / float64(a.Result.SteadyArrived.Requests)
		}
		return out
	}
	base := accepted("mfi")
	for _, id := range []string{"mfi-migrate", "repack"} {
		gain := accepted(id)
		for i := range gain {
			gain[i] -= base[i]
		}
		sum, err := stats.Summarize(gain)
		if err != nil {
			t.Fatal(err)
		}
		if t.Logf("%s: %+.4f, %+.4f to %+.4f", id, sum.Mean, sum.Low, sum.High); sum.Low <= 0 {
			t.Errorf("%s accepts %+.4f more than mfi, with an interval from %+.4f to %+.4f; want it above 0", id, sum.Mean, sum.Low, sum.High)
		}
	}
}

// A layout describes the workloads of a GPU with four bits for each memory slice. At the first slice of a workload they
// are the index of its profile plus one, with the top bit if it is fixed; elsewhere they are 0.
type layout uint32

const fixedBit = 8

// put returns the layout with a workload more.
func (l layout) put(profile int, start mig.Slices, fixed bool) layout {
	code := layout(profile + 1)
	if fixed {
		code |= fixedBit
	}
	return l | code<<(4*start)
}

// without returns the layout without the workload that begins at a slice.
func (l layout) without(start mig.Slices) layout { return l &^ (0xf << (4 * start)) }

// workload returns the workload that begins at a slice; false if no workload begins there.
func (l layout) workload(start mig.Slices) (profile int, fixed, ok bool) {
	code := int(l >> (4 * start) & 0xf)
	return code&^fixedBit - 1, code&fixedBit != 0, code != 0
}

// drawLayouts fills a few GPUs at random, so that some requests fit nowhere.
func drawLayouts(rng *rand.Rand, g *mig.GPU) []layout {
	profiles := task.RequestProfiles(g)
	gpus := make([]layout, 1+rng.IntN(4))
	for i := range gpus {
		var used mig.Mask
		for range 1 + rng.IntN(7) {
			k := rng.IntN(len(profiles))
			start := profiles[k].Starts[rng.IntN(len(profiles[k].Starts))]
			if w := window(profiles[k], start); w&used == 0 {
				used |= w
				gpus[i] = gpus[i].put(k, start, rng.IntN(6) == 0)
			}
		}
	}
	return gpus
}

// byBruteForce returns the fewest moves, at most so many, after which a profile fits, and the
// least score then. It visits every reachable state breadth first and knows neither symmetry nor
// bounds. A workload that has moved is fixed.
func byBruteForce(m *mover, gpus []layout, profile, most int) (moves, score int, ok bool) {
	level := map[string][]layout{fmt.Sprint(gpus): gpus}
	for moves := range most + 1 {
		best, found := 0, false
		next := map[string][]layout{}
		for _, key := range slices.Sorted(maps.Keys(level)) {
			if total, fits := scoreWith(m, level[key], profile); fits && (!found || total < best) {
				best, found = total, true
			}
			for _, l := range successors(m, level[key]) {
				next[fmt.Sprint(l)] = l
			}
		}
		if found {
			return moves, best, true
		}
		level = next
	}
	return 0, 0, false
}

func usedBy(m *mover, l layout) (used mig.Mask) {
	for start := range mig.Slices(8) {
		if profile, _, ok := l.workload(start); ok {
			used |= window(m.profiles[profile], start)
		}
	}
	return used
}

// scoreWith returns the least score with a profile placed; false if it fits nowhere.
func scoreWith(m *mover, gpus []layout, profile int) (best int, fits bool) {
	for i := range gpus {
		for _, start := range m.profiles[profile].Starts {
			if window(m.profiles[profile], start)&usedBy(m, gpus[i]) != 0 {
				continue
			}
			total := 0
			for k := range gpus {
				used := usedBy(m, gpus[k])
				if k == i {
					used |= window(m.profiles[profile], start)
				}
				total += int(m.score[used])
			}
			if !fits || total < best {
				best, fits = total, true
			}
		}
	}
	return best, fits
}

func successors(m *mover, gpus []layout) (out [][]layout) {
	for from := range gpus {
		for start := range mig.Slices(8) {
			profile, fixed, ok := gpus[from].workload(start)
			if !ok || fixed {
				continue
			}
			for to := range gpus {
				for _, at := range m.profiles[profile].Starts {
					if window(m.profiles[profile], at)&usedBy(m, gpus[to]) == 0 {
						l := slices.Clone(gpus)
						l[from] = l[from].without(start)
						l[to] = l[to].put(profile, at, true)
						out = append(out, l)
					}
				}
			}
		}
	}
	return out
}

// moves lists the moves of an answer as "before: request to gpu@start", and how much it accepts.
func moves(a algotest.PlacementAnswer) string {
	var out []string
	for _, m := range a.Result.Moved {
		out = append(out, fmt.Sprintf("%d: %d to %d@%d", m.Before, m.Request, m.To.GPU, m.To.Start))
	}
	return strings.Join(append(out, fmt.Sprint(a.Result.Accepted.Requests)), ", ")
}

func TestScenes(t *testing.T) {
	const double, three, four, seven = "1g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"
	for _, c := range []struct {
		id   string
		gpus int
		ask  []string
		want string
	}{
		// The last request needs a whole GPU. On each is a 3g after the 4g have left.
		{"mfi", 2, []string{four + "!", three, four + "!", three, seven}, "4"},
		{"mfi-migrate", 2, []string{four + "!", three, four + "!", three, seven}, "4: 1 to 1@0, 5"},
		{"repack", 2, []string{four + "!", three, four + "!", three, seven}, "4: 1 to 1@0, 5"},
		{"repack-head", 2, []string{four + "!", three, four + "!", three, seven}, "4: 1 to 1@0, 5"},
		{"replan", 2, []string{four + "!", three, four + "!", three, seven}, "4: 1 to 1@0, 5"},
		// Two workloads are in the way on each.
		{"mfi-migrate", 2, []string{three + "!", double, double, three + "!", double, double, seven}, "6"},
	} {
		if got := moves(played(t, c.id, c.gpus, task.Migration{Moves: 9, Window: 10, Downtime: 1}, c.ask)); got != c.want {
			t.Errorf("%s, %d GPUs, %v: %s, want %s", c.id, c.gpus, c.ask, got, c.want)
		}
	}
}

func TestMovesAreDeclared(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	plain := datasets.MustParse("mfi/uniform?lifespan=steady")
	moving := datasets.MustParse("mfi/uniform?lifespan=steady&moves=0.25&downtime=3")
	a, err := datasets.InstanceOf[task.Requests](plain, g, 3)
	if err != nil {
		t.Fatal(err)
	}
	b, err := datasets.InstanceOf[task.Requests](moving, g, 3)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, q := range b.Requests {
		sum += q.Lifespan
	}
	mean := float64(sum) / float64(len(b.Requests))
	if m := b.Migration; m.Moves != 25 || m.Downtime != 3 || float64(m.Window) < mean-0.5 || float64(m.Window) > mean+0.5 {
		t.Errorf("%+v; want 25 moves in %v slots with a downtime of 3", m, mean)
	}
	if !slices.Equal(a.Requests, b.Requests) || a.Migration != (task.Migration{}) {
		t.Error("moves change the stream")
	}
}
