package bounds

import (
	"math"

	"miglab/harness/algo"
	"miglab/harness/mig"
)

// The kinds of [Witness], by the argument that proves the bound.
const (
	// KindArea is the slices' time that tasks, idling and reconfiguration take.
	KindArea = "area"
	// KindLongestTask is the task that ends last when each runs where it ends first.
	KindLongestTask = "longest-task"
	// KindSliceWeights is a dual solution of the configuration linear program.
	KindSliceWeights = "slice-weights"
	// KindChains is what each slice has to do one after the other, whatever runs where.
	KindChains = "chains"
	// KindSearch is an exhaustive search.
	KindSearch = "search"
)

// A Witness says why no schedule is faster than a bound.
type Witness struct {
	// Kind is the argument.
	Kind string `json:"kind"`
	// Bound is what it proves.
	Bound mig.Seconds `json:"bound_s"`
	// Threshold, of slice weights, leaves out the options that end then or later even
	// when they start as early as they can; 0 leaves out none.
	Threshold mig.Seconds `json:"threshold_s,omitempty"`
	// Weights, of slice weights, has one weight a compute slice, by position.
	Weights []float64 `json:"weights,omitempty"`
}

// Prove returns the largest of four lower bounds on the makespan of every schedule that
// the referee accepts, and its witness; of equal bounds, the simplest argument. The
// terms are valid for [mig.Sequential], [mig.Parallel] and [mig.Free], any start
// partition, busy-until and release times; each is proven where it is computed:
//
//   - [KindArea], in occupied.go;
//   - [KindLongestTask], in longest.go;
//   - [KindSliceWeights], in sliceweights.go;
//   - [KindChains], in chains.go, for at most [MaxChainTasks] tasks.
//
// What they share: instances that are present together on a GPU, be it existing or
// being created or destroyed, share no memory slice. Profiles with double memory or
// media extensions cover the slice on which a standard profile of the same size could
// begin instead, at the same cost, so each instance stands for a node of
// [mig.GPU.Tree].
//
// atMost is the makespan of a known schedule in seconds, +Inf where none is known. The
// terms look no further, so that the bound exceeds it by no more than rounding, and
// chains are found faster.
//
// The error says what is wrong with the tasks (see [task.Batch.Validate]).
func Prove(p algo.Problem, atMost mig.Seconds) (Witness, error) {
	if err := p.Tasks.Validate(p.GPU); err != nil {
		return Witness{}, err
	}
	best := Witness{Kind: KindArea, Bound: occupied(&p)}
	options := newOptions(&p)
	if b := options.longest(); b > best.Bound {
		best = Witness{Kind: KindLongestTask, Bound: b}
	}
	slices := newSliceWeights(&p, options)
	if w := slices.prove(best.Bound); w.Bound > best.Bound {
		best = w
	}
	if b := chains(&p, slices.weights, best.Bound, atMost); b > best.Bound {
		best = Witness{Kind: KindChains, Bound: b}
	}
	return best, nil
}

// Certified returns the bound of [Prove], in seconds.
func Certified(p algo.Problem) (mig.Seconds, error) {
	w, err := Prove(p, mig.Seconds(math.Inf(1)))
	return w.Bound, err
}

var _ = algo.Register(algo.Spec{
	Name:    "certified",
	Version: 3,
	Track:   algo.TrackBound,
	Cite:    "after DRL 5.2, with idling and reconfiguration charged so that a proof holds; configuration LP and chains: own",
	Summary: "the largest of area, longest task, slice weights and chains; proven",
	New:     function(Certified).constructor,
})
