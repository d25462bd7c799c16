package measure_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"miglab/profiling"
	"miglab/profiling/devicetest"
	"miglab/profiling/kernel"
	"miglab/profiling/measure"
)

// A limit of the size of files stops a write in the middle, as a full disk does.
func TestSweepLeavesNoPartOfARowOnAFullDisk(t *testing.T) {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	limit := func(n uint64) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: old.Max}); err != nil {
			t.Fatal(err)
		}
	}
	defer limit(old.Cur)
	synctest.Test(t, func(t *testing.T) {
		l := launch(func(ctx context.Context, k *kernel.Kernel, on profiling.Instance) (kernel.Outcome, error) {
			return lasting(ctx, 1)
		})
		ks := kernels(1, strings.Split("abcdefghijklmnop", "")...)
		file := runsFile(t)
		g := devicetest.New(a30)
		s := open(t, g)
		limit(1500) // The journal of the session needs less.
		p, err := measure.Sweep(t.Context(), s, ks, file, measure.Options{Launcher: l})
		limit(old.Cur)
		if !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), file) {
			t.Fatal(err)
		}
		text := read(t, file)
		if n := strings.Count(text, "\n") - 1; n < 5 || n > 15 || len(text) >= 1500 || len(p.Runs) != n || string(measure.WriteRuns(p.Runs)) != text {
			t.Errorf("%d runs in the profile, and in the file\n%s", len(p.Runs), text)
		}
		if info, err := os.Stat(file); err != nil || info.Size() != int64(len(text)) {
			t.Errorf("%v, %v", info, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if p, err = measure.Sweep(t.Context(), open(t, g), ks, file, measure.Options{Launcher: l}); err != nil || len(p.Runs) != 3*len(ks) {
			t.Errorf("with room again: %d runs, %v", len(p.Runs), err)
		}
	})
}
