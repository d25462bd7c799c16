//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package session

import "os"

// tryLock finds every lock free where the system has none: it is left to the user not
// to start two runs on one GPU.
func tryLock(*os.File) (bool, error) { return true, nil }
