package env

import (
	"math/rand/v2"

	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// Corun is the environment of the hierarchical paper's agent: an episode divides a window
// into groups, one a step ([Grouping]). The paper's formulas are lost in our copy, and its
// rewards are rebuilt from the prose (V-A3). That of a step is the sum of
//
//	the final reward, "the measured throughput improvement over the time-sharing
//	executions": the time that the group saves, which [corun.Model] knows, and
//	the intermediate rewards of its jobs, times a weight.
//
// Times are in units of the mean solo time of the window, so that the final rewards of an
// episode add up to W (1 - 1 / relative throughput).
type Corun struct {
	Grouping
	source WindowSource
	model  corun.Model
	weight float64

	jobs []task.Program
	mean float64
}

// A WindowSource draws the jobs of an episode, 2 to [WindowSize]. It is used by one
// goroutine at a time.
type WindowSource func(rng *rand.Rand) []task.Program

// NewCorun returns an environment that simulates groups by a model.
func NewCorun(model corun.Model, weight float64, source WindowSource) *Corun {
	return &Corun{source: source, model: model, weight: weight}
}

// Shape is that of [GroupingShape].
func (c *Corun) Shape() Shape { return GroupingShape() }

// Reset begins a window.
func (c *Corun) Reset(rng *rand.Rand) {
	c.jobs = c.source(rng)
	c.Load(c.jobs, corun.MaxConcurrency)
	sum := 0.0
	for i := range c.jobs {
		sum += float64(c.jobs[i].Solo)
	}
	c.mean = sum / float64(len(c.jobs))
}

// Step makes a group and runs it.
func (c *Corun) Step(action int) (reward float32, done bool) {
	group, fits := c.take(action)
	var programs [corun.MaxSlots]*task.Program
	var ends [corun.MaxSlots]float64
	saved := 0.0
	for i, j := range group {
		programs[i] = &c.jobs[j]
		saved += float64(c.jobs[j].Solo)
	}
	saved -= c.model.Ends(&actions[action].layout, &programs, &ends)
	return float32(saved/c.mean + float64(c.weight*fits)), c.Done()
}
