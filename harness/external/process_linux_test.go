package external

import (
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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

// killAll finds the processes of a program by their mark alone, and no others.
func TestKillAllFindsMarkedProcesses(t *testing.T) {
	sleep := func(m mark) *exec.Cmd {
		cmd, err := launch(func() *exec.Cmd { return exec.Command("sleep", "60") }, 1<<30, m)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		return cmd
	}
	m := newMark()
	leader, member, other := sleep(m), sleep(m), sleep(newMark())
	killAll(leader.Process, m)
	for _, cmd := range []*exec.Cmd{leader, member} {
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-ended:
		case <-time.After(50 * time.Second): // of the 60 that it sleeps
			t.Errorf("%v lives", cmd)
		}
	}
	var status unix.Siginfo
	err := unix.Waitid(unix.P_PID, other.Process.Pid, &status, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	if err != nil || status.Signo != 0 {
		t.Errorf("the process of another program has ended: %v", err)
	}
}
