package measure_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/devicetest"
	"miglab/profiling/kernel"
	"miglab/profiling/measure"
	"miglab/profiling/session"
)

var (
	a30  = mig.MustLookup("A30")
	a100 = mig.MustLookup("A100")
	inf  = mig.Seconds(math.Inf(1))
)

// seconds are the times of a kernel on all sizes of a GPU, ascending.
func seconds(g *mig.GPU, on ...mig.Seconds) map[mig.Slices]mig.Seconds {
	out := map[mig.Slices]mig.Seconds{}
	for i, s := range g.Sizes() {
		out[s] = on[i]
	}
	return out
}

// kernels returns kernels of the names that are measured so often.
func kernels(repetitions int, names ...string) []kernel.Kernel {
	var out []kernel.Kernel
	for i, n := range names {
		out = append(out, kernel.Kernel{
			Name: n, Suite: "suite", SizeClass: "small", Argv: []string{"./" + n}, Repetitions: repetitions, File: "kernels.yaml", Line: i + 1,
		})
	}
	return out
}

// open returns a session on a GPU; it is closed and the GPU empty when the test ends.
func open(t *testing.T, g *devicetest.GPU) *session.Session {
	t.Helper()
	s, err := session.Open(t.Context(), g, session.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if left, err := g.Instances(); err != nil || len(left) > 0 {
			t.Errorf("instances left: %v, %v", left, err)
		}
	})
	return s
}

// uuid is that of a GPU.
func uuid(t *testing.T, g *devicetest.GPU) string {
	t.Helper()
	id, err := g.Identify()
	if err != nil {
		t.Fatal(err)
	}
	return id.UUID
}

// launch is a launcher made of a function.
type launch func(ctx context.Context, k *kernel.Kernel, on profiling.Instance) (kernel.Outcome, error)

func (l launch) Launch(ctx context.Context, k *kernel.Kernel, on profiling.Instance) (kernel.Outcome, error) {
	return l(ctx, k, on)
}

// lasting is the outcome of a run that takes so long.
func lasting(ctx context.Context, s mig.Seconds) (kernel.Outcome, error) {
	out := kernel.Outcome{Status: kernel.OK, Seconds: s, Start: time.Now()}
	select {
	case <-ctx.Done():
		return kernel.Outcome{}, ctx.Err()
	case <-time.After(time.Duration(float64(s) * float64(time.Second))):
	}
	out.End = time.Now()
	return out, nil
}

func runsFile(t *testing.T) string { return filepath.Join(t.TempDir(), "out", "runs.csv") }

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// places lists what ran where, in the order of the rows: repetition, kernel and size.
func places(p *measure.Profile) string {
	var out []string
	for _, r := range p.Runs {
		out = append(out, fmt.Sprintf("%d:%s@%d", r.Repetition, r.Kernel, r.Size))
	}
	return strings.Join(out, " ")
}

// timeless are the lines of runs.csv without the column started, which tells when they
// were written, and without the samples, which depend on it.
func timeless(t *testing.T, text string) string {
	t.Helper()
	runs, err := measure.ReadRuns(strings.NewReader(text), "runs.csv")
	if err != nil {
		t.Fatal(err)
	}
	for i := range runs {
		runs[i].Started, runs[i].Load = time.Time{}, datasets.Load{}
	}
	return string(measure.WriteRuns(runs))
}
