package atomicfile

import (
	"context"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// Lock waits until no other process has the lock of a file, and takes it. It creates the file, which stays. The system
// unlocks it when the process ends, even by SIGKILL. The error is ctx.Err() if ctx ends first.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	taken, failed := make(chan func()), make(chan error, 1)
	go func() {
		unlock, err := lockedfile.MutexAt(path).Lock()
		if err != nil {
			failed <- err
			return
		}
		select {
		case taken <- unlock:
		case <-ctx.Done():
			unlock()
		}
	}()
	select {
	case unlock := <-taken:
		return unlock, nil
	case err := <-failed:
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
