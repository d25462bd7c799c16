package far

import (
	"fmt"
	"math"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// contradiction shows numbers of the paper that exclude one another, and numbers that no
// schedule can reach. It is the evidence of causes.
func contradiction() figures.Artefact {
	return figures.Artefact{
		Name: "contradiction", Title: "printed numbers that exclude one another or are beyond a bound",
		Build: func(d *figures.Data) (*figures.Output, error) {
			rodinia, err := rodiniaArithmetic(d.Claims)
			if err != nil {
				return nil, err
			}
			return new(figures.Output).
				Table("contradiction-table9", table9Arithmetic(d.Claims)).
				Table("contradiction-table6", refinementLimits(d)).
				Table("contradiction-table7", joiningLimits(d)).
				Table("contradiction-rodinia", rodinia).
				Table("contradiction-text", textArithmetic(d.Claims)), nil
		},
	}
}

// table9Arithmetic compares Tables 4, 7 and 9 by arithmetic on printed numbers alone.
func table9Arithmetic(claims *figures.Claims) reports.Table {
	t := reports.Table{
		Title: "Table 9 against Tables 4 and 7, from printed numbers alone",
		Columns: reports.Left("workload").Right("tasks", "rho (Table 4)", "p_multi-batch (Table 9) [%]", "a pair over its area bound", "gain of a pair by Tables 4 and 9 [%]",
			"p_move/swap (Table 7) [%]", "p_multi-batch by Tables 4 and 7 [%]", "p_multi-batch of trivial concatenation [%]"),
		Notes: []string{
			"script: the makespans of 1000 pairs over the area bound of 1001 batches. A pair takes (1 + p/100) * 1001/1000 area bounds of a batch, and its own area bound is 2 of them. A value below 1 is impossible.",
			"gain: two batches one after the other take 2 rho area bounds, so that the gain is 2 rho / (1 + p/100) - 1. The other way round, p_multi-batch would be 2 rho / (1 + gain) - 1.",
			"text: the makespan of one chain of 1001 batches. Batches one after the other take rho area bounds each, so that p_multi-batch is at most rho - 1, the last column.",
		},
	}
	for w, n := range figures.Each(wide, allSizes) {
		rho, p := claims.Published("table4", claimName(w, n, "rho")), claims.Published("table9", claimName(w, n, "p_multi-batch"))
		gain, implied := "", ""
		if slices.Contains(threeSizes, n) {
			g := claims.Published("table7", claimName(w, n, "p_move/swap"))
			gain, implied = reports.Fixed(g, 2), reports.Fixed((2*rho/(1+g/100)-1)*100, 1)
		}
		t.Rows = append(t.Rows, []string{
			w.String(), fmt.Sprint(n), reports.Fixed(rho, 2), reports.Fixed(p, 2), reports.Fixed((1+p/100)*1001/1000/2, 3),
			reports.Fixed((2*rho/(1+p/100)-1)*100, 1), gain, implied, reports.Fixed((rho-1)*100, 0),
		})
	}
	return t
}

// refinementLimits compares p_ref with the most that any refinement can gain: no schedule ends
// before the area bound.
func refinementLimits(d *figures.Data) reports.Table {
	t := reports.Table{
		Title:   "p_ref of Table 6 and the most that any refinement can gain",
		Columns: reports.Left("workload").Right("tasks", "p_ref (Table 6) [%]", "at most, script [%]", "at most, text [%]", "rho (Table 4)", "rho unrefined by Tables 4 and 6"),
		Notes: []string{
			"at most: by how many percent the makespan of FAR unrefined exceeds the area bound, the mean of 1000 executions of the batches of refinement_test (script) or of the printed generator (text)",
			"rho unrefined: rho of Table 4 times 1 + p_ref/100",
		},
	}
	for w, n := range figures.Each(workloads, threeSizes) {
		p := d.Claims.Published("table6", claimName(w, n, "p_ref"))
		row := []string{w.String(), fmt.Sprint(n), reports.Fixed(p, 2)}
		for _, parameters := range []string{"gen=released", ""} {
			unrefined := rho(d, batch(synthetic(w, n, parameters), "far?refine=false", mig.Sequential), executions)
			row = append(row, reports.Fixed((figures.Mean(unrefined)-1)*100, 2))
		}
		printed, implied := "", ""
		if w.times == "WIDETIMES" {
			r := d.Claims.Published("table4", claimName(w, n, "rho"))
			printed, implied = reports.Fixed(r, 2), reports.Fixed(r*(1+p/100), 2)
		}
		t.Rows = append(t.Rows, append(row, printed, implied))
	}
	return t
}

// joiningLimits compares Table 7 with the most that can be gained by joining two batches.
func joiningLimits(d *figures.Data) reports.Table {
	t := reports.Table{
		Title: "Table 7 and the most that can be gained by joining two batches",
		Columns: reports.Left("workload").Right("tasks", "p_rev (Table 7) [%]", "at most, script [%]", "at most, text [%]",
			"p_move/swap (Table 7) [%]", "at most with moves, script [%]", "at most with moves, text [%]"),
		Notes: []string{
			"at most: both plans stay as they are, and no slice is ever idle. Then the makespan is the work of the fullest slice in both batches",
			"at most with moves: the makespan is the area bound of both batches",
			fmt.Sprintf("script: a batch and its copy; text: two successive batches; means over %d pairs if the plans stay, and over 1000 with moves", drawnPairs),
		},
	}
	for w, n := range figures.Each(workloads, threeSizes) {
		scriptKept, scriptMoved := limits(d, copies, w, n)
		textKept, textMoved := limits(d, successive, w, n)
		published := func(quantity string) string {
			return reports.Fixed(d.Claims.Published("table7", claimName(w, n, quantity)), 2)
		}
		t.Rows = append(t.Rows, []string{
			w.String(), fmt.Sprint(n), published("p_rev"), reports.Fixed(scriptKept, 2), reports.Fixed(textKept, 2),
			published("p_move/swap"), reports.Fixed(scriptMoved, 2), reports.Fixed(textMoved, 2),
		})
	}
	return t
}

// limits returns by how many percent trivial concatenation exceeds, on average, the work of
// the fullest slice of two batches of a joining, and their area bound.
func limits(d *figures.Data, j joining, w workload, n int) (kept, moved float64) {
	trivial := j.values(d, w, n, "trivial", makespan)
	own := batch(synthetic(w, n, j.batch), "far", mig.Sequential)
	bounds := d.Values(area(own), executions+1, track.MetricBound)
	next := 1
	if j.first != "both" {
		next = 0 // the second batch is a copy
	}
	for i, m := range trivial {
		moved += (m/(bounds[i]+bounds[min(i+next, len(bounds)-1)]) - 1) * 100 / float64(len(trivial))
	}
	drawn := d.Scale.Replicates(drawnPairs)
	work := make([][]float64, drawn+1)
	for i := range work {
		work[i] = workOf(d, own, i)
	}
	for i, m := range trivial[:drawn] {
		fullest := 0.0
		for s := range work[i] {
			fullest = max(fullest, work[i][s]+work[i+next][s])
		}
		kept += (m/fullest - 1) * 100 / float64(drawn)
	}
	return kept, moved
}

// drawnPairs is how many pairs the work of the slices is taken from. It needs the schedules,
// which have to be computed again.
const drawnPairs = 100

// workOf returns the seconds of work of each slice in a schedule.
func workOf(d *figures.Data, s run.Series, instance int) []float64 {
	p, plan := d.Schedule(s, instance)
	work := make([]float64, p.GPU.ComputeSlices)
	for _, pl := range plan.Placements {
		for c := range pl.Instance.Size() {
			work[pl.Instance.Start+c] += float64(pl.End - pl.Start)
		}
	}
	return work
}

// rodiniaArithmetic compares rho and sigma of the Rodinia kernels (6.4.1, 6.5.1).
func rodiniaArithmetic(claims *figures.Claims) (reports.Table, error) {
	t := reports.Table{Title: "The Rodinia kernels: sigma of FIXPART(7) against rho of FAR", Columns: reports.Left("quantity").Right("value")}
	g := mig.MustLookup("A100")
	kernels, err := rodiniaOn(g)
	if err != nil {
		return t, err
	}
	var least, whole float64
	for i := range kernels {
		k := &kernels[i]
		own := float64(k.On(1))
		for _, s := range g.Sizes() {
			own = min(own, float64(s)*float64(k.On(s)))
		}
		least, whole = least+own/float64(g.ComputeSlices), whole+float64(k.On(g.ComputeSlices))
	}
	rho, sigma := claims.Published("rodinia", "rho FAR"), claims.Published("rodinia", "sigma FIXPART(7)")
	t.Rows = [][]string{
		{"area bound of the published times [s]", reports.Fixed(least, 2)},
		{"all kernels one after the other on 7 slices [s]", reports.Fixed(whole, 2)},
		{"makespan of FAR by the printed rho [s]", reports.Fixed(rho*least, 2)},
		{"makespan of FAR by the printed sigma [s]", reports.Fixed(whole/sigma, 2)},
		{"rho by the printed sigma", reports.Fixed(whole/sigma/least, 2)},
		{"sigma by the printed rho", reports.Fixed(whole/(rho*least), 2)},
	}
	return t, nil
}

// textArithmetic compares sentences with the tables that they sum up.
func textArithmetic(claims *figures.Claims) reports.Table {
	least, largest, beyond := math.Inf(1), math.Inf(-1), math.Inf(1)
	for _, w := range workloads {
		for _, a := range []string{"FIXPART(1,...,1)", "FIXPART(7)"} {
			gain := (claims.Published("table5", claimName(w, 15, "sigma "+a)) - 1) * 100
			least, largest = min(least, gain), max(largest, gain)
		}
		beyond = min(beyond, claims.Published("table7", claimName(w, 10, "p_move/swap"))-claims.Published("table7", claimName(w, 10, "p_rev")))
	}
	return reports.Table{
		Title:   "Sentences and the printed tables that they sum up",
		Columns: reports.Left("sentence", "in the table").Right("value [%]"),
		Rows: [][]string{
			{"1.4: between 55 % and 230 % over a scheduler without reconfiguration", "Table 5, least over FIXPART(1,...,1) and FIXPART(7)", reports.Fixed(least, 0)},
			{"", "Table 5, largest", reports.Fixed(largest, 0)},
			{"6.7.1: moves and swaps gain more than 10 % beyond reversing", "Table 7, least of p_move/swap less p_rev, n = 10", reports.Fixed(beyond, 2)},
		},
	}
}
