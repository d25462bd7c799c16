package agents_test

import (
	"testing"

	_ "miglab/algorithms/corun"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/sim/corun"
)

// The agents are near the optimum on the mean, and on Q1 to Q12 better than MIG only, shared or private. No plan is
// better than the optimum.
func TestCorunAgentIsNearTheOptimum(t *testing.T) {
	throughput := func(id string, w corun.Window) float64 {
		a := algo.MustParse(id)
		c, err := algo.Make[algo.Corun](a)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := c.Plan(t.Context(), w)
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		r, err := corun.Measure(w, plan)
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		return r.Throughput()
	}
	for _, c := range []struct {
		agent, dataset string
		windows        int
		// least is the agent's mean throughput over the optimum's.
		least float64
	}{
		{"d3qn", "corun/queues", 12, 0.93},
		{"d3qn", "corun/seen", 10, 0.93},
		{"d3qn", "corun/unseen", 10, 0.92},
		{"d3qn-own", "corun/queues", 12, 0.93},
		{"d3qn-own", "corun/drawn", 12, 0.93},
	} {
		spec := datasets.MustParse(c.dataset)
		agent, best, migOnly := 0.0, 0.0, 0.0
		windows := deep.N(4, c.windows)
		for i := range windows {
			in, err := datasets.InstanceOf[corun.Window](spec, mig.MustLookup("A100"), i)
			if err != nil {
				t.Fatal(err)
			}
			own, optimum := throughput(c.agent, in), throughput("exact", in)
			if own > optimum*(1+1e-9) {
				t.Errorf("%s, window %d: %v, over the optimum %v", c.dataset, i, own, optimum)
			}
			agent, best = agent+own, best+optimum
			migOnly += max(throughput("mig-only", in), throughput("mig-only?memory=private", in))
		}
		t.Logf("%s on %s: %.4f of the optimum, MIG only %.4f", c.agent, c.dataset, agent/best, migOnly/best)
		if agent < c.least*best || c.dataset == "corun/queues" && agent <= migOnly {
			t.Errorf("%s on %s: %.4f of the optimum, want %v; MIG only has %.4f", c.agent, c.dataset, agent/best, c.least, migOnly/best)
		}
	}
}
