package agents_test

import (
	"testing"

	_ "miglab/algorithms"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// Our agent is worth its name: over batches of 14 tasks, reconfigurations one at a
// time, its makespans are below FAR's by what the workload allows, on both readings of
// the generator.
func TestAgentIsBelowFAR(t *testing.T) {
	g := mig.MustLookup("A100")
	far, agent := algo.MustParse("far"), algo.MustParse("agent")
	makespan := func(a algo.Algorithm, p algo.Problem) float64 {
		s, err := a.Schedule(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if v := schedule.Check(p, s); len(v) > 0 {
			t.Fatalf("%s: %v", a.ID, v)
		}
		return float64(s.Makespan())
	}
	for _, c := range []struct {
		workload string
		percent  float64
	}{{"POORSCALING", 5}, {"GOODSCALING", 3}, {"MIXSCALINGUNIFORM", 5}, {"MIXSCALINGEXTREME", 5}, {"WIDETIMES", 3}} {
		for _, generator := range []string{"paper", "released-train"} {
			spec := datasets.MustParse("drl/" + c.workload + "?gen=" + generator)
			const batches = 200
			sum := 0.0
			for i := range batches {
				in, err := datasets.InstanceOf[task.Batches](spec, g, i)
				if err != nil {
					t.Fatal(err)
				}
				p := algo.Problem{GPU: g, Tasks: in.Tasks}
				sum += 100 * (1 - makespan(agent, p)/makespan(far, p))
			}
			if below := sum / batches; below < c.percent {
				t.Errorf("%s: %.2f %% below FAR, want %v %%", spec.ID(), below, c.percent)
			}
		}
	}
}
