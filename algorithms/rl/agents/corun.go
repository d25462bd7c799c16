package agents

import (
	"context"
	"math/rand/v2"
	"sync"

	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/nn"
	"miglab/harness/algo"
	"miglab/harness/sim/corun"
)

// CorunHidden are the hidden layers of the hierarchical paper's network (Table VI).
var CorunHidden = []int{512, 256, 128}

// CorunName is that of the hierarchical paper's agent and of its weights.
const CorunName = "d3qn"

var _ = algo.Register(algo.Spec{
	Name: CorunName, Version: 1, Track: algo.TrackCorun, Cite: "hierarchical IV-C",
	Summary: "the paper's agent: dueling double DQN on the jobs' profiles, 29 setups",
	Weights: func(algo.Args) string { return hashOf(CorunName) },
	Corun:   func(algo.Args) (algo.Corun, error) { return corunAgent{}, nil },
})

// NewCorunPolicy returns the paper's network (Table VI): a dueling one with 29 advantages.
func NewCorunPolicy(k nn.Kernel, rng *rand.Rand) *nn.QNetwork {
	s := env.GroupingShape()
	return nn.NewQNetwork(s.Observation, CorunHidden, s.Actions, true, k, rng)
}

// corunAgent takes windows of up to 12 jobs as its network does; of larger ones, the first
// 12 jobs, then the next 12, and so on. It was trained with Cmax = 4, and makes no larger
// groups.
type corunAgent struct{}

// A grouper plans windows with a network of its own.
type grouper struct {
	env.Grouping
	policy      nn.Policy
	observation []float32
	mask        []bool
}

func newGrouper() (*grouper, error) {
	p := NewCorunPolicy(nn.Portable(), rand.New(rand.NewPCG(0, 0)))
	s := env.GroupingShape()
	return &grouper{policy: p, observation: make([]float32, s.Observation), mask: make([]bool, s.Actions)}, load(CorunName, 0, 0, p)
}

// Plan implements [algo.Corun].
func (corunAgent) Plan(ctx context.Context, w corun.Window) (corun.Plan, error) {
	pool, _ := runners.LoadOrStore(CorunName, new(sync.Pool))
	g, ok := pool.(*sync.Pool).Get().(*grouper)
	if !ok {
		var err error
		if g, err = newGrouper(); err != nil {
			return nil, err
		}
	}
	defer pool.(*sync.Pool).Put(g)
	return g.plan(ctx, w)
}

func (g *grouper) plan(ctx context.Context, w corun.Window) (corun.Plan, error) {
	var out corun.Plan
	for first := 0; first < len(w.Jobs); first += env.WindowSize {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		from := len(out)
		g.Load(w.Jobs[first:min(first+env.WindowSize, len(w.Jobs))], w.Concurrency)
		for !g.Done() {
			g.Observe(g.observation, g.mask)
			preferences, _ := g.policy.Forward(g.observation, 1)
			out = append(out, g.Group(Likeliest(preferences, g.mask)))
		}
		out = append(out, g.Rest()...)
		for _, group := range out[from:] {
			for i := range group.Jobs {
				group.Jobs[i] += first
			}
		}
	}
	return out, nil
}
