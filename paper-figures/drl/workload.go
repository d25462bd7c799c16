package drl

import (
	"cmp"
	"fmt"
	"slices"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/store"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
)

const (
	// replicates is the paper's number of data sets of a workload (5.1.3).
	replicates = 1000
	// batchSize is the number of tasks in a batch, the paper's N (6.3).
	batchSize = 14
	// setSize is the number of tasks in a data set.
	setSize = 100
	// fullBatches is the number of full batches in a data set. The batch behind them has 2 tasks.
	fullBatches = setSize / batchSize
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
	// datasets is the paper's number of data sets.
	datasets int
}

// Names of synthetic workloads.
const (
	poorScaling = "POORSCALING"
	goodScaling = "GOODSCALING"
	mixUniform  = "MIXSCALINGUNIFORM"
	mixExtreme  = "MIXSCALINGEXTREME"
	wideTimes   = "WIDETIMES"
)

// rodinia represents RODINIA + ALTIS, whose Altis kernels are not public. Tables that are not the paper's say RODINIA,
// see [workload.ours].
var rodinia = workload{"RODINIA + ALTIS", "drl/RODINIA", wideTimes, replicates}

// synthetic are the workloads that are drawn by a generator.
var synthetic = []workload{
	generated(poorScaling), generated(goodScaling), generated(mixUniform), generated(mixExtreme),
	generated(wideTimes),
}

// mixed are the workloads whose tasks scale differently. There the paper expects agents to reconfigure (6.5).
var mixed = append([]workload{rodinia}, synthetic[2:]...)

// unsolved are the workloads that ENTROPY does not learn to solve, according to Table 4.
var unsolved = []workload{rodinia, generated(mixUniform), generated(wideTimes)}

func generated(name string) workload { return workload{name, "drl/" + name, name, replicates} }

func workloads() []workload { return append([]workload{rodinia}, synthetic...) }

func (w workload) String() string { return w.name }

// ours returns the name of the workload that is run: RODINIA has no Altis kernels.
func (w workload) ours() string {
	if w == rodinia {
		return "RODINIA"
	}
	return w.name
}

// independent averages over data sets that hold the same tasks in different orders. Only rodinia has such data sets.
func (w workload) independent(values []float64) (out []float64) {
	if w != rodinia {
		return values
	}
	for orders := range slices.Chunk(values, datasets.OrdersOfSubset) {
		out = append(out, figures.Mean(orders))
	}
	return out
}

func (a approach) String() string { return a.name }

func (r reading) String() string { return r.name }

func namesOf[T fmt.Stringer](all []T) []string { return figures.Map(all, T.String) }

func columnsOf[T fmt.Stringer](all []T) []claim.Cell {
	return figures.Map(all, func(v T) claim.Cell { return claim.Cell{Column: v.String()} })
}

// A reading is one way to understand how Table 4 was made.
type reading struct {
	// name is the name in readings.csv; empty for the default.
	name string
	// parameters are parameters of the datasets.
	parameters string
	// alike says that the tasks are in random order. Then the first full batch of a data set represents all.
	alike bool
	// partial counts the batch of 2 tasks as well.
	partial bool
	model   mig.Reconfiguration
	// theirs says that FAR, MISO, FIXBEST and NOMIG are timed as in the authors' code; see [reading.withModelOf].
	theirs bool
	// datasets is the largest number of data sets, and firstRun the largest number for the first training run of an
	// agent; 0 means all.
	datasets, firstRun int
	// total is the number of tasks in a data set; 0 means 100.
	total int
}

const (
	randomOrder  = "gen=released"
	classOrdered = randomOrder + "&order=classes"
	trainingGen  = "gen=released-train"
)

// Indices of readings.
const (
	byScript = iota
	byRandomOrder
	byScriptAll
	bySequential
	byPrint
	byPrintAll
	byTraining
)

// defaults is the number of readings that are defaults: the scripts have both orders of the tasks, and 5.2 averages
// over the batches of a data set, of which the last one has 2 tasks.
const defaults = byScriptAll + 1

// readings are whole readings of Table 4. The first ones are [defaults].
var readings = []reading{
	byScript:      {parameters: classOrdered, model: mig.Parallel, theirs: true, firstRun: forAgents},
	byRandomOrder: {name: "random order", parameters: randomOrder, alike: true, model: mig.Parallel, theirs: true},
	byScriptAll: {
		name: "all batches", parameters: classOrdered, partial: true, model: mig.Parallel, theirs: true,
		firstRun: forAgents,
	},
	bySequential: {name: "Sequential", parameters: classOrdered, model: mig.Sequential, datasets: 200},
	byPrint:      {name: "printed generator", alike: true, model: mig.Parallel},
	byPrintAll:   {name: "printed generator, all batches", alike: true, partial: true, model: mig.Parallel},
	byTraining:   {name: "training generator", parameters: trainingGen, alike: true, model: mig.Parallel},
}

// measureAll measures every pair of a row and a column.
func measureAll[R, C fmt.Stringer](
	to figures.Values, rows []R, columns []C, measure func(R, C) figures.Measurement,
) {
	for r, c := range figures.Each(rows, columns) {
		to[claim.Cell{Row: r.String(), Column: c.String()}] = measure(r, c)
	}
}

// standsIn adds the values of RODINIA + ALTIS once more under the name RODINIA. Conclusions test these: the numbers of
// the stand-in are not the paper's.
func standsIn[C fmt.Stringer](values figures.Values, columns []C) {
	for _, c := range columns {
		cell := claim.Cell{Row: rodinia.name, Column: c.String()}
		m := values[cell]
		cell.Row = rodinia.ours()
		values[cell] = m
	}
}

// A batches has one batch of each of the first data sets of a workload: always the one at the same place in the set.
type batches struct {
	data string
	// datasets is how many data sets have such a batch.
	datasets int
	// weight is the number of batches of a data set that it represents.
	weight float64
}

// count returns the number of data sets of a workload under the reading. The first ones of rodinia are the largest,
// so that all count.
func (r *reading) count(w workload) int {
	if w == rodinia {
		return w.datasets
	}
	return min(cmp.Or(r.datasets, w.datasets), w.datasets)
}

// withTotal returns the spec of the data sets of a workload.
func (r *reading) withTotal(w workload) string {
	spec := fmt.Sprintf("%s?total=%d", w.spec, cmp.Or(r.total, setSize))
	if r.parameters != "" {
		spec += "&" + r.parameters
	}
	return spec
}

// batches lists the batches of a workload's data sets that the reading counts. With every, each batch is listed, also
// if the tasks are in random order and the first one could represent all.
func (r *reading) batches(w workload, every bool) (out []batches) {
	if w == rodinia { // subsets of up to 16 kernels
		for part := 1; part <= 2; part++ {
			data := figures.Dataset(fmt.Sprintf("%s?part=%d", w.spec, part))
			out = append(out, batches{data, datasets.MustParse(data).Instances(), 1})
		}
		return out
	}
	add := func(part int, weight float64) {
		out = append(out, batches{figures.Dataset(fmt.Sprintf("%s&part=%d", r.withTotal(w), part)), r.count(w), weight})
	}
	if r.alike && !every {
		add(1, fullBatches)
	} else {
		for part := range fullBatches {
			add(part+1, 1)
		}
	}
	if r.partial {
		add(fullBatches+1, 1)
	}
	return out
}

func (r *reading) series(dataset, algorithm string) store.Series {
	return seriesOn("A100", dataset, algorithm, r.model)
}

// average returns the mean of a quantity over the batches of each data set. quantity returns it by data set.
func average(all []batches, quantity func(b batches) []float64) []float64 {
	var sum, weight []float64
	for _, b := range all {
		values := quantity(b)
		for len(sum) < len(values) {
			sum, weight = append(sum, 0), append(weight, 0)
		}
		for i, v := range values {
			sum[i] += float64(b.weight * v) // rounded before it is added
			weight[i] += b.weight
		}
	}
	for i := range sum {
		sum[i] /= weight[i]
	}
	return sum
}

func (r *reading) pOpt(d *figures.Data, w workload, algorithm string) []float64 {
	return r.pOptOn(d, r.batches(w, false), algorithm)
}

func (r *reading) pOptOn(d *figures.Data, all []batches, algorithm string) []float64 {
	return average(all, func(b batches) []float64 { return pOpt(d, r.series(b.data, algorithm), b.datasets) })
}

// above returns by how many percent an algorithm's makespans exceed another's, by data set.
func (r *reading) above(d *figures.Data, w workload, algorithm, other string) []float64 {
	return average(r.batches(w, false), func(b batches) []float64 {
		return d.Above(r.series(b.data, algorithm), r.series(b.data, other), b.datasets)
	})
}

// whole returns all tasks of each data set of a workload: a stream of batches, or one queue.
func (r *reading) whole(w workload) string {
	if w == rodinia {
		return figures.Dataset(w.spec)
	}
	return figures.Dataset(r.withTotal(w))
}

// generators draw single batches for comparisons: the paper's text, and the code that trained the agents.
var generators = []generator{{"printed", ""}, {"training", "?" + trainingGen}}

type generator struct{ name, parameters string }

// single returns batches of 14 tasks of a workload.
func (w workload) single(parameters string) string { return figures.Dataset(w.spec + parameters) }
