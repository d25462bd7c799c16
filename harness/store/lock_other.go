//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package store

import "os"

// lock does nothing where the system has no such lock: it is left to the user not
// to start two processes on one shard.
func lock(*os.File) error { return nil }

// lockWaiting does nothing where the system has no such lock.
func lockWaiting(*os.File) error { return nil }
