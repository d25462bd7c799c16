package plan

import (
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

func init() {
	algo.RegisterClock(func(p algo.Problem) algo.Clock { return planClock{NewTimer(p, Start(p))} })
}

// A planClock times the plans of programs outside miglab with the clocks of all schedulers.
type planClock struct{ timer *Timer }

// Add implements [algo.Clock].
func (c planClock) Add(plan schedule.Plan) {
	for _, planned := range plan {
		u := Use{GPU: planned.GPU, Instance: planned.Instance}
		for _, i := range planned.Tasks {
			u.Tasks = append(u.Tasks, Task{Seconds: float64(c.timer.p.Tasks[i].On(u.Instance.Size())), Index: int32(i)})
		}
		c.timer.clocks[u.GPU].add(u, float64(planned.NotBefore))
	}
	c.timer.Run()
}

// Existing implements [algo.Clock]. Instances are sorted by GPU and slice.
func (c planClock) Existing() []schedule.Existing {
	var out []schedule.Existing
	for g := range c.timer.clocks {
		for m := range int(mig.MaxMemorySlices) {
			in, end := c.timer.Slice(g, m)
			if in.Profile != nil && int(in.Start) == m {
				out = append(out, schedule.Existing{GPU: g, Instance: in, BusyUntil: mig.Seconds(end)})
			}
		}
	}
	return out
}

// Schedule implements [algo.Clock].
func (c planClock) Schedule() schedule.Schedule { return c.timer.Schedule() }
