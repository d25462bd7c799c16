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
	"miglab/harness/curve"
	"miglab/harness/mig"
)

// paperSteps is the number of steps for which the project trained each of the DRL paper's
// agents. The paper took 200 million steps, and 500 million online.
const paperSteps = 2_000_000

// shortSteps is the same for ONE-HOT and for agents that learn from an idle GPU.
const shortSteps = 500_000

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
	steps       int64
	tasks       int // N
	levels      int // M; 0 is continuous time
	hidden      []int
	dqn         bool
	// shortBatches draws batches of 1 to N tasks, instead of N.
	shortBatches bool
	// empty makes episodes begin on an idle GPU.
	empty bool
	// released follows the released code: its environment ([env.BatchOptions]), the settings of
	// its learner and its generator of the workload.
	released bool
	// script follows the released code of the online agent in what it differs from the text:
	// episodes of 50 tasks that begin on an idle GPU, and 0.7 s for every reconfiguration.
	script bool
	// onKernels scores the agent on measured kernels, as the paper's curves of RODINIA + ALTIS
	// must be (Fig. 15), instead of on the workload that it learns from.
	onKernels bool
	// onClasses scores the agent on the data sets of Table 4, whose tasks are in the order of their
	// classes.
	onClasses bool
	// listed, unmerged and a penalty each take back one of the paper's refinements: see [env.BatchOptions] and
	// [env.Penalised]. An agent that learned without masks is scored with them.
	listed, unmerged bool
	penalty          float32
	seeds            []uint
	shipped          bool
}

// threeSeeds are the seeds of the runs behind a claim about training.
var threeSeeds = []uint{1, 2, 3}

// paperRecipes lists the agents of Tables 4 and 5, the runs of Figs. 10 to 12, and runs that look
// for the cause of a difference.
func paperRecipes() []*Recipe {
	var runs []paperRun
	for i := range agents.PaperAgents {
		for _, w := range agents.Workloads {
			runs = append(runs, usualRun(&agents.PaperAgents[i], w))
		}
	}
	runs = append(runs, figureRuns()...)
	runs = append(runs, causeRuns()...)
	runs = append(runs, ablationRuns()...)
	var out []*Recipe
	for _, r := range runs {
		out = append(out, r.recipe())
	}
	return out
}

// usualRun trains an agent in the paper's final setting. ONE-HOT, which the paper drops first and
// which takes three times as long, has one short run.
func usualRun(a *agents.PaperAgent, workload string) paperRun {
	r := paperRun{
		agent: a, workload: workload, steps: paperSteps,
		tasks: agents.PaperTasks, levels: agents.PaperLevels, hidden: agents.PaperHidden, seeds: threeSeeds,
		shipped: true,
	}
	if a.Name == "rl-onehot" {
		r.steps, r.seeds = shortSteps, threeSeeds[:1]
	}
	return r
}

// variant is an agent's usual run with a change. Its weights are not part of the program unless
// the change says so.
func variant(agent, workload, suffix, doc string, change func(*paperRun)) paperRun {
	at := slices.IndexFunc(agents.PaperAgents, func(a agents.PaperAgent) bool { return a.Name == agent })
	r := usualRun(&agents.PaperAgents[at], workload)
	r.suffix, r.doc, r.shipped = suffix, doc, false
	change(&r)
	return r
}

// figureRuns are the runs of Figs. 10 to 12 and 15.
func figureRuns() (runs []paperRun) {
	vary := func(suffix, doc string, change func(*paperRun)) {
		runs = append(runs, variant("rl-float", "GOODSCALING", suffix, doc, change))
	}
	small := []int{64, 64}
	vary("-64", ", PPO 64x64 (Fig. 10)", func(r *paperRun) { r.hidden = small })
	vary("-dqn", ", DQN 256x256 (Fig. 10)", func(r *paperRun) { r.dqn = true })
	vary("-dqn-64", ", DQN 64x64 (Fig. 10)", func(r *paperRun) { r.dqn, r.hidden = true, small })
	vary("-continuous", ", continuous time (Fig. 11)", func(r *paperRun) { r.levels = 0 })
	for _, m := range []int{7, 21, 28} {
		vary(fmt.Sprintf("-M%d", m), fmt.Sprintf(", M = %d (Fig. 11)", m), func(r *paperRun) { r.levels = m })
	}
	for _, n := range []int{7, 21, 28} {
		vary(fmt.Sprintf("-N%d", n), fmt.Sprintf(", N = %d (Fig. 12)", n), func(r *paperRun) { r.tasks = n })
	}
	// The same runs as those of the agents themselves, but for the score.
	for _, agent := range []string{"rl-entropy", "rl-direct"} {
		runs = append(runs, variant(agent, "WIDETIMES", "-rodinia", ", scored on the public Rodinia kernels (Fig. 15)",
			func(r *paperRun) { r.onKernels = true }))
	}
	onClasses := func(agent, workload string) {
		runs = append(runs,
			variant(agent, workload, "-classes", ", scored on the data sets of Table 4 (Figs. 13 and 15)",
				func(r *paperRun) { r.onClasses = true }))
	}
	for _, w := range agents.Workloads {
		onClasses("rl-float", w)
	}
	onClasses("rl-entropy", "MIXSCALINGUNIFORM")
	onClasses("rl-direct", "MIXSCALINGUNIFORM")
	for _, w := range []string{"MIXSCALINGUNIFORM", "MIXSCALINGEXTREME", "WIDETIMES"} {
		runs = append(runs, variant("rl-float", w, "-N15",
			", N = 15, as the public plot script of Fig. 13 names its files",
			func(r *paperRun) { r.tasks, r.seeds = 15, threeSeeds[:1] }))
	}
	return runs
}

// causeRuns are runs that may explain a difference between the paper and this project. The tables
// show those that have been trained.
func causeRuns() []paperRun {
	once := func(r *paperRun) { r.seeds = threeSeeds[:1] }
	runs := []paperRun{variant("rl-direct", "GOODSCALING", "-long", ", five times as long", func(r *paperRun) {
		r.steps = 5 * paperSteps
		once(r)
	})}
	for _, w := range []string{"WIDETIMES", "MIXSCALINGUNIFORM"} {
		// Does FLOAT learn to reconfigure because of the start or because of the environment?
		runs = append(runs, variant("rl-float", w, "-empty", ", episodes beginning on an idle GPU", func(r *paperRun) {
			r.empty, r.steps = true, shortSteps
			once(r)
		}))
		for _, agent := range []string{"rl-float", "rl-direct"} {
			runs = append(runs, variant(agent, w, "-released", ", as released", func(r *paperRun) {
				r.released, r.steps = true, paperSteps/2
			}))
		}
	}
	for _, w := range agents.Workloads {
		runs = append(runs,
			variant("rl-direct", w, "-short", ", batches of 1 to 14 tasks", func(r *paperRun) {
				r.shortBatches, r.shipped = true, true
				once(r)
			}),
			variant("rl-online", w, "-script", ", 50 tasks, idle start, 0.7 s a reconfiguration", func(r *paperRun) {
				r.script, r.shipped = true, true
				once(r)
			}),
		)
	}
	return runs
}

// ablationRuns are the paper's final agent without one of its refinements (DRL 7), on the workload on which
// the paper compares its designs (Figs. 10 to 12). The paper prints no penalty, only that it is heavy; the
// work that it cites on masking has penalties of 0.01 to 1.
func ablationRuns() (runs []paperRun) {
	vary := func(suffix, doc string, change func(*paperRun)) {
		runs = append(runs, variant("rl-direct", "GOODSCALING", suffix, doc, change))
	}
	vary("-listed", ", tasks neither sorted nor grouped", func(r *paperRun) { r.listed = true })
	vary("-unmerged", ", equivalent partitions kept apart", func(r *paperRun) { r.unmerged = true })
	vary("-unmasked", ", forbidden actions not masked but penalised", func(r *paperRun) { r.penalty = 1 })
	vary("-unmasked-mild", ", the same with a tenth of the penalty", func(r *paperRun) { r.penalty = 0.1 })
	return runs
}

func (p paperRun) recipe() *Recipe {
	name := p.agent.WeightsName(p.workload) + p.suffix
	return &Recipe{
		Name: name, Doc: fmt.Sprintf("%s (DRL 6), trained on %s%s", p.agent.Name, p.workload, p.doc),
		Steps: p.steps, Seeds: p.seeds, Shipped: p.shipped, Score: pOpt, Tracks: ofBatches,
		setup: p.setup, meta: nn.Meta{Workload: p.workload, Tasks: p.tasks, Levels: p.levels},
	}
}

// options are the options of the environment in which the agent is evaluated.
func (p paperRun) options() env.BatchOptions {
	o := p.agent.Options(gpu(), mig.Parallel)
	o.Tasks, o.Levels, o.Released = p.tasks, p.levels, p.released
	o.Listed, o.Unmerged = p.listed, p.unmerged
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
	if p.script {
		o.RandomStart, o.Stream, o.Reconfiguration = false, 50, 0.7
	}
	return o
}

// scoredOn returns the batches of n tasks on which the agent is scored.
func (p paperRun) scoredOn(n int) ([]measured, error) {
	switch {
	case p.onKernels:
		return kernelBatches(n)
	case p.onClasses:
		return firstOf(gpu(), curve.ClassOrdered(p.workload), curve.DataSets)
	}
	return batchesOf(gpu(), []string{p.workload}, n)
}

// source draws the tasks of episodes of n tasks.
func (p paperRun) source(n int) (env.Source, error) {
	length := func(*rand.Rand) int { return n }
	if p.shortBatches {
		length = func(rng *rand.Rand) int { return 1 + rng.IntN(n) }
	}
	if p.released {
		return mixedSource(gpu(), []string{p.workload}, readings[1:], length)
	}
	return sourceOf(gpu(), []string{p.workload}, length)
}

func (p paperRun) setup(k nn.Kernel, steps int64, seed uint64) (setup, error) {
	learns := p.learns()
	n := max(learns.Tasks, learns.Stream)
	source, err := p.source(n)
	if err != nil {
		return setup{}, err
	}
	first, err := env.NewBatch(learns, source)
	if err != nil {
		return setup{}, err
	}
	make := func() env.Env {
		b, _ := env.NewBatch(learns, source) // with the options of the first
		if p.penalty > 0 {
			return env.NewPenalised(b, p.penalty)
		}
		return b
	}
	o := p.options()
	scored, err := p.scoredOn(max(o.Tasks, o.Stream))
	if err != nil {
		return setup{}, err
	}
	o.Stream = 0
	score := scoreOn(scored, func() player {
		b, _ := env.NewBatch(o, nil) // with the options of the first, but for the start and the stream
		return b
	})
	shape := first.Shape()
	if p.dqn {
		return p.setupDQN(k, shape, make, score, steps, seed)
	}
	policy := nn.NewActorCritic(shape.Observation, p.hidden, shape.Actions, k, newRand(seed))
	c := p.ppo(steps)
	learner, err := ppo.New(c, policy, make, seed)
	cut := int64(segments)
	if n > agents.PaperTasks {
		cut = longSegments
	}
	return setup{
		policy: policy, learner: learner, score: score, segments: cut,
		text: fmt.Sprintf("%s %+v %+v", p.workload, p.described(), c),
	}, err
}

// ppo returns the learner's settings. The paper prints only the discount and the entropy. The
// rest is ours, for short runs: more environments, larger minibatches and a higher, falling rate
// than the defaults of Stable-Baselines3, with which the released code learns.
func (p paperRun) ppo(steps int64) ppo.Config {
	c := ppo.Config{
		Envs: 64, Horizon: 128, Minibatch: 512, Epochs: 4, TotalSteps: steps,
		LearningRate: learn.Anneal{{Until: 1, From: 5e-4, To: 0}},
		Gamma:        1, Clip: 0.2, Shards: 4,
	}
	if p.released {
		c.Envs, c.Horizon, c.Minibatch, c.Epochs, c.Shards = 1, 2048, 64, 10, 1
		c.LearningRate = learn.Anneal{{Until: 1, From: 3e-4, To: 3e-4}}
		c.Entropy = learn.Anneal{{Until: 1, From: 0.01, To: 0.01}}
	}
	if p.agent.Explores {
		c.Entropy = entropyPhases
	}
	return c
}

// entropyPhases is how the released code anneals the entropy coefficient. The text
// has 0.01, 0.075, 0.005 and 0 (DRL 6.5.1).
var entropyPhases = learn.Anneal{
	{Until: 0.25, From: 0.01, To: 0.01},
	{Until: 0.5, From: 0.00075, To: 0.00075},
	{Until: 0.75, From: 0.0005, To: 0.0005},
	{Until: 1, From: 0, To: 0},
}

// described returns the options of learning in a stable text.
func (p paperRun) described() string {
	o := p.learns()
	text := fmt.Sprintf("%s N=%d M=%d encoding=%d direct=%t stream=%d random=%t released=%t",
		o.GPU, o.Tasks, o.Levels, o.Encoding, o.Direct, o.Stream, o.RandomStart, o.Released)
	if p.shortBatches {
		text += " short"
	}
	if p.listed {
		text += " listed"
	}
	if p.unmerged {
		text += " unmerged"
	}
	if p.penalty > 0 {
		text += fmt.Sprintf(" penalty=%v", p.penalty)
	}
	if o.Reconfiguration > 0 {
		text += fmt.Sprintf(" reconfiguration=%v", o.Reconfiguration)
	}
	return text
}
