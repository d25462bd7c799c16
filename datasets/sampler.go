package datasets

import (
	"math"
	"math/rand/v2"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/task"
)

// times is how long a task runs, in seconds by instance size: index 0 is not used,
// and a size that the GPU does not have is +Inf.
type times = [mig.MaxSize + 1]float64

// A Sampler draws batches of a synthetic workload from the caller's random streams, for
// training. Its tasks have no names. It has no state: several goroutines may use one, each
// with its own stream.
type Sampler struct {
	synthetic
	gpu *mig.GPU
}

// NewSampler returns a sampler of a workload with its parameters psup, gen, leave and order. The
// other parameters are ignored: a batch is as long as the slice that [Draw] fills. Workloads
// that keep only some of the tasks that they draw have no sampler, since they may find none.
// Errors are those of [Parse].
func NewSampler(spec string, g *mig.GPU) (*Sampler, error) {
	s, err := Parse(spec)
	if err != nil {
		return nil, err
	}
	if w, ok := s.(named).Dataset.(synthetic); ok && !w.picks() {
		_, err := w.scaling().weights(g)
		return &Sampler{w, g}, err
	}
	var known []string
	for _, w := range workloads {
		if !w.picks() {
			known = append(known, w.Name)
		}
	}
	return nil, nearest.Unknown("workload to sample", spec, known)
}

// Draw fills tasks with a batch, distributed as the workload's instances with as
// many tasks: seconds by instance size. Index 0 is 0, and sizes that the GPU lacks are +Inf.
// It allocates nothing.
func Draw[T ~[mig.MaxSize + 1]float64](s *Sampler, rng *rand.Rand, tasks []T) {
	if err := fill(&s.synthetic, rng, s.gpu, tasks); err != nil {
		panic("datasets: a sampler without conditions found no tasks: " + err.Error())
	}
}

// fill draws a batch (FAR 6.3), in a random order of arrival unless the classes are to stay in
// order. The errors are those of [fillOnly] and of weights.
func fill[T ~[mig.MaxSize + 1]float64](s *synthetic, rng *rand.Rand, g *mig.GPU, tasks []T) error {
	if s.picks() {
		return fillOnly(s, rng, g, tasks)
	}
	weights, err := s.scaling().weights(g)
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

func (s *synthetic) draw(rng *rand.Rand, g *mig.GPU, scales shape) times {
	// The conversion keeps the product from being fused with the sum.
	t1 := float64(s.Shortest) + float64(float64(s.Longest-s.Shortest)*rng.Float64())
	t := s.generator.times(rng, t1, scales, g.ComputeSlices, s.leave)
	out := times{}
	for size := 1; size < len(out); size++ {
		out[size] = math.Inf(1)
	}
	for _, size := range g.Sizes() {
		out[size] = t[size-1]
	}
	return out
}

// A DaySampler draws the jobs of a day of a deadline/ dataset from the caller's random
// streams, for training. Several goroutines may use one, each with its own stream.
type DaySampler struct {
	day
	on task.Fleet
}

// NewDaySampler returns the sampler of a deadline/ dataset with its parameters; the
// seed is ignored. Errors are those of [Parse] and of the dataset's instances.
func NewDaySampler(spec string, g *mig.GPU) (*DaySampler, error) {
	s, err := Parse(spec)
	if err != nil {
		return nil, err
	}
	d, ok := s.(named).Dataset.(day)
	if !ok {
		known := nearest.Names(deadlineKinds, func(k deadlineKind) string { return k.name })
		return nil, nearest.Unknown("days to sample", spec, known)
	}
	on, err := d.fleetOn(g)
	if err != nil {
		return nil, err
	}
	return &DaySampler{d, on}, nil
}

// Fleet returns the GPUs that the jobs are for. It must not be changed.
func (s *DaySampler) Fleet() task.Fleet { return s.on }

// Draw draws a day of jobs, by arrival, into buf and returns the slice that holds them,
// about 4150. It overwrites buf and allocates only if buf is too small.
func (s *DaySampler) Draw(rng *rand.Rand, buf []task.Job) []task.Job {
	return s.appendJobs(rng, buf[:0])
}
