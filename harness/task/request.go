package task

import "miglab/harness/mig"

// A Request asks a cluster for one instance of a profile for some time (MFI IV).
type Request struct {
	// Arrival is the slot in which the request arrives, from 0. Requests are listed in the
	// order of their arrival.
	Arrival int
	// Lifespan is the number of slots for which an accepted request stays, at least 1. It
	// leaves at the beginning of slot Arrival+Lifespan. [Forever] means that it never
	// leaves.
	Lifespan int
	Profile  *mig.Profile
}

// Forever is the lifespan of a request that never leaves.
const Forever = int(^uint(0) >> 1)

// RequestProfiles returns the profiles of a model that may be requested, in the model's
// order. These are all but the "+me" profile, which takes the same slices as the profile
// without +me (MFI Table I).
func RequestProfiles(g *mig.GPU) []*mig.Profile {
	var out []*mig.Profile
	for _, p := range g.Profiles {
		if !p.MediaExtensions {
			out = append(out, p)
		}
	}
	return out
}
