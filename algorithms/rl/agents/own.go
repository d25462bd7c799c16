package agents

import (
	"math/rand/v2"
	"strings"

	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/nn"
	"miglab/harness/algo"
	"miglab/harness/mig"
)

// OwnCapacity is the largest number of tasks that our agent considers together. Larger
// batches are split into parts of that size, in order of arrival.
const OwnCapacity = 28

// ownTemperature is our agent's [settings].temperature. With it, the best of 64 tries is better than with 1, 2 or 3, on
// batches of a seed that no table uses.
const ownTemperature = 1.5

// OwnEndgame returns the number of tasks at the end that are placed together, exactly. The network for
// the A30 was trained with fewer.
func OwnEndgame(g *mig.GPU) int {
	if samePartitions(g, smallGPU) {
		return 8
	}
	return 10
}

var ownParams = []algo.Param{
	{
		Name: "workload", Default: anyWorkload, Values: append([]string{anyWorkload}, Workloads...),
		Doc: "what the agent was trained on: all workloads of the DRL paper, or one",
	},
	tries,
	fileParam("agent"),
}

// anyWorkload names the agent that was trained on all workloads.
const anyWorkload = "ANY"

var _ = algo.Register(algo.Spec{
	Name: "agent", Version: 3, Cite: "ours",
	Summary: "reinforcement learning in our own formulation: each decision is a task and its instance; the last 10 " +
		"tasks (8 on an A30) are placed by dynamic programming",
	Params:  ownParams,
	Weights: ownHash,
	New:     algo.NewBatch(func(a algo.Args) (algo.Batch, error) { return newOwn(a) }),
})

var _ = algo.Register(algo.Spec{
	Name: "agent-stream", Version: 3, Cite: "ours",
	Summary: "the same for batches that arrive one after the other: the GPU stays as the last one leaves it",
	Params:  ownParams,
	Weights: ownHash,
	New:     algo.NewStream(func(a algo.Args) (algo.Stream, error) { return newOwn(a) }),
})

// ownWeights returns the names of the weights for the A100 and for the A30; "" for a GPU without weights.
func ownWeights(a algo.Args) (large, small string) {
	if path := a[fileKey]; path != "" {
		if meta, _ := readMeta(path); strings.HasPrefix(meta.Agent, ownA30) { // Parse has read it without an error
			return "", path
		}
		return path, ""
	}
	if a["workload"] == anyWorkload {
		small = ownA30 + anyWorkload
	}
	return "agent-" + a["workload"], small
}

// ownA30 begins the names of weights for the A30.
const ownA30 = "agent-A30-"

// ownHash returns the hashes of the weights for all GPUs, one after the other.
func ownHash(a algo.Args) string {
	large, small := ownWeights(a)
	return weightsHash(large) + weightsHash(small)
}

func newOwn(a algo.Args) (*agent, error) {
	large, small := ownWeights(a)
	out := &agent{
		settings: settings{
			weights: large, small: small, capacity: OwnCapacity, k: a.Int(tries.Name), temperature: ownTemperature,
		},
		lane: func(g *mig.GPU, m mig.Reconfiguration) lane {
			return env.NewOwn(g, m, OwnCapacity, nil, 0).Endgame(OwnEndgame(g))
		},
		network: func(l lane) nn.Policy {
			return NewOwnPolicy(l.(*env.Own).Layout(), nn.Portable(), rand.New(rand.NewPCG(0, 0)))
		},
	}
	return out, out.check(a)
}

// NewOwnPolicy returns a network for [env.Own] with random weights. The network for the A30 is
// deep ([nn.SetShape]). Together with another weight of the entropy in training, this is better by a percent
// there. For the A100, a deep network is not better.
func NewOwnPolicy(l env.OwnShape, k nn.Kernel, rng *rand.Rand) *nn.SetPolicy {
	const hidden = 64 // units for each task; the trunk has twice as many
	const nodesOfA30 = 7
	shape := nn.SetShape{
		Capacity: l.Capacity, Globals: l.Globals, Row: l.Row, Choices: l.Nodes,
		Deep: l.Nodes == nodesOfA30,
	}
	return nn.NewSetPolicy(shape, hidden, k, rng)
}

// LoadOwn copies the weights of the agent for all workloads into a network for the A100.
func LoadOwn(into nn.Policy) error { return loadWeights("agent-"+anyWorkload, into) }
