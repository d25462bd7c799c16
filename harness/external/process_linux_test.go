package external

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
)

// A process has its limit before it runs, so that it can start others only with it.
func TestLimitsAreSetBeforeTheProcessRuns(t *testing.T) {
	limits, err := newCommand("cat", []string{"/proc/self/limits"}, 1<<30).Output()
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`Max data size +1073741824 +1073741824 `).Match(limits) {
		t.Errorf("%s\nwant the data size limited to 1 GiB", limits)
	}
}

// A shell would run it as its own script.
func TestTextWithoutInterpreterIsNotRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "script")
	err := errors.Join(os.WriteFile(path, []byte("exit 0\n"), 0o700), newCommand(path, nil, 1<<30).Run())
	if !errors.Is(err, syscall.ENOEXEC) {
		t.Errorf("%v, want %v", err, syscall.ENOEXEC)
	}
}
