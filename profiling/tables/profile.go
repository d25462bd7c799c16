package tables

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/task"
	"miglab/profiling/launch"
	"miglab/profiling/measure"
	"miglab/reports"
)

// incomparable is the warning about times from several sources.
const incomparable = "times from different sources are not comparable: wall is the whole process, with its start, " +
	"files and copies; regexp is what the program prints (miglab's kernels: their iterations); altis_csv is the " +
	"kernels alone"

// Warnings returns a sentence about each kernel that is left out of datasets, each time that spreads more than
// [measure.MaxSpread], times from several sources, instances and processes of others, lowered clocks, and runs without
// samples of the clocks.
func Warnings(p *measure.Profile) []string {
	_, out := p.Tasks()
	for i := range p.Results {
		r := &p.Results[i]
		if r.Status == launch.OK && r.Spread() > measure.MaxSpread {
			out = append(out, fmt.Sprintf("%s %s is unsteady: its times spread %s %%, more than %v %%",
				r.Kernel, measure.OnSlices(r.Size), reports.Fixed(r.Spread(), 1), measure.MaxSpread))
		}
	}
	if slices.ContainsFunc(p.Results, func(r measure.Result) bool { return r.Time != p.Results[0].Time }) {
		out = append(out, incomparable)
	}
	existed, beside, lowered := 0, 0, map[string]int{}
	for i := range p.Runs {
		r := &p.Runs[i]
		if r.Mode == measure.Existing {
			existed++
		}
		if r.OtherProcesses > 0 {
			beside++
		}
		reasons := "unknown"
		if r.Samples > 0 {
			reasons = r.Throttle
		}
		for reason := range strings.SplitSeq(reasons, "+") {
			lowered[reason]++
		}
	}
	note := func(count int, format string) {
		if count > 0 {
			out = append(out, fmt.Sprintf(format, fmt.Sprintf("%d of %d runs", count, len(p.Runs))))
		}
	}
	note(existed, "%s were on MIG instances that existed (mode mig-existing); others may have used the rest of the GPU")
	note(beside, "other processes used the GPU beside %s")
	for _, reason := range slices.Sorted(maps.Keys(lowered)) {
		switch reason {
		case "none", "":
		case "unknown":
			note(lowered[reason], "nothing was sampled during %s")
		default:
			note(lowered[reason], "clocks were lowered ("+reason+") during %s")
		}
	}
	return out
}

// Profile shows the results, with the warnings below.
func Profile(p *measure.Profile) reports.Table {
	t := reports.Table{
		Title: measure.TitleWithSource("Times of kernels by instance size", p.Provenance()),
		Columns: reports.Left("kernel", "time").Right("size").Left("status").
			Right("runs", "median [s]", "mean [s]", "std [s]", "95 % interval [s]", "spread [%]"),
		Notes: Warnings(p),
	}
	for i := range p.Results {
		r := &p.Results[i]
		row := []string{
			r.Kernel, cmp.Or(string(r.Time), reports.Missing), fmt.Sprint(r.Size), string(r.Status),
			fmt.Sprint(r.Runs), reports.Fixed(float64(r.Seconds()), 4),
		}
		if r.Status == launch.OK {
			row = append(row, reports.Fixed(r.Times.Mean, 4), reports.Fixed(r.Times.StdDev, 4),
				"["+strings.Join(reports.Cells(4, r.Times.Low, r.Times.High), ", ")+"]", reports.Fixed(r.Spread(), 2))
		} else {
			row = append(row, reports.Missing, reports.Missing, reports.Missing, reports.Missing)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

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
