package env

import (
	"math/rand/v2"

	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// Corun is the environment of the hierarchical paper's agent. An episode divides a window
// into groups, one group a step ([Grouping]). The formulas of the paper's rewards are
// missing in our copy; we rebuilt them from the prose (V-A3). The reward of a step is the
// sum of
//
//	the final reward, "the measured throughput improvement over the time-sharing
//	executions": the time that the group saves, which [corun.Model] knows, and
//	the intermediate rewards of its jobs, times a weight that we chose.
//
// Times are in units of the window's mean solo time, so that the final rewards of an
// episode add up to W (1 - 1 / relative throughput).
type Corun struct {
	Grouping
	model  corun.Model
	weight float64
	source WindowSource

	window []task.Program
	mean   float64
	group  [corun.MaxConcurrency]int
}

// A WindowSource draws the jobs of an episode, 2 to [WindowSize], into buf, whose contents
// are lost, and returns the slice that holds them. It is used by one goroutine at a time.
type WindowSource func(rng *rand.Rand, buf []task.Program) []task.Program

// NewCorun returns an environment that simulates groups by a model and counts
// intermediate rewards with a weight.
func NewCorun(model corun.Model, weight float64, source WindowSource) *Corun {
	return &Corun{model: model, weight: weight, source: source}
}

// Shape is that of [GroupingShape].
func (c *Corun) Shape() Shape { return GroupingShape() }

// Reset begins a window.
func (c *Corun) Reset(rng *rand.Rand) {
	c.window = c.source(rng, c.window)
	c.Load(c.window, corun.MaxConcurrency)
	c.mean = meanSolo(c.window)
}

// Step makes a group and runs it.
func (c *Corun) Step(action int) (reward float32, done bool) {
	jobs, fits := c.take(action, &c.group)
	var programs [corun.MaxSlots]*task.Program
	var ends [corun.MaxSlots]float64
	saved := 0.0
	for i, j := range jobs {
		programs[i] = &c.window[j]
		saved += float64(c.window[j].Solo)
	}
	saved -= c.model.Ends(&actions[action].layout, &programs, &ends)
	return float32(saved/c.mean + float64(c.weight*fits)), c.Done()
}
