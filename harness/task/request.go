package task

import (
	"fmt"
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

// Forever is the lifespan of a request that never leaves.
const Forever = int(^uint(0) >> 1)

// RequestProfiles returns the profiles of a model that may be requested, in the model's order. It leaves out the
// "+me" profile, which takes the same slices as the profile without +me (MFI Table I).
func RequestProfiles(g *mig.GPU) []*mig.Profile {
	return slices.DeleteFunc(slices.Clone(g.Profiles), func(p *mig.Profile) bool { return p.MediaExtensions })
}
