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

// CorunName is the name of the hierarchical paper's agent and of its weights.
const CorunName = "d3qn"

var _ = algo.Register(algo.Spec{
	Name: CorunName, Version: 1, Track: algo.TrackCorun, Cite: "hierarchical IV-C",
	Summary: "the paper's agent: dueling double DQN on the jobs' profiles, 29 setups",
	Weights: func(algo.Args) string { return hashOf(CorunName) },
	New:     newCorunAgent,
})

// NewCorunPolicy returns the paper's network (Table VI): a dueling one with 29 advantages.
func NewCorunPolicy(k nn.Kernel, rng *rand.Rand) *nn.QNetwork {
	s := env.GroupingShape()
	return nn.NewQNetwork(s.Observation, []int{512, 256, 128}, s.Actions, true, k, rng)
}

type corunAgent struct{ network nn.Policy }

func newCorunAgent(algo.Args) (algo.Corun, error) {
	p, err := policyOf(CorunName, func() nn.Policy { return NewCorunPolicy(nn.Portable(), rand.New(rand.NewPCG(0, 0))) })
	return corunAgent{p}, err
}

func (a corunAgent) Plan(ctx context.Context, w corun.Window) (corun.Plan, error) {
	p, ok := corunPlanners.Get().(*CorunPlanner)
	if !ok {
		p = NewCorunPlanner(a.network.Share())
	}
	defer corunPlanners.Put(p)
	return p.Plan(ctx, w)
}

var corunPlanners sync.Pool

// A CorunPlanner plans windows with a network. It splits windows of more than 12 jobs into
// parts: the first 12 jobs, then the next 12, and so on. It was trained with Cmax = 4; a
// lower limit removes actions, a higher one adds none. It is used by one goroutine at a
// time.
type CorunPlanner struct {
	grouping    env.Grouping
	policy      nn.Policy
	observation []float32
	mask        []bool
}

// NewCorunPlanner returns a planner with a network like [NewCorunPolicy].
func NewCorunPlanner(p nn.Policy) *CorunPlanner {
	s := env.GroupingShape()
	return &CorunPlanner{policy: p, observation: make([]float32, s.Observation), mask: make([]bool, s.Actions)}
}

// Plan implements [algo.Corun]. An invalid window is a [*corun.InvalidError].
func (p *CorunPlanner) Plan(ctx context.Context, w corun.Window) (corun.Plan, error) {
	if v := w.Check(); v != nil {
		return nil, &corun.InvalidError{Violations: v}
	}
	var out corun.Plan
	for first := 0; first < len(w.Jobs); first += env.WindowSize {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		from := len(out)
		p.grouping.Load(w.Jobs[first:min(first+env.WindowSize, len(w.Jobs))], w.Concurrency)
		for !p.grouping.Done() {
			p.grouping.Observe(p.observation, p.mask)
			values, _ := p.policy.Forward(p.observation, 1)
			out = append(out, p.grouping.Group(env.Likeliest(values, p.mask)))
		}
		out = append(out, p.grouping.Rest()...)
		for _, group := range out[from:] {
			for i := range group.Jobs {
				group.Jobs[i] += first
			}
		}
	}
	return out, nil
}
