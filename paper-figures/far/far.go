// Package far reproduces the FAR paper: Villarrubia, Costero, Igual, Olcoz, "Leveraging Multi-Instance GPUs
// through moldable task scheduling", Journal of Parallel and Distributed Computing 204 (2025) 105128.
//
// claims.csv has every number that the paper prints, and timings.csv the batches of its scheduling times. A number of
// the text that repeats a table's is a place of that claim.
//
// The default reading of Tables 4 to 9 is the authors' public script that made the table:
// inputs_config_task_size_test, compare_size_test, refinement_test, concat_test and multi_batch_test. What the
// text describes is another reading.
package far

import (
	"embed"
	"fmt"
	"maps"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/store"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

//go:embed *.csv
var files embed.FS

// executions is the paper's number of executions (6.3). Its 1001 batches make as many concatenations (6.7.1).
const executions = 1000

// Paper returns the paper with its artefacts.
func Paper() (figures.Paper, error) {
	h := onGPU{datasets.Hardware()}
	builds := figures.Builds{
		"figure1": figures.Drawn("figure1", "Partitions of A30 and A100",
			reports.Partitions{Title: "Fig. 1. Partitions of A30 and of A100/H100", GPUs: partitioned}),
		"figure2": figures.Drawn("figure2", figure2().Title, figure2()),
		"figure3": figures.Drawn("figure3", "Speedups of the Rodinia kernels on A100",
			reports.Speedups("Fig. 3. Speedup of the 16 Rodinia kernels on A100", a100, kernels("A100"), 4, true)),
		"figure4": figures.Drawn("figure4", "Repartitioning trees",
			reports.Tree{Title: "Fig. 4. Repartitioning trees of A30 and of A100/H100. {S0, S1, S2} takes the " +
				"memory of S3 as well, so {S2, S3} comes after it", GPUs: partitioned}),
		"figures5-6": figures5and6, "figures7-9": figures7to9, "figure10": figure10,
		"figure11": figures.Drawn("figure11", "Synthetic speedups on A100",
			reports.Speedups("Fig. 11. Speedup of 10 synthetic tasks, p = (10, 10, 20, 30, 30) %, p_sup = 50 %", a100,
				figures.Tasks("far/EXAMPLESCALING+WIDETIMES", "A100", 0), 5, true)),
		"figure12": figure12, "factor": factors, "rodinia": rodinia, "a30": a30,
		"table1": figures.ReconfigurationTable(h.HardwareSet), "table2": h.table2, "table3": h.table3,
		"error": distances, "reconfiguration": reconfiguration, "gpus": otherGPUs, "miso": misoJobs,
		"table4": table4.build, "table5": table5.build, "table6": table6.build, "table7": table7.build,
		"table8": table8.build, "table9": table9.build,
		"optimum": optimum, "contradiction": contradiction, "text": h.text, "timing": timing,
	}
	defaults := maps.Clone(builds)
	for _, g := range []grid{table4, table5, table6, table7, table8, table9} {
		g.procedures = []procedure{{measure: g.byDefault()}}
		defaults[g.name] = g.build
	}
	builds["script"] = figures.Script(defaults)
	return figures.Load("far", files, builds)
}

var (
	a100        = mig.MustLookup("A100")
	partitioned = []*mig.GPU{mig.MustLookup("A30"), a100}
)

// synthetic is a workload of 6.3 with further parameters, such as psup=50. They may be empty.
func synthetic(w workload, n int, parameters ...string) string {
	s := fmt.Sprintf("far/%s+%s?n=%d", w.scaling, w.times, n)
	for _, p := range parameters {
		if p != "" {
			s += "&" + p
		}
	}
	return figures.Dataset(s)
}

// workload is a scaling class with a range of times, as the paper names them.
type workload struct{ scaling, times string }

func (w workload) String() string { return w.scaling + " " + w.times }

var (
	// wide are the rows of Tables 4 and 9, workloads those of 5 to 8.
	wide      = []workload{{"POORSCALING", "WIDETIMES"}, {"MIXEDSCALING", "WIDETIMES"}, {"GOODSCALING", "WIDETIMES"}}
	workloads = []workload{
		{"POORSCALING", "NARROWTIMES"},
		wide[0],
		{"MIXEDSCALING", "NARROWTIMES"},
		wide[1],
		{"GOODSCALING", "NARROWTIMES"},
		wide[2],
	}

	// allSizes are the numbers of tasks of Tables 4 and 9, threeSizes those of Tables 6 to 8.
	allSizes   = []int{10, 15, 20, 25, 30, 35}
	threeSizes = []int{10, 20, 30}
)

// batch, stream and bound are series on A100.
func batch(dataset, algorithm string, model mig.Reconfiguration) store.Series {
	return figures.Series(algo.TrackBatch, dataset, "A100", algo.MustParse(algorithm).ID, model)
}

func stream(dataset, algorithm string) store.Series {
	return figures.Series(algo.TrackStream, dataset, "A100", algo.MustParse(algorithm).ID, mig.Sequential)
}

func bound(dataset, name string, model mig.Reconfiguration) store.Series {
	return figures.Series(algo.TrackBound, dataset, "A100", algo.MustParse(name).ID, model)
}

// seriesOn returns the series on another GPU.
func seriesOn(gpu string, count int, s store.Series) store.Series {
	s.GPU, s.Count = gpu, count
	return s
}

// makespan is the metric of most numbers.
const makespan = track.MetricMakespan

// area is the area bound of the instances of a series.
func area(s store.Series) store.Series {
	return seriesOn(s.GPU, s.Count, bound(s.Dataset, "area", mig.Sequential))
}

// rho returns, by instance, the makespan over the area bound (6.4).
func rho(d *figures.Data, s store.Series, n int) []float64 {
	return figures.Ratios(d.Values(s, n, makespan), d.Values(area(s), n, track.MetricBound))
}

// mean is the mean of a sample. The paper's number is the mean of 1000 executions (6.3, captions of Tables 4 to 9),
// also where the script has fewer.
func mean(d *figures.Data, values []float64) figures.Measurement {
	return d.MeanOf(values, verdict.Executions, executions)
}
