package measure_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"miglab/datasets"
	"miglab/profiling"
	"miglab/profiling/devicetest"
	"miglab/profiling/kernel"
	"miglab/profiling/measure"
	"miglab/profiling/session"
)

// An experiment is one that keeps its finished runs in a file. It returns its rows, as their
// file has them, without the conditions, and how often the conditions were sampled.
type experiment struct {
	name string
	// runs is how many there are.
	runs int
	run  func(context.Context, *testing.T, *devicetest.GPU, []kernel.Kernel, measure.Options) (text string, samples int, err error)
}

var experiments = []experiment{
	{"isolation", 2 * 2 * (4 + 3), func(ctx context.Context, t *testing.T, g *devicetest.GPU, ks []kernel.Kernel, o measure.Options) (string, int, error) {
		s := ofItsOwn(t, g)
		rows, err := measure.Isolation(ctx, s, ks, o)
		err = errors.Join(err, s.Close())
		return written(t, rows, func(r *datasets.IsolationTime) *datasets.Load { return &r.Load }, err)
	}},
	{"co-runs", 2 * 4, func(ctx context.Context, t *testing.T, g *devicetest.GPU, ks []kernel.Kernel, o measure.Options) (string, int, error) {
		gpu := h200
		gpu.UUID = uuid(t, g)
		mixes := []measure.Mix{{{&ks[0], 60}, {&ks[1], 40}}, {{&ks[0], 50}, {&ks[1], 50}}}
		rows, err := measure.Corun(ctx, measure.Shared{GPU: gpu, Share: share, Device: g}, mixes, o)
		return written(t, rows, func(r *datasets.CorunTime) *datasets.Load { return &r.Load }, err)
	}},
	{"reconfiguration", 2 * (3 + 2*3), func(ctx context.Context, t *testing.T, g *devicetest.GPU, _ []kernel.Kernel, o measure.Options) (string, int, error) {
		s := ofItsOwn(t, g)
		rows, err := measure.Reconfiguration(ctx, s, o)
		err = errors.Join(err, s.Close())
		return written(t, rows, func(r *datasets.ReconfigurationTime) *datasets.Load { return &r.Load }, err)
	}},
}

// ofItsOwn opens a session that ends before the next one on the GPU.
func ofItsOwn(t *testing.T, g *devicetest.GPU) *session.Session {
	t.Helper()
	s, err := session.Open(t.Context(), g, session.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func written[Row interface {
	datasets.IsolationTime | datasets.CorunTime | datasets.ReconfigurationTime
}](t *testing.T, rows []Row, load func(*Row) *datasets.Load, err error) (string, int, error) {
	t.Helper()
	samples := 0
	for i := range rows {
		l := load(&rows[i])
		samples += l.Samples
		*l = datasets.Load{}
	}
	var w bytes.Buffer
	var failure error
	switch rows := any(rows).(type) {
	case []datasets.IsolationTime:
		failure = datasets.WriteHardware(&w, rows)
	case []datasets.CorunTime:
		failure = datasets.WriteHardware(&w, rows)
	case []datasets.ReconfigurationTime:
		failure = datasets.WriteHardware(&w, rows)
	}
	if failure != nil {
		t.Fatal(failure)
	}
	return w.String(), samples, err
}

// twoKernels are warmed up for a second and measured twice.
func twoKernels() []kernel.Kernel { return kernels(2, "a", "b") }

var aSecond = launch(func(ctx context.Context, _ *kernel.Kernel, _ profiling.Instance) (kernel.Outcome, error) {
	return lasting(ctx, 1)
})

// Wherever an experiment is interrupted, the same call goes on, repeats no run that was finished, and
// has the rows that an uninterrupted one has.
func TestExperimentsGoOn(t *testing.T) {
	for _, x := range experiments {
		synctest.Test(t, func(t *testing.T) {
			want, samples, err := x.run(t.Context(), t, devicetest.New(a30, devicetest.Parallel()), twoKernels(), measure.Options{Launcher: aSecond, Repetitions: 2})
			if err != nil || samples == 0 {
				t.Fatalf("%s: %d samples, %v", x.name, samples, err)
			}
			g := devicetest.New(a30, devicetest.Parallel())
			file := filepath.Join(t.TempDir(), "out", "runs.jsonl")
			kept := 0
			for _, after := range []int{1, x.runs / 2, x.runs - 1, 2 * x.runs} {
				ctx, interrupt := context.WithCancel(t.Context())
				o := measure.Options{Launcher: aSecond, Repetitions: 2, File: file, Progress: func(done, all int) {
					if all != x.runs {
						t.Errorf("%s: %d runs, want %d", x.name, all, x.runs)
					}
					if done == after {
						interrupt()
					}
				}}
				got, _, err := x.run(ctx, t, g, twoKernels(), o)
				lines := strings.Count(read(t, file), "\n") - 1
				if whole := after > x.runs; whole != (err == nil) || whole && got != want || lines < min(after, x.runs) || lines > min(after+1, x.runs) || lines < kept {
					t.Errorf("%s, interrupted after %d of %d runs: %v, %d runs are kept\n%s\nwant\n%s", x.name, after, x.runs, err, lines, got, want)
				}
				kept = lines
				// A killed process may leave the beginning of a line.
				f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
				if err == nil {
					_, err = f.WriteString(`{"Kernels":{"a`)
				}
				if err := errors.Join(err, f.Close()); err != nil {
					t.Fatal(err)
				}
				interrupt()
			}
			before := strings.TrimSuffix(read(t, file), `{"Kernels":{"a`)
			if got, _, err := x.run(t.Context(), t, g, twoKernels(), measure.Options{Launcher: aSecond, Repetitions: 2, File: file}); err != nil || got != want || read(t, file) != before {
				t.Errorf("%s: when all is done: %v, the file grew from %d to %d bytes\n%s", x.name, err, len(before), len(read(t, file)), got)
			}
		})
	}
}

// A case without kernels that could run beside the measured one does not take over its runs alone.
func TestIsolationKeepsCasesApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := measure.Options{Repetitions: 1, File: filepath.Join(t.TempDir(), "runs.jsonl"), Launcher: launch(
			func(ctx context.Context, k *kernel.Kernel, on profiling.Instance) (kernel.Outcome, error) {
				if k.Name == "b" && on.Size() == 1 {
					return kernel.Outcome{Status: kernel.OutOfMemory}, nil
				}
				return lasting(ctx, 1)
			})}
		g := devicetest.New(a30, devicetest.Parallel())
		first, _, err := experiments[0].run(t.Context(), t, g, twoKernels(), o)
		if err != nil {
			t.Fatal(err)
		}
		if again, _, err := experiments[0].run(t.Context(), t, g, twoKernels(), o); err != nil || again != first {
			t.Errorf("%v, rows\n%s\nand before\n%s", err, again, first)
		}
	})
}

// Runs of another card, of a kernel that has changed, or that nobody can read, are not taken over.
func TestExperimentsRefuseOtherRuns(t *testing.T) {
	for _, x := range experiments {
		synctest.Test(t, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "runs.jsonl")
			o := measure.Options{Launcher: aSecond, Repetitions: 1, File: file}
			g := devicetest.New(a30, devicetest.Parallel())
			if _, _, err := x.run(t.Context(), t, g, twoKernels(), o); err != nil {
				t.Fatal(err)
			}
			text := read(t, file)
			put := func(text string) {
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			_, _, err := x.run(t.Context(), t, devicetest.New(a30, devicetest.Parallel(), devicetest.Number(2)), twoKernels(), o)
			if err == nil || !strings.Contains(err.Error(), file+":1: there are runs of "+x.name) || !strings.Contains(err.Error(), "measure into another folder") {
				t.Errorf("%s on another card: %v", x.name, err)
			}
			put(strings.Replace(text, `"Run"`, `"Run`, 1))
			if _, _, err = x.run(t.Context(), t, g, twoKernels(), o); err == nil || !strings.HasPrefix(err.Error(), file+":2: ") || !strings.Contains(err.Error(), "delete the line, and the run is repeated") {
				t.Errorf("%s with a bad line: %v", x.name, err)
			}
			put("gpu,gpu_name\n" + text)
			if _, _, err = x.run(t.Context(), t, g, twoKernels(), o); err == nil || !strings.HasPrefix(err.Error(), file+":1: ") || !strings.Contains(err.Error(), "delete the file") {
				t.Errorf("%s with another first line: %v", x.name, err)
			}
			put(text)
			if x.name == "reconfiguration" {
				return // without kernels
			}
			changed := twoKernels()
			changed[1].Argv = []string{"./b", "--size", "2"}
			if _, _, err = x.run(t.Context(), t, g, changed, o); err == nil || !strings.HasPrefix(err.Error(), file+":") || !strings.Contains(err.Error(), "kernel b has changed since it ran") {
				t.Errorf("%s with another kernel: %v", x.name, err)
			}
		})
	}
}

// Samples that are missing are said once, at the end.
func TestExperimentsSayThatSamplesAreMissing(t *testing.T) {
	for _, x := range experiments {
		synctest.Test(t, func(t *testing.T) {
			g := devicetest.New(a30, devicetest.Parallel())
			var said []string
			o := measure.Options{Repetitions: 1, Warn: func(s string) { said = append(said, s) }, Launcher: aSecond}
			if _, _, err := x.run(t.Context(), t, g, twoKernels(), o); err != nil || len(said) > 0 {
				t.Errorf("%s: %v, %q", x.name, err, said)
			}
			g.FailSamples(3)
			if _, _, err := x.run(t.Context(), t, g, twoKernels(), o); err != nil || len(said) != 1 || !strings.HasPrefix(said[0], "3 samples of the GPU's clocks, power and temperature could not be taken") {
				t.Errorf("%s: %v, %q", x.name, err, said)
			}
		})
	}
}
