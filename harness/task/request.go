package task

import (
	"fmt"
	"math"
	"slices"

	"miglab/harness/mig"
)

// A Request asks a cluster for one instance of a profile for some time (MFI IV).
type Request struct {
	// Arrival is the slot in which the request arrives, from 0. Requests are listed in the order of their arrival.
	Arrival int
	// Lifespan is the number of slots for which an accepted request stays, at least 1. It leaves at the beginning of
	// slot Arrival+Lifespan. [Forever] means that it never leaves.
	Lifespan int
	Profile  *mig.Profile
	// GPUs is the number of whole GPUs that the request needs at once. It is rejected unless it
	// gets all of them. The profile then covers a whole GPU. 0 and 1 both mean one instance.
	GPUs int
	// Work and MemoryMB are not 0 if the request asks for memory and work instead of a profile and a lifespan, which
	// [Request.SetProfile] then sets. Work is in slots of a whole GPU.
	Work, MemoryMB int
}

// Share returns the compute slices of a profile in whole percent of the GPU's.
func Share(g *mig.GPU, p *mig.Profile) int { return 100 * int(p.Size) / int(g.ComputeSlices) }

// Instances returns the number of instances that the request needs at once.
func (q *Request) Instances() int { return max(q.GPUs, 1) }

// Slices returns the memory slices of all instances of the request.
func (q *Request) Slices() int { return q.Instances() * int(q.Profile.Length) }

// CheckGPUs returns an error if the request needs several GPUs and its profile is smaller than a
// GPU. The text continues a sentence that begins with the request.
func (q *Request) CheckGPUs(g *mig.GPU) error {
	if q.GPUs < 0 || q.GPUs > 1 && q.Profile.Length != g.MemorySlices {
		return fmt.Errorf("asks for %v on %d GPUs; a request for several GPUs needs the profile of a whole one",
			q.Profile, q.GPUs)
	}
	return nil
}

// SetProfile gives a request for work the smallest standard profile with enough memory. Its lifespan is the work
// divided by the profile's share of the compute slices in whole percent: 14, 28, 42, 57 and 100 for 1g, 2g, 3g, 4g and
// 7g. The text of the error continues a sentence that begins with the request.
func (q *Request) SetProfile(g *mig.GPU) error {
	q.Profile = nil
	for _, p := range RequestProfiles(g) {
		if p.Standard() && p.MemoryMB() >= q.MemoryMB && (q.Profile == nil || p.Size < q.Profile.Size) {
			q.Profile = p
		}
	}
	if q.Profile == nil {
		return fmt.Errorf("asks for %d MB, more than any profile of %s has", q.MemoryMB, g)
	}
	q.setLifespan(g)
	return nil
}

// setLifespan sets the lifespan of a request for work on its profile, rounded up to whole slots.
func (q *Request) setLifespan(g *mig.GPU) {
	share := Share(g, q.Profile)
	q.Lifespan = (100*q.Work + share - 1) / share
}

// Forever is the lifespan of a request that never leaves.
const Forever = math.MaxInt

// RequestProfiles returns the profiles of a model that may be requested, in the model's order. It leaves out the
// "+me" profile, which takes the same slices as the profile without +me (MFI Table I).
func RequestProfiles(g *mig.GPU) []*mig.Profile {
	return slices.DeleteFunc(slices.Clone(g.Profiles), func(p *mig.Profile) bool { return p.MediaExtensions })
}
