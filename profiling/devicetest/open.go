package devicetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"miglab/harness/mig"
	"miglab/profiling/internal/filelock"
)

// Open returns a GPU with its state in a file, so that it outlives the process and several
// processes can share it. If the file does not exist, Open writes the state of a GPU as
// [New] makes it. Faults of [GPU.FailCreate] and [GPU.FailCompute] stay in the process.
func Open(path string, model *mig.GPU, opts ...Option) (*GPU, error) {
	g := build(model, opts)
	g.store = &store{path: path, s: g.first}
	return g, g.store.update(func(*state) error { return nil })
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
	lock, err := os.OpenFile(f.path+".lock", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := filelock.Wait(lock); err != nil {
		return err
	}
	s := f.s
	old, err := os.ReadFile(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		s = state{}
		if err := json.Unmarshal(old, &s); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
	}
	refused := change(&s)
	raw, err := json.Marshal(s)
	if err != nil || bytes.Equal(raw, old) {
		return errors.Join(refused, err)
	}
	// Tests do not survive a power cut, so the file is not flushed to disk.
	if err := os.WriteFile(f.path+".new", raw, 0o644); err != nil {
		return errors.Join(refused, err)
	}
	return errors.Join(refused, os.Rename(f.path+".new", f.path))
}
