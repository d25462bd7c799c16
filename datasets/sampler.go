package datasets

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/spec"
	"miglab/harness/task"
)

// times has the durations of a task in seconds by instance size. Index 0 is 0.
type times = [mig.MaxSize + 1]float64

// Sampler returns a function for training that draws a batch of a synthetic workload from the caller's random stream.
// The function fills tasks with seconds by instance size: index 0 is 0, and sizes that the GPU lacks are +Inf. Its
// batches are distributed as the workload's instances with as many tasks. It allocates nothing, and several goroutines
// may call it, each with its own stream.
//
// text may have the parameters psup, gen, leave and order; others are errors. Workloads that keep only some of the
// tasks that they draw have no sampler, because they may give up without enough tasks. Sampler passes on the errors of
// [Parse].
func Sampler[T ~[mig.MaxSize + 1]float64](text string, g *mig.GPU) (func(rng *rand.Rand, tasks []T), error) {
	s, err := Parse(text)
	if err != nil {
		return nil, err
	}
	var known []string
	for _, w := range workloads {
		if !w.picks() {
			known = append(known, w.Name)
		}
	}
	w, ok := s.(named).Dataset.(synthetic)
	if !ok || w.picks() {
		return nil, nearest.Unknown("workload to sample", text, known)
	}
	_, pairs := spec.Split(text)
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		if !slices.Contains([]string{"psup", "gen", "leave", "order"}, name) {
			return nil, &spec.ParameterError{
				Name: name, Value: value,
				Want: "none: samples take only psup, gen, leave and order, and environments have the option tasks",
			}
		}
	}
	_, err = w.class().weights(g)
	return func(rng *rand.Rand, tasks []T) {
		_ = fill(&w, rng, g, tasks) // weights has returned the only error
	}, err
}

// fill draws a batch (FAR 6.3), in a random order of arrival unless inClasses is set. It passes on the errors of
// [fillKept] and of weights.
func fill[T ~[mig.MaxSize + 1]float64](s *synthetic, rng *rand.Rand, g *mig.GPU, tasks []T) error {
	if s.picks() {
		return fillKept(s, rng, g, tasks)
	}
	weights, err := s.class().weights(g)
	if err != nil {
		return err
	}
	var buffer [mig.MaxSize]int
	counts := buffer[:len(weights)]
	countClasses(counts, len(tasks), weights)
	i := 0
	for class, size := range g.Sizes() {
		memoryBound := s.psup * counts[class] / 100
		for k := range counts[class] {
			tasks[i] = T(s.draw(rng, g, shape{size, k < memoryBound}))
			i++
		}
	}
	if s.inClasses {
		return nil
	}
	rng.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
	return nil
}

// draw draws a task. Sizes that the GPU lacks are +Inf.
func (s *synthetic) draw(rng *rand.Rand, g *mig.GPU, scales shape) times {
	// The conversion keeps the product from being fused with the sum.
	t1 := float64(s.Shortest) + float64(float64(s.Longest-s.Shortest)*rng.Float64())
	t := s.generator.durations(rng, t1, scales, g.ComputeSlices, s.leave)
	for size := mig.Slices(1); size <= mig.MaxSize; size++ {
		if !slices.Contains(g.Sizes(), size) {
			t[size] = math.Inf(1)
		}
	}
	return t
}

// DaySampler returns the GPUs of a deadline/ dataset, and a function for training that draws a day of about 4150 jobs
// from the caller's random stream into buf, by arrival. The function overwrites buf and allocates only if buf is too
// small. Several goroutines may call it, each with its own stream. DaySampler ignores the seed of the spec. It passes
// on the errors of [Parse] and of the dataset's instances.
func DaySampler(spec string, g *mig.GPU) (task.Fleet, func(rng *rand.Rand, buf []task.Job) []task.Job, error) {
	s, err := Parse(spec)
	if err != nil {
		return task.Fleet{}, nil, err
	}
	d, ok := s.(named).Dataset.(day)
	if !ok {
		known := nearest.Names(deadlineKinds, func(k deadlineKind) string { return k.name })
		return task.Fleet{}, nil, nearest.Unknown("days to sample", spec, known)
	}
	fleet, err := d.fleetOn(g)
	return fleet, func(rng *rand.Rand, buf []task.Job) []task.Job { return d.appendJobs(rng, buf[:0]) }, err
}
