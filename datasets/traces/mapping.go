// Package traces reads the jobs of production traces ([Read]) and converts them to requests for MIG profiles
// ([Requests]) and to jobs with deadlines ([Jobs]).
//
// Most traces were recorded on GPUs without MIG, so that the profile of a job is an assumption; a [Mapping] makes it
// explicit. Durations on other sizes are an assumption too, a [Law]. A row that is not a possible job is [Rejected] with
// a reason. A file without the columns of its format is refused.
package traces

import (
	"cmp"

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
	whole := g.ComputeSlices
	if m == Memory {
		whole = g.MemorySlices
	}
	var best *mig.Profile
	for _, p := range task.RequestProfiles(g) {
		mapped, _ := m.slices(p)
		if int(mapped)*WholeGPU >= milli*int(whole) && (best == nil || m.compare(p, best) < 0) {
			best = p
		}
	}
	return best
}

// slices returns the number of slices of the mapped kind of a profile, and the number of the other kind.
func (m Mapping) slices(p *mig.Profile) (mapped, other mig.Slices) {
	if m == Memory {
		return p.Length, p.Size
	}
	return p.Size, p.Length
}

// compare orders profiles by the mapped kind of slices, and then by the other kind.
func (m Mapping) compare(a, b *mig.Profile) int {
	mappedA, otherA := m.slices(a)
	mappedB, otherB := m.slices(b)
	return cmp.Or(cmp.Compare(mappedA, mappedB), cmp.Compare(otherA, otherB))
}

// Request returns the request of a job that needs a share of one GPU, in thousandths, or several whole GPUs. The
// lifespan of the request is at least one slot.
func (m Mapping) Request(g *mig.GPU, arrival, lifespan, gpus, milli int) task.Request {
	q := task.Request{Arrival: arrival, Lifespan: max(lifespan, 1)}
	if gpus > 1 {
		q.GPUs, milli = gpus, WholeGPU
	}
	q.Profile = m.Profile(g, milli)
	return q
}
