package sim

import (
	"math"
	"math/bits"

	"miglab/harness/mig"
	"miglab/harness/stats"
	"miglab/harness/task"
)

// WaitingResult is the outcome of a stream of requests that wait. Times are in slots.
type WaitingResult struct {
	GPU *mig.GPU
	// In is the stream. Starts has the slot in which each request begins, and Spots its places.
	In     task.Requests
	Starts []int
	Spots  [][]Spot
	// Blocked is the number of requests that were rejected at an instant at which the cluster had as many free memory
	// slices as they need.
	Blocked int
	Use     Use
}

// Use is what a cluster is used for between [WarmUp] and the last arrival. All values are means over time.
type Use struct {
	// Slots is how long that is; 0 if the last request arrives before.
	Slots int
	// Compute and Memory are the shares of compute and memory slices in use, Fragmentation the mean over the GPUs with
	// free slices of 1 - longest free run / free slices, and Queued the share of the time in which a request waits.
	Compute, Memory, Fragmentation, Queued float64
	// Peak is the largest share of memory slices in use at any time.
	Peak float64
}

// WarmUp is how many seconds after the beginning of a stream its use counts.
const WarmUp = 30

// waitingState is the state of a cluster with requests that wait, and its integrals over time.
type waitingState struct {
	gpu              *mig.GPU
	gpus, from, to   int
	now              int
	used, compute    int // slices in use
	scattered, rooms int // sum over the GPUs with free slices of what scatterOf gives, and their number
	scatter          *[Masks]int32
	sum              Use
	peak             int
}

// scatterScale makes 1 - run / free a whole number for up to 8 free slices.
const scatterScale = 840

var scatterOf = mig.Derived(func(g *mig.GPU) *[Masks]int32 {
	var out [Masks]int32
	for m := range 1 << g.MemorySlices {
		free, longest, run := int(g.MemorySlices)-bits.OnesCount(uint(m)), 0, 0
		for i := range g.MemorySlices {
			if run++; m>>i&1 != 0 {
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

func newWaitingState(g *mig.GPU, in *task.Requests) waitingState {
	return waitingState{
		gpu: g, gpus: in.GPUs, from: int(math.Ceil(WarmUp / in.Seconds())), to: in.Requests[len(in.Requests)-1].Arrival,
		rooms: in.GPUs, scatter: scatterOf(g),
	}
}

// change notes that a GPU has another mask.
func (s *waitingState) change(from, to mig.Mask) {
	s.used += int(to.Count()) - int(from.Count())
	s.scattered += int(s.scatter[to] - s.scatter[from])
	s.rooms += s.room(to) - s.room(from)
}

func (s *waitingState) room(m mig.Mask) int {
	if m.Count() < s.gpu.MemorySlices {
		return 1
	}
	return 0
}

// advance lets the slots before one end.
func (s *waitingState) advance(to int, queued bool) {
	if to > s.now {
		s.peak = max(s.peak, s.used)
	}
	slots := min(to, s.to) - max(s.now, s.from)
	s.now = to
	if slots <= 0 {
		return
	}
	s.sum.Slots += slots
	n := float64(slots)
	s.sum.Compute += n * float64(s.compute)
	s.sum.Memory += n * float64(s.used)
	if s.rooms > 0 {
		s.sum.Fragmentation += n * float64(s.scattered) / float64(s.rooms) / scatterScale
	}
	if queued {
		s.sum.Queued += n
	}
}

// block notes that a kind of request is rejected now. It returns how many requests of it are kept out by the geometry
// for the first time.
func (s *waitingState) block(k *waitingKind) int {
	free := s.gpus*int(s.gpu.MemorySlices) - s.used
	if free < k.slices {
		return 0
	}
	waiting := len(k.queue) - k.head
	more := waiting - k.blocked
	k.blocked = waiting
	return more
}

func (s *waitingState) use() Use {
	u := s.sum
	if n := float64(u.Slots); n > 0 {
		u.Compute /= n * float64(s.gpus*int(s.gpu.ComputeSlices))
		u.Memory /= n * float64(s.gpus*int(s.gpu.MemorySlices))
		u.Fragmentation /= n
		u.Queued /= n
	}
	u.Peak = float64(s.peak) / float64(s.gpus*int(s.gpu.MemorySlices))
	return u
}

// Metrics returns the result as numbers:
//
//   - wait_mean_s, wait_p50_s, wait_p95_s, wait_p99_s: from arrival to start
//   - turnaround_mean_s: from arrival to end; slowdown: the mean of that over the lifespan
//   - makespan_s: the end of the last request
//   - blocked_by_geometry: the share of [WaitingResult.Blocked]
//   - loaded: 1 where peak use is at least 99 % and a request waits in at least 90 % of the time of [Use], so that
//     schedulers can differ; else 0
//   - peak_used, and over the time of [Use] slices_used (of compute), memory_used, fragmentation and queued; they are
//     absent if that time is empty.
func (r *WaitingResult) Metrics() ([]Metric, error) {
	requests, slot := r.In.Requests, r.In.Seconds()
	waits := make([]float64, len(requests))
	var wait, turnaround, slowdown float64
	end := 0
	for i := range requests {
		q := &requests[i]
		waits[i] = float64(r.Starts[i]-q.Arrival) * slot
		stay := float64(q.Lifespan) * slot
		wait += waits[i]
		turnaround += waits[i] + stay
		slowdown += (waits[i] + stay) / stay
		end = max(end, r.Starts[i]+q.Lifespan)
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
	if u := &r.Use; u.Slots > 0 {
		out = append(out, Metric{"slices_used", u.Compute}, Metric{"memory_used", u.Memory},
			Metric{"fragmentation", u.Fragmentation}, Metric{"queued", u.Queued})
	}
	return out, nil
}
