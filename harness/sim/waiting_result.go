package sim

import (
	"miglab/harness/mig"
	"miglab/harness/stats"
	"miglab/harness/task"
)

// WaitingResult is the outcome of a stream of requests that wait. Times are in slots.
type WaitingResult struct {
	// In is the stream. Starts and Ends have the slots in which each request begins and leaves, and Spots has its first
	// places. Moved has all moves in order; nil if the scheduler does not move.
	In           task.Requests
	Starts, Ends []int
	Spots        [][]Spot
	Moved        []WaitingMove
	// Blocked is the number of requests that were rejected at least once although the cluster had as many free compute
	// and memory slices as they need.
	Blocked int
	Use     Use
}

// Use is the use of a cluster between [WarmUp] and the last arrival. All values except Slots and Peak are means over
// that time.
type Use struct {
	Slots int // the length of that time; 0 if the last request arrives before [WarmUp]
	// Compute and Memory are the shares of compute and memory slices in use, and Queued is the share of the time in
	// which a request waits. Fragmentation is the mean over the GPUs of 1 - longest free run / free slices, among the
	// slices at which 1g can be; it is 0 for a GPU without free slices.
	Compute, Memory, Fragmentation, Queued float64
	Peak                                   float64 // the largest share of compute or memory slices in use at any time
}

// WarmUp is the time after the beginning of a stream, in seconds, at which the measurement of [Use] begins.
const WarmUp = 30

// waitingUse is the present use of a cluster with requests that wait, and its integrals over time.
type waitingUse struct {
	gpu  *mig.GPU
	gpus int
	// from and to are the slots between which [Use] is measured, and now is the present slot.
	from, to, now int
	used, compute int           // the numbers of memory and compute slices in use
	scattered     int           // the sum of scatter over the GPUs
	scatter       *[Masks]int32 // see scatterByMask
	sum           Use           // the sums over the slots, except for Peak
}

// scatterScale is a multiple of 1 to 8: its product with 1 - run / free is a whole number for up to 8 free slices.
const scatterScale = 840

// scatterByMask returns scatterScale times the fragmentation of a GPU, by its mask (see [Use]).
var scatterByMask = mig.Derived(func(g *mig.GPU) *[Masks]int32 {
	var out [Masks]int32
	for m := range 1 << g.MemorySlices {
		free, longest, run := 0, 0, 0
		for i := range g.ComputeSlices {
			if m>>i&1 == 0 {
				free++
				run++
			} else {
				run = 0
			}
			longest = max(longest, run)
		}
		if free > 0 {
			out[m] = int32(scatterScale - scatterScale*longest/free)
		}
	}
	return &out
})

// advance ends all slots before the given one.
func (s *waitingUse) advance(to int, queued bool) {
	if to > s.now {
		s.sum.Peak = max(s.sum.Peak, float64(s.used)/float64(s.memory()), float64(s.compute)/float64(s.slices()))
	}
	slots := min(to, s.to) - max(s.now, s.from)
	s.now = to
	if slots <= 0 {
		return
	}
	s.sum.Slots += slots
	n := float64(slots)
	s.sum.Compute += float64(n * float64(s.compute))
	s.sum.Memory += float64(n * float64(s.used))
	s.sum.Fragmentation += n * float64(s.scattered) / scatterScale
	if queued {
		s.sum.Queued += n
	}
}

func (s *waitingUse) means() Use {
	u := s.sum
	n := float64(u.Slots)
	if n > 0 {
		u.Compute /= n * float64(s.slices())
		u.Memory /= n * float64(s.memory())
		u.Fragmentation /= n * float64(s.gpus)
		u.Queued /= n
	}
	return u
}

// memory and slices return the number of memory and compute slices of all GPUs.
func (s *waitingUse) memory() int { return s.gpus * int(s.gpu.MemorySlices) }
func (s *waitingUse) slices() int { return s.gpus * int(s.gpu.ComputeSlices) }

// Metrics returns the result as numbers:
//
//   - wait_mean_s, wait_p50_s, wait_p95_s, wait_p99_s: from arrival to start; pauses after moves do not count
//   - turnaround_mean_s: from arrival to end; slowdown: the mean of a request's turnaround over its lifespan
//   - makespan_s: the end of the last request
//   - blocked_by_geometry: the share of [WaitingResult.Blocked]
//   - moves: only if moves are allowed
//   - peak_used, and over the time of [Use] slices_used (of compute), memory_used, fragmentation and queued; they are
//     absent if that time is empty.
func (r *WaitingResult) Metrics() ([]Metric, error) {
	requests, slot := r.In.Requests, r.In.Seconds()
	waits := make([]float64, len(requests))
	var wait, turnaround, slowdown float64
	end := 0
	for i := range requests {
		q := &requests[i]
		waits[i] = float64(float64(r.Starts[i]-q.Arrival) * slot)
		stay := float64(float64(r.Ends[i]-r.Starts[i]) * slot)
		wait += waits[i]
		turnaround += waits[i] + stay
		slowdown += (waits[i] + stay) / float64(float64(q.Lifespan)*slot)
		end = max(end, r.Ends[i])
	}
	n := float64(len(requests))
	out := []Metric{
		{"wait_mean_s", wait / n},
		{"turnaround_mean_s", turnaround / n},
		{"slowdown", slowdown / n},
		{"makespan_s", float64(end) * slot},
		{"blocked_by_geometry", float64(r.Blocked) / n},
		{"peak_used", r.Use.Peak},
	}
	if r.In.Migration.Moves > 0 {
		out = append(out, Metric{"moves", float64(len(r.Moved))})
	}
	for _, p := range []struct {
		name string
		q    float64
	}{{"wait_p50_s", 0.5}, {"wait_p95_s", 0.95}, {"wait_p99_s", 0.99}} {
		v, err := stats.Quantile(waits, p.q)
		if err != nil {
			return nil, err
		}
		out = append(out, Metric{p.name, v})
	}
	u := &r.Use
	if u.Slots > 0 {
		out = append(out, Metric{"slices_used", u.Compute}, Metric{"memory_used", u.Memory},
			Metric{"fragmentation", u.Fragmentation}, Metric{"queued", u.Queued})
	}
	return out, nil
}
