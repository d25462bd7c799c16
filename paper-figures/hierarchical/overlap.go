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

// overlapTables adds what was measured in overlapped windows, if anything: the fit of the kernels' scaling, and
// the error of the co-run model with the program's constants and with those fitted on two thirds of the groups.
func overlapTables(o *figures.Output, claims *figures.Claims, h datasets.HardwareSet) {
	if len(h.Overlap) == 0 {
		return
	}
	scaling, misses := claims.Head("corun-scaling"), claims.Head("corun-overlap")
	for _, t := range h.Overlap {
		programs := map[string]*task.Program{}
		for _, f := range datasets.FitOverlap(t.Rows) {
			f.Fitted.Name = f.Kernel
			programs[f.Kernel] = &f.Fitted
			figures.AddRow(&scaling, t.File, f.Kernel, f.Fitted.Class,
				reports.Cells(3, f.Fitted.Serial, f.Fitted.Parallelism), reports.Fixed(f.Gain, 2), reports.Fixed(100*f.RMS, 1))
		}
		groups, left := datasets.OverlapGroups(t.Rows, programs)
		fitted := datasets.FitOverlapModel(groups, shippedModel())
		for _, m := range []corun.Model{shippedModel(), fitted} {
			addErrors(&misses, t.File, groups, m)
		}
		for _, table := range []*reports.Table{&scaling, &misses} {
			table.Notes = figures.WithOrigin(table.Notes, t.Provenance)
			if t.Stub() {
				table.Notes = append(table.Notes, claims.Words("overlap-stub", t.File))
			}
		}
		if left > 0 {
			misses.Notes = append(misses.Notes, claims.Words("overlap-left", t.File, left))
		}
	}
	misses.Notes = append(misses.Notes, claims.Words("overlap-error"))
	o.Table("corun-scaling", scaling).Table("corun-overlap", misses)
}

// addErrors adds the errors of a model by kind of group.
func addErrors(t *reports.Table, file string, groups []datasets.OverlapGroup, m corun.Model) {
	for _, kind := range []string{datasets.OnPartitions, datasets.BesideBursts, datasets.Unlimited} {
		for i, part := range []string{"fitted on", "held out"} {
			e, jobs := datasets.OverlapError(groups, m, func(g *datasets.OverlapGroup) bool {
				return g.Kind == kind && g.HeldOut == (i == 1)
			})
			if jobs > 0 {
				figures.AddRow(t, file, kind, part, reports.Cells(2, m.Kappa, m.Delta), jobs, reports.Fixed(100*e, 1))
			}
		}
	}
}

// scalingFigure shows the speed of kernels alone against their multiprocessors.
func scalingFigure(o *figures.Output, h datasets.HardwareSet) {
	for _, t := range h.Overlap {
		panels := figures.Map(datasets.FitOverlap(t.Rows), func(f datasets.KernelFit) reports.Lines {
			return scalingPanel(&f, t.Rows)
		})
		if len(panels) > 0 {
			title := fmt.Sprintf("Kernels alone on parts of the multiprocessors, and the fitted model (%s)", t.Name)
			o.Figure("corun-scaling-"+t.File, title, reports.Panels{Title: title, Columns: 3, Charts: aligned(panels, 0)})
		}
	}
}

func scalingPanel(f *datasets.KernelFit, rows []datasets.OverlapRate) reports.Lines {
	var points []speed
	var alone []datasets.OverlapRate
	for _, r := range datasets.Overlaps(rows) {
		if r.Group == datasets.OverlapJob(f.Kernel, 100, r.SMs) {
			alone = append(alone, r)
		}
	}
	slices.SortFunc(alone, func(a, b datasets.OverlapRate) int { return cmp.Compare(a.SMs, b.SMs) })
	for _, r := range alone {
		points = append(points, speed{float64(r.SMs), r.Iteration, f.Fitted.Relative(float64(r.SMs)/float64(r.Of), 1)})
	}
	return speedPanel(f, "measured", reports.Axis{Label: "Multiprocessors"}, points)
}
