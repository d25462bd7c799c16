package env

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// randomTasks draws tasks that scale in every way, some of which do not fit
// everywhere.
func randomTasks(g *mig.GPU) Source {
	return func(rng *rand.Rand, tasks []Times) int {
		n := 1 + rng.IntN(len(tasks))
		for i := range n {
			t := &tasks[i]
			*t = Times{}
			seconds := math.Exp(6*rng.Float64() - 2)
			for _, s := range g.Sizes() {
				t[s] = seconds
				seconds *= 0.2 + 0.9*rng.Float64()
			}
			for _, s := range g.Sizes()[:len(g.Sizes())-1] {
				if rng.Float64() < 0.05 {
					t[s] = math.Inf(1)
				}
			}
		}
		return n
	}
}

func problemOf(g *mig.GPU, model mig.Reconfiguration, tasks []Times) schedule.Problem {
	p := schedule.Problem{GPU: g, Count: 1, Model: model}
	for i := range tasks {
		t := task.Task{Name: "t" + strconv.Itoa(i)}
		for _, s := range g.Sizes() {
			t.Set(s, mig.Seconds(tasks[i][s]))
		}
		p.Tasks = append(p.Tasks, t)
	}
	return p
}

func choose(rng *rand.Rand, mask []bool) int {
	for {
		if a := rng.IntN(len(mask)); mask[a] {
			return a
		}
	}
}

func TestOwnAgreesWithTheReferee(t *testing.T) {
	for _, g := range mig.GPUs() {
		for _, model := range []mig.Reconfiguration{mig.Sequential, mig.Parallel, mig.Free} {
			o := NewOwn(g, model, 16, randomTasks(g), 0.5)
			shape, nodes := o.Shape(), o.Layout().Nodes
			observation, mask := make([]float32, shape.Observation), make([]bool, shape.Actions)
			rng := rand.New(rand.NewPCG(1, uint64(model)))
			for range deep.N(100, 600) {
				o.Reset(rng)
				tasks := slices.Clone(o.drawn[:len(o.tasks)])
				p := problemOf(g, model, tasks)
				p.Start = existing(o.device)
				begun, sum, unit := o.bound, 0.0, o.unit
				for done := false; !done; {
					o.Observe(observation, mask)
					for _, x := range observation {
						if !(x >= -8 && x <= 16) {
							t.Fatalf("a feature is %v", x)
						}
					}
					action := choose(rng, mask)
					index, size := o.tasks[action/nodes].index, o.layout.nodes[action%nodes].size
					var r float32
					r, done = o.Step(action)
					sum += float64(r)
					if x := o.device.placements[len(o.device.placements)-1]; x.Task != index || x.Instance.Size() != size {
						t.Fatalf("%s: action %d puts task %d on %s, want task %d on size %d", g, action, x.Task, x.Instance, index, size)
					}
				}
				s := o.device.Schedule()
				if v := schedule.Check(p, s); len(v) > 0 {
					t.Fatalf("%s, %s: %v", g, model, v)
				}
				end := s.Makespan()
				if mig.Seconds(o.device.Makespan()) != end {
					t.Fatalf("%s, %s: the makespan is %v, of its decisions %v", g, model, o.device.Makespan(), end)
				}
				want := -RewardScale * (max(float64(end), o.potential()) - begun) / unit
				if math.Abs(sum-want) > 1e-4*(1+math.Abs(want)) {
					t.Fatalf("the return is %v, want %v", sum, want)
				}
			}
		}
	}
}

// What an agent sees does not depend on the order of the tasks, on the unit of
// time, nor on which of two equal slices does what.
func TestOwnSymmetry(t *testing.T) {
	g := mig.MustLookup("A100")
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		rng := rand.New(rand.NewPCG(seed, 1))
		tasks := make([]Times, 8)
		n := randomTasks(g)(rng, tasks)
		tasks = tasks[:n]
		shuffled := slices.Clone(tasks)
		rng.Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		a, b := NewOwn(g, mig.Free, 8, nil, 0), NewOwn(g, mig.Free, 8, nil, 0)
		scale := 4.0 // exact
		for i := range shuffled {
			for s := range shuffled[i] {
				shuffled[i][s] *= scale
			}
		}
		// The same work on slices that have changed places.
		l := a.layout
		from, to := rng.IntN(len(l.real)), rng.IntN(len(l.real))
		for i := range l.nodes {
			if int(l.nodes[i].size) == 1 || i%3 == 0 {
				busy := 10 * rng.Float64()
				free := func(o *Own, r int) bool {
					for s := l.nodes[i].first; s < l.nodes[i].first+int(l.nodes[i].size); s++ {
						if here, _ := o.device.Here(int(o.device.instances[l.real[r][i]].Start) + s - l.nodes[i].first); here != absent {
							return false
						}
					}
					return true
				}
				if free(a, from) {
					a.device.Preset(l.real[from][i], busy)
					b.device.Preset(l.real[to][i], busy*scale)
				}
			}
		}
		a.Load(tasks, 0, nil)
		b.Load(shuffled, 0, nil)
		shape := a.Shape()
		for len(a.tasks) > 0 {
			ao, bo := make([]float32, shape.Observation), make([]float32, shape.Observation)
			am, bm := make([]bool, shape.Actions), make([]bool, shape.Actions)
			a.Observe(ao, am)
			b.Observe(bo, bm)
			for i := range ao {
				if i != a.cost() && math.Abs(float64(ao[i]-bo[i])) > 1e-4 {
					t.Fatalf("feature %d: %v and %v", i, ao[i], bo[i])
				}
			}
			if !slices.Equal(am, bm) {
				t.Fatal("the masks differ")
			}
			action := choose(rng, am)
			a.Step(action)
			b.Step(action)
		}
		if math.Abs(a.device.Makespan()*scale-b.device.Makespan()) > 1e-9*b.device.Makespan() {
			t.Fatalf("makespans %v and %v", a.device.Makespan(), b.device.Makespan())
		}
	})
}

// cost is the index of the one feature that speaks of absolute times.
func (o *Own) cost() int { return 1 + o.Layout().Globals - 3 }
