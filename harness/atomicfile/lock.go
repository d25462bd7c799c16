package atomicfile

import (
	"context"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// Lock waits until nobody else has the lock of a file, in this process or another, and takes it. It creates the file,
// which stays. The system unlocks it when the process ends, even by SIGKILL. The error is ctx.Err() if ctx ends first;
// a goroutine then goes on waiting, and gives the lock back.
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
