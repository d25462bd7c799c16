//go:build linux || darwin

package sweep

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

// limited is the variable that names the sweep's folder to the process with a limit.
const limited = "MIGLAB_TEST_LIMITED"

// A task whose disk is full says so in a line, leaves nothing that counts, and costs
// the other tasks nothing. A limit on the length of files stands in for the disk.
func TestDiskFull(t *testing.T) {
	cells := cellsOf(t, 40, "test-longest")
	if folder := os.Getenv(limited); folder != "" {
		p, err := ReadPlan(folder)
		if err != nil {
			t.Fatal(err)
		}
		signal.Ignore(syscall.SIGXFSZ)
		const enough = 2000
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: enough, Max: enough}); err != nil {
			t.Fatal(err)
		}
		err = runTask(folder, p, 1, "full", cells)
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), resultsOf(folder)) || !strings.Contains(err.Error(), "its disk has room") {
			t.Errorf("with a full disk: %v", err)
		}
		return
	}

	p, folder := planOf(t, cells, 3), t.TempDir()
	if err := p.Write(folder); err != nil {
		t.Fatal(err)
	}
	if err := runTask(folder, p, 0, "a", cells); err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestDiskFull$")
	child.Env = append(os.Environ(), limited+"="+folder)
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := runTask(folder, p, 2, "a", cells); err != nil {
		t.Fatal(err)
	}
	s, err := ReadStatus(folder, p, cells, time.Now())
	if err != nil || s.Tasks[0].Done != s.Tasks[0].Total || s.Tasks[1].Done != 0 || s.Tasks[2].Done != s.Tasks[2].Total || s.Damaged != nil {
		t.Errorf("with a full disk in task 1: %+v, %v", s, err)
	}
	var incomplete *IncompleteError
	if _, _, err := merged(t, folder, p, cells); !errors.As(err, &incomplete) {
		t.Errorf("merged with a task missing: %v", err)
	}
	if err := runTask(folder, p, 1, "b", cells); err != nil {
		t.Fatal(err)
	}
	got, _, err := merged(t, folder, p, cells)
	if err != nil || !bytes.Equal(got, alone(t, cells)) {
		t.Errorf("merged after all: %v\n%s", err, got)
	}
}
