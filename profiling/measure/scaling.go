package measure

import (
	"fmt"

	"miglab/harness/mig"
	"miglab/harness/task"
	"miglab/reports"
)

// Monotonicity reports which tasks violate the monotony hypothesis (FAR 2.4) between which
// neighbouring sizes. The hypothesis has two points:
//
//  1. A task takes no longer with more slices. The table shows how much longer it takes on
//     the larger size, in percent of the time on the smaller size; inf if it fits only the
//     smaller size.
//  2. The work, slices times time, does not decrease with more slices. The table shows how
//     much less it is on the larger size, in percent of the work on the smaller size.
//
// There is no tolerance: a time that is slightly longer violates the first point. Other
// sizes that a task does not fit are skipped.
func Monotonicity(title string, g *mig.GPU, b task.Batch) reports.Table {
	t := reports.Table{Title: title, Columns: reports.Right("point").Left("kernel").Right("from size", "to size",
		"by [%]")}
	for _, point := range []struct {
		number int
		rule   string
		breach func(small, large mig.Slices, on *task.Task) float64
	}{
		{1, "more slices are never slower; FAR saw less than 2 %", func(small, large mig.Slices, t *task.Task) float64 {
			return 100 * (float64(t.On(large)/t.On(small)) - 1)
		}},
		{2, "work never decreases", func(small, large mig.Slices, t *task.Task) float64 {
			return 100 * (1 - float64(large)*float64(t.On(large))/(float64(small)*float64(t.On(small))))
		}},
	} {
		breaking, worst := 0, ""
		largest := 0.0
		for i := range b {
			broken := false
			for _, pair := range neighbours(g, &b[i]) {
				by := point.breach(pair[0], pair[1], &b[i])
				if !(by > 0) {
					continue
				}
				broken = true
				t.Rows = append(t.Rows, []string{
					fmt.Sprint(point.number), b[i].Name, fmt.Sprint(pair[0]), fmt.Sprint(pair[1]),
					reports.Fixed(by, 2),
				})
				if by > largest {
					largest, worst = by, fmt.Sprintf(", at most by %s %% (%s from %d to %d)", reports.Fixed(by, 2), b[i].Name,
						pair[0], pair[1])
				}
			}
			if broken {
				breaking++
			}
		}
		t.Notes = append(t.Notes, fmt.Sprintf("point %d (%s): %d of %d kernels break it%s", point.number, point.rule,
			breaking, len(b), worst))
	}
	return t
}

// neighbours returns the pairs of adjacent sizes that a task fits. A size that it does not
// fit appears only as the larger of a pair.
func neighbours(g *mig.GPU, t *task.Task) [][2]mig.Slices {
	var out [][2]mig.Slices
	var last mig.Slices
	for _, size := range g.Sizes() {
		if last != 0 {
			out = append(out, [2]mig.Slices{last, size})
		}
		if t.Fits(size) {
			last = size
		}
	}
	return out
}
