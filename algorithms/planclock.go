package algorithms

import (
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

func init() { algo.RegisterClock(newPlanClock) }

// A planClock times the plans of programs outside miglab with the clocks that time the plans of this package.
type planClock struct{ *timer }

func newPlanClock(p algo.Problem) algo.Clock {
	t := newTimer(p, firstAsked)
	t.begin(remnants(p))
	return planClock{t}
}

// Add implements [algo.Clock].
func (c planClock) Add(plan schedule.Plan) {
	for _, planned := range plan {
		u := use{gpu: planned.GPU, in: planned.Instance}
		for _, i := range planned.Tasks {
			u.tasks = append(u.tasks, timedTask{time: float64(c.p.Tasks[i].On(u.in.Size())), task: int32(i)})
		}
		c.clocks[u.gpu].add(u, float64(planned.NotBefore))
	}
	c.run()
}

// Existing implements [algo.Clock]. Instances are sorted by GPU and slice.
func (c planClock) Existing() []schedule.Existing {
	var out []schedule.Existing
	for g := range c.clocks {
		for m := range c.clocks[g].last {
			holder, end := c.clocks[g].holder(m)
			if holder != nil && int(holder.in.Start) == m {
				out = append(out, schedule.Existing{GPU: g, Instance: holder.in, BusyUntil: mig.Seconds(end)})
			}
		}
	}
	return out
}

// Schedule implements [algo.Clock].
func (c planClock) Schedule() schedule.Schedule { return c.schedule() }
