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

// On Q1 to Q12 the agents are better than MIG only, shared or private, on at least 11, and near the
// optimum on the mean.
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
		agent, best, wins := 0.0, 0.0, 0
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
			if own > max(throughput("mig-only", in), throughput("mig-only?memory=private", in)) {
				wins++
			}
		}
		ratio := agent / best
		t.Logf("%s on %s: %.4f of the optimum, better than MIG only on %d of %d", c.agent, c.dataset, ratio, wins, windows)
		if ratio < c.least || c.dataset == "corun/queues" && wins < windows-1 {
			t.Errorf("%s: %.4f of the optimum and %d wins over MIG only; want %v, and %d on the queues", c.dataset, ratio, wins, c.least, windows-1)
		}
	}
}
