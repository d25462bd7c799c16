package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A second interruption ends the program, whatever an algorithm does.
func TestASecondSignalEndsAStuckProgram(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		dir := t.TempDir()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // against a program that never ends
		defer cancel()
		c := exec.CommandContext(ctx, "miglab", "run", "--algorithms", "test-stuck", "--datasets", "WIDETIMES", "--instances", "1")
		c.Dir, c.Env = dir, append(os.Environ(), stuckVariable+"="+dir)
		var stderr strings.Builder
		c.Stderr = &stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			_ = c.Wait() // the exit code says more
			close(ended)
		}()
		for _, file := range []string{"called", "ended"} {
			for missing := true; missing; {
				_, err := os.Stat(filepath.Join(dir, file))
				missing = err != nil
				select {
				case <-ended:
					missing = false
				case <-time.After(time.Millisecond):
				}
			}
			if err := c.Process.Signal(signal); err != nil {
				t.Fatalf("%v after the algorithm was %s: %v\n%s", signal, file, err, &stderr)
			}
		}
		<-ended
		if code := c.ProcessState.ExitCode(); code != exitInterrupted || !strings.Contains(stderr.String(), "interrupted again") {
			t.Errorf("%v twice: exit code %d, %q", signal, code, &stderr)
		}
	}
}
