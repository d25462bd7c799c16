package track

import (
	"context"
	"fmt"
	"math"
	"time"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// MetricBound is a lower bound on the makespan, or an optimum, in seconds.
const MetricBound = "bound_s"

// Bound is the reference track of lower bounds and optima of batches and streams.
var Bound = Register(Track{
	Name: algo.TrackBound, Order: 6, Doc: "bound the makespan of every schedule of a batch from below",
	Data: task.Batches{}.Kind(), GPU: "A100", Reference: true, Reconfigures: true,
	Solve: func(ctx context.Context, a algo.Algorithm, p Problem) (Answer, error) {
		b, err := algo.Make[algo.Bound](a)
		if err != nil {
			return Answer{}, err
		}
		_, given := poseProblem(p)
		start := time.Now()
		v, err := b.Bound(ctx, given)
		took := time.Since(start)
		if err == nil && !(v >= 0 && v < mig.Seconds(math.Inf(1))) { // also true for NaN
			err = &InvalidError{fmt.Errorf("invalid answer: a bound of %v s; it must be finite and not negative", v)}
		}
		return Answer{Metrics: []Metric{{Name: MetricBound, Value: float64(v)}}, Took: took}, err
	},
})
