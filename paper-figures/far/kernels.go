package far

import (
	"fmt"
	"math"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/task"
	figures "miglab/paper-figures"
	"miglab/reports"
)

func figure1() figures.Artefact {
	return figures.Artefact{
		Name: "figure1", Title: "the partitions of A30 and A100/H100",
		Build: func(*figures.Data) (*figures.Output, error) {
			return drawn("figure1", "Partitions of A30 and A100", reports.Partitions{
				Title: "Fig. 1. Partitions of A30 and of A100/H100",
				GPUs:  []*mig.GPU{mig.MustLookup("A30"), mig.MustLookup("A100")},
			}), nil
		},
	}
}

func figure4() figures.Artefact {
	return figures.Artefact{
		Name: "figure4", Title: "the trees of repartitioning",
		Build: func(*figures.Data) (*figures.Output, error) {
			return drawn("figure4", "Repartitioning trees", reports.Tree{
				Title: "Fig. 4. Repartitioning trees of A30 and of A100/H100",
				GPUs:  []*mig.GPU{mig.MustLookup("A30"), mig.MustLookup("A100")},
			}), nil
		},
	}
}

// drawn is the output of an artefact that is one figure.
func drawn(file, title string, f reports.Figure) *figures.Output {
	return &figures.Output{Figures: []figures.Figure{{File: file, Title: title, Figure: f}}}
}

func figure2() figures.Artefact {
	return figures.Artefact{
		Name: "figure2", Title: "speedup of Gaussian by instance size on A100 (the public input size)",
		Build: func(*figures.Data) (*figures.Output, error) {
			g := mig.MustLookup("A100")
			tasks, err := rodiniaOn(g)
			if err != nil {
				return nil, err
			}
			bars := reports.Bars{
				Title: "Fig. 2. Speedup of Gaussian on A100, the input of 20.7 s on one slice",
				X:     reports.Axis{Label: "Instance size [slices]"}, Y: reports.Axis{Label: "Speedup over one slice"},
			}
			group := reports.BarGroup{Name: "Gaussian, mean of 10 runs"}
			for i := range tasks {
				if tasks[i].Name != "Gaussian" {
					continue
				}
				for _, s := range g.Sizes() {
					bars.Categories = append(bars.Categories, fmt.Sprint(s))
					group.Values = append(group.Values, float64(tasks[i].On(1)/tasks[i].On(s)))
				}
			}
			bars.Groups = []reports.BarGroup{group}
			return drawn("figure2", bars.Title, bars), nil
		},
	}
}

func figure3() figures.Artefact {
	return figures.Artefact{
		Name: "figure3", Title: "speedups of Rodinia kernels on A100",
		Build: func(*figures.Data) (*figures.Output, error) {
			g := mig.MustLookup("A100")
			tasks, err := rodiniaOn(g)
			if err != nil {
				return nil, err
			}
			return drawn("figure3", "Speedups of the Rodinia kernels on A100",
				speedups("Fig. 3. Speedup of the 16 Rodinia kernels on A100", g, tasks, 4)), nil
		},
	}
}

func figure11() figures.Artefact {
	return figures.Artefact{
		Name: "figure11", Title: "synthetic speedups for n = 10 tasks on A100",
		Build: func(*figures.Data) (*figures.Output, error) {
			spec, err := datasets.Parse("far/EXAMPLESCALING+WIDETIMES")
			if err != nil {
				return nil, err
			}
			g := mig.MustLookup("A100")
			in, err := spec.Instance(g, 0)
			if err != nil {
				return nil, err
			}
			return drawn("figure11", "Synthetic speedups on A100",
				speedups("Fig. 11. Speedup of 10 synthetic tasks, p = (10, 10, 20, 30, 30) %, p_sup = 50 %", g, in.Tasks, 5)), nil
		},
	}
}

// rodiniaOn returns the measured kernels of a GPU.
func rodiniaOn(g *mig.GPU) (task.Batch, error) {
	spec, err := datasets.Parse(rodiniaData)
	if err != nil {
		return nil, err
	}
	in, err := spec.Instance(g, 0)
	return in.Tasks, err
}

// speedups draws t(1)/t(s) over s, perPanel tasks a panel, with the linear speedup
// in each.
func speedups(title string, g *mig.GPU, tasks task.Batch, perPanel int) reports.Panels {
	top := float64(g.ComputeSlices)
	for i := range tasks {
		for _, s := range g.Sizes() {
			top = math.Max(top, float64(tasks[i].On(1)/tasks[i].On(s)))
		}
	}
	var ticks []float64
	for _, s := range g.Sizes() {
		ticks = append(ticks, float64(s))
	}
	out := reports.Panels{Title: title}
	for from := 0; from < len(tasks); from += perPanel {
		lines := reports.Lines{
			X: reports.Axis{Label: "Instance size [slices]", Ticks: ticks},
			Y: reports.Axis{Label: "Speedup", From: 0, To: math.Ceil(top)},
		}
		for i := from; i < min(from+perPanel, len(tasks)); i++ {
			s := reports.Series{Name: tasks[i].Name, Markers: true}
			for _, size := range g.Sizes() {
				s.X = append(s.X, float64(size))
				s.Y = append(s.Y, float64(tasks[i].On(1)/tasks[i].On(size)))
			}
			lines.Series = append(lines.Series, s)
		}
		linear := []float64{1, float64(g.ComputeSlices)}
		lines.Series = append(lines.Series, reports.Series{Name: "linear", X: linear, Y: linear})
		out.Charts = append(out.Charts, lines)
	}
	return out
}
