package task

import "miglab/harness/mig"

// A Request asks a cluster for one instance of a profile for some time (MFI IV).
type Request struct {
	// Arrival is the slot in which the request comes, from 0; requests are listed by
	// ascending arrival, and those of one slot in the order in which they come.
	Arrival int
	// Lifespan is how many slots an accepted request stays, at least 1: it leaves at
	// the beginning of slot Arrival+Lifespan. [Forever] means that it never leaves.
	Lifespan int
	Profile  *mig.Profile
}

// Forever is the lifespan of a request that never leaves.
const Forever = int(^uint(0) >> 1)

// RequestProfiles returns the profiles that may be requested of a model, in its own
// order: all but the "+me" one, which takes the same slices as its plain twin (MFI
// Table I).
func RequestProfiles(g *mig.GPU) []*mig.Profile {
	var out []*mig.Profile
	for _, p := range g.Profiles {
		if !p.MediaExtensions {
			out = append(out, p)
		}
	}
	return out
}
