package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTrainingGoesOnAfterAnInterruption(t *testing.T) {
	train := []string{"train", "--agent", "rl-float-GOODSCALING-dqn-64", "--steps", "6144"} // 6 segments
	undisturbed := t.TempDir()
	said := miglab(t, undisturbed, append(train, "--workers", "1")...)
	want := contents(t, undisturbed)
	if len(want) != 4 {
		t.Fatalf("%d files, want the run, its checkpoint, curve and weights", len(want))
	}

	// reached reports whether the curve has so many points.
	reached := func(dir string, points int) func() bool {
		return func() bool {
			text, err := os.ReadFile(filepath.Join(dir, "results/train/rl-float-GOODSCALING-dqn-64-seed1/curve.csv"))
			return err == nil && strings.Count(string(text), "\n") >= 1+points
		}
	}

	t.Run("killed", func(t *testing.T) {
		for attempt, kills := 0, 0; kills == 0; attempt++ {
			if attempt == attempts {
				t.Fatal("the program was always done before it could be killed")
			}
			dir := t.TempDir()
			for _, points := range []int{1, 3} {
				if interrupt(t, dir, os.Kill, reached(dir, points), train...).interrupted {
					kills++
				}
			}
			if miglab(t, dir, train...) != said {
				t.Error("it says something else than undisturbed")
			}
			equal(t, contents(t, dir), want)
		}
	})

	t.Run("interrupted", func(t *testing.T) {
		for attempt := 0; ; attempt++ {
			if attempt == attempts {
				t.Fatal("the program was always done before it could be interrupted")
			}
			dir := t.TempDir()
			o := interrupt(t, dir, os.Interrupt, reached(dir, 2), train...)
			if !o.interrupted {
				continue
			}
			if o.code != exitInterrupted || !strings.Contains(o.stderr, "what was computed is kept") {
				t.Errorf("exit code %d, %q", o.code, o.stderr)
			}
			miglab(t, dir, train...)
			equal(t, contents(t, dir), want)
			return
		}
	})
}
