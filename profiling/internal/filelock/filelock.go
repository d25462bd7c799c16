//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

// Package filelock locks files against other processes. The system lifts a lock when the file is closed or when the
// process ends, even by SIGKILL.
package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Open opens a file, which it makes if it is missing, and takes its lock. The file is nil if the lock is not free.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = nil
	}
	return nil, err
}
