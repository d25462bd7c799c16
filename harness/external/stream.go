package external

import (
	"context"

	"miglab/harness/algo"
	"miglab/harness/schedule"
)

func init() {
	protocols[algo.TrackStream] = func(p *program) algo.Constructor {
		return algo.NewStream(func(algo.Args) (algo.Stream, error) { return newScheduler(p), nil })
	}
}

// arrival is the question of the stream track for a later batch. The question for the first batch is an instance.
type arrival struct {
	Type  string `json:"type"` // tasks
	ID    int64  `json:"id"`
	Tasks []job  `json:"tasks"`
}

// ScheduleStream implements [algo.Stream]. The program sees a batch only after it has scheduled the previous batch.
func (s *scheduler) ScheduleStream(ctx context.Context, problem algo.Problem,
	lengths []int,
) (schedule.Schedule, error) {
	first := newInstance(&problem, lengths[0])
	var whole schedule.Schedule
	err := s.converse(ctx, first.ID, func(c *conversation) error {
		whole = schedule.Schedule{GPU: problem.GPU, Algorithm: s.name, Model: problem.Model}
		from := 0
		for k, n := range lengths {
			var question any = first
			if k > 0 {
				question = arrival{"tasks", first.ID, jobs(&problem, from, from+n)}
			}
			var answer solution
			if err := c.ask(question, &answer); err != nil {
				return err
			}
			part := problem
			part.Tasks, part.Release = problem.Tasks[from:from+n], nil
			own, err := answer.read(part)
			if err != nil {
				return err
			}
			addBatch(&whole, own, from)
			from += n
		}
		return nil
	})
	return whole, err
}

// addBatch appends the schedule of a batch; from is the index of its first task.
func addBatch(whole *schedule.Schedule, s schedule.Schedule, from int) {
	if s.Model != whole.Model {
		whole.Model = s.Model // the referee refuses it
	}
	for _, pl := range s.Placements {
		pl.Task += from
		whole.Placements = append(whole.Placements, pl)
	}
	whole.Operations = append(whole.Operations, s.Operations...)
	for name, n := range s.Counters {
		if whole.Counters == nil {
			whole.Counters = map[string]int{}
		}
		whole.Counters[name] += n
	}
}
