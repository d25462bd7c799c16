package bounds_test

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"miglab/bounds"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// powered are models with powers of both forms, and idle boards from free to dear.
var powered = []string{
	"A100?idle=75.4", "A100?idle=45.9", "A100?idle=0", "A30?idle=40&busy=20-35-60", "A30?idle=5&busy=9-40-70",
	"A100?watts=40-120-160-200-240-250-250-250", "A30?watts=30-60-80", "A100?idle=300&busy=1-2-3-4-5",
}

func energyAtLeast(t *testing.T, p algo.Problem) mig.Joules {
	t.Helper()
	e, err := bounds.EnergyAtLeast(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// anySchedule plays tasks in a random order on random instances, and destroys what is in the way, at random pauses.
func anySchedule(r *rand.Rand, p algo.Problem) schedule.Schedule {
	g := generalSearch{p: p}
	s := generalState{exist: p.Start, plan: schedule.Schedule{GPU: p.GPU, Model: p.Model}}
	for _, i := range r.Perm(len(p.Tasks)) {
		var nodes []mig.Instance
		for _, n := range p.GPU.Tree() {
			if p.Tasks[i].Fits(n.Size()) {
				nodes = append(nodes, n.Instance)
			}
		}
		in, gpu := nodes[r.IntN(len(nodes))], r.IntN(p.GPUs())
		is := func(e schedule.Existing) bool { return e.GPU == gpu && e.Instance == in }
		for !slices.ContainsFunc(s.exist, is) {
			k := slices.IndexFunc(s.exist, func(e schedule.Existing) bool { return e.GPU == gpu && e.Instance.Overlaps(in) })
			if k >= 0 {
				s = removed(g, s, k)
				continue
			}
			from := mig.Seconds(0)
			for m := in.Start; m < in.Start+in.Profile.Length; m++ {
				from = max(from, s.free[gpu][m])
			}
			end := g.operate(&s, schedule.Create, gpu, in, from)
			s.exist = append(slices.Clone(s.exist), schedule.Existing{GPU: gpu, Instance: in, BusyUntil: end})
		}
		k := slices.IndexFunc(s.exist, is)
		start := max(s.exist[k].BusyUntil, p.ReleaseOf(i))
		if r.IntN(4) == 0 {
			start += mig.Seconds(r.Float64())
		}
		s.exist = slices.Clone(s.exist)
		s.exist[k].BusyUntil = start + p.Tasks[i].On(in.Size())
		s.plan.Placements = append(s.plan.Placements, schedule.Placement{Task: i, GPU: gpu, Instance: in, Start: start, End: s.exist[k].BusyUntil})
	}
	return s.plan
}

// removed destroys an instance once it is idle.
func removed(g generalSearch, s generalState, k int) generalState {
	e := s.exist[k]
	end := g.operate(&s, schedule.Destroy, e.GPU, e.Instance, e.BusyUntil)
	for m := e.Instance.Start; m < e.Instance.Start+e.Instance.Profile.Length; m++ {
		s.free[e.GPU][m] = end
	}
	s.exist = slices.Delete(slices.Clone(s.exist), k, k+1)
	return s
}

// TestNoScheduleDrawsLessThanTheBound: on random batches of up to 14 tasks, on up to two GPUs, with start partitions and
// releases, neither the bound itself nor one that follows from a bound on the makespan exceeds the energy of a valid
// schedule.
func TestNoScheduleDrawsLessThanTheBound(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 1))
	nearest := math.Inf(1)
	batches := deep.N(300, 500)
	if os.Getenv("MIGLAB_LONG") == "1" {
		batches = 10_000
	}
	for k := range batches {
		g := mig.MustLookup(powered[k%len(powered)])
		n := 1 + r.IntN(3)
		if k%50 == 0 {
			n = 4 + r.IntN(11)
		}
		p := drawProblem(r, g, 1+r.IntN(2), n)
		if r.IntN(4) == 0 {
			for range p.Tasks {
				p.Release = append(p.Release, mig.Seconds(r.IntN(3)))
			}
		}
		s := anySchedule(r, p)
		m, err := schedule.Measure(p, s)
		if err != nil {
			t.Fatalf("%d: %v", k, err)
		}
		bound := energyAtLeast(t, p)
		simple := schedule.EnergyAtLeast(p, certified(t, p))
		if !(bound > 0) && g.Power.Idle > 0 || bound > m.Energy*(1+1e-9) || simple > bound*(1+1e-9) {
			t.Fatalf("%d: %+v: bound %v J, simple bound %v J, a schedule draws %v J", k, p, bound, simple, m.Energy)
		}
		nearest = min(nearest, float64(m.Energy/bound))
	}
	if nearest > 1+1e-9 {
		t.Errorf("no random schedule meets the bound; the nearest draws %.3f times as much", nearest)
	}
}

func certified(t *testing.T, p algo.Problem) mig.Seconds {
	t.Helper()
	c, err := bounds.Certified(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// leastEnergy returns the energy of the best schedule, by the least makespan for every choice of sizes. With watts by
// size that is the optimum. It goes through the choices by their energies without idling.
func leastEnergy(t *testing.T, p algo.Problem, makespan func(algo.Problem) mig.Seconds) mig.Joules {
	choices := []task.Batch{nil}
	for i := range p.Tasks {
		var next []task.Batch
		for _, c := range choices {
			for _, size := range p.GPU.Sizes() {
				if p.Tasks[i].Fits(size) {
					x := task.Task{Name: p.Tasks[i].Name}
					x.Set(size, p.Tasks[i].On(size))
					next = append(next, append(slices.Clone(c), x))
				}
			}
		}
		choices = next
	}
	at := func(c task.Batch, m mig.Seconds) mig.Joules {
		q := p
		q.Tasks = c
		return schedule.EnergyAtLeast(q, m)
	}
	// No choice ends before its longest task.
	longest := func(c task.Batch) (m mig.Seconds) {
		for i := range c {
			for _, size := range p.GPU.Sizes() {
				if c[i].Fits(size) {
					m = max(m, c[i].On(size))
				}
			}
		}
		return m
	}
	slices.SortFunc(choices, func(a, b task.Batch) int { return cmp.Compare(at(a, longest(a)), at(b, longest(b))) })
	best := mig.Joules(math.Inf(1))
	for _, c := range choices {
		if at(c, longest(c)) >= best {
			break
		}
		q := p
		q.Tasks = c
		best = min(best, at(c, makespan(q)))
	}
	return best
}

// TestEnergyBoundIsOftenTheOptimum: on at least 60 % of random batches of up to 5 tasks the bound equals the optimum, and
// it never exceeds it. The optimum of few tasks is by a search that plays every sequence of steps, and that of more by
// Exact, which equals that search where it is fast enough.
func TestEnergyBoundIsOftenTheOptimum(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 2))
	met, all := [6]int{}, [6]int{}
	for k := range deep.N(60, 120) {
		g := mig.MustLookup(powered[k%5])
		n := 1 + r.IntN(5)
		p := algo.Problem{GPU: g, Tasks: randomBatch(g, uint64(k), n)}
		if k%2 == 0 {
			p = drawProblem(r, g, 1, n)
			p.Start = nil
		}
		optimum := leastEnergy(t, p, func(q algo.Problem) mig.Seconds {
			if n > 3 || n == 3 && g.Board() == "A100" {
				return exact(t, q).Makespan
			}
			s := general(q)
			return s.Makespan()
		})
		bound := energyAtLeast(t, p)
		if bound > optimum*(1+1e-9) {
			t.Fatalf("%d: %+v: bound %v J above the optimum %v J", k, p, bound, optimum)
		}
		all[n]++
		if bound >= optimum*(1-1e-9) {
			met[n]++
		}
	}
	of, sum := 0, 0
	for n := range all {
		of, sum = of+met[n], sum+all[n]
	}
	t.Logf("of %d batches the bound is the optimum of %d; by number of tasks %v of %v", sum, of, met, all)
	if 100*of < 60*sum {
		t.Errorf("of %d batches the bound is the optimum of %d only", sum, of)
	}
}
