package bounds

import (
	"math"

	"miglab/harness/algo"
	"miglab/harness/mig"
)

// options says when each task can end at the earliest, by size.
//
// A task on size s starts neither before its release nor before ready(s). Its instance is
// either created, which takes until create(s) at the earliest, or exists at the start and
// cannot be used before it is idle.
type options struct {
	sizes []mig.Slices
	// ends holds max(release_i, ready(s)) + t_i(s), and times holds t_i(s), by task and
	// size; +Inf if the task does not fit.
	ends, times [][]mig.Seconds
}

func newOptions(p *algo.Problem) *options {
	var ready [mig.MaxSize + 1]mig.Seconds
	for _, s := range p.GPU.Sizes() {
		ready[s] = cost(p, p.GPU.Profile(s).Create)
	}
	for _, e := range p.Start {
		s := e.Instance.Size()
		ready[s] = min(ready[s], e.BusyUntil)
	}
	o := &options{sizes: p.GPU.Sizes()}
	for i := range p.Tasks {
		ends, times := make([]mig.Seconds, len(o.sizes)), make([]mig.Seconds, len(o.sizes))
		for j, s := range o.sizes {
			times[j] = p.Tasks[i].On(s)
			ends[j] = max(p.ReleaseOf(i), ready[s]) + times[j]
		}
		o.ends, o.times = append(o.ends, ends), append(o.times, times)
	}
	return o
}

// longest returns the longest-task term of [Prove] in seconds,
//
//	max_i min_s (max(release_i, ready(s)) + t_i(s)).
//
// PROVEN: no task ends before its least end.
func (o *options) longest() mig.Seconds {
	var most mig.Seconds
	for _, ends := range o.ends {
		end := mig.Seconds(math.Inf(1))
		for _, e := range ends {
			end = min(end, e)
		}
		most = max(most, end)
	}
	return most
}
