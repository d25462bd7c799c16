package track

import (
	"context"
	"time"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// Upper bounds on the requests that any scheduler of the placement track can accept.
const (
	// MetricAcceptedAtMost bounds the number of accepted requests, and MetricAcceptanceAtMost bounds their share.
	MetricAcceptedAtMost   = "accepted_at_most"
	MetricAcceptanceAtMost = "acceptance_at_most"
	// MetricSteadyAtMost bounds the accepted share in the steady state, whatever is accepted before.
	// It is absent if no request arrives in the steady state.
	MetricSteadyAtMost = "acceptance_steady_at_most"
)

// Lower bounds for clusters that let requests wait, in seconds: on the mean time from arrival to end, and on the end of
// the last request.
const (
	MetricTurnaroundAtLeast = "turnaround_mean_at_least_s"
	MetricEndAtLeast        = "makespan_at_least_s"
)

// Offline is the reference track of bounds on every scheduler of the placement track.
var Offline = Register(Track{
	Name: algo.TrackOffline, Order: 7,
	Data: task.Requests{}.Kind(), GPU: "A100-80GB", Reference: true, Count: clusterSize,
	Solve: func(ctx context.Context, a algo.Algorithm, p Problem) (Answer, error) {
		o, err := algo.Make[algo.Offline](a)
		if err != nil {
			return Answer{}, err
		}
		in := payload[task.Requests](p)
		all := in.Requests
		start := time.Now()
		if in.Waiting != task.Reject {
			turnaround, end := o.TurnaroundAtLeast(p.GPU, in)
			metrics := []Metric{
				{Name: MetricTurnaroundAtLeast, Value: turnaround / float64(len(all)) * in.Seconds()},
				{Name: MetricEndAtLeast, Value: float64(end) * in.Seconds()},
			}
			if p.GPU.Power != nil {
				energy := waitingEnergyAtLeast(p.GPU, in, end)
				metrics = append(metrics, Metric{Name: MetricEnergyAtLeast, Value: energy})
			}
			return Answer{Took: time.Since(start), Metrics: metrics}, nil
		}
		n, err := o.AcceptedAtMost(ctx, p.GPU, p.Count, all)
		if err != nil {
			return Answer{}, err
		}
		metrics := []Metric{
			{Name: MetricAcceptedAtMost, Value: float64(n)},
			{Name: MetricAcceptanceAtMost, Value: float64(n) / float64(len(all))},
		}
		steady := sim.SteadyWindow.Requests(p.GPU, p.Count, all)
		if len(steady) > 0 {
			n, err = o.AcceptedAtMost(ctx, p.GPU, p.Count, steady)
			metrics = append(metrics, Metric{Name: MetricSteadyAtMost, Value: float64(n) / float64(len(steady))})
		}
		return Answer{Metrics: metrics, Took: time.Since(start)}, err
	},
})

// waitingEnergyAtLeast returns a lower bound on the energy in joules of a cluster whose last request ends no earlier
// than in slot end.
//
// PROVEN. All GPUs are on until then, and every request keeps as many instances of its profile busy as it needs for its
// lifespan. They draw at least their floors ([mig.GPU.Floor]).
func waitingEnergyAtLeast(g *mig.GPU, in task.Requests, end int) float64 {
	sum := float64(in.GPUs) * float64(g.Power.Idle) * float64(end)
	for i := range in.Requests {
		q := &in.Requests[i]
		if q.Gang == nil {
			sum += float64(float64(g.Floor(q.Profile.Size)) * float64(q.Instances()*q.Lifespan))
			continue
		}
		for _, m := range q.Gang.Members {
			sum += float64(float64(g.Floor(m.Profile.Size)) * float64(q.Lifespan))
		}
	}
	return sum * in.Seconds()
}
