//go:build unix

package nvmltest_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"miglab/profiling/nvml/nvmltest"
)

// recorder notes how a test ends.
type recorder struct {
	testing.TB
	end string
}

func (r *recorder) Fatalf(string, ...any) { r.stop("failed") }
func (r *recorder) Skipf(string, ...any)  { r.stop("skipped") }

func (r *recorder) stop(end string) {
	r.end = end
	runtime.Goexit()
}

func TestWithoutACompiler(t *testing.T) {
	t.Setenv("CC", "/nonexistent/cc -g")
	for require, want := range map[string]string{"": "skipped", "1": "failed"} {
		t.Setenv("MIGLAB_REQUIRE_CC", require)
		r := &recorder{TB: t}
		done := make(chan bool)
		go func() {
			defer close(done)
			nvmltest.Build(r)
		}()
		<-done
		if r.end != want {
			t.Errorf("MIGLAB_REQUIRE_CC=%q: the test was %q, want %q", require, r.end, want)
		}
	}
}

func TestBuild(t *testing.T) {
	if _, err := os.Stat(filepath.Join(nvmltest.Build(t), "libnvidia-ml.so.1")); err != nil {
		t.Error(err)
	}
}

func TestState(t *testing.T) {
	s := nvmltest.New(t, nvmltest.A100, "gi 0 7 19 0 0", "busy 2")
	s.Add(t, "ci 0 7 0 1", "fail * 0 1 UNKNOWN")
	if got, want := s.Instances(t), []string{"gi 0 7 19 0 0", "ci 0 7 0 1"}; !slices.Equal(got, want) {
		t.Errorf("instances %q, want %q", got, want)
	}
	s.Remove(t, "gi")
	if got, want := s.Lines(t), []string{nvmltest.A100, "busy 2", "ci 0 7 0 1", "fail * 0 1 UNKNOWN"}; !slices.Equal(got, want) {
		t.Errorf("lines %q, want %q", got, want)
	}
}
