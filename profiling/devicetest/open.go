package devicetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"miglab/harness/mig"
	"miglab/profiling/internal/filelock"
)

// Open returns a GPU whose state is in a file, so that it outlives the process that
// uses it and two processes can share it. Where there is no file, one is written for a
// GPU as [New] makes it. Faults of [GPU.FailCreate] and [GPU.FailCompute] are the
// process's own.
func Open(path string, model *mig.GPU, opts ...Option) (*GPU, error) {
	g := build(model, opts)
	f := &file{path: path, first: g.first}
	g.store = f
	return g, f.update(func(*state) error { return nil })
}

// file keeps the state in a file of JSON. A lock beside it keeps two processes apart,
// and a process that is killed leaves the state before its change or after it.
type file struct {
	path  string
	first state
}

func (f *file) update(change func(*state) error) error {
	lock, err := os.OpenFile(f.path+".lock", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := filelock.Wait(lock); err != nil {
		return err
	}
	s := f.first
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
	// A power cut is nothing that tests survive, so there is no flush to disk.
	if err := os.WriteFile(f.path+".new", raw, 0o644); err != nil {
		return errors.Join(refused, err)
	}
	return errors.Join(refused, os.Rename(f.path+".new", f.path))
}
