package track

import (
	"context"
	"fmt"
	"math"
	"time"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

const (
	// MetricBound is the value that a bound returns for the makespan, in seconds. It holds for every schedule only if
	// the bound is proven ([algo.Spec.Proven]).
	MetricBound = "bound_s"
	// MetricEnergyAtLeast is a lower bound on the energy, in joules. Proven bounds have it for GPU models with a
	// [mig.Power].
	MetricEnergyAtLeast = "energy_at_least_j"
)

// Bound is the reference track of bounds on the makespan of batches and streams: lower bounds, optima, and bounds as
// published. The published l-bound is not a lower bound of every schedule.
var Bound = Register(Track{
	Name: algo.TrackBound, Order: 6,
	Data: task.Batches{}.Kind(), GPU: "A100", Reference: true, Reconfigures: true,
	Solve: func(ctx context.Context, a algo.Algorithm, p Problem) (Answer, error) {
		bound, err := algo.Make[algo.Bound](a)
		if err != nil {
			return Answer{}, err
		}
		_, given := poseProblem(p)
		start := time.Now()
		value, err := bound.Bound(ctx, given)
		took := timeSince(bound, start)
		if err != nil {
			return Answer{Took: took}, err
		}
		if !(value >= 0 && value < mig.Seconds(math.Inf(1))) { // also true for NaN
			err := fmt.Errorf("invalid answer: a bound of %v s; it must be finite and not negative", value)
			return Answer{Took: took}, &InvalidError{err}
		}
		metrics := []Metric{{Name: MetricBound, Value: float64(value)}}
		if a.Spec.Proven && p.GPU.Power != nil {
			var energy mig.Joules
			energy, err = energyAtLeast(ctx, bound, given, value)
			metrics = append(metrics, Metric{Name: MetricEnergyAtLeast, Value: float64(energy)})
		}
		return Answer{Metrics: metrics, Took: took}, err
	},
})

// energyAtLeast returns the energy bound of a bound that has one, and else the one that follows from its makespan.
func energyAtLeast(ctx context.Context, b algo.Bound, p algo.Problem, makespan mig.Seconds) (mig.Joules, error) {
	e, ok := b.(algo.EnergyBound)
	if !ok {
		return schedule.EnergyAtLeast(p, makespan), nil
	}
	return e.EnergyAtLeast(ctx, p)
}
