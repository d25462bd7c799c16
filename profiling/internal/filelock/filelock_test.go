//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filelock_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"miglab/profiling/internal/filelock"
)

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first, second, third := open(), open(), open()
	defer second.Close()
	if free, err := filelock.Try(first); err != nil || !free {
		t.Fatalf("the first lock: %v, %v", free, err)
	}
	if free, err := filelock.Try(second); err != nil || free {
		t.Fatalf("the second lock: %v, %v; the first holds it", free, err)
	}
	taken := make(chan error, 1)
	go func() { taken <- filelock.Wait(third) }()
	select {
	case err := <-taken:
		t.Fatalf("the wait ended while the file was locked: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	first.Close()
	if err := <-taken; err != nil {
		t.Fatal(err)
	}
	if free, err := filelock.Try(second); err != nil || free {
		t.Fatalf("the second lock: %v, %v; the third holds it", free, err)
	}
	third.Close()
	if free, err := filelock.Try(second); err != nil || !free {
		t.Fatalf("the second lock: %v, %v; nobody holds it", free, err)
	}
}
