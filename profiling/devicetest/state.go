package devicetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/internal/filelock"
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
	profiling.Process
	On int
}

func (s *state) find(id int) *instance {
	if i := slices.IndexFunc(s.Instances, func(i instance) bool { return i.ID == id }); i >= 0 {
		return &s.Instances[i]
	}
	return nil
}

// A store keeps a state: in this process, or, with a path, in a JSON file with a lock file
// beside it. If a process is killed, the file has the state before or after its change.
type store struct {
	path string
	mu   sync.Mutex
	// s is the state; with a path, that of a new file.
	s state
}

// update lets one caller at a time change the state. It keeps the changes even if change fails.
func (f *store) update(change func(*state) error) error {
	if f.path == "" {
		f.mu.Lock()
		defer f.mu.Unlock()
		return change(&f.s)
	}
	lock, err := filelock.Open(f.path + ".lock")
	for ; lock == nil && err == nil; lock, err = filelock.Open(f.path + ".lock") {
		time.Sleep(100 * time.Microsecond)
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	s := f.s
	old, err := os.ReadFile(f.path)
	if err == nil {
		s = state{}
		err = json.Unmarshal(old, &s)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	refused := change(&s)
	raw, err := json.Marshal(s)
	if err == nil && !bytes.Equal(raw, old) { // Tests do not survive a power cut, so the file is not flushed to disk.
		err = errors.Join(os.WriteFile(f.path+".new", raw, 0o644), os.Rename(f.path+".new", f.path))
	}
	return errors.Join(refused, err)
}
