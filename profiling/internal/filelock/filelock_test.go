//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filelock_test

import (
	"path/filepath"
	"testing"

	"miglab/profiling/internal/filelock"
)

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := filelock.Open(path)
	if err != nil || first == nil {
		t.Fatalf("the first lock: %v, %v", first, err)
	}
	if second, err := filelock.Open(path); err != nil || second != nil {
		t.Fatalf("the second lock: %v, %v; the first holds it", second, err)
	}
	first.Close()
	second, err := filelock.Open(path)
	if err != nil || second == nil {
		t.Fatalf("the second lock: %v, %v; nobody holds it", second, err)
	}
	second.Close()
	if _, err := filelock.Open(filepath.Join(path, "below")); err == nil {
		t.Error("a file below a file was locked")
	}
}
