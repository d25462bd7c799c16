package env

import (
	"math/rand/v2"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// An Env is one environment. It is used by one goroutine at a time.
type Env interface {
	// Shape returns the lengths of observations and masks. It never changes.
	Shape() Shape
	// Reset begins an episode drawn from rng. The environment may keep rng and draw from it until the next Reset.
	Reset(rng *rand.Rand)
	// Observe writes what the agent sees, Shape().Observation values, and which
	// actions are allowed, Shape().Actions values of which at least one is true.
	Observe(observation []float32, mask []bool)
	// Step carries out an allowed action. After it has reported that the episode is done, call only Reset.
	Step(action int) (reward float32, done bool)
}

// A Scheduler is an environment in which the tasks of a batch are scheduled on one GPU.
type Scheduler interface {
	Env
	// Load begins an episode with tasks, numbered from first on, that may not start before their releases, in seconds;
	// nil if all may start at time 0. The device keeps the state that earlier decisions have left.
	Load(tasks []Times, first int, releases []float64) error
	// Device returns the GPU on which decisions are carried out. Before Load it may be reset and given instances.
	Device() *Device
	// Bounds returns bounds of the values of an observation.
	Bounds() []Range
}

// Shape is the size of an environment's observations and the number of its actions.
type Shape struct{ Observation, Actions int }

// A Range bounds the next Count values of an observation. Low and High are infinite where no bound is known.
type Range struct {
	Count     int
	Low, High float64
}

// Rows holds observations and masks of several environments, queues or candidates.
type Rows struct {
	Shape        Shape
	Observations []float32
	Masks        []bool
}

// Resize makes room for n rows. Their contents are undefined.
func (r *Rows) Resize(shape Shape, n int) {
	r.Shape = shape
	r.Observations = slices.Grow(r.Observations[:0], n*shape.Observation)[:n*shape.Observation]
	r.Masks = slices.Grow(r.Masks[:0], n*shape.Actions)[:n*shape.Actions]
}

// Observation returns the observation of a row.
func (r *Rows) Observation(i int) []float32 {
	return r.Observations[i*r.Shape.Observation : (i+1)*r.Shape.Observation]
}

// Mask returns the mask of a row.
func (r *Rows) Mask(i int) []bool { return r.Masks[i*r.Shape.Actions : (i+1)*r.Shape.Actions] }

// Times holds a task's durations in seconds, by instance size. A duration is +Inf if the task does not fit the size.
// Index 0, and sizes that the GPU lacks, are not used.
type Times [mig.MaxSize + 1]float64

// TimesOf returns how long the tasks of a batch run on a GPU.
func TimesOf(g *mig.GPU, tasks task.Batch) []Times {
	out := make([]Times, len(tasks))
	for i := range tasks {
		for _, s := range g.Sizes() {
			out[i][s] = float64(tasks[i].On(s))
		}
	}
	return out
}

// A Source draws the tasks of an episode: it fills a prefix of tasks, in order of arrival, and returns its length, at
// least 1. It is used by one goroutine at a time.
type Source func(rng *rand.Rand, tasks []Times) int

// Likeliest returns the allowed action with the highest value, the first of equals. It panics
// if no action is allowed, which breaks the contract of an environment.
func Likeliest(values []float32, mask []bool) int {
	best := -1
	for i, v := range values {
		if mask[i] && (best < 0 || v > values[best]) {
			best = i
		}
	}
	if best < 0 {
		panic("env: an environment allows no action")
	}
	return best
}
