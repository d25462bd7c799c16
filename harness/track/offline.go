package track

import (
	"context"
	"time"

	"miglab/harness/algo"
	"miglab/harness/task"
)

// MetricAcceptedAtMost is an upper bound on the number of accepted requests.
const MetricAcceptedAtMost = "accepted_at_most"

// Offline is the reference track of upper bounds on what any scheduler of the placement track can
// accept.
var Offline = Register(Track{
	Name: algo.TrackOffline, Order: 7, Doc: "bound how many requests any scheduler can accept",
	Data: task.Requests{}.Kind(), GPU: "A100-80GB", Reference: true, Count: clusterSize,
	Solve: func(ctx context.Context, a algo.Algorithm, p Problem) (Answer, error) {
		o, err := algo.Make[algo.Offline](a)
		if err != nil {
			return Answer{}, err
		}
		start := time.Now()
		n, err := o.AcceptedAtMost(ctx, p.GPU, p.Count, payload[task.Requests](p).Requests)
		return Answer{Metrics: []Metric{{Name: MetricAcceptedAtMost, Value: float64(n)}}, Took: time.Since(start)}, err
	},
})
