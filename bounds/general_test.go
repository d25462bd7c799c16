package bounds_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"miglab/bounds"
	"miglab/bounds/certificate"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// A generalSearch finds the best of all schedules of a few tasks, merges of
// instances and destroys at any time included. It plays every sequence of two kinds
// of steps, each as early as the steps before it allow: use an instance for some of the
// tasks left, after creating it unless it is there; and destroy an instance. The steps of any
// schedule, in order of their starts, are such a sequence, and its steps start
// no later when played: tasks can follow the create of their instance or each other at once,
// for nothing else uses it meanwhile.
type generalSearch struct {
	p    algo.Problem
	best mig.Seconds
	plan schedule.Schedule
}

type generalState struct {
	exist []schedule.Existing
	// free is by GPU and memory slice, channel by GPU.
	free    [2][8]mig.Seconds
	channel [2]mig.Seconds
	left    int
	end     mig.Seconds
	plan    schedule.Schedule
}

// general returns an optimal schedule.
func general(p algo.Problem) schedule.Schedule {
	g := generalSearch{p: p, best: mig.Seconds(math.Inf(1))}
	g.extend(generalState{exist: p.Start, left: 1<<len(p.Tasks) - 1, plan: schedule.Schedule{GPU: p.GPU, Model: p.Model}})
	return g.plan
}

func (g *generalSearch) extend(s generalState) {
	if s.left == 0 {
		if s.end < g.best {
			g.best, g.plan = s.end, s.plan
		}
		return
	}
	if g.hopeless(&s) {
		return
	}
	for k := range s.exist {
		g.use(s, k)
	}
	for k := range s.exist {
		g.destroy(s, k)
	}
	for gpu := range g.p.GPUs() {
		for _, n := range g.p.GPU.Tree() {
			if !slices.ContainsFunc(s.exist, func(e schedule.Existing) bool { return e.GPU == gpu && e.Instance.Overlaps(n.Instance) }) {
				next := s
				from := mig.Seconds(0)
				for m := range 8 {
					if n.Mask()>>m&1 != 0 {
						from = max(from, s.free[gpu][m])
					}
				}
				end := g.operate(&next, schedule.Create, gpu, n.Instance, from)
				next.exist = append(slices.Clone(s.exist), schedule.Existing{GPU: gpu, Instance: n.Instance, BusyUntil: end})
				g.use(next, len(next.exist)-1)
			}
		}
	}
}

// use runs some of the tasks left on what exists.
func (g *generalSearch) use(s generalState, k int) {
	for set := s.left; set > 0; set = (set - 1) & s.left {
		next := s
		next.exist, next.plan.Placements = slices.Clone(s.exist), slices.Clone(s.plan.Placements)
		e := &next.exist[k]
		for i := range g.p.Tasks {
			if set>>i&1 != 0 {
				from := max(e.BusyUntil, g.p.ReleaseOf(i))
				e.BusyUntil = from + g.p.Tasks[i].On(e.Instance.Size())
				next.plan.Placements = append(next.plan.Placements, schedule.Placement{Task: i, GPU: e.GPU, Instance: e.Instance, Start: from, End: e.BusyUntil})
			}
		}
		next.left &^= set
		next.end = max(next.end, e.BusyUntil)
		if next.end < g.best {
			g.extend(next)
		}
	}
}

// hopeless reports whether a task left cannot end before the best: it runs on what
// exists, or a create comes first.
func (g *generalSearch) hopeless(s *generalState) bool {
	for left := s.left; left != 0; left &= left - 1 {
		t := &g.p.Tasks[bits.TrailingZeros(uint(left))]
		end := mig.Seconds(math.Inf(1))
		for _, e := range s.exist {
			end = min(end, e.BusyUntil+t.On(e.Instance.Size()))
		}
		for gpu := range g.p.GPUs() {
			for _, size := range g.p.GPU.Sizes() {
				create := g.p.GPU.Profile(size).Create
				if g.p.Model == mig.Free {
					create = 0
				}
				end = min(end, s.channel[gpu]+create+t.On(size))
			}
		}
		if end >= g.best {
			return true
		}
	}
	return false
}

func (g *generalSearch) destroy(s generalState, k int) {
	e := s.exist[k]
	next := s
	end := g.operate(&next, schedule.Destroy, e.GPU, e.Instance, e.BusyUntil)
	if end >= g.best {
		return
	}
	for m := range 8 {
		if e.Instance.Mask()>>m&1 != 0 {
			next.free[e.GPU][m] = end
		}
	}
	next.exist = slices.Delete(slices.Clone(s.exist), k, k+1)
	g.extend(next)
}

func (g *generalSearch) operate(s *generalState, op schedule.Op, gpu int, in mig.Instance, from mig.Seconds) mig.Seconds {
	takes := in.Profile.Create
	if op == schedule.Destroy {
		takes = in.Profile.Destroy
	}
	if g.p.Model == mig.Free {
		takes = 0
	}
	if g.p.Model == mig.Sequential {
		from = max(from, s.channel[gpu])
		s.channel[gpu] = from + takes
	}
	s.plan.Operations = append(slices.Clone(s.plan.Operations), schedule.Operation{Op: op, GPU: gpu, Instance: in, Start: from, End: from + takes})
	return from + takes
}

// drawProblem draws a problem of few tasks, some of which take long, some not much
// longer than reconfiguring; some scale, some do not, some do not fit.
func drawProblem(r *rand.Rand, g *mig.GPU, count, tasks int) algo.Problem {
	p := algo.Problem{GPU: g, Count: count, Model: mig.Reconfiguration(r.IntN(3))}
	if r.IntN(2) == 0 {
		p.Model = mig.Sequential
	}
	scale := []float64{0.1, 0.3, 1, 10, 100}[r.IntN(5)]
	exponent := 1.5 * r.Float64()
	for i := range tasks {
		x := task.Task{Name: fmt.Sprint("task", i)}
		one := scale * (0.1 + r.Float64())
		fits := 0
		for _, s := range g.Sizes() {
			if d := one * math.Pow(float64(s), -exponent) * (0.8 + 0.4*r.Float64()); r.IntN(6) != 0 {
				x.Set(s, mig.Seconds(math.Ceil(1000*d)/1000))
				fits++
			}
		}
		if fits == 0 || i > 0 && r.IntN(8) == 0 {
			name := x.Name
			if i > 0 {
				x = p.Tasks[i-1]
			}
			x.Name = name
			if fits == 0 && i == 0 {
				x.Set(g.Sizes()[0], mig.Seconds(one))
			}
		}
		p.Tasks = append(p.Tasks, x)
	}
	if r.IntN(3) == 0 {
		for gpu := range p.GPUs() {
			partitions := g.Partitions()
			if r.IntN(4) == 0 {
				partitions = g.PartitionsOf(func(*mig.Profile) bool { return true })
			}
			for _, in := range partitions[r.IntN(len(partitions))] {
				if r.IntN(3) == 0 {
					continue
				}
				busy := mig.Seconds(0)
				if r.IntN(2) == 0 {
					busy = mig.Seconds(math.Ceil(1000*scale*r.Float64()) / 1000)
				}
				p.Start = append(p.Start, schedule.Existing{GPU: gpu, Instance: in, BusyUntil: busy})
			}
		}
	}
	return p
}

func TestNoTermExceedsTheBestGeneralSchedule(t *testing.T) {
	for _, c := range []struct {
		gpu                            string
		count, tasks, instances, start int
	}{
		{"A30", 1, 2, 200, 4},
		{"A30", 1, 3, 200, 4},
		{"A30", 1, 4, 20, 3},
		{"A30", 2, 2, 100, 2},
		{"A30", 2, 3, 10, 2},
		{"A100", 1, 2, 200, 3},
		{"A100", 1, 3, 100, 2},
		{"A100", 2, 2, 40, 2},
		{"H100", 1, 2, 100, 3},
		{"H100", 1, 3, 60, 2},
	} {
		t.Run(fmt.Sprintf("%d %s, %d tasks", c.count, c.gpu, c.tasks), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(c.count), uint64(c.tasks)))
			proven, instances := 0, 2+c.instances/deep.N(20, 3)
			for k := range instances {
				p := drawProblem(r, mig.MustLookup(c.gpu), c.count, c.tasks)
				// Many instances can be destroyed in very many orders.
				p.Start = p.Start[:min(len(p.Start), c.start)]
				s := general(p)
				if v := schedule.Check(p, s); v != nil {
					t.Fatalf("%d: the referee rejects the schedule: %v", k, v)
				}
				optimum := s.Makespan()
				if bound := prove(t, p, optimum).Bound; bound > optimum*(1+1e-9) {
					t.Errorf("%d: all %v, but a schedule takes %v: %v %+v", k, bound, optimum, p.Model, p)
				}
				if p.Start != nil { // the terms beside the area are for empty GPUs
					p.Start = nil
					s = general(p)
					optimum = s.Makespan()
				}
				// Slice weights that charge nothing give no prices to begin with.
				if w := bounds.TaskPrices(p, 2*optimum); w.Bound > 0 {
					proven++
					if err := certificate.Verify(p, certificate.New(s, w)); err != nil {
						t.Errorf("%d: task prices: %v: %+v", k, err, p)
					}
				}
				weights := bounds.SliceWeights(p)
				for name, bound := range map[string]mig.Seconds{
					"area": bounds.Occupied(p), "slice weights": weights.Bound, "chains": bounds.Chains(p, 2*optimum),
					"chain orders": bounds.ChainOrders(p, 2*optimum), "all": prove(t, p, optimum).Bound,
				} {
					if bound > optimum*(1+1e-9) {
						t.Errorf("%d: %s %v, but a schedule takes %v: %v %+v", k, name, bound, optimum, p.Model, p)
					}
				}
			}
			if proven < instances/2 {
				t.Errorf("task prices prove something for %d of %d problems only", proven, instances)
			}
		})
	}
}
