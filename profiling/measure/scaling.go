package measure

import (
	"fmt"

	"miglab/harness/mig"
	"miglab/harness/task"
	"miglab/reports"
)

// Monotonicity reports which tasks violate the monotony hypothesis (FAR 2.4) between which neighbouring sizes. The
// hypothesis has two points:
//
//  1. A task takes no longer with more slices. The table shows how much longer it takes on the larger size, in percent
//     of the time on the smaller size; inf if it fits only the smaller size.
//  2. The work, slices times time, does not decrease with more slices. The table shows how much less it is on the
//     larger size, in percent of the work on the smaller size.
//
// There is no tolerance: a time that is slightly longer violates the first point. Other sizes that a task does not fit
// are skipped.
func Monotonicity(title string, g *mig.GPU, b task.Batch) reports.Table {
	t := reports.Table{Title: title, Columns: reports.Right("point").Left("kernel").Right("from size", "to size",
		"by [%]")}
	for i, point := range []struct {
		rule   string
		breach func(small, large mig.Slices, on *task.Task) float64
	}{
		{"more slices are never slower; FAR saw less than 2 %", func(small, large mig.Slices, t *task.Task) float64 {
			return 100 * (float64(t.On(large)/t.On(small)) - 1)
		}},
		{"work never decreases", func(small, large mig.Slices, t *task.Task) float64 {
			return 100 * (1 - float64(large)*float64(t.On(large))/(float64(small)*float64(t.On(small))))
		}},
	} {
		breaking, largest, worst := map[string]bool{}, 0.0, ""
		for j := range b {
			k, small := &b[j], mig.Slices(0) // the next smaller size that it fits
			for _, large := range g.Sizes() {
				by := 0.0
				if small != 0 {
					by = point.breach(small, large, k)
				}
				if by > 0 {
					breaking[k.Name] = true
					t.Rows = append(t.Rows, []string{
						fmt.Sprint(i + 1), k.Name, fmt.Sprint(small), fmt.Sprint(large), reports.Fixed(by, 2),
					})
					if by > largest {
						largest = by
						worst = fmt.Sprintf(", at most by %s %% (%s from %d to %d)", reports.Fixed(by, 2), k.Name,
							small, large)
					}
				}
				if k.Fits(large) {
					small = large
				}
			}
		}
		t.Notes = append(t.Notes,
			fmt.Sprintf("point %d (%s): %d of %d kernels break it%s", i+1, point.rule, len(breaking),
				len(b), worst))
	}
	return t
}
