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
	Type string `json:"type"` // tasks
	ID   int64  `json:"id"`
	// Start has the instances that the program's plans have left. It is missing after schedules.
	Start []existing `json:"start,omitempty"`
	Tasks []job      `json:"tasks"`
}

// ScheduleStream implements [algo.Stream]. The program sees a batch only after it has scheduled the previous batch.
func (s *scheduler) ScheduleStream(ctx context.Context, problem algo.Problem,
	lengths []int,
) (schedule.Schedule, error) {
	first := newInstance(&problem, lengths[0])
	var all timetable
	err := s.converse(ctx, first.ID, func(c *conversation) error {
		all = newTimetable(problem, s.name)
		for k, n := range lengths {
			var question any = first
			if k > 0 {
				question = arrival{"tasks", first.ID, all.existing(), jobs(&problem, all.next, all.next+n)}
			}
			answer := solution{protocol: s.hello.Protocol}
			if err := c.ask(question, &answer); err != nil {
				return err
			}
			if err := all.add(&answer, n); err != nil {
				return err
			}
		}
		return nil
	})
	return all.schedule(), err
}
