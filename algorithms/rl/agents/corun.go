package agents

import (
	"cmp"
	"context"
	"math/rand/v2"
	"sync"

	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/nn"
	"miglab/harness/algo"
	"miglab/harness/sim/corun"
)

// A CorunAgent is one of the agents of the co-run track.
type CorunAgent struct {
	Name, Doc string // Name names the algorithm, and the weights of its first training run
	// Prospects says that the agent sees the time that each group saves by the co-run model; see
	// [env.NewGrouping]. The paper's agent does not.
	Prospects bool
	Steps     int64 // the length of its training

	version int
}

// CorunAgents lists the hierarchical paper's agent, and ours, which sees more.
var CorunAgents = []CorunAgent{
	{
		Name: "d3qn", Doc: "the paper's agent: dueling double DQN on the jobs' counters, for 29 setups",
		Steps: 600_000, version: 2,
	},
	{
		Name:      "d3qn-own",
		Doc:       "our variant of the paper's agent, which also sees what each group saves by the co-run model",
		Prospects: true, Steps: 120_000, version: 1,
	},
}

func init() {
	for i := range CorunAgents {
		a := &CorunAgents[i]
		algo.Register(algo.Spec{
			Name: a.Name, Version: a.version, Cite: "hierarchical IV-C",
			Summary: a.Doc,
			Params:  []algo.Param{seedParam(a.Name, ""), fileParam(a.Name)},
			Weights: func(args algo.Args) string { return weightsHash(a.weights(args)) },
			New:     algo.NewCorun(a.make),
		})
	}
}

// weights returns the name of the weights of a training run, or the path of the user's weights.
func (a *CorunAgent) weights(args algo.Args) string {
	return cmp.Or(args[fileKey], RunName(a.Name, uint64(args.Int("seed"))))
}

// NewPolicy returns the paper's network (Table VI) on the agent's observation: a dueling one with 29 advantages.
// Without rng its parameters are zero.
func (a *CorunAgent) NewPolicy(k nn.Kernel, rng *rand.Rand) *nn.QNetwork {
	g := env.NewGrouping(a.Prospects)
	return nn.NewQNetwork(g.Shape().Observation, []int{512, 256, 128}, g.Shape().Actions, true, k, rng)
}

func (a *CorunAgent) make(args algo.Args) (algo.Corun, error) {
	p, err := loadPolicy(a.weights(args), func() nn.Policy { return a.NewPolicy(nn.Portable(), nil) })
	if err != nil {
		return nil, err
	}
	return &corunAgent{sync.Pool{New: func() any { return a.NewPlanner(p.Share()) }}}, nil
}

// A corunAgent keeps its planners, one for each goroutine that plans at the same time.
type corunAgent struct{ planners sync.Pool }

func (a *corunAgent) Plan(ctx context.Context, w corun.Window) (corun.Plan, error) {
	p := a.planners.Get().(*CorunPlanner)
	defer a.planners.Put(p)
	return p.Plan(ctx, w)
}

// A CorunPlanner plans windows with a network. It splits windows of more than 12 jobs into parts: the first 12 jobs,
// then the next 12, and so on. The network was trained for groups of up to four jobs (the paper's Cmax). A lower limit
// removes candidates, and a higher one does not add any. A planner is used by one goroutine at a time.
type CorunPlanner struct {
	grouping   env.Grouping
	policy     nn.Policy
	candidates env.Candidates
}

// NewPlanner returns a planner with a network like [CorunAgent.NewPolicy].
func (a *CorunAgent) NewPlanner(p nn.Policy) *CorunPlanner {
	return &CorunPlanner{policy: p, grouping: env.NewGrouping(a.Prospects)}
}

// Plan implements [algo.Corun]. An invalid window is a [*corun.InvalidError].
func (p *CorunPlanner) Plan(ctx context.Context, w corun.Window) (corun.Plan, error) {
	return planParts(ctx, w, func(part corun.Window) (out corun.Plan) {
		p.grouping.Load(part.Jobs, min(w.Concurrency, corun.MaxConcurrency))
		for !p.grouping.Done() {
			choice := p.candidates.Best(&p.grouping, p.policy.Forward)
			p.grouping.Choose(choice.Candidate)
			out = append(out, p.grouping.Group(choice.Action))
		}
		return append(out, p.grouping.Rest()...)
	})
}

// planParts plans a window in parts of [env.WindowSize] jobs.
func planParts(ctx context.Context, w corun.Window, plan func(part corun.Window) corun.Plan) (corun.Plan, error) {
	if v := w.Check(); v != nil {
		return nil, &corun.InvalidError{Violations: v}
	}
	var out corun.Plan
	for first := 0; first < len(w.Jobs); first += env.WindowSize {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		part := w
		part.Jobs = w.Jobs[first:min(first+env.WindowSize, len(w.Jobs))]
		for _, group := range plan(part) {
			for i := range group.Jobs {
				group.Jobs[i] += first
			}
			out = append(out, group)
		}
	}
	return out, nil
}

// A ceiling returns the best plan that an agent could form with the setups of a family.
type ceiling struct{ setups corun.Family }

var _ = algo.Register(algo.Spec{
	Name: "d3qn-ceiling", Version: 1, Cite: "own",
	Summary: "the best plan that the actions of d3qn can form, by dynamic programming",
	Params: []algo.Param{{
		Name: "setups", Default: string(corun.Agent), Values: []string{string(corun.Agent), string(corun.Hierarchical)},
		Doc: "the 29 of d3qn, or all 85 of the hierarchical paper's Table VII in the same order of slots",
	}},
	New: algo.NewCorun(func(args algo.Args) (algo.Corun, error) { return ceiling{corun.Family(args["setups"])}, nil }),
})

func (c ceiling) Plan(ctx context.Context, w corun.Window) (corun.Plan, error) {
	return planParts(ctx, w, func(part corun.Window) corun.Plan { return env.Ceiling(&part, c.setups) })
}
