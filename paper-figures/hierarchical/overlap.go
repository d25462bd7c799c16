package hierarchical

import (
	"cmp"
	"fmt"
	"slices"

	"miglab/datasets"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// overlapTables adds to the artefact what was measured in overlapped windows: the fit of the
// kernels' scaling, and the error of the co-run model with the constants of the program and
// with constants that are fitted on two thirds of the groups. Without such data it adds nothing.
func overlapTables(o *figures.Output, h datasets.HardwareSet) {
	if len(h.Overlap) == 0 {
		return
	}
	scaling := reports.Table{
		Title:   "Programs of the co-run model, fitted to kernels alone on parts of the multiprocessors",
		Columns: reports.Left("file", "kernel", "class").Right("serial s", "parallelism p", "gain, an eighth to all", "RMS residual [%]"),
	}
	misses := reports.Table{
		Title:   "Kernels at the same time, and what the co-run model makes of them",
		Columns: reports.Left("file", "groups", "part").Right("kappa", "delta", "jobs", "mean absolute error [%]"),
	}
	for _, t := range h.Overlap {
		programs := map[string]*task.Program{}
		for _, f := range datasets.FitOverlap(t.Rows) {
			f.Fitted.Name = f.Kernel
			programs[f.Kernel] = &f.Fitted
			scaling.Rows = append(scaling.Rows, []string{
				t.File, f.Kernel, string(f.Fitted.Class), reports.Fixed(f.Fitted.Serial, 3), reports.Fixed(f.Fitted.Parallelism, 3),
				reports.Fixed(f.Gain, 2), reports.Fixed(100*f.RMS, 1),
			})
		}
		groups, left := datasets.OverlapGroups(t.Rows, programs)
		fitted := datasets.FitOverlapModel(groups, shippedModel())
		for _, m := range []corun.Model{shippedModel(), fitted} {
			misses.Rows = append(misses.Rows, errorRows(t.File, groups, m)...)
		}
		for _, table := range []*reports.Table{&scaling, &misses} {
			table.Notes = figures.WithOrigin(table.Notes, t.Provenance)
			if t.Stub() {
				table.Notes = append(table.Notes, t.File+": MADE ON A STUB, not on a GPU: these numbers are not measurements")
			}
		}
		if left > 0 {
			misses.Notes = append(misses.Notes, fmt.Sprintf("%s: %d groups are left out, of kernels without rates alone on several numbers of multiprocessors", t.File, left))
		}
	}
	misses.Notes = append(misses.Notes, "the error is of the time of an iteration beside the others over the time alone on the whole GPU; a third of the groups, chosen by a hash of their names, is held out; the constants of the second rows of a file are fitted on the rest")
	o.Table("corun-scaling", scaling).Table("corun-overlap", misses)
}

// errorRows shows the errors of a model by kind of group.
func errorRows(file string, groups []datasets.OverlapGroup, m corun.Model) (rows [][]string) {
	for _, kind := range []string{datasets.OnPartitions, datasets.BesideBursts, datasets.Unlimited} {
		for _, heldOut := range []bool{false, true} {
			e, jobs := datasets.OverlapError(groups, m, func(g *datasets.OverlapGroup) bool { return g.Kind == kind && g.HeldOut == heldOut })
			if jobs == 0 {
				continue
			}
			part := map[bool]string{false: "fitted on", true: "held out"}[heldOut]
			rows = append(rows, []string{file, kind, part, reports.Fixed(m.Kappa, 2), reports.Fixed(m.Delta, 2), fmt.Sprint(jobs), reports.Fixed(100*e, 1)})
		}
	}
	return rows
}

// scalingFigure shows the speed of kernels alone against their multiprocessors.
func scalingFigure(o *figures.Output, h datasets.HardwareSet) {
	for _, t := range h.Overlap {
		panels := map[string]*reports.Lines{}
		var names []string
		for _, f := range datasets.FitOverlap(t.Rows) {
			panels[f.Kernel] = scalingPanel(&f, t.Rows)
			names = append(names, f.Kernel)
		}
		if len(names) == 0 {
			continue
		}
		title := fmt.Sprintf("Kernels alone on parts of the multiprocessors, and the fitted model (%s)", t.Name)
		chart := reports.Panels{Title: title, Columns: 4}
		chart.Charts = aligned(figures.Map(names, func(n string) reports.Lines { return *panels[n] }), 0)
		o.Figure("corun-scaling-"+t.File, title, chart)
	}
}

func scalingPanel(f *datasets.KernelFit, rows []datasets.OverlapRate) *reports.Lines {
	measured, model := reports.Series{Name: "measured", Markers: true}, reports.Series{Name: "model"}
	var alone []datasets.OverlapRate
	for _, r := range datasets.Overlaps(rows) {
		if r.Group == datasets.OverlapJob(f.Kernel, 100, r.SMs) {
			alone = append(alone, r)
		}
	}
	slices.SortFunc(alone, func(a, b datasets.OverlapRate) int { return cmp.Compare(a.SMs, b.SMs) })
	for _, r := range alone {
		sms := float64(r.SMs)
		measured.X, measured.Y = append(measured.X, sms), append(measured.Y, float64(f.Fitted.Solo/r.Iteration))
		model.X, model.Y = append(model.X, sms), append(model.Y, 1/f.Fitted.Relative(sms/float64(r.Of), 1))
	}
	return &reports.Lines{
		Title: f.Kernel, X: reports.Axis{Label: "Multiprocessors"}, Y: reports.Axis{Label: "Speed / GPU"},
		Series: []reports.Series{measured, model},
	}
}
