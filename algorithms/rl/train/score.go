package train

import (
	"fmt"
	"slices"

	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/nn"
	"miglab/algorithms/rl/train/curve"
	"miglab/bounds"
	"miglab/datasets"
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

// A scoredBatch is a batch on which agents are scored.
type scoredBatch struct {
	times []env.Times
	bound float64 // l_bound (DRL 5.2), in seconds
}

// workloadBatches returns the batches of n tasks on which agents for the workloads are scored.
func workloadBatches(g *mig.GPU, workloads []string, n int) ([]scoredBatch, error) {
	var names []string
	for _, w := range workloads {
		names = append(names, curve.Datasets(w, n)...)
	}
	return loadBatches(g, names, curve.Batches/len(names))
}

// loadBatches returns the first count batches of each dataset.
func loadBatches(g *mig.GPU, names []string, count int) (out []scoredBatch, err error) {
	for _, name := range names {
		all, err := loadInstances[task.Batches](g, name, count)
		if err != nil {
			return nil, err
		}
		for _, in := range all {
			bound, err := bounds.LBound(schedule.Problem{GPU: g, Tasks: in.Tasks})
			if err != nil {
				return nil, err
			}
			out = append(out, scoredBatch{env.TimesOf(g, in.Tasks), float64(bound)})
		}
	}
	return out, nil
}

// loadInstances returns the first count instances of a dataset.
func loadInstances[T task.Payload](g *mig.GPU, dataset string, count int) ([]T, error) {
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

// kernelBatches returns a batch of each subset with at least n measured kernels: the first batch of the subset's first
// order. They replace the full batches of DRL 5.1.1's test sets, with the public Rodinia kernels in place of RODINIA +
// ALTIS.
func kernelBatches(n int) (out []scoredBatch, err error) {
	// Larger subsets come first, each with all its orders.
	names := []string{fmt.Sprintf("drl/RODINIA?n=%d&part=1", n)}
	all, err := loadBatches(gpu(), names, fullSubsets*datasets.OrdersOfSubset)
	for orders := range slices.Chunk(all, datasets.OrdersOfSubset) {
		out = append(out, orders[0])
	}
	return out, err
}

// fullSubsets is the number of subsets of drl/RODINIA with at least n kernels, for every n.
const fullSubsets = 100

// repeat makes n environments.
func repeat(n int, newEnv func() env.Scheduler) []env.Scheduler {
	envs := make([]env.Scheduler, n)
	for i := range envs {
		envs[i] = newEnv()
	}
	return envs
}

// newScore returns a function that computes the mean p_opt of a policy on batches, in percent: the excess of a makespan
// over the bound of its batch. envs[i] is for batches[i], and each episode begins on an empty GPU.
func newScore(batches []scoredBatch, envs []env.Scheduler) func(nn.Policy) (float64, error) {
	return func(p nn.Policy) (float64, error) {
		for i, e := range envs {
			e.Device().Reset()
			if err := e.Load(batches[i].times, 0, nil); err != nil {
				return 0, err
			}
		}
		play(p.Share(), envs...)
		sum := 0.0
		for i, e := range envs {
			sum += float64(100 * (e.Device().Makespan()/batches[i].bound - 1))
		}
		return sum / float64(len(envs)), nil
	}
}

// play lets a policy take its likeliest actions until the episodes of all environments are done.
func play[E env.Env](p nn.Policy, envs ...E) {
	var rows env.Rows
	for active := slices.Clone(envs); len(active) > 0; {
		rows.Resize(env.Shape{Observation: p.Inputs(), Actions: p.Actions()}, len(active))
		for i, e := range active {
			e.Observe(rows.Observation(i), rows.Mask(i))
		}
		preferences, _ := p.Forward(rows.Observations, len(active))
		left := active[:0]
		for i, e := range active {
			action := env.Likeliest(preferences[i*p.Actions():(i+1)*p.Actions()], rows.Mask(i))
			if _, done := e.Step(action); !done {
				left = append(left, e)
			}
		}
		active = left
	}
}
