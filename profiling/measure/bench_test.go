package measure_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"miglab/datasets"
	"miglab/profiling"
	"miglab/profiling/devicetest"
	"miglab/profiling/launch"
	"miglab/profiling/measure"
)

// An experimentTest is an experiment with the number of its runs of two kernels, twice each; 0 if that is not known.
type experimentTest struct {
	file    string
	runs    int
	measure planner
}

// experiments are all: the registered ones, and those that need flags.
var experiments = func() []experimentTest {
	all := withFlags
	runs := map[string]int{"isolation": 2 * 2 * (4 + 3), "reconfiguration": 2 * (3 + 2*3), "startup": 2 * 2}
	for _, x := range measure.Experiments() {
		all = append(all, experimentTest{x.Name + ".csv", runs[x.Name], func(ctx context.Context, b *measure.Bench) error {
			_, err := x.Run(ctx, b, io.Discard)
			return err
		}})
	}
	return all
}()

var withFlags = []experimentTest{
	{"runs.csv", 2 * 2 * 3, whole(measure.Sweep)},
	{"overlap.csv", 2 * 3, func(ctx context.Context, b *measure.Bench) error {
		_, err := measure.Measure(ctx, b, func(_ context.Context, b *measure.Bench) (*measure.Plan[datasets.OverlapRate], error) {
			return measure.Overlap(b, &ground{}, someGroups)
		}, nil)
		return err
	}},
}

// A planner measures an experiment.
type planner func(context.Context, *measure.Bench) error

// whole measures all of an experiment.
func whole[Row any](plan measure.Planner[Row]) planner {
	return func(ctx context.Context, b *measure.Bench) error {
		_, err := measure.Measure(ctx, b, plan, nil)
		return err
	}
}

// twoKernels are measured twice.
func twoKernels() []launch.Kernel { return kernels(2, "a", "b") }

// experiment runs one on a GPU, and returns the file of its rows.
func experiment(ctx context.Context, t *testing.T, g *devicetest.GPU, file string, run planner, b measure.Bench) (string, error) {
	t.Helper()
	s := ofItsOwn(t, g)
	b.Session, b.Repetitions = s, max(b.Repetitions, 2)
	if b.Launcher == nil {
		b.Launcher = aSecond
	}
	if b.Kernels == nil {
		b.Kernels = twoKernels()
	}
	err := run(ctx, &b)
	text, unread := os.ReadFile(filepath.Join(b.Dir, file))
	if unread != nil && !errors.Is(unread, os.ErrNotExist) {
		t.Fatal(unread)
	}
	return string(text), errors.Join(err, s.Close())
}

// conditions are what depends on when a run was made: the instant, the samples, and the UUID of an instance.
var conditions = regexp.MustCompile(`(?m)(,2000-01-01T[0-9:]+Z)?,[0-9]+,[0-9]+,[0-9.]+,[0-9]+,[0-9.]+,[0-9.]+,[0-9]+,[a-z-]+(,|$)`)

// Wherever an experiment is interrupted, the same call goes on, repeats no run that was finished, and
// has the rows that an uninterrupted one has.
func TestExperimentsGoOn(t *testing.T) {
	for _, x := range experiments {
		synctest.Test(t, func(t *testing.T) {
			b := measure.Bench{Dir: t.TempDir(), Progress: func(_, all int) { x.runs = cmp.Or(x.runs, all) }}
			want, err := experiment(t.Context(), t, devicetest.New(a30, devicetest.Parallel()), x.file, x.measure, b)
			if err != nil || want == "" {
				t.Fatalf("%s: %v", x.file, err)
			}
			want = conditions.ReplaceAllString(want, "")
			g, dir := devicetest.New(a30, devicetest.Parallel()), t.TempDir()
			kept := 0
			for _, after := range []int{1, x.runs / 2, x.runs - 1, x.runs + 1} {
				ctx, interrupt := context.WithCancel(t.Context())
				begun := -1
				b := measure.Bench{Dir: dir, Progress: func(done, all int) {
					if all != x.runs {
						t.Errorf("%s: %d runs, want %d", x.file, all, x.runs)
					}
					if done >= after {
						interrupt()
					}
					if begun++; done != begun {
						t.Errorf("%s: %d runs are done, want %d", x.file, done, begun)
					}
				}}
				got, err := experiment(ctx, t, g, x.file, x.measure, b)
				if whole := after > x.runs; whole != (err == nil) || whole && conditions.ReplaceAllString(got, "") != want {
					t.Errorf("%s, interrupted after %d of %d runs: %v\n%s\nwant\n%s", x.file, after, x.runs, err, got, want)
				}
				if n := strings.Count(got, "\n"); n < kept {
					t.Errorf("%s: %d lines, and %d before", x.file, n, kept)
				} else {
					kept = n
				}
				interrupt()
			}
			before, err := os.ReadFile(filepath.Join(dir, x.file))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(48 * time.Hour)
			never := launchFunc(func(ctx context.Context, k *launch.Kernel, on profiling.Instance) (launch.Outcome, error) {
				if x.file != "isolation.csv" { // it warms up in each call
					t.Errorf("%s: %s ran again", x.file, k.Name)
				}
				return lasting(ctx, 1)
			})
			if got, err := experiment(t.Context(), t, g, x.file, x.measure, measure.Bench{Dir: dir, Launcher: never}); err != nil || got != string(before) {
				t.Errorf("%s, when all is done: %v\n%s\nbefore\n%s", x.file, err, got, before)
			}
		})
	}
}

// Runs of another card or driver, or of a kernel that has changed, are not taken over, and stay as they are.
func TestExperimentsRefuseOtherRuns(t *testing.T) {
	for _, x := range experiments {
		synctest.Test(t, func(t *testing.T) {
			b := measure.Bench{Dir: t.TempDir()}
			before, err := experiment(t.Context(), t, devicetest.New(a30, devicetest.Parallel()), x.file, x.measure, b)
			if err != nil {
				t.Fatal(err)
			}
			changed := b
			changed.Kernels = twoKernels()
			changed.Kernels[1].Argv = []string{"./b", "--size", "2"}
			for want, c := range map[string]struct {
				g *devicetest.GPU
				b measure.Bench
			}{
				"results.db has runs of GPU-":                              {devicetest.New(a30, devicetest.Parallel(), devicetest.Number(2)), b},
				"kernel b (kernels.yaml:2) has changed since it ran (prog": {devicetest.New(a30, devicetest.Parallel()), changed},
			} {
				if strings.HasPrefix(want, "kernel") && (x.file == "reconfiguration.csv") {
					continue // without kernels
				}
				after, err := experiment(t.Context(), t, c.g, x.file, x.measure, c.b)
				if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "measure into another folder (--out)") || after != before {
					t.Errorf("%s: %v, want %s", x.file, err, want)
				}
			}
		})
	}
}

// A kernel that never ran well may change: there is nothing of it in the folder.
func TestFailedKernelsMayChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, dir := devicetest.New(a30), t.TempDir()
		crash := launchFunc(func(context.Context, *launch.Kernel, profiling.Instance) (launch.Outcome, error) {
			return launch.Outcome{Status: launch.Crash}, nil
		})
		if _, err := experiment(t.Context(), t, g, "runs.csv", whole(measure.Sweep), measure.Bench{Dir: dir, Launcher: crash}); err == nil {
			t.Error("the kernels crashed")
		}
		mended := twoKernels()
		mended[1].Argv = []string{"./b", "--mended"}
		if _, err := experiment(t.Context(), t, g, "runs.csv", whole(measure.Sweep), measure.Bench{Dir: dir, Kernels: mended}); err != nil {
			t.Error(err)
		}
	})
}

// Samples that are missing are said once, at the end.
func TestExperimentsSayThatSamplesAreMissing(t *testing.T) {
	for _, x := range experiments {
		if x.file == "overlap.csv" { // its windows take no time here
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			g := devicetest.New(a30, devicetest.Parallel())
			var said []string
			for _, fails := range []int{0, 3} {
				g.FailSamples(fails)
				b := measure.Bench{Dir: t.TempDir(), Warn: func(s string) { said = append(said, s) }}
				if _, err := experiment(t.Context(), t, g, x.file, x.measure, b); err != nil || len(said) != fails/3 {
					t.Errorf("%s: %v, %q", x.file, err, said)
				}
			}
			if !strings.HasPrefix(said[0], "3 samples of the GPU's clocks, power and temperature could not be taken") {
				t.Errorf("%s: %q", x.file, said)
			}
		})
	}
}

// A limit of the size of files stops a write in the middle, as a full disk does. What is kept is whole,
// and with room again the same call goes on. A process of its own has the limit, which also holds for files
// that go test writes.
func TestExperimentOnAFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("ulimit -f counts otherwise elsewhere")
	}
	const variable = "MIGLAB_FULL_DISK"
	sweepIn := func(dir string) (string, error) {
		return experiment(t.Context(), t, devicetest.New(a30, devicetest.Scale(0)), "runs.csv", whole(measure.Sweep), measure.Bench{
			Dir: dir, Repetitions: 100, Launcher: launchFunc(func(context.Context, *launch.Kernel, profiling.Instance) (launch.Outcome, error) {
				return launch.Outcome{Status: launch.OK, Seconds: 1}, nil
			}),
		})
	}
	if dir := os.Getenv(variable); dir != "" {
		if _, err := sweepIn(dir); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "results.db") || !strings.Contains(err.Error(), "run the same command again") {
			t.Errorf("%v", err)
		}
		return
	}
	dir := t.TempDir()
	c := exec.CommandContext(t.Context(), "bash", "-c", `trap "" XFSZ; ulimit -f 300; exec "$0" "$@"`, os.Args[0], "-test.run=^"+t.Name()+"$") // 300 KiB
	c.Env = append(os.Environ(), variable+"="+dir)
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	ran := 0
	for _, r := range runs(t, dir) {
		if ran++; r.Status != launch.OK {
			t.Errorf("%+v", r)
		}
	}
	if ran == 0 || ran == 600 {
		t.Errorf("%d runs on the full disk", ran)
	}
	if text, err := sweepIn(dir); err != nil || strings.Count(text, "\n") != 1+600 {
		t.Errorf("with room again: %d lines, %v", strings.Count(text, "\n"), err)
	}
}
