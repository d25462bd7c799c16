package train

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"miglab/algorithms/rl/agents"
	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/internal/learn"
	"miglab/algorithms/rl/nn"
	"miglab/algorithms/rl/ppo"
	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/nearest"
)

// A Recipe says how an agent is trained.
type Recipe struct {
	// Name is the name of the weights. Package agents loads the weights of shipped agents.
	Name string
	Doc  string // a phrase for lists
	// Steps is the number of steps, in all environments, of the project's own runs. The DRL
	// paper's agents took 200 million.
	Steps   int64
	Learner string // names the learning algorithm and the source of its settings, for example "PPO, ours"
	Updates int64  // the number of gradient steps in a run of the project
	Seeds   []uint // the seeds of the project's own runs
	Shipped int    // the number of these runs, from seed 1 on, whose weights are built into the program
	// Score is the measure in the learning curve: p_opt_percent, late_percent or relative_throughput. Lower is better,
	// except for relative_throughput.
	Score string

	setup func(k nn.Kernel, steps int64, seed uint64) (setup, error)
	meta  nn.Meta // the fields of the weights that all runs share
}

// A setup holds everything that a recipe needs to run.
type setup struct {
	policy   nn.Policy
	learner  learner
	score    func(nn.Policy) (float64, error)
	segments int64 // the number of segments; 0 means the usual number
	// constantFor is not 0 if the settings do not depend on the length of the run. Such a run can be given more steps
	// later: a shorter run is the beginning of a longer one, to the last bit. The run has stretches, the first of
	// constantFor steps. Each later one ends at ten times as many steps. A stretch has segments of one length.
	constantFor int64
	text        string // all settings, so that a run is not resumed with other ones
}

// Recipes lists all recipes: our own agent's, the DRL paper's, the deadline report's, and those of the co-run track.
func Recipes() []*Recipe {
	return slices.Concat(ownRecipes(), paperRecipes(), deadlineRecipes(), corunRecipes())
}

// Find returns a recipe by name. The name of an agent alone means its most general recipe.
// The error is a *nearest.UnknownError.
func Find(name string) (*Recipe, error) {
	general := map[string]string{
		"agent": "agent-ANY", "agent-a30": "agent-A30-ANY",
		"rl-deadline": "rl-deadline-enhanced",
	}
	names := []string{"agent", "rl-deadline"}
	for i := range agents.PaperAgents {
		agent := agents.PaperAgents[i].Name
		general[agent] = agents.PaperAgents[i].WeightsName("WIDETIMES")
		names = append(names, agent)
	}
	full := cmp.Or(general[strings.ToLower(name)], name)
	for _, r := range Recipes() {
		if strings.EqualFold(r.Name, full) {
			return r, nil
		}
		names = append(names, r.Name)
	}
	return nil, nearest.Unknown("agent", name, names)
}

// gpu returns the model that agents are trained for, except agent-A30. All models with 7 slices differ only in the
// cost of reconfiguring.
func gpu() *mig.GPU { return mig.MustLookup("A100") }

// releasedGenerator follows the code with which the paper's agents were trained.
const releasedGenerator = "released-train"

// bothGenerators draw the batches to learn from, half each: the first follows the paper's text.
var bothGenerators = []string{"paper", releasedGenerator}

// newSource returns a source of batches of n tasks. Each batch is of one of the workloads, by one of the generators,
// all equally likely.
func newSource(g *mig.GPU, workloads, generators []string, n func(rng *rand.Rand) int) (env.Source, error) {
	var samplers []func(*rand.Rand, []env.Times)
	for _, w := range workloads {
		for _, gen := range generators {
			s, err := datasets.Sampler[env.Times]("drl/"+w+"?gen="+gen, g)
			if err != nil {
				return nil, err
			}
			samplers = append(samplers, s)
		}
	}
	return func(rng *rand.Rand, tasks []env.Times) int {
		k := n(rng)
		samplers[rng.IntN(len(samplers))](rng, tasks[:k])
		return k
	}, nil
}

func ownRecipes() []*Recipe {
	a30 := mig.MustLookup("A30")
	out := []*Recipe{
		ownRecipe("ANY", "our agent, trained on the mixture of all workloads", 2_000_000,
			own{gpu: gpu(), workloads: agents.Workloads, rate: 1e-3, entropy: 0.1}),
		ownRecipe("A30-ANY", "our agent for the A30, trained on the mixture of all workloads", 2_000_000,
			own{gpu: a30, workloads: agents.Workloads, rate: 1e-3, entropy: 0.05}),
	}
	for _, w := range agents.Workloads {
		out = append(out, ownRecipe(w, "our agent, trained on all workloads and then on "+w, 100_000,
			own{gpu: gpu(), workloads: []string{w}, rate: 3e-4, entropy: 0.01, further: true}))
	}
	return out
}

// own holds the settings of a recipe of our agent.
type own struct {
	gpu       *mig.GPU
	workloads []string
	// rate is the first learning rate, and entropy is the first weight of the entropy. Both fall to 0.
	rate, entropy float64
	further       bool // says to begin with the built-in weights of the agent for all workloads
}

// ppo returns the learner's settings.
func (from *own) ppo(steps int64) ppo.Config {
	return ppo.Config{
		Envs: 512, Horizon: 32, Minibatch: 1024, Epochs: 3, TotalSteps: steps,
		LearningRate: learn.Anneal{{Until: 1, From: from.rate, To: 0}},
		Entropy:      learn.Anneal{{Until: 0.85, From: from.entropy, To: 0}},
		Gamma:        1, Clip: 0.2, Shards: 4,
	}
}

func ownRecipe(name, doc string, steps int64, from own) *Recipe {
	r := &Recipe{
		Name: "agent-" + name, Doc: doc, Steps: steps, Seeds: []uint{1}, Shipped: 1, Score: pOpt,
		Learner: "PPO, ours", Updates: from.ppo(steps).Updates(steps),
	}
	r.setup = func(k nn.Kernel, steps int64, seed uint64) (setup, error) {
		endgame := agents.OwnEndgame(from.gpu)
		// Most batches have the 14 tasks of DRL 5.1.3. The others teach the agent to
		// schedule any number that leaves it a decision before the endgame.
		source, err := newSource(from.gpu, from.workloads, bothGenerators, func(rng *rand.Rand) int {
			if rng.IntN(4) > 0 {
				return 14
			}
			return endgame + 1 + rng.IntN(agents.OwnCapacity-endgame)
		})
		if err != nil {
			return setup{}, err
		}
		const busyStarts = 0.2 // the share of training episodes that begin on a busy GPU
		newEnv := func(start float64) *env.Own {
			return env.NewOwn(from.gpu, mig.Sequential, agents.OwnCapacity, source, start).Endgame(endgame)
		}
		policy := agents.NewOwnPolicy(newEnv(0).Layout(), k, newRand(seed))
		if from.further {
			if err := agents.LoadOwn(policy); err != nil {
				return setup{}, err
			}
		}
		c := from.ppo(steps)
		l := ppo.New(c, policy, func() env.Env { return env.Undecided{Own: newEnv(busyStarts)} }, seed)
		batches, err := workloadBatches(from.gpu, from.workloads, 14)
		if err != nil {
			return setup{}, err
		}
		return setup{
			policy: policy, learner: l,
			score: newScore(batches, repeat(len(batches), func() env.Scheduler { return newEnv(0) })),
			text: fmt.Sprintf("own %s %v further %v busy %v capacity %d endgame %d %+v", from.gpu.Name, from.workloads,
				from.further, busyStarts, agents.OwnCapacity, endgame, c),
		}, nil
	}
	return r
}
