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

	"miglab/harness/algo"
	"miglab/harness/schedule"
)

// stuckVariable names a folder for the algorithms test-stuck and test-endless. Without it there are
// no such algorithms.
const stuckVariable = "MIGLAB_TEST_STUCK"

// stuck never returns. It leaves a file when it is called, and another one when its context ends.
type stuck string

func init() {
	if dir := os.Getenv(stuckVariable); dir != "" {
		algo.Register(algo.Spec{
			Name: "test-stuck", Version: 1, Track: algo.TrackBatch, Summary: "never returns",
			New: func(algo.Args) (algo.Batch, error) { return stuck(dir), nil },
		})
		algo.Register(algo.Spec{
			Name: "test-endless", Version: 1, Track: algo.TrackBatch, Summary: "returns when its context ends",
			New: func(algo.Args) (algo.Batch, error) { return endless(dir), nil },
		})
	}
}

func (s stuck) Schedule(ctx context.Context, _ algo.Problem) (schedule.Schedule, error) {
	s.leave("called")
	<-ctx.Done()
	s.leave("ended")
	select {}
}

// endless leaves a file when it is called, and returns when its context ends.
type endless string

func (e endless) Schedule(ctx context.Context, _ algo.Problem) (schedule.Schedule, error) {
	stuck(e).leave("called")
	<-ctx.Done()
	return schedule.Schedule{}, ctx.Err()
}

func (s stuck) leave(name string) {
	if err := os.WriteFile(filepath.Join(string(s), name), nil, 0o600); err != nil {
		panic(err)
	}
}

// await returns when a file is there, or the program has ended.
func (s stuck) await(name string, ended <-chan error) {
	for {
		if _, err := os.Stat(filepath.Join(string(s), name)); err == nil {
			return
		}
		select {
		case <-ended:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

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
		ended := make(chan error, 1)
		go func() {
			ended <- c.Wait()
			close(ended)
		}()
		for _, file := range []string{"called", "ended"} {
			stuck(dir).await(file, ended)
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
