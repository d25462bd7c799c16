// Package agents holds the schedulers that were trained with reinforcement learning, and their weights: the agents of
// the DRL paper under its names, one of the deadline report, one of the hierarchical paper, and our own agents, agent
// and d3qn-own.
//
// This package does not train. It evaluates the networks with the portable kernel, so that
// decisions do not depend on how the program was built.
package agents

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"miglab/algorithms/rl/nn"
	"miglab/harness/algo"
)

// Workloads lists the workloads of DRL 5.1.3, on which agents are trained.
var Workloads = []string{"POORSCALING", "GOODSCALING", "MIXSCALINGUNIFORM", "MIXSCALINGEXTREME", "WIDETIMES"}

//go:embed weights
var weights embed.FS

var readFile = weights.ReadFile // replaced by tests

// Extension ends the names of weight files.
const Extension = ".weights"

// together is the number of instances for which an agent decides at once: two tiles of the products in package nn.
const together = 8

// seedInName separates the name of an agent's weights from the seed of the training run.
const seedInName = "-seed"

// RunName returns the name of the weights of a training run. The run with seed 1 has the agent's name alone.
func RunName(weights string, seed uint64) string {
	if seed == 1 {
		return weights
	}
	return fmt.Sprintf("%s%s%d", weights, seedInName, seed)
}

// NotTrainedError says that the program contains no weights of an agent.
type NotTrainedError struct{ Name string }

func (e *NotTrainedError) Error() string {
	return fmt.Sprintf("no weights of agent %s are part of this program; train it, put the file into "+
		"algorithms/rl/agents/weights and build again", e.Name)
}

// loadWeights copies embedded weights, or a user's, into a network.
func loadWeights(name string, into nn.Policy) error {
	text, file, err := readWeights(name)
	if err != nil {
		return err
	}
	meta, parameters, err := nn.ReadWeights(text, file)
	if err != nil {
		return err
	}
	if recipe, _, _ := strings.Cut(name, seedInName); meta.Agent != recipe && file != name {
		return fmt.Errorf("%s: %w: it holds agent %q, want %q", file, nn.ErrNetwork, meta.Agent, recipe)
	}
	return nn.LoadInto(into, file, meta, parameters)
}

// policies keeps the networks of [loadPolicy] by name, because reading weights takes longer than many decisions.
var policies sync.Map // name to func() (nn.Policy, error)

// loadPolicy returns the network with the weights of a name, which all callers share: they must only call its
// Share. untrained makes a network for the weights.
func loadPolicy(name string, untrained func() nn.Policy) (nn.Policy, error) {
	once, _ := policies.LoadOrStore(name, sync.OnceValues(func() (nn.Policy, error) {
		p := untrained()
		return p, loadWeights(name, p)
	}))
	return once.(func() (nn.Policy, error))()
}

// weightsHash returns the first 16 hexadecimal digits of the digest of the weights of a name; "" without a file.
func weightsHash(name string) string {
	text, _, err := readWeights(name)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%x", nn.Digest(text))[:16]
}

// shippedRuns lists the seeds of an agent's training runs whose weights are part of the program, and its recipes. The
// lists always have the first run and the usual recipe. A test checks that seeds are numbers.
func shippedRuns(agent string) (seeds, recipes []string) {
	seeds, recipes = []string{"1"}, []string{usualRecipe}
	files, _ := weights.ReadDir("weights") // the folder is embedded
	for _, f := range files {
		name, seed, _ := strings.Cut(strings.TrimSuffix(f.Name(), Extension), seedInName)
		rest, ours := strings.CutPrefix(name+"-", agent+"-")
		if !ours {
			continue
		}
		if seed != "" && !slices.Contains(seeds, seed) {
			seeds = append(seeds, seed)
		}
		_, recipe, _ := strings.Cut(strings.TrimSuffix(rest, "-"), "-")
		if recipe != "" && !slices.Contains(recipes, recipe) {
			recipes = append(recipes, recipe)
		}
	}
	slices.Sort(seeds)
	return seeds, recipes
}

// seedParam declares the parameter that chooses the training run.
func seedParam(agent, doc string) algo.Param {
	seeds, _ := shippedRuns(agent)
	return algo.Param{Name: "seed", Default: "1", Values: seeds, Doc: "the training run" + doc}
}
