package train

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"miglab/algorithms/rl/agents"
	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/internal/learn"
	"miglab/algorithms/rl/nn"
	"miglab/algorithms/rl/ppo"
	"miglab/harness/mig"
)

// paperSteps is the number of steps for which the project trained each of the DRL paper's
// agents. The paper took 200 million steps, and 500 million online.
const paperSteps = 500_000

// onlineStream is the number of tasks in an episode of the online agent, which sees 14 at
// a time.
const onlineStream = 56

// longSegments is the number of segments of a run with long episodes: each segment restarts
// all episodes, and those of the online agent take a few hundred steps.
const longSegments = 10

// A paperRun is an agent of the DRL paper with the settings that a figure varies.
type paperRun struct {
	agent    *agents.PaperAgent
	workload string
	// suffix distinguishes the run from that of the paper's final setting, and doc says why
	// it exists.
	suffix, doc string
	tasks       int // N
	levels      int // M; 0 is continuous time
	hidden      []int
	dqn         bool
	// empty makes episodes begin on an idle GPU; released follows the released code where it
	// differs: see [env.BatchOptions].
	empty, released bool
	// onKernels scores the agent on measured kernels, as the paper's curves of RODINIA + ALTIS
	// must be (Fig. 15), instead of on the workload that it learns from.
	onKernels bool
	seeds     []uint
}

// threeSeeds are the seeds of the runs behind a claim about training.
var threeSeeds = []uint{1, 2, 3}

// paperRecipes lists the agents of Tables 4 and 5, and the runs of Figs. 10 to 12.
func paperRecipes() []*Recipe {
	var runs []paperRun
	for i := range agents.PaperAgents {
		for _, w := range agents.Workloads {
			runs = append(runs, paperRun{
				agent: &agents.PaperAgents[i], workload: w,
				tasks: agents.PaperTasks, levels: agents.PaperLevels, hidden: agents.PaperHidden, seeds: seedsOf(&agents.PaperAgents[i], w),
			})
		}
	}
	float := &agents.PaperAgents[slices.IndexFunc(agents.PaperAgents, func(a agents.PaperAgent) bool { return a.Name == "rl-float" })]
	usual := paperRun{
		agent: float, workload: "GOODSCALING",
		tasks: agents.PaperTasks, levels: agents.PaperLevels, hidden: agents.PaperHidden, seeds: threeSeeds,
	}
	vary := func(suffix, doc string, change func(*paperRun)) {
		r := usual
		r.suffix, r.doc = suffix, doc
		change(&r)
		runs = append(runs, r)
	}
	small := []int{64, 64}
	once := func(r *paperRun) { r.seeds = threeSeeds[:1] }
	vary("-64", ", PPO 64x64 (Fig. 10)", func(r *paperRun) { r.hidden = small; once(r) })
	vary("-dqn", ", DQN 256x256 (Fig. 10)", func(r *paperRun) { r.dqn = true })
	vary("-dqn-64", ", DQN 64x64 (Fig. 10)", func(r *paperRun) { r.dqn, r.hidden = true, small; once(r) })
	vary("-continuous", ", continuous time (Fig. 11)", func(r *paperRun) { r.levels = 0 })
	for _, m := range []int{7, 21, 28} {
		vary(fmt.Sprintf("-M%d", m), fmt.Sprintf(", M = %d (Fig. 11)", m), func(r *paperRun) { r.levels = m; once(r) })
	}
	vary("-N7", ", N = 7 (Fig. 12)", func(r *paperRun) { r.tasks = 7 })
	for _, n := range []int{21, 28} {
		vary(fmt.Sprintf("-N%d", n), fmt.Sprintf(", N = %d (Fig. 12)", n), func(r *paperRun) { r.tasks = n; once(r) })
	}
	// Does FLOAT learn to reconfigure because of the start or because of the environment?
	for _, w := range []string{"WIDETIMES", "MIXSCALINGUNIFORM"} {
		usual.workload = w
		vary("-empty", ", episodes beginning on an idle GPU", func(r *paperRun) { r.empty = true; once(r) })
		vary("-released", ", environment as released", func(r *paperRun) { r.released = true; once(r) })
	}
	// The same runs as those of the agents themselves, but for the score.
	for i := range agents.PaperAgents {
		if a := &agents.PaperAgents[i]; a.Name == "rl-entropy" || a.Name == "rl-direct" {
			usual.agent, usual.workload = a, "WIDETIMES"
			vary("-rodinia", ", scored on the public Rodinia kernels (Fig. 15)", func(r *paperRun) { r.onKernels = true })
		}
	}
	var out []*Recipe
	for _, r := range runs {
		out = append(out, r.recipe())
	}
	return out
}

// seedsOf returns the seeds of an agent: three if a claim compares its final scores with
// those of another.
func seedsOf(a *agents.PaperAgent, workload string) []uint {
	switch {
	case a.Name == "rl-onehot" || a.Online || workload == "POORSCALING":
		return threeSeeds[:1]
	case workload == "GOODSCALING" && a.Name != "rl-float":
		return threeSeeds[:1]
	}
	return threeSeeds
}

func (p paperRun) recipe() *Recipe {
	name := p.agent.WeightsName(p.workload) + p.suffix
	r := &Recipe{Name: name, Doc: fmt.Sprintf("%s (DRL 6), trained on %s%s", p.agent.Name, p.workload, p.doc), Steps: paperSteps, Seeds: p.seeds, Shipped: p.suffix == "", Score: pOpt, Tracks: ofBatches}
	r.setup = p.setup
	r.meta = func(shipped nn.Policy, steps int64, seed uint64) nn.Meta {
		return nn.Meta{
			Agent: name, Network: shipped.String(), Workload: p.workload,
			Tasks: p.tasks, Levels: p.levels, Steps: uint64(steps), Seed: seed,
		}
	}
	return r
}

// options are the options of the environment in which the agent is evaluated.
func (p paperRun) options() env.BatchOptions {
	o := p.agent.Options(gpu(), mig.Parallel)
	o.Tasks, o.Levels, o.Released = p.tasks, p.levels, p.released
	if p.agent.Online {
		o.Stream = onlineStream
	}
	return o
}

// learns are the options of the environment in which the agent learns. By default,
// episodes begin in random busy partitions, as in the released code.
func (p paperRun) learns() env.BatchOptions {
	o := p.options()
	o.RandomStart = !p.empty
	return o
}

// scoredOn returns the batches of n tasks on which the agent is scored.
func (p paperRun) scoredOn(n int) ([]measured, error) {
	if p.onKernels {
		return kernelBatches(n)
	}
	return batchesOf(gpu(), []string{p.workload}, n)
}

func (p paperRun) setup(k nn.Kernel, steps int64, seed uint64) (setup, error) {
	o := p.options()
	n := max(o.Tasks, o.Stream)
	source, err := sourceOf(gpu(), []string{p.workload}, func(*rand.Rand) int { return n })
	if err != nil {
		return setup{}, err
	}
	learns := p.learns()
	first, err := env.NewBatch(learns, source)
	if err != nil {
		return setup{}, err
	}
	make := func() env.Env {
		b, err := env.NewBatch(learns, source)
		if err != nil {
			panic(err) // the first environment has the same options
		}
		return b
	}
	scored, err := p.scoredOn(n)
	if err != nil {
		return setup{}, err
	}
	score, err := batchScore(o, scored)
	if err != nil {
		return setup{}, err
	}
	shape := first.Shape()
	if p.dqn {
		return p.setupDQN(k, shape, make, score, steps, seed)
	}
	policy := nn.NewActorCritic(shape.Observation, p.hidden, shape.Actions, k, newRand(seed))
	// The paper prints only the discount and the entropy. The rest is ours, for runs of half
	// a million steps: more environments, larger minibatches and a higher, falling rate than
	// the defaults of Stable-Baselines3.
	c := ppo.Config{
		Envs: 64, Horizon: 128, Minibatch: 512, Epochs: 4, TotalSteps: steps,
		LearningRate: learn.Anneal{{Until: 1, From: 5e-4, To: 0}},
		Gamma:        1, Lambda: 0.95, Clip: 0.2, ValueCoefficient: 0.5, MaxNorm: 0.5,
		NormalizeAdvantage: true, Shards: 4,
	}
	if p.agent.Explores {
		c.Entropy = entropyPhases
	}
	learner, err := ppo.New(c, policy, make, seed)
	cut := int64(segments)
	if max(o.Tasks, o.Stream) > agents.PaperTasks {
		cut = longSegments
	}
	return setup{
		policy: policy, learner: learner, score: score, perIteration: int64(c.Envs * c.Horizon), segments: cut,
		text: fmt.Sprintf("%s %+v %+v", p.workload, described(learns), c),
	}, err
}

// entropyPhases is how the released code anneals the entropy coefficient. The text
// has 0.01, 0.075, 0.005 and 0 (DRL 6.5.1).
var entropyPhases = learn.Anneal{
	{Until: 0.25, From: 0.01, To: 0.01},
	{Until: 0.5, From: 0.00075, To: 0.00075},
	{Until: 0.75, From: 0.0005, To: 0.0005},
	{Until: 1, From: 0, To: 0},
}

// described returns the options that have a stable text.
func described(o env.BatchOptions) string {
	return fmt.Sprintf("%s N=%d M=%d encoding=%d direct=%t stream=%d random=%t released=%t",
		o.GPU, o.Tasks, o.Levels, o.Encoding, o.Direct, o.Stream, o.RandomStart, o.Released)
}
