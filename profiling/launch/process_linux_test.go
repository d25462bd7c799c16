package launch

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"miglab/profiling"
)

// TestMain lets the test binary be the harness that is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("MIGLAB_TEST_FIFO"); path != "" {
		k, err := load("held", "hang-alone", path)
		if err == nil {
			_, err = k.Run(context.Background(), profiling.Instance{})
		}
		panic(err) // it is killed before
	}
	os.Exit(m.Run())
}

func TestKernelDiesWithTheHarness(t *testing.T) {
	t.Parallel()
	f := newFifo(t)
	harness := exec.Command(os.Args[0])
	harness.Env = append(os.Environ(), "MIGLAB_TEST_FIFO="+f.path)
	if err := harness.Start(); err != nil {
		t.Fatal(err)
	}
	if err := f.started(); err != nil {
		t.Error(err)
	}
	if err := harness.Process.Kill(); err != nil {
		t.Error(err)
	}
	harness.Wait()
	f.gone(t)
}
