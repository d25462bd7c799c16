//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package devicetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"miglab/harness/mig"
	harness "miglab/harness/store"
)

// Open returns a GPU whose state is in a file, so that it outlives the process that
// uses it and two processes can share it. Where there is no file, one is written for a
// GPU as [New] makes it. Faults of [GPU.FailCreate] are the process's own.
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
	for {
		err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
	s := f.first
	raw, err := os.ReadFile(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		s = state{}
		if err := json.Unmarshal(raw, &s); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
	}
	err = change(&s)
	return errors.Join(err, harness.WriteFile(f.path, func(w io.Writer) error { return json.NewEncoder(w).Encode(s) }))
}
