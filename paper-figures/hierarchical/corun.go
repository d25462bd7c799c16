package hierarchical

import (
	"fmt"
	"strings"

	"miglab/datasets"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// shippedModel returns the model behind all results.
func shippedModel() corun.Model { return figures.Instance[corun.Window](queues, gpu, 0).Model }

// wellFitted is the largest residual at which the model counts as fitting a kernel.
const wellFitted = 0.15

// fit shows how well the co-run model fits the public times of kernels on A100 instances.
func fit(d *figures.Data) {
	var body figures.Table // the notes, and with them the table, need all rows first
	var badly, contradict []string
	kernels := datasets.KernelFits()
	for i := range kernels {
		f := &kernels[i]
		against := ""
		if f.Contradicts() && f.Program != "" {
			against = "yes"
			contradict = append(contradict, fmt.Sprintf("%s (%s, gains %.2fx)", f.Kernel, f.Fitted.Class, f.Gain))
		}
		if f.RMS > wellFitted {
			badly = append(badly, fmt.Sprintf("%s (%.1f %%)", f.Kernel, 100*f.RMS))
		}
		body.Row(f.Kernel, f.Program, f.Fitted.Class, fmt.Sprintf("%.3g", float64(f.Fitted.Solo)),
			reports.Cells(3, f.Fitted.Serial, f.Fitted.Parallelism),
			reports.Fixed(f.Gain, 2), reports.Fixed(100*f.RMS, 1), against)
	}
	inPaper := figures.Count(kernels, func(f datasets.KernelFit) bool { return f.Program != "" })
	t := d.Table("fit", "Fit of the co-run model to public times on A100 instances",
		reports.Left("kernel", "program", "class").Right("solo [s]", "serial s", "parallelism p",
			"gain, 1 to 7 slices", "RMS residual [%]").Left("contradicts Table IV"),
		fmt.Sprintf("%d of %d kernels are fitted within %g %%; over it: %s",
			len(kernels)-len(badly), len(kernels), 100*wellFitted, strings.Join(badly, ", ")),
		fmt.Sprintf("of the %d kernels of Table IV, the times of these are not those of the paper's class: %s; a "+
			"kernel whose class is not in Table IV has the one that fits best",
			inPaper, strings.Join(contradict, ", ")),
		"residual: model over public time, less 1; the public inputs are not the paper's")
	t.Rows = body.Rows
}

// The notes of the tables of overlapped windows.
const (
	needsOverlap = "NOT RUNNABLE: needs kernels that share a GPU: run `miglab profile --mode sm-partition --out DIR` " +
		"and `miglab profile corun --mode sm-partition --out DIR` there, put DIR/overlap.csv into datasets/hardware " +
		"as NAME.overlap.csv and build again"
	madeOnStub = "MADE ON A STUB, not on a GPU: these numbers are not measurements"
	heldOut    = "the error is of the time of an iteration beside the others over the time alone on the whole GPU; a " +
		"third of the groups, chosen by a hash of their names, is held out; the constants of the second rows of a " +
		"file are fitted on the rest"
)

// corunErrors evaluates the measurements in overlapped windows. It shows the fit of the kernels' scaling, and the error
// of the co-run model with the program's constants and with constants fitted on two thirds of the groups.
func corunErrors(d *figures.Data) {
	const title = "Kernels at the same time, and what the co-run model makes of them"
	columns := reports.Left("file", "groups", "part").Right("kappa", "delta", "jobs", "mean absolute error [%]")
	if len(d.Hardware.Overlap) == 0 {
		d.Table("corun-overlap", title, columns, needsOverlap)
		return
	}
	scaling := d.Table("corun-scaling",
		"Programs of the co-run model, fitted to kernels alone on parts of the multiprocessors",
		reports.Left("file", "kernel", "class").Right("serial s", "parallelism p", "gain, an eighth to all",
			"RMS residual [%]"))
	misses := d.Table("corun-overlap", title, columns)
	for _, t := range d.Hardware.Overlap {
		programs := map[string]*task.Program{}
		for _, f := range datasets.FitOverlap(t.Rows) {
			f.Fitted.Name = f.Kernel
			programs[f.Kernel] = &f.Fitted
			scaling.Row(t.File, f.Kernel, f.Fitted.Class, reports.Cells(3, f.Fitted.Serial, f.Fitted.Parallelism),
				reports.Fixed(f.Gain, 2), reports.Fixed(100*f.RMS, 1))
		}
		groups, left := datasets.OverlapGroups(t.Rows, programs)
		fitted := datasets.FitOverlapModel(groups, shippedModel())
		for _, m := range []corun.Model{shippedModel(), fitted} {
			addErrors(misses, t.File, groups, m)
		}
		for _, table := range []*figures.Table{scaling, misses} {
			table.Notes = figures.WithOrigin(table.Notes, t.Provenance)
			if t.Stub() {
				table.Notes = append(table.Notes, t.File+": "+madeOnStub)
			}
		}
		if left > 0 {
			misses.Notes = append(misses.Notes, fmt.Sprintf("%v: %d groups are left out, of kernels without rates "+
				"alone on several numbers of multiprocessors", t.File, left))
		}
	}
	misses.Notes = append(misses.Notes, heldOut)
}

// addErrors adds the errors of a model by kind of group.
func addErrors(t *figures.Table, file string, groups []datasets.OverlapGroup, m corun.Model) {
	for _, kind := range []string{datasets.OnPartitions, datasets.Unlimited} {
		for i, part := range []string{"fitted on", "held out"} {
			e, jobs := datasets.OverlapError(groups, m, func(g *datasets.OverlapGroup) bool {
				return g.Kind == kind && g.HeldOut == (i == 1)
			})
			if jobs > 0 {
				t.Row(file, kind, part, reports.Cells(2, m.Kappa, m.Delta), jobs, reports.Fixed(100*e, 1))
			}
		}
	}
}

// mps shows public times under MPS, the kappa that follows from them, and the methods' results with this kappa. kappa
// is the slowdown that a co-run adds.
func mps(d *figures.Data) {
	times := d.Table("mps",
		"A network's time beside a second process of the same network, each on half of the multiprocessors",
		reports.Left("network", "GPU").Right("share of the multiprocessors [%]", "alone [ms]",
			"beside the other [ms]", "slowdown").Left("source"),
		fmt.Sprintf("kappa = %v: the mean slowdown less 1, to a hundredth. The rule was written down before any "+
			"method was run with it. A part of the slowdown is a lower clock, which programs on MIG instances share "+
			"as well", datasets.MeasuredKappa()))
	for _, m := range datasets.MPSTimes() {
		times.Row(m.Network, m.GPU, m.Percent, reports.Cells(2, m.Alone, m.Beside),
			reports.Fixed(m.Slowdown(), 3), m.Source)
	}
}
