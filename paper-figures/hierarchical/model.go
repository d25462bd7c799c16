package hierarchical

import (
	"fmt"
	"strings"

	"miglab/datasets"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// This file shows the public measurements behind the co-run model, which simulates all results of this package.

// wellFitted is the largest residual at which the table says that the model fits a kernel. It is a choice: the table
// prints all residuals and names the larger ones.
const wellFitted = 0.15

// fit shows how well the co-run model fits the public times of kernels on A100 instances.
func fit(d *figures.Data) {
	var body figures.Table // collects the rows first, because the notes of the table depend on them
	var badly, contradict []string
	kernels := datasets.KernelFits()
	for i := range kernels {
		f := &kernels[i]
		contradicts := ""
		if f.Contradicts() && f.Program != "" {
			contradicts = "yes"
			contradict = append(contradict, fmt.Sprintf("%s (%s, gains %.2fx)", f.Kernel, f.Fitted.Class, f.Gain))
		}
		if f.RMS > wellFitted {
			badly = append(badly, fmt.Sprintf("%s (%.1f %%)", f.Kernel, 100*f.RMS))
		}
		body.Row(f.Kernel, f.Program, f.Fitted.Class, fmt.Sprintf("%.3g", float64(f.Fitted.Solo)),
			reports.Cells(3, f.Fitted.Serial, f.Fitted.Parallelism),
			reports.Fixed(f.Gain, 2), reports.Fixed(100*f.RMS, 1), contradicts)
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

// mps shows public times under MPS, and the kappa that follows from them: the share by which each program slows down
// the others.
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
