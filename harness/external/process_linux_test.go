package external

import (
	"regexp"
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
