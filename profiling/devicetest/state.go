package devicetest

import (
	"sync"
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

type store interface {
	// update lets one caller at a time change the state. It keeps the changes even if f
	// fails.
	update(f func(*state) error) error
}

// memory keeps the state in this process.
type memory struct {
	mu sync.Mutex
	s  state
}

func (m *memory) update(f func(*state) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return f(&m.s)
}
