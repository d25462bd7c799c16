package far

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"miglab/harness/stats"
	"miglab/harness/task"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// A comparedBatch compares FIXPART(1,...,1) and FIXPART(7) on a batch of Table 5.
type comparedBatch struct {
	// ratio is the makespan of FIXPART(1,...,1) over the one of FIXPART(7).
	ratio float64
	// most is sigma of FIXPART(7) if FAR reached the area bound.
	most float64
}

// compare runs a batch on seven instances of one slice and on one of seven.
func compare(b task.Batch) comparedBatch {
	free := make([]float64, a100.ComputeSlices)
	seven, area := 0.0, 0.0
	for i := range b {
		free[floats.MinIdx(free)] += float64(b[i].On(1))
		seven += float64(b[i].On(a100.ComputeSlices))
		area += b[i].Work(a100.Sizes()) / float64(len(free))
	}
	return comparedBatch{slices.Max(free) / seven, seven / area}
}

// mostSigma returns the largest mean sigma of FIXPART(1,...,1) that batches allow if the mean sigma of
// FIXPART(7) is given, whatever FAR needs, and its standard error as a difference of the batches' mean and that of the
// paper's executions.
//
// Both sigmas of a batch have the same makespan of FAR: one is y and the other ratio*y with y <= most. For
// every c, the mean of ratio*y is at most c times the mean of y plus the mean of most*max(0, ratio-c). The
// least over c is the largest possible mean.
func mostSigma(batches []comparedBatch, seven float64) (most, stdErr float64) {
	most = math.Inf(1)
	for _, at := range batches {
		beyond := figures.Map(batches, func(b comparedBatch) float64 { return b.most * max(0, b.ratio-at.ratio) })
		mean, deviation := stats.MeanStdDev(beyond)
		if m := float64(at.ratio*seven) + mean; m < most {
			most, stdErr = m, deviation*math.Sqrt(1/float64(len(batches))+1./executions)
		}
	}
	return most, stdErr
}

// allows reports whether batches allow two printed sigmas together, up to rounding and three standard errors.
func allows(batches []comparedBatch, ones, seven float64) bool {
	const rounding = 0.005
	most, stdErr := mostSigma(batches, seven+rounding)
	if ones-rounding > most+float64(3*stdErr) {
		return false
	}
	// The least is the most of the negative values.
	lower := figures.Map(batches, func(b comparedBatch) comparedBatch { return comparedBatch{-b.ratio, b.most} })
	most, stdErr = mostSigma(lower, seven-rounding)
	return ones+rounding >= -most-float64(3*stdErr)
}

// memoryBound lists the values of p_sup, in percent, at which the number of memory-bound tasks in a class of 3, 7 or 8
// tasks changes. The batches of 15 tasks have no other classes.
var memoryBound = strings.Fields("0 13 15 25 29 34 38 43 50 58 63 67 72 75 86 88 100")

// speedupLimits shows for which values of p_sup two printed sigmas are possible together.
func speedupLimits(d *figures.Data) {
	t := d.Table("contradiction-speedups",
		"p_sup with which the numbers that Table 5 prints for FIXPART(1,...,1) and FIXPART(7) can be true together",
		reports.Left("scaling", "generator").Right("sigma FIXPART(1,...,1), NARROWTIMES (Table 5)",
			"sigma FIXPART(7), NARROWTIMES (Table 5)", "NARROWTIMES, p_sup from [%]", "NARROWTIMES, p_sup to [%]",
			"sigma FIXPART(1,...,1), WIDETIMES (Table 5)", "sigma FIXPART(7), WIDETIMES (Table 5)",
			"WIDETIMES, p_sup from [%]", "WIDETIMES, p_sup to [%]"),
		"Both sigmas of an execution are divided by the same makespan of FAR, so that their quotient depends on the "+
			"tasks alone, and no makespan of FAR is less than the area bound. Whatever FAR needs, the mean sigma of "+
			"FIXPART(7) then leaves a narrow range to that of FIXPART(1,...,1)",
		"p_sup: the share of memory-bound tasks, which the paper does not print for its tables. Only the values at "+
			"which the number of such tasks in a class of 3, 7 or 8 tasks changes are tried, so that \"67 to 67\" "+
			"means every p_sup from 67 up to less than the next of 0, 13, 15, 25, 29, 34, 38, 43, 50, 58, 63, 67, "+
			"72, 75, 86, 88 and 100 %",
		"possible: within the rounding of print and three standard errors of the difference of our mean of 1000 "+
			"executions and a printed one of as many, which the paper says that its tables have; empty if no p_sup "+
			"is. If print had the 100 repetitions of the script, p_sup = 100 % would allow both rows of MIXEDSCALING",
		"NARROWTIMES and WIDETIMES differ in t(1) alone (6.3), and the script draws both with one p_sup")
	if d.Planning() {
		return
	}
	for scaling, generator := range figures.Each([]string{"POORSCALING", "MIXEDSCALING", "GOODSCALING"},
		[]string{"printed", "script"}) {
		row := figures.Map([]string{"NARROWTIMES", "WIDETIMES"}, func(times string) []string {
			w := workload{scaling, times}
			ones := table5.printed(d.Claims, w, 15, "sigma FIXPART(1,...,1)")
			seven := table5.printed(d.Claims, w, 15, "sigma FIXPART(7)")
			possible := slices.DeleteFunc(slices.Clone(memoryBound), func(p string) bool {
				parameters := "psup=" + p
				if generator == "script" {
					parameters += "&gen=released&leave=0.3"
				}
				var batches []comparedBatch
				for i := range d.Scale.Replicates(executions) {
					batches = append(batches, compare(figures.Tasks(synthetic(w, 15, parameters), "A100", i)))
				}
				return !allows(batches, ones, seven)
			})
			from, to := "", ""
			if len(possible) > 0 {
				from, to = possible[0], possible[len(possible)-1]
			}
			return append(reports.Cells(2, ones, seven), from, to)
		})
		both := claim.Selection{Row: scaling + " NARROWTIMES;" + scaling + " WIDETIMES"}
		t.RowAbout(both, generator, scaling, generator, row)
	}
}
