//go:build unix

package external

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/bounds"
	"miglab/harness/algo"
	"miglab/harness/mig"
)

// TestMILPAgreesWithExact compares the optimum that CBC finds with that of [bounds.Exact] on
// 80 small batches. The two share no code but the referee.
func TestMILPAgreesWithExact(t *testing.T) {
	if os.Getenv("MIGLAB_REQUIRE_CBC") != "1" {
		t.Skip("takes a minute; make test-all asks for it")
	}
	if _, err := exec.LookPath("cbc"); err != nil {
		t.Fatal(err)
	}
	id := python(t, "milp.py")
	if id == "" {
		t.Skip("no python3")
	}
	a, err := algo.ParseFor(id+"?timeout=60s", algo.TrackBatch)
	if err != nil {
		t.Fatal(err)
	}
	far := algo.MustParse("far")
	rng := rand.New(rand.NewPCG(17, 4))
	better := 0
	const batches = 80
	for k := range batches {
		p := algotest.RandomProblem(rng, 2+rng.IntN(4))
		p.Model = []mig.Reconfiguration{mig.Parallel, mig.Parallel, mig.Free}[k%3]
		known, err := algotest.Batch.Run(context.Background(), far, p)
		if err != nil {
			t.Fatal(err)
		}
		best, err := bounds.Exact(context.Background(), p, known)
		if err != nil || !best.Proven {
			t.Fatalf("batch %d: proven %v, %v", k, best.Proven, err)
		}
		s, err := algotest.Batch.Run(context.Background(), a, p)
		if err != nil {
			t.Fatalf("batch %d: %v", k, err)
		}
		if err := algotest.Batch.Check(p, s); err != nil {
			t.Errorf("batch %d: %v", k, err)
		}
		got, want := float64(s.Makespan()), float64(best.Makespan)
		if math.Abs(got-want) > 1e-6*want {
			t.Errorf("batch %d, %d tasks on %v, %v: CBC ends at %v s, Exact at %v s", k, len(p.Tasks), p.GPU, p.Model, got, want)
		}
		if got < float64(known.Makespan())*(1-1e-6) {
			better++
		}
	}
	if better < batches/5 {
		t.Errorf("CBC is better than FAR on %d of %d batches only; that tests too little", better, batches)
	}
}
