package measure_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gocarina/gocsv"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/devicetest"
	"miglab/profiling/launch"
	"miglab/profiling/measure"
	"miglab/profiling/session"
)

// TestMain keeps the folders in memory: each record of a run waits for the disk.
func TestMain(m *testing.M) {
	if _, err := os.Stat("/dev/shm"); err == nil {
		os.Setenv("TMPDIR", "/dev/shm")
	}
	os.Exit(m.Run())
}

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
func kernels(repetitions int, names ...string) []launch.Kernel {
	var out []launch.Kernel
	for i, n := range names {
		out = append(out, launch.Kernel{
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

// launchFunc is a launcher made of a function.
type launchFunc func(ctx context.Context, k *launch.Kernel, on profiling.Instance) (launch.Outcome, error)

func (l launchFunc) Launch(ctx context.Context, k *launch.Kernel, on profiling.Instance) (launch.Outcome, error) {
	return l(ctx, k, on)
}

// lasting is the outcome of a run that takes so long.
func lasting(ctx context.Context, s mig.Seconds) (launch.Outcome, error) {
	out := launch.Outcome{Status: launch.OK, Seconds: s, Start: time.Now()}
	select {
	case <-ctx.Done():
		return launch.Outcome{}, ctx.Err()
	case <-time.After(time.Duration(float64(s) * float64(time.Second))):
	}
	out.End = time.Now()
	return out, nil
}

// sweep measures kernels on every size and returns the profile that the folder then has.
func sweep(ctx context.Context, t *testing.T, s *session.Session, ks []launch.Kernel, dir string, b measure.Bench) (*measure.Profile, error) {
	t.Helper()
	b.Dir, b.Session, b.Kernels = dir, s, ks
	_, err := measure.Measure(ctx, &b, measure.Sweep, nil)
	all := runs(t, dir)
	if len(all) == 0 {
		return &measure.Profile{}, err
	}
	return measure.Summarize(s.Identity().Model, all), err
}

// runs are those of runs.csv, in the order in which they were made; none if there is no file.
func runs(t *testing.T, dir string) (runs []measure.Run) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "runs.csv"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = gocsv.Unmarshal(f, &runs)
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// hardware reads the file of an experiment as [datasets.ReadHardware] reads it; an empty set if there is none.
func hardware(t *testing.T, dir, kind string) datasets.HardwareSet {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, kind+".csv"))
	if errors.Is(err, fs.ErrNotExist) {
		return datasets.HardwareSet{}
	}
	h, bad := datasets.ReadHardware(fstest.MapFS{"a." + kind + ".csv": {Data: text}})
	if err := errors.Join(err, bad); err != nil {
		t.Fatal(err)
	}
	return h
}

// first returns the rows of the only table, or none.
func first[Row any](tables []datasets.HardwareTable[Row]) []Row {
	if len(tables) == 0 {
		return nil
	}
	return tables[0].Rows
}

// isolation measures kernels alone and beside others in a folder of its own.
func isolation(ctx context.Context, t *testing.T, s *session.Session, ks []launch.Kernel, b measure.Bench) ([]datasets.IsolationTime, error) {
	t.Helper()
	b.Dir, b.Session, b.Kernels = t.TempDir(), s, ks
	_, err := measure.Measure(ctx, &b, measure.Isolation, nil)
	return first(hardware(t, b.Dir, "isolation").Isolation), err
}

func read(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "runs.csv"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// places lists what ran where, in the order of the rows: repetition, kernel and size.
func places(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	for _, r := range runs(t, dir) {
		out = append(out, fmt.Sprintf("%d:%s@%d", r.Repetition, r.Kernel, r.Size))
	}
	return strings.Join(out, " ")
}

var aSecond = launchFunc(func(ctx context.Context, _ *launch.Kernel, _ profiling.Instance) (launch.Outcome, error) {
	return lasting(ctx, 1)
})

// ofItsOwn opens a session that ends before the next one on the GPU.
func ofItsOwn(t *testing.T, g *devicetest.GPU) *session.Session {
	t.Helper()
	s, err := session.Open(t.Context(), g, session.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
