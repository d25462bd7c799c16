package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTrainingGoesOnAfterAnInterruption(t *testing.T) {
	train := []string{"train", "--agent", "rl-float-GOODSCALING-dqn-64", "--seeds", "1", "--steps", "12288"} // 2 segments of 6 iterations
	undisturbed := t.TempDir()
	miglab(t, undisturbed, append(train, "--workers", "1")...)
	want := trained(t, undisturbed)
	if len(want) != 3 {
		t.Fatalf("%d files, want the checkpoint, curve and weights", len(want))
	}

	// begun reports whether there is a checkpoint to go on from.
	begun := func(dir string) func() bool {
		return func() bool {
			_, err := os.Stat(filepath.Join(dir, "results/train/rl-float-GOODSCALING-dqn-64-seed1/checkpoint"))
			return err == nil
		}
	}

	t.Run("interrupted", func(t *testing.T) {
		// The half of the training that is left after the first checkpoint takes longer than to see it.
		for range 20 {
			dir := t.TempDir()
			o := interrupt(t, dir, os.Interrupt, begun(dir), train...)
			if !o.interrupted {
				continue
			}
			if o.code != exitInterrupted || !strings.Contains(o.stderr, "what was computed is kept") {
				t.Errorf("exit code %d, %q", o.code, o.stderr)
			}
			miglab(t, dir, train...)
			equal(t, trained(t, dir), want)
			return
		}
		t.Fatal("the program was always done before it could be interrupted")
	})
}

// trained returns the files of all trainings in a folder.
func trained(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := contents(t, filepath.Join(dir, "results", "train"))
	delete(out, "results.db") // which was written a different number of times
	return out
}
