package external

import (
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"testing"
)

// A process has its limits before it runs, so that it can start others only with them.
func TestLimitsAreSetBeforeTheProcessRuns(t *testing.T) {
	var limits bytes.Buffer
	m := newMark()
	cmd, err := launch(func() *exec.Cmd {
		cmd := exec.Command("cat", "/proc/self/limits")
		cmd.Stdout = &limits
		return cmd
	}, 1<<30, m)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`Max data size +1073741824 +1073741824 `, fmt.Sprintf(`Max file locks +%d +%[1]d `, m)} {
		if !regexp.MustCompile(want).Match(limits.Bytes()) {
			t.Errorf("%s\nwant it to match %s", &limits, want)
		}
	}
}
