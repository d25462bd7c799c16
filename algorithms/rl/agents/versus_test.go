package agents_test

import (
	"testing"

	_ "miglab/algorithms"
	"miglab/bounds"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// Our agent is worth its name: over batches of 14 tasks, reconfigurations one at a
// time, its makespans are below FAR's by what the workload allows, on both readings of
// the generator.
func TestAgentIsBelowFAR(t *testing.T) {
	a100 := map[string]float64{"POORSCALING": 8, "GOODSCALING": 4, "MIXSCALINGUNIFORM": 6, "MIXSCALINGEXTREME": 6, "WIDETIMES": 3}
	a30 := map[string]float64{"POORSCALING": 0, "GOODSCALING": 0, "MIXSCALINGUNIFORM": 0, "MIXSCALINGEXTREME": 0, "WIDETIMES": 0}
	for name, percents := range map[string]map[string]float64{"A100": a100, "A30": a30} {
		g := mig.MustLookup(name)
		for workload, percent := range percents {
			for _, generator := range []string{"paper", "released-train"} {
				id := "drl/" + workload + "?gen=" + generator
				below := 100 * meanOver(t, g, id, deep.N(20, 200), func(p algo.Problem) float64 {
					return 1 - makespanOf(t, "agent", p)/makespanOf(t, "far", p)
				})
				t.Logf("%s on %s: %.2f %% below FAR", id, g, below)
				if below <= percent {
					t.Errorf("%s on %s: %.2f %% below FAR, want more than %v %%", id, g, below, percent)
				}
			}
		}
	}
}

// Our agent is near the certified bound, and nearer if it tries often.
func TestAgentIsNearTheBound(t *testing.T) {
	g := mig.MustLookup("A100")
	for workload, percent := range map[string]float64{"POORSCALING": 0.7, "GOODSCALING": 1.9, "MIXSCALINGUNIFORM": 2, "MIXSCALINGEXTREME": 2, "WIDETIMES": 2.9} {
		id := "drl/" + workload
		for agent, most := range map[string]float64{"agent": percent, "agent?k=16": 0.75 * percent} {
			above := 100 * meanOver(t, g, id, deep.N(7, 30), func(p algo.Problem) float64 {
				bound, err := bounds.Certified(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				return makespanOf(t, agent, p)/float64(bound) - 1
			})
			t.Logf("%s, %s: %.2f %% above the bound", id, agent, above)
			if above > most {
				t.Errorf("%s, %s: %.2f %% above the bound, want at most %v %%", id, agent, above, most)
			}
		}
	}
}

func meanOver(t *testing.T, g *mig.GPU, id string, batches int, of func(p algo.Problem) float64) float64 {
	t.Helper()
	spec := datasets.MustParse(id)
	sum := 0.0
	for i := range batches {
		in, err := datasets.InstanceOf[task.Batches](spec, g, i)
		if err != nil {
			t.Fatal(err)
		}
		sum += of(algo.Problem{GPU: g, Tasks: in.Tasks})
	}
	return sum / float64(batches)
}

func makespanOf(t *testing.T, id string, p algo.Problem) float64 {
	t.Helper()
	s, err := algo.MustParse(id).Schedule(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if v := schedule.Check(p, s); len(v) > 0 {
		t.Fatalf("%s: %v", id, v)
	}
	return float64(s.Makespan())
}
