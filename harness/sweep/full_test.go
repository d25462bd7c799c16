//go:build linux || darwin

package sweep

import (
	"bytes"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// A task whose disk is full says so in a line and leaves nothing that counts. A limit on the
// length of files stands in for the disk.
func TestDiskFull(t *testing.T) {
	cells, folder := cellsOf(t, 40, "test-longest"), t.TempDir()
	p := planOf(t, cells, 3)
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 2000, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	err := runTask(folder, p, 1, "full", cells)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), resultsOf(folder)) || !strings.Contains(err.Error(), "its disk has room") {
		t.Errorf("with a full disk: %v", err)
	}
	for task := range p.Tasks {
		if err := runTask(folder, p, task, "b", cells); err != nil {
			t.Fatal(err)
		}
	}
	if got, _, err := merged(t, folder, p, cells); err != nil || !bytes.Equal(got, alone(t, cells)) {
		t.Errorf("merged after all: %v\n%s", err, got)
	}
}
