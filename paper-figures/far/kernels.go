package far

import (
	"fmt"
	"slices"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/task"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// partitioned are the GPU models whose partitions the paper draws.
func partitioned() []*mig.GPU { return []*mig.GPU{mig.MustLookup("A30"), mig.MustLookup("A100")} }

func figure1() figures.Artefact {
	return figures.Drawing("figure1", "the partitions of A30 and A100/H100", "Partitions of A30 and A100",
		reports.Partitions{Title: "Fig. 1. Partitions of A30 and of A100/H100", GPUs: partitioned()})
}

func figure4() figures.Artefact {
	return figures.Drawing("figure4", "the trees of repartitioning", "Repartitioning trees",
		reports.Tree{Title: "Fig. 4. Repartitioning trees of A30 and of A100/H100", GPUs: partitioned()})
}

// speedups is an artefact that draws the speedups of the tasks of a dataset on A100.
func speedups(name, title, caption, data string, draw func(g *mig.GPU, tasks task.Batch) reports.Figure) figures.Artefact {
	return figures.Artefact{
		Name: name, Title: title,
		Build: func(*figures.Data) (*figures.Output, error) {
			g := mig.MustLookup("A100")
			tasks, err := tasksOf(data, g)
			if err != nil {
				return nil, err
			}
			return new(figures.Output).Figure(name, caption, draw(g, tasks)), nil
		},
	}
}

func figure2() figures.Artefact {
	const caption = "Fig. 2. Speedup of Gaussian on A100, the input of 20.7 s on one slice"
	return speedups("figure2", "speedup of Gaussian by instance size on A100 (the public input size)", caption, rodiniaData,
		func(g *mig.GPU, tasks task.Batch) reports.Figure {
			bars := reports.Bars{Title: caption, X: reports.Axis{Label: "Instance size [slices]"}, Y: reports.Axis{Label: "Speedup over one slice"}}
			group := reports.BarGroup{Name: "Gaussian, mean of 10 runs"}
			gaussian := &tasks[slices.IndexFunc(tasks, func(t task.Task) bool { return t.Name == "Gaussian" })]
			for _, s := range g.Sizes() {
				bars.Categories = append(bars.Categories, fmt.Sprint(s))
				group.Values = append(group.Values, float64(gaussian.On(1)/gaussian.On(s)))
			}
			bars.Groups = []reports.BarGroup{group}
			return bars
		})
}

func figure3() figures.Artefact {
	return speedups("figure3", "speedups of Rodinia kernels on A100", "Speedups of the Rodinia kernels on A100", rodiniaData,
		func(g *mig.GPU, tasks task.Batch) reports.Figure {
			return reports.Speedups("Fig. 3. Speedup of the 16 Rodinia kernels on A100", g, tasks, 4)
		})
}

func figure11() figures.Artefact {
	return speedups("figure11", "synthetic speedups for n = 10 tasks on A100", "Synthetic speedups on A100", "far/EXAMPLESCALING+WIDETIMES",
		func(g *mig.GPU, tasks task.Batch) reports.Figure {
			return reports.Speedups("Fig. 11. Speedup of 10 synthetic tasks, p = (10, 10, 20, 30, 30) %, p_sup = 50 %", g, tasks, 5)
		})
}

// rodiniaOn returns the measured kernels of a GPU.
func rodiniaOn(g *mig.GPU) (task.Batch, error) { return tasksOf(rodiniaData, g) }

// tasksOf returns the first instance of a dataset.
func tasksOf(data string, g *mig.GPU) (task.Batch, error) {
	spec, err := datasets.Parse(data)
	if err != nil {
		return nil, err
	}
	in, err := datasets.InstanceOf[task.Batches](spec, g, 0)
	return in.Tasks, err
}
