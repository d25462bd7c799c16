package atomicfile

import (
	"context"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// Lock waits for the lock of a file, which one goroutine of one process has at a time, and takes it. It creates the
// file and leaves it there. The system releases the lock when the process ends, even by SIGKILL. If ctx ends first,
// Lock returns ctx.Err(); a goroutine then goes on waiting and releases the lock.
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
