package agents

import (
	"math/rand/v2"

	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/nn"
	"miglab/harness/algo"
	"miglab/harness/mig"
)

// OwnCapacity is the largest number of tasks that our agent considers together. Larger
// batches are split into parts of that size, in order of arrival.
const OwnCapacity = 28

var ownParams = []algo.Param{
	{
		Name: "workload", Default: anyWorkload, Values: append([]string{anyWorkload}, Workloads...),
		Doc: "what the agent was trained on: all workloads of the DRL paper, or one",
	},
	tries,
}

// anyWorkload names the agent that was trained on all workloads.
const anyWorkload = "ANY"

var _ = algo.Register(algo.Spec{
	Name: "agent", Version: 1, Track: algo.TrackBatch, Cite: "ours",
	Summary: "reinforcement learning in our own formulation: each decision is a task and its instance",
	Params:  ownParams,
	Weights: func(a algo.Args) string { return hashOf(ownWeights(a)) },
	New:     func(a algo.Args) (algo.Batch, error) { return newOwn(a), nil },
})

var _ = algo.Register(algo.Spec{
	Name: "agent-stream", Version: 1, Track: algo.TrackStream, Cite: "ours",
	Summary: "the same for batches that arrive one after the other: the GPU stays as the last one leaves it",
	Params:  ownParams,
	Weights: func(a algo.Args) string { return hashOf(ownWeights(a)) },
	New:     func(a algo.Args) (algo.Stream, error) { return newOwn(a), nil },
})

func ownWeights(a algo.Args) string { return "agent-" + a["workload"] }

func newOwn(a algo.Args) *agent {
	return &agent{k: a.Int(tries.Name), description: description{
		weights: ownWeights(a), capacity: OwnCapacity,
		network: func(g *mig.GPU) (nn.Policy, error) {
			o := env.NewOwn(g, mig.Sequential, OwnCapacity, nil, 0)
			return NewOwnPolicy(o.Layout(), nn.Portable(), rand.New(rand.NewPCG(0, 0))), nil
		},
		lane: func(g *mig.GPU, m mig.Reconfiguration) (lane, error) {
			return env.NewOwn(g, m, OwnCapacity, nil, 0), nil
		},
	}}
}

// NewOwnPolicy returns a network for [env.Own] with random weights.
func NewOwnPolicy(l env.OwnShape, k nn.Kernel, rng *rand.Rand) *nn.SetPolicy {
	const hidden = 64 // units for each task; the trunk has twice as many
	return nn.NewSetPolicy(nn.SetShape{Capacity: l.Capacity, Globals: l.Globals, Row: l.Row, Choices: l.Nodes}, hidden, k, rng)
}
