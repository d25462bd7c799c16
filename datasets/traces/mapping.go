// Package traces converts jobs of production traces to requests for MIG profiles and jobs with
// durations. The traces were recorded on GPUs without MIG, so that the profile of a job is an
// assumption; a [Mapping] makes it explicit. A row that is not a possible job is [Rejected] with a
// reason, and a file without the columns of its format is refused.
package traces

import (
	"miglab/harness/mig"
	"miglab/harness/task"
)

// A Mapping is the rule that chooses the profile for a job that asks for a share of a GPU.
type Mapping string

const (
	// Compute takes the smallest profile that has at least the job's share of the compute
	// slices. Of profiles with equally many, it takes the one with the least memory.
	Compute Mapping = "compute"
	// Memory takes the smallest profile that has at least the job's share of the memory slices.
	// Of profiles with equally many, it takes the one with the fewest compute slices.
	Memory Mapping = "memory"
)

// MappingNames returns the names of all mappings, the default first.
func MappingNames() []string { return []string{string(Compute), string(Memory)} }

// WholeGPU is the share of a job that needs a whole GPU, in thousandths.
const WholeGPU = 1000

// Profile returns the profile for a share of a GPU in thousandths, from 1 to [WholeGPU].
func (m Mapping) Profile(g *mig.GPU, milli int) *mig.Profile {
	size := func(p *mig.Profile) (own, total, other mig.Slices) {
		if m == Memory {
			return p.Length, g.MemorySlices, p.Size
		}
		return p.Size, g.ComputeSlices, p.Length
	}
	var best *mig.Profile
	for _, p := range task.RequestProfiles(g) {
		own, total, other := size(p)
		if int(own)*WholeGPU < milli*int(total) {
			continue
		}
		if best != nil {
			bestOwn, _, bestOther := size(best)
			if own > bestOwn || own == bestOwn && other >= bestOther {
				continue
			}
		}
		best = p
	}
	return best
}

// Request returns the request of a job that needs a share of one GPU, or several whole GPUs. Its
// lifespan is at least one slot.
func (m Mapping) Request(g *mig.GPU, arrival, lifespan, gpus, milli int) task.Request {
	q := task.Request{Arrival: arrival, Lifespan: max(lifespan, 1)}
	if gpus > 1 {
		q.GPUs, milli = gpus, WholeGPU
	}
	q.Profile = m.Profile(g, milli)
	return q
}
