package sim

import (
	"miglab/harness/mig"
	"miglab/harness/task"
)

// A Tally counts requests.
type Tally struct {
	Requests int
	Slices   int // the sum of the memory slices of all their instances
}

func (t *Tally) add(q *task.Request) {
	t.Requests++
	t.Slices += q.Slices()
}

// A Window is a part of a stream that is also counted separately. It contains a request if the memory slices
// requested before it add up to at least From and less than To times the capacity of the cluster.
type Window struct{ From, To float64 }

// Requests returns the requests of a stream that the window contains.
func (w Window) Requests(g *mig.GPU, gpus int, requests []task.Request) []task.Request {
	capacity := float64(gpus * int(g.MemorySlices))
	var out []task.Request
	demand := 0.0
	for i := range requests {
		if demand >= w.From*capacity && demand < w.To*capacity {
			out = append(out, requests[i])
		}
		demand += float64(requests[i].Slices())
	}
	return out
}

// SteadyWindow leaves out the time in which the cluster fills up.
var SteadyWindow = Window{From: 2, To: 5}

// A Load is the state of a cluster at the end of a slot, or its mean over slots.
type Load struct {
	Running       float64           // the number of accepted requests that have not left
	ActiveGPUs    float64           // the number of GPUs with an instance
	UsedSlices    float64           // the number of occupied memory slices of all GPUs
	Fragmentation [readings]float64 // the mean score F over the GPUs, by reading (MFI VI)
}

// PlacementResult is the outcome of a stream of requests.
type PlacementResult struct {
	GPU                           *mig.GPU
	GPUs                          int
	Arrived, Accepted             Tally // count the whole stream
	SteadyArrived, SteadyAccepted Tally // count the window
	AcceptedByProfile             []int // counts accepted requests in the order of the cluster's profiles
	// Final is the state after the last arrival, and Mean is the mean state over the ends of the
	// slots from 0 to the slot of the last arrival.
	Final, Mean Load
	Slots       int            // the number of slots from 0 to the slot of the last arrival
	Rules       task.Migration // limits the moves of workloads
	// Spots has the first places of each request's instances; the list of a rejected request is
	// empty. Moved has all moves. Both are nil unless the scheduler may move.
	Spots [][]Spot
	Moved []Moved
}

// A Metric is a named number of a result.
type Metric struct {
	Name  string
	Value float64
}

// Metrics returns the result as numbers, always in the same order:
//
//   - arrived, accepted: requests; accepted_PROFILE: accepted requests for a profile
//   - acceptance, acceptance_slices: accepted share of the requests and of their
//     memory slices
//   - running (requests), active_gpus, utilisation, utilisation_active (occupied share
//     of the memory slices of all GPUs and of the active ones), fragmentation (mean F
//     of the literal reading), fragmentation_partial, fragmentation_start-free: after
//     the last arrival
//   - mean_...: the same as means over the slots; mean_utilisation_active is the ratio
//     of the means
//   - moves, and moves_gpu_window, the mean number for each GPU in a window of the rules: only if
//     moves are allowed
//   - arrived_steady, acceptance_steady, acceptance_slices_steady: the same in the
//     window; they are absent if the window contains no request.
func (r *PlacementResult) Metrics() []Metric {
	out := []Metric{
		{"arrived", float64(r.Arrived.Requests)},
		{"accepted", float64(r.Accepted.Requests)},
		{"acceptance", ratio(r.Accepted.Requests, r.Arrived.Requests)},
		{"acceptance_slices", ratio(r.Accepted.Slices, r.Arrived.Slices)},
	}
	out = r.load(out, "", &r.Final)
	out = r.load(out, "mean_", &r.Mean)
	for i, p := range task.RequestProfiles(r.GPU) {
		out = append(out, Metric{"accepted_" + p.String(), float64(r.AcceptedByProfile[i])})
	}
	if r.Rules.Window > 0 {
		windows := float64(r.Slots) / float64(r.Rules.Window)
		out = append(out, Metric{"moves", float64(len(r.Moved))},
			Metric{"moves_gpu_window", float64(len(r.Moved)) / (windows * float64(r.GPUs))})
	}
	if r.SteadyArrived.Requests > 0 {
		out = append(out,
			Metric{"arrived_steady", float64(r.SteadyArrived.Requests)},
			Metric{"acceptance_steady", ratio(r.SteadyAccepted.Requests, r.SteadyArrived.Requests)},
			Metric{"acceptance_slices_steady", ratio(r.SteadyAccepted.Slices, r.SteadyArrived.Slices)})
	}
	return out
}

func (r *PlacementResult) load(to []Metric, prefix string, l *Load) []Metric {
	slices := float64(r.GPU.MemorySlices)
	active := 0.0
	if l.ActiveGPUs > 0 {
		active = l.UsedSlices / (l.ActiveGPUs * slices)
	}
	return append(to,
		Metric{prefix + "running", l.Running},
		Metric{prefix + "active_gpus", l.ActiveGPUs},
		Metric{prefix + "utilisation", l.UsedSlices / (float64(r.GPUs) * slices)},
		Metric{prefix + "utilisation_active", active},
		Metric{prefix + "fragmentation", l.Fragmentation[Literal]},
		Metric{prefix + "fragmentation_partial", l.Fragmentation[Partial]},
		Metric{prefix + "fragmentation_start-free", l.Fragmentation[StartFree]})
}

func ratio(part, whole int) float64 { return float64(part) / float64(whole) }
