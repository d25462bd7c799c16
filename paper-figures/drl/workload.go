package drl

import (
	"fmt"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/task"
	figures "miglab/paper-figures"
)

const (
	// replicates is the paper's number of datasets of a workload (5.1.3), n the number of
	// tasks in a batch (6.3), and tasks the number of tasks in a dataset.
	replicates = 1000
	n          = 14
	tasks      = 100
)

// A workload is a row of Tables 4 and 5.
type workload struct {
	// name is the paper's.
	name string
	// spec is the dataset without parameters.
	spec string
	// trainedOn is the workload that the agents are trained on. It is WIDETIMES for measured
	// kernels, as in the paper. Adversarial sets have the workload that they are drawn from.
	trainedOn string
	// datasets is the paper's number of datasets.
	datasets int
}

// wideTimes is the workload with times from 1 to 100 s.
const wideTimes = "WIDETIMES"

// rodinia represents RODINIA + ALTIS, whose Altis kernels are not public.
var rodinia = workload{"RODINIA + ALTIS", "drl/RODINIA", wideTimes, replicates}

var workloads = listWorkloads()

func listWorkloads() []workload {
	out := []workload{rodinia}
	for _, name := range []string{"POORSCALING", "GOODSCALING", "MIXSCALINGUNIFORM", "MIXSCALINGEXTREME", wideTimes} {
		out = append(out, workload{name, "drl/" + name, name, replicates})
	}
	return out
}

// rowsOf lists the names of workloads.
func rowsOf(workloads []workload) (out []string) {
	for _, w := range workloads {
		out = append(out, w.name)
	}
	return out
}

// generators are the readings of the generator: the paper's text, and the code with
// which the agents were trained.
var generators = []string{"", "released-train"}

// generators lists those that the workload depends on.
func (w workload) generators() []string {
	if w == rodinia {
		return generators[:1]
	}
	return generators
}

// A share is one batch of each of the first datasets of a workload.
type share struct {
	data string
	// datasets is how many datasets have such a batch. In the first full of them it has
	// n tasks, in the others fewer.
	datasets, full int
	// batches is the number of batches of a dataset that it represents.
	batches float64
}

// shares returns batches that represent all batches of the first datasets of a workload. The
// 7 full batches of 100 tasks in random order are alike, so the first represents them all.
func (w workload) shares(s figures.Scale, generator string) []share {
	if w == rodinia {
		return w.every(s, generator, w.datasets)
	}
	all := w.every(s, generator, w.datasets)
	first, last := all[0], all[len(all)-1]
	first.batches = float64(len(all) - 1)
	return []share{first, last}
}

// every returns every batch of the first datasets of a workload.
func (w workload) every(s figures.Scale, generator string, most int) []share {
	most = s.Replicates(most)
	var out []share
	if w == rodinia {
		lengths := map[int][]int{} // of batches, by part
		spec := datasets.MustParse(w.spec)
		for i := range most {
			in, err := datasets.InstanceOf[task.Batches](spec, mig.MustLookup("A100"), i)
			if err != nil {
				panic(err) // the instances are part of the program
			}
			for part, length := range in.Lengths {
				lengths[part] = append(lengths[part], length)
			}
		}
		for part := range len(lengths) {
			full := 0
			for _, length := range lengths[part] {
				if length == n {
					full++
				}
			}
			out = append(out, share{figures.Dataset(fmt.Sprintf("%s?part=%d", w.spec, part+1)), len(lengths[part]), full, 1})
		}
		return out
	}
	if generator != "" {
		generator = "&gen=" + generator
	}
	for from := 0; from < tasks; from += n {
		full := 0
		if from+n <= tasks {
			full = most
		}
		out = append(out, share{figures.Dataset(fmt.Sprintf("%s?total=%d&part=%d%s", w.spec, tasks, from/n+1, generator)), most, full, 1})
	}
	return out
}

// averages are means over the batches of a dataset, by dataset.
type averages struct {
	// full and partial are over the batches with n tasks, and with fewer.
	all, full, partial []float64
}

// average averages a quantity over the batches of each dataset. values gives it, by
// dataset, for the k-th share.
func average(shares []share, values func(k int) []float64) averages {
	type mean struct{ sum, batches float64 }
	most := 0
	for _, s := range shares {
		most = max(most, s.datasets)
	}
	all, full, partial := make([]mean, most), make([]mean, most), make([]mean, most)
	for k, s := range shares {
		v := values(k)
		for i := range s.datasets {
			kind := partial
			if i < s.full {
				kind = full
			}
			for _, m := range []*mean{&all[i], &kind[i]} {
				m.sum += s.batches * v[i]
				m.batches += s.batches
			}
		}
	}
	of := func(means []mean) (out []float64) {
		for _, m := range means {
			if m.batches > 0 {
				out = append(out, m.sum/m.batches)
			}
		}
		return out
	}
	return averages{of(all), of(full), of(partial)}
}
