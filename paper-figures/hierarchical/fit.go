package hierarchical

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/task"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// wellFitted is the largest residual at which the model counts as fitting a kernel.
const wellFitted = 0.15

// fit compares the model with the public times that it is fitted on.
func fit(*figures.Data) (*figures.Output, error) {
	t := reports.Table{
		Title: "Fit of the co-run model to public times on A100 instances",
		Columns: reports.Left("kernel", "program", "class").
			Right("solo [s]", "serial s", "parallelism p", "gain, 1 to 7 slices", "RMS residual [%]").
			Left("contradicts Table IV"),
	}
	public, err := datasets.InstanceOf[task.Batches](datasets.MustParse("rodinia"), mig.MustLookup(gpu), 0)
	if err != nil {
		return nil, err
	}
	chart := reports.Panels{Title: "Public times on A100 instances, and the fitted model", Columns: 4}
	var panels []reports.Lines
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
		t.Rows = append(t.Rows, []string{
			f.Kernel, f.Program, string(f.Fitted.Class), fmt.Sprintf("%.3g", float64(f.Fitted.Solo)), reports.Fixed(f.Fitted.Serial, 3),
			reports.Fixed(f.Fitted.Parallelism, 3), reports.Fixed(f.Gain, 2), reports.Fixed(100*f.RMS, 1), against,
		})
		panel := reports.Lines{Title: f.Kernel, X: reports.Axis{Label: "Slices", Ticks: []float64{1, 2, 3, 4, 7}}, Y: reports.Axis{Label: "Speed / GPU"}}
		measured, model := reports.Series{Name: "public times", Markers: true}, reports.Series{Name: "model"}
		for _, k := range public.Tasks {
			if k.Name != f.Kernel {
				continue
			}
			for _, size := range mig.MustLookup(gpu).Sizes() {
				measured.X, measured.Y = append(measured.X, float64(size)), append(measured.Y, float64(f.Fitted.Solo/k.On(size)))
				model.X, model.Y = append(model.X, float64(size)), append(model.Y, 1/onInstance(&f.Fitted, size))
			}
		}
		panel.Series = []reports.Series{measured, model}
		panels = append(panels, panel)
	}
	chart.Charts = aligned(panels, 0)
	t.Notes = []string{
		fmt.Sprintf("%d of %d kernels are fitted within %.0f %%; over it: %s", len(kernels)-len(badly), len(kernels), 100*wellFitted, strings.Join(badly, ", ")),
		fmt.Sprintf("of the %d kernels of Table IV, the times of these are not those of the paper's class: %s; a kernel whose class is not in Table IV has the one that fits best", figures.Count(kernels, func(f datasets.KernelFit) bool { return f.Program != "" }), strings.Join(contradict, ", ")),
		"residual: model over public time, less 1; speeds in the figure are the fitted solo time over the time; the public inputs are not the paper's",
	}
	return new(figures.Output).Table("fit", t).Figure("fit", chart.Title, chart), nil
}

// aligned gives all vertical axes the same range, which begins at from.
func aligned(panels []reports.Lines, from float64) (out []reports.Chart) {
	to := from
	for _, p := range panels {
		for _, s := range p.Series {
			to = max(to, slices.Max(s.Y))
		}
	}
	for _, p := range panels {
		p.Y.From, p.Y.To = from, math.Ceil(10*to)/10
		out = append(out, p)
	}
	return out
}

// onInstance is a program's relative time on an A100 instance of a size.
func onInstance(p *task.Program, size mig.Slices) float64 {
	g := mig.MustLookup(gpu)
	const gpcs = 8
	return p.Relative(float64(size)/gpcs, float64(g.Profile(size).Length)/float64(g.MemorySlices))
}
