package schedule_test

import (
	"fmt"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// alternating returns a valid schedule of n tasks of one second each. It changes between
// 2-2 and 4 slices after every ten tasks.
func alternating(n int) (schedule.Problem, schedule.Schedule) {
	p := schedule.Problem{GPU: a100}
	s := schedule.Schedule{GPU: a100}
	var now mig.Seconds
	operate := func(op schedule.Op, in mig.Instance, cost mig.Seconds) {
		s.Operations = append(s.Operations, schedule.Operation{Op: op, Instance: in, Start: now, End: now + cost})
		now += cost
	}
	sides := [][]mig.Instance{{at(2, 0), at(2, 2)}, {at(4, 0)}}
	for ten := 0; ten < n; ten += 10 {
		side := sides[ten/10%2]
		for _, in := range side {
			operate(schedule.Create, in, in.Profile.Create)
		}
		begin := now
		for i := ten; i < min(ten+10, n); i++ {
			in := side[i%len(side)]
			start := begin + mig.Seconds((i-ten)/len(side))
			p.Tasks = append(p.Tasks, task.New(fmt.Sprint(i), map[mig.Slices]mig.Seconds{in.Size(): 1}))
			s.Placements = append(s.Placements, schedule.Placement{Task: i, Instance: in, Start: start, End: start + 1})
			now = start + 1
		}
		for _, in := range side {
			operate(schedule.Destroy, in, in.Profile.Destroy)
		}
	}
	return p, s
}
