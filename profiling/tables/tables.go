// Package tables makes the tables of profiles, of co-runs and of executed schedules. A table needs at least one row.
package tables

import (
	"fmt"
	"math"
	"strings"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/profiling/measure"
	"miglab/reports"
)

// Overlap shows for each group how fast its jobs iterated: the median over the runs, and how much longer an iteration
// took than alone on as many multiprocessors, and than alone on the whole GPU. The rests of a job that runs only a part
// of the time do not count as slowdown.
func Overlap(rows []datasets.OverlapRate) reports.Table {
	t := reports.Table{
		Title: measure.TitleWithSource("Kernels at the same time", rows[0].Provenance),
		Columns: reports.Left("group", "kernel").Right("SMs", "runs", "iteration [ms]", "over alone on as many",
			"over alone on all", "SM clock [MHz]", "power [W]").Left("throttled"),
		Notes: []string{"bandwidth, L2 and memory capacity are not partitioned; only the multiprocessors are"},
	}
	if rows[0].Stub() {
		t.Notes = append(t.Notes, "made on a stub, not on a GPU: these are not measurements")
	}
	medians := datasets.Overlaps(rows)
	alone := func(kernel string, sms int) mig.Seconds {
		for _, m := range medians {
			if m.Group == datasets.OverlapJob(kernel, 100, sms) {
				return m.Iteration
			}
		}
		return mig.Seconds(math.NaN())
	}
	over := func(a, b mig.Seconds) string { return reports.Fixed(float64(a/b), 2) }
	for _, m := range medians {
		asked := m.SMs
		if strings.HasSuffix(strings.Fields(m.Group)[m.Job-1], ":"+datasets.All) {
			asked = 0
		}
		busy := m.Iteration * mig.Seconds(m.Intensity) / 100 // without the rests of one that does not run all the time
		t.Rows = append(t.Rows, []string{
			m.Group, strings.Split(strings.Fields(m.Group)[m.Job-1], ":")[0],
			fmt.Sprint(m.SMs), fmt.Sprint(m.Run), reports.Fixed(1000*float64(m.Iteration), 4),
			over(busy, alone(m.Kernel, asked)), over(busy, alone(m.Kernel, m.Of)),
			reports.Fixed(m.ClockMean, 0), reports.Fixed(m.PowerMean, 0), m.Throttle,
		})
	}
	return t
}
