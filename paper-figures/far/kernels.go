package far

import (
	"fmt"

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
			return new(figures.Output).Figure("figure2", bars.Title, bars), nil
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
			return new(figures.Output).Figure("figure3", "Speedups of the Rodinia kernels on A100",
				reports.Speedups("Fig. 3. Speedup of the 16 Rodinia kernels on A100", g, tasks, 4)), nil
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
			in, err := datasets.InstanceOf[task.Batches](spec, g, 0)
			if err != nil {
				return nil, err
			}
			return new(figures.Output).Figure("figure11", "Synthetic speedups on A100",
				reports.Speedups("Fig. 11. Speedup of 10 synthetic tasks, p = (10, 10, 20, 30, 30) %, p_sup = 50 %", g, in.Tasks, 5)), nil
		},
	}
}

// rodiniaOn returns the measured kernels of a GPU.
func rodiniaOn(g *mig.GPU) (task.Batch, error) {
	spec, err := datasets.Parse(rodiniaData)
	if err != nil {
		return nil, err
	}
	in, err := datasets.InstanceOf[task.Batches](spec, g, 0)
	return in.Tasks, err
}
