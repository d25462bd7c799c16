package agents

import (
	"math"
	"math/rand/v2"
	"testing"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// evaluation is the released one: GOODSCALING from a busy start, without reconfiguration times.
func evaluation(t *testing.T, index int) algo.Problem {
	t.Helper()
	p := algo.Problem{GPU: mig.MustLookup("A100"), Model: mig.Free}
	in, err := datasets.InstanceOf[task.Batches](datasets.MustParse("drl/GOODSCALING?gen=released-train&start=busy"), p.GPU, index)
	if err != nil {
		t.Fatal(err)
	}
	p.Tasks, p.Start = in.Tasks, in.Start
	return p
}

// TestReleasedEvaluation: the settings of the released evaluation each change decisions, what
// comes out passes the referee from the busy start, and is the same each time.
func TestReleasedEvaluation(t *testing.T) {
	const usual = "rl-float?workload=GOODSCALING"
	for _, settings := range []string{"actions=sampled", "start=levels", "actions=sampled&start=levels", "actions=sampled&k=3"} {
		a, other := algo.MustParse(usual+"&"+settings), 0
		for i := range 10 {
			p := evaluation(t, i)
			var first string
			for try := range 2 {
				s, err := answer(a, p)
				if err != nil {
					t.Fatal(err)
				}
				if v := schedule.Check(p, s); len(v) > 0 {
					t.Fatalf("%s, instance %d: %v", settings, i, v)
				}
				text := written(p, s)
				if try > 0 && text != first {
					t.Errorf("%s, instance %d: two answers differ", settings, i)
				}
				first = text
			}
			s, err := answer(algo.MustParse(usual), p)
			if err != nil {
				t.Fatal(err)
			}
			if written(p, s) != first {
				other++
			}
		}
		if other < 5 {
			t.Errorf("%s changes %d of 10 answers", settings, other)
		}
	}
}

// TestSampleFollowsThePolicy: an action is drawn as often as the policy says.
func TestSampleFollowsThePolicy(t *testing.T) {
	preferences := []float32{0, float32(math.Log(2)), 50, float32(math.Log(5))}
	mask := []bool{true, true, false, true}
	rng := rand.New(rand.NewPCG(1, 2))
	counts := [4]float64{}
	const draws = 80000
	for range draws {
		counts[sampleAction(preferences, mask, 1, rng, make([]float64, 4))]++
	}
	for i, want := range []float64{1. / 8, 2. / 8, 0, 5. / 8} {
		if got := counts[i] / draws; math.Abs(got-want) > 0.01 {
			t.Errorf("action %d is drawn with probability %.3f, want %.3f", i, got, want)
		}
	}
}

// TestAnyAction: actions=any makes nothing of what an agent has learned, and agents whose actions
// are drawn are the same before and after it.
func TestAnyAction(t *testing.T) {
	p := evaluation(t, 0)
	var texts []string
	for _, id := range []string{
		"rl-float?workload=GOODSCALING&actions=sampled", "rl-float?workload=GOODSCALING&actions=any",
		"rl-float?workload=POORSCALING&actions=any", "rl-float?workload=GOODSCALING&actions=sampled",
	} {
		s, err := answer(algo.MustParse(id), p)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, written(p, s))
	}
	if texts[1] != texts[2] || texts[0] != texts[3] || texts[0] == texts[1] {
		t.Error("any action depends on the weights, or the same agent answers otherwise")
	}
}
