package train

import (
	"fmt"

	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/nn"
	"miglab/bounds"
	"miglab/datasets"
	"miglab/harness/curve"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// The measures in the learning curves.
const (
	pOpt        = "p_opt_percent"
	latePercent = "late_percent"
	throughput  = "relative_throughput"
)

// A measured is a batch with its l_bound (DRL 5.2), in seconds.
type measured struct {
	times []env.Times
	bound float64
}

// batchesOf returns the batches of n tasks on which agents for the workloads are scored.
func batchesOf(g *mig.GPU, workloads []string, n int) ([]measured, error) {
	var names []string
	for _, w := range workloads {
		names = append(names, curve.Datasets(w, n)...)
	}
	return firstOf(g, names, curve.Batches/len(names))
}

// firstOf returns the first count batches of each dataset.
func firstOf(g *mig.GPU, names []string, count int) (out []measured, err error) {
	for _, name := range names {
		all, err := instancesOf[task.Batches](g, name, count)
		if err != nil {
			return nil, err
		}
		for _, in := range all {
			b, err := measuredOf(g, in.Tasks)
			if err != nil {
				return nil, err
			}
			out = append(out, b)
		}
	}
	return out, nil
}

// instancesOf returns the first count instances of a dataset.
func instancesOf[T task.Payload](g *mig.GPU, dataset string, count int) ([]T, error) {
	spec, err := datasets.Parse(dataset)
	if err != nil {
		return nil, err
	}
	out := make([]T, count)
	for i := range out {
		if out[i], err = datasets.InstanceOf[T](spec, g, i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// kernelBatches returns the first batch of each subset of at least n measured kernels, in the
// first of its orders: the full batches of DRL 5.1.1's test sets, with the public Rodinia kernels
// in place of RODINIA + ALTIS.
func kernelBatches(n int) ([]measured, error) {
	spec, err := datasets.Parse(fmt.Sprintf("drl/RODINIA?n=%d&part=1", n))
	if err != nil {
		return nil, err
	}
	var out []measured
	for i := 0; i < spec.Instances(); i += datasets.OrdersOfSubset {
		in, err := datasets.InstanceOf[task.Batches](spec, gpu(), i)
		if err != nil {
			return nil, err
		}
		if len(in.Tasks) < n {
			break // larger subsets come first
		}
		b, err := measuredOf(gpu(), in.Tasks)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

func measuredOf(g *mig.GPU, tasks task.Batch) (measured, error) {
	bound, err := bounds.LBound(schedule.Problem{GPU: g, Tasks: tasks})
	return measured{env.TimesOf(g, tasks), float64(bound)}, err
}

// A player is an environment in which a policy can be evaluated.
type player interface {
	env.Env
	Load(tasks []env.Times, first int, releases []float64) error
	Device() *env.Device
	Makespan() float64
}

// scoreOn returns the mean p_opt of a policy on batches, in percent, each on an empty GPU.
func scoreOn(batches []measured, in player) func(nn.Policy) (float64, error) {
	return func(p nn.Policy) (float64, error) {
		p = p.Share()
		sum := 0.0
		for _, b := range batches {
			in.Device().Reset()
			if err := in.Load(b.times, 0, nil); err != nil {
				return 0, err
			}
			play(in, p)
			sum += 100 * (in.Makespan()/b.bound - 1)
		}
		return sum / float64(len(batches)), nil
	}
}

// play lets a policy take its likeliest action until the episode is done.
func play(in env.Env, p nn.Policy) {
	observation, mask := make([]float32, p.Inputs()), make([]bool, p.Actions())
	for done := false; !done; {
		in.Observe(observation, mask)
		preferences, _ := p.Forward(observation, 1)
		_, done = in.Step(env.Likeliest(preferences, mask))
	}
}
