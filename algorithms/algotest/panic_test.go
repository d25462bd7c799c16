package algotest

import (
	"context"
	"strings"
	"testing"

	"miglab/harness/algo"
	"miglab/harness/mig"
)

// A panic of an algorithm is an error of its subtest, which names the GPU.
func TestPanicIsAnError(t *testing.T) {
	var s Suite[algo.Problem, int]
	s.Run = func(_ context.Context, _ algo.Algorithm, p algo.Problem) (int, error) {
		return len(p.Tasks[0].Name), nil
	}
	p := algo.Problem{GPU: mig.MustLookup("A30")}
	err := s.conform(algo.Algorithm{}, &trial[algo.Problem]{problem: p, same: p}, false)
	if err == nil || !strings.Contains(err.Error(), "panic: runtime error: index out of range [0] with length 0") {
		t.Errorf("error %v", err)
	}
	if got := onGPU("a text"); got != "" {
		t.Errorf("a text: %q", got)
	}
	if got := onGPU(StreamProblem{Problem: p}); got != " on A30" {
		t.Errorf("a stream: %q", got)
	}
}
