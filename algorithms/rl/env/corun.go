package env

import (
	"math/rand/v2"

	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// Corun is the environment of the hierarchical paper's agent. An episode divides a window into groups, one group a step
// ([Grouping]). The formulas of the paper's rewards are missing in our copy; we rebuilt them from the prose (V-A3). The
// reward of a step is the sum of
//
//	the final reward, "the measured throughput improvement over the time-sharing
//	executions": the time that the group saves by [corun.Model], and
//	the intermediate rewards of its jobs, times a weight that we chose.
//
// Times are in units of the window's mean solo time, so that the final rewards of an episode add up to W (1 - 1 /
// relative throughput), unless a loss is clipped at [largestLoss]. Each reward is then lowered by [usualSaving] of the
// solo times of the jobs that were grouped in the step or, after the last step, remain alone. This lowers the returns
// of all plans by the same amount. It keeps rewards small, so that a network learns their differences sooner.
type Corun struct {
	Grouping
	model  corun.Model
	weight float64
	source WindowSource

	window []task.Program
	rng    *rand.Rand
}

// usualSaving is about the share of the solo times that a good plan saves.
const usualSaving = 0.34

// largestLoss is the largest loss that counts, in mean solo times. A group that takes longer than its
// jobs one after the other violates the paper's first constraint, and how much longer does not matter.
const largestLoss = 0.3

// maxCandidates is the largest number of candidates of a decision. There are up to 231; scoring all would
// take most of the training time. A trained agent scores all.
const maxCandidates = 32

// A WindowSource draws the jobs of an episode, 2 to [WindowSize]. It may overwrite and grow buf. It is used by one
// goroutine at a time.
type WindowSource func(rng *rand.Rand, buf []task.Program) []task.Program

// NewCorun returns an environment that simulates groups by a model and counts
// intermediate rewards with a weight. [NewGrouping] explains prospects.
func NewCorun(model corun.Model, weight float64, prospects bool, source WindowSource) *Corun {
	return &Corun{Grouping: NewGrouping(prospects), model: model, weight: weight, source: source}
}

// Reset begins a window.
func (c *Corun) Reset(rng *rand.Rand) {
	c.window = c.source(rng, c.window)
	c.Load(c.window, corun.MaxConcurrency)
	c.rng = rng
	c.sample()
}

// sample keeps up to maxCandidates random candidates of a decision.
func (c *Corun) sample() {
	n := min(len(c.candidates), maxCandidates)
	for i := range n {
		j := i + c.rng.IntN(len(c.candidates)-i)
		c.candidates[i], c.candidates[j] = c.candidates[j], c.candidates[i]
	}
	c.candidates = c.candidates[:n]
}

// Step makes a group of the current candidate and runs it.
func (c *Corun) Step(action int) (reward float32, done bool) {
	a := &actions()[action]
	group, others := c.members()
	intermediate := c.intermediateRewards(a, group)
	seconds := c.seconds(&c.model, a, group)
	solo := 0.0
	for _, j := range c.indices(a, group) {
		solo += float64(c.window[j].Solo)
	}
	c.keep(others)
	c.sample()
	usual := float64(usualSaving * solo)
	saved := max(solo-seconds, -largestLoss*c.mean) - usual
	if c.Done() { // The jobs that remain run alone and save no time.
		for _, j := range c.left {
			saved -= float64(usualSaving * float64(c.window[c.jobs[j].index].Solo))
		}
	}
	return float32(saved/c.mean + float64(c.weight*intermediate)), c.Done()
}
