//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

// Package filelock locks files against other processes. The system lifts a lock when
// the file is closed or when the process ends, even by SIGKILL.
package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Try takes the lock of a file and reports whether it was free.
func Try(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// Wait takes the lock of a file as soon as it is free.
func Wait(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
