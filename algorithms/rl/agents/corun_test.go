package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"miglab/algorithms/rl/env"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/sim/corun"
)

func corunWindow(t testing.TB, dataset string, i int) corun.Window {
	t.Helper()
	in, err := datasets.InstanceOf[corun.Window](datasets.MustParse(dataset), mig.MustLookup("A100"), i)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func corunPlan(t testing.TB, id string, w corun.Window) (corun.Plan, error) {
	t.Helper()
	a := algo.MustParse(id)
	c, err := algo.Make[algo.Corun](a)
	if err != nil {
		t.Fatal(err)
	}
	return c.Plan(context.Background(), w)
}

// corunGolden is what the agent decides on the paper's queues, and on a larger window with
// smaller groups.
func corunGolden(t testing.TB, id string) string {
	var b strings.Builder
	write := func(title string, w corun.Window) {
		plan, err := corunPlan(t, id, w)
		if err != nil {
			t.Fatalf("%s: %v", title, err)
		}
		fmt.Fprintf(&b, "# %s\n", title)
		for _, g := range plan {
			var names []string
			for _, j := range g.Jobs {
				names = append(names, w.Jobs[j].Name)
			}
			fmt.Fprintf(&b, "%s %s\n", &g.Setup, strings.Join(names, ", "))
		}
	}
	for i := range 12 {
		write(fmt.Sprintf("Q%d", i+1), corunWindow(t, "corun/queues", i))
	}
	write("15 jobs in groups of up to 3", corunWindow(t, "corun/balanced?w=15&cmax=3", 0))
	return b.String()
}

// corunAgents are the agents and their ceiling.
var corunAgents = []string{"d3qn", "d3qn-own", "d3qn-ceiling"}

// The ceiling is over both agents, and both are over time sharing.
func TestCorunCeiling(t *testing.T) {
	for i := range deep.N(4, 12) {
		w := corunWindow(t, "corun/queues", i)
		throughput := map[string]float64{}
		for _, id := range corunAgents {
			plan, err := corunPlan(t, id, w)
			if err != nil {
				t.Fatal(err)
			}
			r, err := corun.Measure(w, plan)
			if err != nil {
				t.Fatal(err)
			}
			throughput[id] = r.Throughput()
		}
		for _, a := range CorunAgents {
			if v := throughput[a.Name]; v > throughput["d3qn-ceiling"]*(1+1e-9) || v <= 1 {
				t.Errorf("Q%d: %s has %v, the ceiling %v", i+1, a.Name, v, throughput["d3qn-ceiling"])
			}
		}
	}
}

// With all setups of Table VII the ceiling is never lower, and on some queues higher.
func TestCorunCeilingOfAllSetups(t *testing.T) {
	higher := 0
	for i := range 12 {
		w := corunWindow(t, "corun/queues?draw=141", i)
		var throughput [2]float64
		for k, id := range []string{"d3qn-ceiling", "d3qn-ceiling?setups=hierarchical"} {
			plan, err := corunPlan(t, id, w)
			if err != nil {
				t.Fatal(err)
			}
			r, err := corun.Measure(w, plan)
			if err != nil {
				t.Fatal(err)
			}
			throughput[k] = r.Throughput()
		}
		switch few, all := throughput[0], throughput[1]; {
		case few > all*(1+1e-9):
			t.Errorf("Q%d: %v with 29 setups, %v with all", i+1, few, all)
		case all > few*(1+1e-9):
			higher++
		}
	}
	if higher == 0 {
		t.Error("all setups are nowhere better than 29")
	}
}

// A window of more than 12 jobs is planned as its parts are.
func TestCorunLargeWindowsAreCut(t *testing.T) {
	w := corunWindow(t, "corun/balanced?w=20", 0)
	whole, err := corunPlan(t, "d3qn", w)
	if err != nil {
		t.Fatal(err)
	}
	var parts corun.Plan
	for _, first := range []int{0, env.WindowSize} {
		part := w
		part.Jobs = w.Jobs[first:min(first+env.WindowSize, len(w.Jobs))]
		plan, err := corunPlan(t, "d3qn", part)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range plan {
			for i := range g.Jobs {
				g.Jobs[i] += first
			}
			parts = append(parts, g)
		}
	}
	if !slices.EqualFunc(whole, parts, sameGroup) {
		t.Errorf("planned together\n%v\nand apart\n%v", whole, parts)
	}
}

func sameGroup(a, b corun.Group) bool {
	return slices.Equal(a.Jobs, b.Jobs) && a.Setup.String() == b.Setup.String()
}

// An agent knows profiles alone: what the model charges for company does not matter.
func TestCorunPlansDoNotDependOnTheModel(t *testing.T) {
	for _, a := range CorunAgents {
		w := corunWindow(t, "corun/queues", 6)
		want, err := corunPlan(t, a.Name, w)
		if err != nil {
			t.Fatal(err)
		}
		w.Model = corun.Model{Kappa: 3, Delta: 2, Release: true}
		if got, err := corunPlan(t, a.Name, w); err != nil || !slices.EqualFunc(got, want, sameGroup) {
			t.Errorf("%s: %v, %v under another model, want %v", a.Name, got, err, want)
		}
	}
}

func TestCorunRefuses(t *testing.T) {
	w := corunWindow(t, "corun/queues", 0)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := shippedCorun(t).Plan(ended, w); !errors.Is(err, context.Canceled) {
		t.Errorf("%v once the context has ended", err)
	}
	w.Jobs = nil
	var invalid *corun.InvalidError
	if _, err := corunPlan(t, "d3qn", w); !errors.As(err, &invalid) {
		t.Errorf("a window without jobs: %v, want a *corun.InvalidError", err)
	}
}

// BenchmarkCorunWindow is the time to plan a window of 12 jobs, all of its decisions.
func BenchmarkCorunWindow(b *testing.B) {
	w := corunWindow(b, "corun/queues", 0)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := shippedCorun(b).Plan(context.Background(), w); err != nil {
			b.Fatal(err)
		}
	}
}

// shippedCorun is the agent as the registry makes it.
func shippedCorun(t testing.TB) algo.Corun {
	t.Helper()
	a, err := CorunAgents[0].make(algo.MustParse("d3qn").Args)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
