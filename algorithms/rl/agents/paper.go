package agents

import (
	"math"
	"slices"

	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/nn"
	"miglab/harness/algo"
	"miglab/harness/mig"
)

// The settings that the DRL paper chooses (6.1 to 6.3).
const (
	PaperTasks  = 14 // N
	PaperLevels = 14 // M
)

// PaperHidden are the hidden layers of actor and critic (6.1).
var PaperHidden = []int{256, 256}

// A PaperAgent is one of the DRL paper's versions.
type PaperAgent struct {
	Name    string // the name of the algorithm
	Summary string
	// Encoding, Direct and Online are options of the environment.
	Encoding env.Encoding
	Direct   bool
	Online   bool
	Explores bool // training rewards the entropy of the policy
}

// PaperAgents are the columns of DRL Table 4 and the online agent of Table 5.
var PaperAgents = []PaperAgent{
	{Name: "rl-onehot", Summary: "ONE-HOT: times as one-hot vectors", Encoding: env.OneHot},
	{Name: "rl-float", Summary: "FLOAT: times as numbers"},
	{Name: "rl-entropy", Summary: "ENTROPY: FLOAT, exploring while it learns", Explores: true},
	{
		Name: "rl-direct", Summary: "DIRECT RECONFIG: ENTROPY, reconfigurations wait for their slices",
		Direct: true, Explores: true,
	},
	{
		Name: "rl-online", Summary: "DIRECT RECONFIG, tasks joining the batch as others leave it",
		Direct: true, Online: true, Explores: true,
	},
}

// Options returns the options of the agent's environment on a GPU.
func (a *PaperAgent) Options(g *mig.GPU, m mig.Reconfiguration) env.BatchOptions {
	return env.BatchOptions{
		GPU: g, Model: m, Tasks: PaperTasks, Levels: PaperLevels, Encoding: a.Encoding, Direct: a.Direct,
	}
}

// WeightsName returns the name of the weights that were trained on a workload, in the first run.
func (a *PaperAgent) WeightsName(workload string) string { return a.Name + "-" + workload }

func init() {
	for i := range PaperAgents {
		a := &PaperAgents[i]
		offline := "; batches of 14"
		hash := func(args algo.Args) string { return weightsHash(a.weights(args)) }
		_, recipes := shippedRuns(a.Name)
		seed := seedParam(a.Name, "; not every workload and recipe has all")
		params := append(slices.Clone(paperParams), seed, algo.Param{
			Name: "recipe", Default: usualRecipe, Values: recipes,
			Doc: "how the agent learned; short: batches of 1 to 14 tasks; script: 50 tasks, from an idle " +
				"GPU, 0.7 s a reconfiguration",
		}, fileParam(a.Name))
		stream := a.Name + "-stream"
		if a.Online {
			offline, stream = "; decides on the 14 tasks that are there", a.Name
		} else {
			algo.Register(algo.Spec{
				Name: a.Name, Version: 2, Cite: "DRL 6", Summary: a.Summary + offline,
				Params: params, Weights: hash, Together: together,
				New: algo.NewBatch(func(args algo.Args) (algo.Batch, error) { return a.newAgent(args) }),
			})
		}
		algo.Register(algo.Spec{
			Name: stream, Version: 2, Cite: "DRL 6", Summary: a.Summary + offline,
			Params: params, Weights: hash, Together: together,
			New: algo.NewStream(func(args algo.Args) (algo.Stream, error) { return a.newAgent(args) }),
		})
	}
}

var paperParams = []algo.Param{
	{
		Name: "workload", Default: "WIDETIMES", Values: Workloads,
		Doc: "what the agent was trained on; the paper takes WIDETIMES for measured kernels",
	},
	tries,
	{
		Name: "actions", Default: likeliestActions, Values: []string{likeliestActions, sampledActions, anyActions},
		Doc: "actions of the first try: the likeliest; drawn as callbacks.py of the released code draws them; or any " +
			"possible one, all equally likely",
	},
	{
		Name: "start", Default: startInSeconds, Values: []string{startInSeconds, startInLevels},
		Doc: "what the agent takes the seconds for which the GPU is busy at the start for; levels as in the " +
			"released evaluation",
	},
}

// The values of the parameters actions and start. The released evaluation, calculate_ratio in
// callbacks.py, has actions=sampled and start=levels: model.predict draws unless it is told not to, and
// the environment tells the agent levels of time that compute_makespan then counts as seconds.
const (
	likeliestActions = "likeliest"
	sampledActions   = "sampled"
	anyActions       = "any" // as an agent acts that has learned nothing

	startInSeconds = "seconds"
	startInLevels  = "levels"
)

// usualRecipe is how the agents of Tables 4 and 5 learned.
const usualRecipe = "usual"

// weights returns the name of the weights of a training run, or the path of the user's weights.
func (a *PaperAgent) weights(args algo.Args) string {
	if path := args[fileKey]; path != "" {
		return path
	}
	name := a.WeightsName(args["workload"])
	if recipe := args["recipe"]; recipe != usualRecipe {
		name += "-" + recipe
	}
	return RunName(name, uint64(args.Int("seed")))
}

func (a *PaperAgent) newAgent(args algo.Args) (*agent, error) {
	s := settings{
		weights: a.weights(args), capacity: PaperTasks, k: args.Int(tries.Name),
		sampled: args["actions"] != likeliestActions, startInLevels: args["start"] == startInLevels, temperature: 1,
	}
	if a.Online {
		s.capacity = 0
	}
	if args["actions"] == anyActions {
		s.temperature = math.Inf(1)
	}
	out := &agent{
		settings: s,
		lane: func(g *mig.GPU, m mig.Reconfiguration) lane {
			o := a.Options(g, m)
			o.StartInLevels = s.startInLevels
			b, _ := env.NewBatch(o, nil) // no error: the options are right
			return b
		},
		network: func(l lane) nn.Policy {
			return nn.NewActor(l.Shape().Observation, PaperHidden, l.Shape().Actions, nn.Portable())
		},
	}
	return out, out.check(args)
}
