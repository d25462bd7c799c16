package train

import (
	"embed"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"miglab/algorithms/rl/agents"
	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/internal/learn"
	"miglab/algorithms/rl/nn"
	"miglab/algorithms/rl/ppo"
	"miglab/algorithms/rl/train/curve"
	"miglab/harness/mig"
	"miglab/harness/strictcsv"
)

// onlineStream is the number of tasks in an episode of the online agent, which sees 14 at a time.
const onlineStream = 56

// longSegments is the number of segments of a run with long episodes: each segment restarts all episodes, and an
// episode of the online agent takes a few hundred steps.
const longSegments = 10

// A paperRun is an agent of the DRL paper with the settings that a figure varies: a row of runs.csv.
type paperRun struct {
	Agent    string `csv:"agent"`
	Workload string `csv:"workload"`
	// Suffix distinguishes the run from the usual one, which has the paper's final settings and no suffix.
	Suffix string `csv:"suffix"`
	// Doc says why the run exists: for a figure, or because it may explain a difference from the paper.
	Doc string `csv:"doc"`
	// Steps is the number of steps for which the project trained the agent. The paper took 200 million steps, and
	// 500 million online.
	Steps int `csv:"steps"`
	// Runs is the number of training runs. A claim about training needs three.
	Runs    int `csv:"runs"`
	Shipped int `csv:"shipped"` // [Recipe.Shipped]
	Tasks   int `csv:"tasks"`   // N
	Levels  int `csv:"levels"`  // M; 0 is continuous time
	Units   int `csv:"units"`   // of each of the two hidden layers
	// Change lists the other differences from the usual run: constants below, separated by spaces; often empty.
	Change string `csv:"change"`
	// Penalty, unless it is 0, is the penalty in [env.BatchOptions]. The paper only says that it is heavy; the work
	// that it cites on masking has penalties of 0.01 to 1. An agent that learned without masks is scored with them.
	Penalty float64 `csv:"penalty"`
}

// The differences from an agent's usual run.
const (
	byDQN        = "dqn"
	shortBatches = "short" // draws batches of 1 to N tasks, instead of N
	emptyStart   = "empty" // makes episodes begin on an idle GPU
	// asReleased follows the released code: its environment ([env.BatchOptions]), the settings of its learner and its
	// generator of the workload.
	asReleased = "released"
	// asScript follows the released code of the online agent where it differs from the text: episodes of 50 tasks
	// that begin on an idle GPU, and 0.7 s for every reconfiguration.
	asScript = "script"
	// onKernels scores the agent on measured kernels, as the paper's curves of RODINIA + ALTIS must be (Fig. 15),
	// instead of on the workload that it learns from.
	onKernels = "kernels"
	// onClasses scores the agent on the data sets of Table 4, whose tasks are in the order of their classes.
	onClasses = "classes"
	// listedTasks and unmergedPartitions each undo one of the paper's refinements (DRL 7): see [env.BatchOptions]. So
	// does Penalty, which replaces masks.
	listedTasks        = "listed"
	unmergedPartitions = "unmerged"
)

// changes reports whether a run differs from the usual one in this way.
func (p paperRun) changes(way string) bool { return slices.Contains(strings.Fields(p.Change), way) }

// environment lists the changes of what the agent observes or may do.
func (p paperRun) environment() string {
	all := []string{asReleased, listedTasks, unmergedPartitions}
	return strings.Join(slices.DeleteFunc(all, func(way string) bool { return !p.changes(way) }), " ")
}

//go:embed runs.csv
var runsFile embed.FS

// paperRuns lists the agents of Tables 4 and 5, the runs of Figs. 10 to 13 and 15, runs that look for the cause of a
// difference, and the final agent without one of its refinements. The tables show those that have been trained.
var paperRuns = sync.OnceValue(func() []paperRun {
	return strictcsv.Embedded[paperRun](runsFile, "runs.csv", "suffix", "doc", "shipped", "change", "penalty")
})

func paperRecipes() (out []*Recipe) {
	for _, p := range paperRuns() {
		doc := fmt.Sprintf("%s (DRL 6), trained on %s", p.Agent, p.Workload)
		if p.Doc != "" {
			doc += ", " + p.Doc
		}
		steps := int64(p.Steps)
		r := &Recipe{
			Learner: "PPO, ours", Updates: p.ppo(steps).Updates(steps),
			Name: p.agent().WeightsName(p.Workload) + p.Suffix, Doc: doc, Steps: steps,
			Seeds: firstSeeds(p.Runs), Shipped: p.Shipped, Score: pOpt,
			setup: p.newSetup,
			meta:  nn.Meta{Workload: p.Workload, Tasks: p.Tasks, Levels: p.Levels, Environment: p.environment()},
		}
		switch {
		case p.changes(byDQN):
			r.Learner, r.Updates = "DQN, ours", paperDQN(steps).Updates(steps, steps/dqnSegments)
		case p.changes(asReleased):
			r.Learner = "PPO, as released"
		}
		out = append(out, r)
	}
	return out
}

func (p paperRun) agent() *agents.PaperAgent {
	at := slices.IndexFunc(agents.PaperAgents, func(a agents.PaperAgent) bool { return a.Name == p.Agent })
	return &agents.PaperAgents[at]
}

func (p paperRun) hidden() []int { return []int{p.Units, p.Units} }

// evaluationOptions returns the options of the environment in which the agent is evaluated.
func (p paperRun) evaluationOptions() env.BatchOptions {
	o := p.agent().Options(gpu(), mig.Parallel)
	o.Tasks, o.Levels, o.Released = p.Tasks, p.Levels, p.changes(asReleased)
	o.Listed, o.Unmerged = p.changes(listedTasks), p.changes(unmergedPartitions)
	if p.agent().Online {
		o.Stream = onlineStream
	}
	return o
}

// learningOptions returns the options of the environment in which the agent learns. By default, episodes begin in
// random busy partitions, as in the released code.
func (p paperRun) learningOptions() env.BatchOptions {
	o := p.evaluationOptions()
	o.RandomStart, o.Penalty = !p.changes(emptyStart), float32(p.Penalty)
	if p.changes(asScript) {
		o.RandomStart, o.Stream, o.Reconfiguration = false, 50, 0.7
	}
	return o
}

// scoredBatches returns the batches of n tasks on which the agent is scored.
func (p paperRun) scoredBatches(n int) ([]scoredBatch, error) {
	switch {
	case p.changes(onKernels):
		return kernelBatches(n)
	case p.changes(onClasses):
		return loadBatches(gpu(), curve.ClassOrdered(p.Workload), curve.DataSets)
	}
	return workloadBatches(gpu(), []string{p.Workload}, n)
}

// source returns a source of episodes of n tasks.
func (p paperRun) source(n int) (env.Source, error) {
	length, generators := func(*rand.Rand) int { return n }, bothGenerators
	if p.changes(shortBatches) {
		length = func(rng *rand.Rand) int { return 1 + rng.IntN(n) }
	}
	if p.changes(asReleased) {
		generators = []string{releasedGenerator}
	}
	return newSource(gpu(), []string{p.Workload}, generators, length)
}

// releasedSteps is the length of a training with the released settings from which longer ones go on.
const releasedSteps = 2_000_000

func (p paperRun) newSetup(k nn.Kernel, steps int64, seed uint64) (setup, error) {
	o := p.learningOptions()
	n := max(o.Tasks, o.Stream)
	source, err := p.source(n)
	if err != nil {
		return setup{}, err
	}
	first, err := env.NewBatch(o, source)
	if err != nil {
		return setup{}, err
	}
	newEnv := func() env.Env {
		b, _ := env.NewBatch(o, source) // no error: the options of first
		return b
	}
	scored, envs, err := p.evaluation()
	if err != nil {
		return setup{}, err
	}
	score := newScore(scored, envs)
	shape := first.Shape()
	if p.changes(byDQN) {
		return p.setupDQN(k, shape, newEnv, score, steps, seed), nil
	}
	policy := nn.NewActorCritic(shape.Observation, p.hidden(), shape.Actions, k, newRand(seed))
	constantFor := int64(0)
	if p.changes(asReleased) && !p.agent().Explores {
		// The released settings keep the learning rate constant. A longer training then goes on from a shorter one, so
		// that the settings, whose text identifies it, must not depend on its length.
		constantFor = releasedSteps
		steps = releasedSteps
	}
	c := p.ppo(steps)
	segmentCount := int64(segments)
	if n > agents.PaperTasks {
		segmentCount = longSegments
	}
	return setup{
		policy: policy, learner: ppo.New(c, policy, newEnv, seed), score: score, segments: segmentCount,
		constantFor: constantFor,
		text:        fmt.Sprintf("%s %+v %+v", p.Workload, p.describe(), c),
	}, nil
}

// evaluation returns the batches on which the agent is scored, and an environment for each.
func (p paperRun) evaluation() ([]scoredBatch, []env.Scheduler, error) {
	o := p.evaluationOptions()
	scored, err := p.scoredBatches(max(o.Tasks, o.Stream))
	o.Stream = 0
	return scored, repeat(len(scored), func() env.Scheduler {
		b, _ := env.NewBatch(o, nil) // no error: the options of newSetup's, except the start and the stream
		return b
	}), err
}

// ppo returns the learner's settings. The paper prints only the discount and the entropy. The rest is ours, for short
// runs: more environments, larger minibatches and a higher, falling rate than the defaults of Stable-Baselines3, with
// which the released code learns.
func (p paperRun) ppo(steps int64) ppo.Config {
	c := ppo.Config{
		Envs: 64, Horizon: 128, Minibatch: 512, Epochs: 4, TotalSteps: steps,
		LearningRate: learn.Anneal{{Until: 1, From: 5e-4, To: 0}},
		Gamma:        1, Clip: 0.2, Shards: 4,
	}
	if p.changes(asReleased) {
		c.Envs, c.Horizon, c.Minibatch, c.Epochs, c.Shards = 1, 2048, 64, 10, 1
		c.LearningRate = learn.Anneal{{Until: 1, From: 3e-4, To: 3e-4}}
		c.Entropy = learn.Anneal{{Until: 1, From: 0.01, To: 0.01}}
	}
	if p.agent().Explores {
		c.Entropy = entropyPhases
	}
	return c
}

// entropyPhases anneals the entropy coefficient as the released code does. The text has 0.01, 0.075, 0.005 and 0
// (DRL 6.5.1).
var entropyPhases = learn.Anneal{
	{Until: 0.25, From: 0.01, To: 0.01},
	{Until: 0.5, From: 0.00075, To: 0.00075},
	{Until: 0.75, From: 0.0005, To: 0.0005},
	{Until: 1, From: 0, To: 0},
}

// describe returns the learning options as a text that must not change: trainings are recognised by it.
func (p paperRun) describe() string {
	o := p.learningOptions()
	text := fmt.Sprintf("%s N=%d M=%d encoding=%d direct=%t stream=%d random=%t released=%t",
		o.GPU, o.Tasks, o.Levels, o.Encoding, o.Direct, o.Stream, o.RandomStart, o.Released)
	for _, change := range []string{shortBatches, listedTasks, unmergedPartitions} {
		if p.changes(change) {
			text += " " + change
		}
	}
	if p.Penalty > 0 {
		text += fmt.Sprintf(" penalty=%v", p.Penalty)
	}
	if o.Reconfiguration > 0 {
		text += fmt.Sprintf(" reconfiguration=%v", o.Reconfiguration)
	}
	return text
}
