package measure_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"miglab/datasets"
	"miglab/profiling"
	"miglab/profiling/devicetest"
	"miglab/profiling/kernel"
	"miglab/profiling/measure"
)

// inChild runs the test in a process of its own, since a limit of the size of files also holds for those
// that go test writes. It reports whether this is that process.
func inChild(t *testing.T) bool {
	t.Helper()
	const marker = "MIGLAB_MEASURE_CHILD"
	if os.Getenv(marker) != "" {
		return true
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	c.Env = append(os.Environ(), marker+"=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// A limit of the size of files stops a write in the middle, as a full disk does.
func TestSweepLeavesNoPartOfARowOnAFullDisk(t *testing.T) {
	if !inChild(t) {
		return
	}
	synctest.Test(t, func(t *testing.T) {
		l := launch(func(ctx context.Context, k *kernel.Kernel, on profiling.Instance) (kernel.Outcome, error) {
			return lasting(ctx, 1)
		})
		ks := kernels(1, strings.Split("abcdefghijklmnop", "")...)
		file := runsFile(t)
		g := devicetest.New(a30)
		s := open(t, g)
		var p *measure.Profile
		var err error
		atFull(t, 1500, func() { // The journal of the session needs less.
			p, err = measure.Sweep(t.Context(), s, ks, file, measure.Options{Launcher: l})
		})
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

// atFull calls f while no file may grow over so many bytes, as on a full disk.
func atFull(t *testing.T, bytes uint64, f func()) {
	t.Helper()
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
	limit(bytes)
	f()
}

// remedied reports whether an error is of a full disk, in one line that names the file and says what to do.
func remedied(err error, file string) bool {
	return errors.Is(err, syscall.EFBIG) && strings.Contains(err.Error(), file) && !strings.Contains(err.Error(), "\n") &&
		strings.Contains(err.Error(), "solve this and start again, the recorded runs are kept")
}

// A group of which not every row could be written is not there at all. With room again, the same call
// measures what is missing.
func TestOverlapLeavesNoPartOfAGroupOnAFullDisk(t *testing.T) {
	if !inChild(t) {
		return
	}
	whole := filepath.Join(t.TempDir(), "overlap.csv")
	o := measure.OverlapOptions{Repetitions: 2, Window: time.Second}
	if _, err := measure.Overlap(t.Context(), newGround(), someGroups, whole, o); err != nil {
		t.Fatal(err)
	}
	want := read(t, whole)
	for size := uint64(0); size < uint64(len(want)); size += 97 {
		file := filepath.Join(t.TempDir(), "overlap.csv")
		atFull(t, size, func() {
			if _, err := measure.Overlap(t.Context(), newGround(), someGroups, file, o); !remedied(err, file) {
				t.Errorf("full after %d bytes: %v", size, err)
			}
		})
		text := read(t, file)
		if !strings.HasPrefix(want, text) || text != "" && !strings.HasSuffix(text, "\n") {
			t.Errorf("full after %d bytes, the file is\n%s", size, text)
		}
		if strings.Count(text, "\n") > 1 { // no group is there in part
			if _, err := datasets.ReadOverlap(strings.NewReader(text), file); err != nil {
				t.Errorf("full after %d bytes: %v", size, err)
			}
		}
		if _, err := measure.Overlap(t.Context(), newGround(), someGroups, file, o); err != nil || read(t, file) != want {
			t.Errorf("with room again after %d bytes: %v\n%s", size, err, read(t, file))
		}
	}
}

// The finished runs of the other experiments are on disk whole, too.
func TestExperimentsOnAFullDisk(t *testing.T) {
	if !inChild(t) {
		return
	}
	for _, x := range experiments {
		synctest.Test(t, func(t *testing.T) {
			o := measure.Options{Launcher: aSecond, Repetitions: 2}
			want, _, err := x.run(t.Context(), t, devicetest.New(a30, devicetest.Parallel()), twoKernels(), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, more := range []uint64{0, 1, 700} {
				g := devicetest.New(a30, devicetest.Parallel())
				o.File, o.Repetitions = filepath.Join(t.TempDir(), "runs.jsonl"), 1
				if _, _, err := x.run(t.Context(), t, g, twoKernels(), o); err != nil {
					t.Fatal(err)
				}
				o.Repetitions = 2
				before := read(t, o.File)
				size := uint64(len(before)) + more // The journal of the session needs less.
				atFull(t, size, func() {
					if _, _, err := x.run(t.Context(), t, g, twoKernels(), o); !remedied(err, o.File) {
						t.Errorf("%s, full after %d bytes: %v", x.name, size, err)
					}
				})
				text := read(t, o.File)
				if !strings.HasPrefix(text, before) || !strings.HasSuffix(text, "}\n") || uint64(len(text)) > size || more == 700 && text == before {
					t.Errorf("%s, full after %d bytes, the file is\n%s", x.name, size, text)
				}
				if got, _, err := x.run(t.Context(), t, g, twoKernels(), o); err != nil || got != want {
					t.Errorf("%s, with room again after %d bytes: %v\n%s", x.name, size, err, got)
				}
			}
		})
	}
}
