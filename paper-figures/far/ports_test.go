package far

import (
	"math"
	"testing"

	_ "miglab/algorithms"
	"miglab/harness/algo"
	"miglab/harness/mig"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/figurestest"
)

// TestKeepLastIsTheAuthorsRefinement compares Tables 4 and 6 under far?keep=last with what the authors' code gave for
// them (script.csv). The means must agree within the interval of the authors' own deviation, whatever the table's
// margin allows: a few batches in which tasks move to and fro would widen an interval of ours.
func TestKeepLastIsTheAuthorsRefinement(t *testing.T) {
	const n, rows, quantile = 500, 72, 3.39 // that of 5 % over all rows
	means := map[claim.Key]float64{}
	for w, size := range figures.Each(workloads, allSizes) {
		add := func(artefact, quantity string, value float64) {
			means[claim.Key{Artefact: artefact, Cell: cell(w, size, quantity)}] += value / n
		}
		for i := range n {
			tasks := figures.Tasks(synthetic(w, size, "gen=released"), "A100", i)
			p := algo.Problem{GPU: a100, Model: mig.Sequential, Tasks: tasks}
			after, err := algo.MustParse("far?keep=last").Schedule(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			before, err := algo.MustParse("far?refine=false").Schedule(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			work := 0.0
			for j := range tasks {
				work += tasks[j].Work(a100.Sizes())
			}
			add("table4", "rho", float64(after.Makespan())*7/work)
			add("table6", "p_ref", (float64(before.Makespan()/after.Makespan())-1)*100)
			add("table6", "moves", float64(after.Counters["moves"]))
			add("table6", "swaps", float64(after.Counters["swaps"]))
		}
	}
	found := 0
	for _, s := range figurestest.Load(t, Paper).Claims.Scripts {
		mean, ok := means[s.Key]
		if !ok {
			continue
		}
		found++
		if half := quantile * s.SD * math.Sqrt(1/float64(s.Runs)+1./n); math.Abs(mean-s.Mean) > half {
			t.Errorf("%s %s: %.3f, the authors' code gave %.3f ± %.3f", s.Artefact, s.Cell, mean, s.Mean, half)
		}
	}
	if found != rows {
		t.Errorf("%d rows of script.csv, want %d", found, rows)
	}
}
