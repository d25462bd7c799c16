// Package tables has the tables of rows that packages measure and execute made on GPUs. A table needs at least one row.
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

// addSource ends a title with the GPU and the source, so that results of one source are not mistaken for others.
func addSource(title string, from datasets.Provenance) string {
	return fmt.Sprintf("%s; %s, source: %s", title, from.Name, from.Source)
}

// Isolation shows, by instance size, the largest absolute difference between a kernel's times alone and beside
// others (FAR Table 2), or [reports.Missing].
func Isolation(rows []datasets.IsolationTime) reports.Table {
	t := reports.Table{
		Title:   addSource("Largest difference in percent between kernels alone and beside others", rows[0].Provenance),
		Columns: reports.Left("kernel"),
		Notes:   []string{"instances share PCIe and the power limit, which MIG does not partition"},
	}
	sizes := measure.Sizes(rows, func(r datasets.IsolationTime) mig.Slices { return r.Size })
	for _, size := range sizes {
		t.Columns = t.Columns.Right(fmt.Sprint(size))
	}
	for same := range measure.Grouped(rows, func(r *datasets.IsolationTime) string { return r.Kernel }) {
		row := []string{same[0].Kernel}
		for _, size := range sizes {
			largest := math.NaN()
			for _, r := range same {
				if by := math.Abs(r.Difference); r.Size == size && r.Beside != "" && !(largest >= by) {
					largest = by
				}
			}
			row = append(row, reports.Fixed(largest, 2))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Overlap shows for each group how fast its jobs iterated: the median over the runs, and how much longer an iteration
// took than alone on as many multiprocessors, and than alone on the whole GPU. The rests of a job that runs only a part
// of the time do not count as slowdown.
func Overlap(rows []datasets.OverlapRate) reports.Table {
	t := reports.Table{
		Title: addSource("Kernels at the same time", rows[0].Provenance),
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

// Reconfiguration compares measured times with the GPU's model (FAR Table 1). The ratio of a round is the time of all
// operations at once over their time one by one. It is 1 if the driver serialises them, as FAR 2.1 found, and 1 over
// their number if it runs them in parallel. All rows must be from one GPU of the model.
func Reconfiguration(rows []datasets.ReconfigurationTime, g *mig.GPU) reports.Table {
	t := reports.Table{
		Title: addSource("Seconds to create and to destroy instances", rows[0].Provenance),
		Columns: reports.Left("round").Right("size").Left("operation").PlusMinus("mean [s]").
			Right("model [s]", "one by one [s]", "all at once [s]", "ratio"),
		Notes: []string{
			"model: what schedulers reckon with, " + g.CostSource,
			"ratio: the round with all operations at once over the round with one by one; 1 where the driver " +
				"serialises them",
		},
	}
	for _, r := range rows {
		if r.Threads != 1 {
			continue
		}
		model := g.Profile(r.Size).Create
		if r.Operation == "destroy" {
			model = g.Profile(r.Size).Destroy
		}
		row := append([]string{r.Partition, fmt.Sprint(r.Size), r.Operation},
			reports.Cells(3, float64(r.Mean), float64(r.StdDev))...)
		row = append(row, reports.Fixed(float64(model), 2), reports.Fixed(float64(r.Total), 3))
		together, ratio := reports.Missing, reports.Missing
		for _, all := range rows {
			if all.Threads > 1 && all.Partition == r.Partition && all.Size == r.Size && all.Operation == r.Operation {
				together, ratio = reports.Fixed(float64(all.Total), 3), reports.Fixed(float64(all.Total/r.Total), 2)
			}
		}
		t.Rows = append(t.Rows, append(row, together, ratio))
	}
	return t
}
