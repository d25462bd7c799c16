package devicetest

import (
	"time"

	"miglab/harness/mig"
)

// state is everything that outlives a process.
type state struct {
	MIG, Pending    bool
	Lost, Forbidden bool
	Instances       []instance
	Processes       []process
}

type instance struct {
	ID int
	// Profile is the driver's number of the profile.
	Profile int
	Start   mig.Slices
	// Compute says whether its compute instance exists.
	Compute bool
	// Refusals and Until say how often, and until when, the GPU refuses to destroy it.
	Refusals int
	Until    time.Time
}

type process struct {
	PID  int
	Name string
	On   int
}

func (s *state) find(id int) *instance {
	for i := range s.Instances {
		if s.Instances[i].ID == id {
			return &s.Instances[i]
		}
	}
	return nil
}
