package track

import (
	"context"
	"slices"
	"time"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// Stream is the track of batches that arrive one after the other (FAR 4, DRL online).
var Stream = Register(Track{
	Name: algo.TrackStream, Order: 2, Doc: "schedule batches that arrive one after the other on a MIG GPU; makespan",
	Data: task.Batches{}.Kind(), GPU: "A100", Reconfigures: true,
	Beside: lowerBounds, Boards: []Board{makespanBoard}, Audited: MetricMakespan, Contests: streamContests(),
	Solve: func(ctx context.Context, a algo.Algorithm, p Problem) (Answer, error) {
		return scheduled(p, func(given algo.Problem, lengths []int) (schedule.Schedule, time.Duration, error) {
			b, err := algo.Make[algo.Stream](a)
			if err != nil {
				return schedule.Schedule{}, 0, err
			}
			start := time.Now()
			s, err := b.ScheduleStream(ctx, given, lengths)
			return s, since(b, start), err
		})
	},
	SolveTogether: func(ctx context.Context, a algo.Algorithm, problems []Problem) ([]Answer, error) {
		s, err := algo.Make[algo.Stream](a)
		if err != nil {
			return nil, err
		}
		return scheduledTogether(ctx, a, s, problems, func(in task.Batches) []int { return slices.Clone(in.Lengths) })
	},
})

func streamContests() []Contest {
	streams := drlWorkloads()
	for i := range streams {
		streams[i] += "?batches=8"
	}
	return []Contest{{"A100", mig.Sequential, streams, []string{"far-concat", "agent-stream", "lns-stream"}, 30}}
}
