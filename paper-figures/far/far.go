// Package far reproduces the FAR paper: Villarrubia, Costero, Igual, Olcoz,
// "Leveraging Multi-Instance GPUs through moldable task scheduling", Journal of
// Parallel and Distributed Computing 204 (2025) 105128.
//
// published.csv has every number that the paper prints, except scheduling times, which are
// in timings.csv. A number of the text that repeats a table's is a place of that claim.
// margins.csv has the margins that are not the default, and causes.csv the causes of deviations.
//
// The default reading of Tables 5 to 9 is the authors' public script that made the table:
// compare_size_test, refinement_test, concat_test and multi_batch_test. What the text
// describes is another reading.
package far

import (
	"embed"
	"fmt"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/verdict"
)

//go:embed published.csv margins.csv causes.csv timings.csv
var files embed.FS

// executions is the paper's number of executions (6.3). Its 1001 batches make as many
// concatenations (6.7.1).
const executions = 1000

// Paper returns the paper with its artefacts.
func Paper() (figures.Paper, error) {
	claims, err := figures.LoadClaims("far", files)
	if err != nil {
		return figures.Paper{}, err
	}
	timings, err := figures.ReadCSV[publishedTime]("far", files, "timings.csv")
	if err != nil {
		return figures.Paper{}, err
	}
	hardware := datasets.Hardware()
	return figures.Paper{
		Name:   "far",
		Title:  "FAR: Leveraging Multi-Instance GPUs through moldable task scheduling",
		Cite:   "J. Villarrubia, L. Costero, F. D. Igual, K. Olcoz, Journal of Parallel and Distributed Computing 204 (2025) 105128.",
		Terms:  terms,
		Claims: claims,
		Artefacts: []figures.Artefact{
			figure1(), figures.ReconfigurationTable(hardware), figure2(), figure3(), table2(hardware), figure4(), figures5and6(),
			figures7to9(), factors(), figure10(), table3(hardware), figure11(), rodinia(), figure12(), optimum(),
			table4(), a30(), table5(), table6(), table7(), table8(), table9(), contradiction(), text(hardware), timing(timings.Rows),
		},
	}, nil
}

// terms are explained at the head of the paper's page.
var terms = []figures.Term{
	{Name: "area bound", Meaning: "the least work of each task, slices times seconds over its sizes, added up and divided by the slices of the GPU; no schedule ends earlier. The paper calls it baseline (6.4)"},
	{Name: "rho", Meaning: "the makespan over the area bound"},
	{Name: "sigma", Meaning: "the makespan of another approach over that of FAR (6.5)"},
	{Name: "MISO-OPT", Meaning: "the scheduler of MISO with known times: partition after partition, each with the largest sum of speedups"},
	{Name: "FIXPART(7), FIXPART(1,...,1), FIXPARTBEST", Meaning: "a partition that never changes: one instance of 7 slices, seven of 1, or the best of all"},
	{Name: "refinement", Meaning: "phase 3 of FAR: it moves and swaps tasks until no move or swap helps. FAR unrefined ends after phase 2"},
	{Name: "p_ref", Meaning: "by how many percent the makespan without refinement exceeds the one with it (6.6)"},
	{Name: "p_rev, p_move/swap", Meaning: "by how many percent putting one batch after the other exceeds the makespan if the second batch is reversed, or also moves and swaps tasks (6.7.1)"},
	{Name: "p_multi-batch", Meaning: "by how many percent the makespan of 1001 batches exceeds their area bound (6.7.2)"},
	{Name: "POORSCALING, MIXEDSCALING, GOODSCALING", Meaning: "generated tasks that scale well up to 1 or 2 slices, up to any size, or up to 4 or 7 slices (6.3)"},
	{Name: "NARROWTIMES, WIDETIMES", Meaning: "tasks of 90 to 100 s, or of 1 to 100 s, on one slice (6.3)"},
	{Name: "p_sup", Meaning: "the share of the tasks that scale beyond linearly at first (6.3); the paper does not print it for its tables"},
	{Name: "printed generator, released generator", Meaning: "how tasks are drawn: by the formulas of 6.3, or by the authors' public code"},
	{Name: "script, text", Meaning: "what the authors' public script for the table does, which is the default reading, and what the paper says that it did"},
	{Name: "interchanged", Meaning: "the printed columns of moves and swaps taken for one another"},
}

// synthetic is a workload of 6.3 with further parameters, such as psup=50.
func synthetic(w workload, n int, parameters string) string {
	s := fmt.Sprintf("far/%s+%s?n=%d", w.scaling, w.times, n)
	if parameters != "" {
		s += "&" + parameters
	}
	return figures.Dataset(s)
}

// workload is a scaling class with a range of times, as the paper names them.
type workload struct{ scaling, times string }

func (w workload) String() string { return w.scaling + " " + w.times }

var (
	scalings = []string{"POORSCALING", "MIXEDSCALING", "GOODSCALING"}
	// wide are the rows of Tables 4 and 9, workloads those of 5 to 8.
	wide, workloads = listWorkloads()
)

func listWorkloads() (wide, all []workload) {
	for _, s := range scalings {
		wide = append(wide, workload{s, "WIDETIMES"})
		all = append(all, workload{s, "NARROWTIMES"}, workload{s, "WIDETIMES"})
	}
	return wide, all
}

// batch, stream and bound are series on A100s.
func batch(dataset, algorithm string, model mig.Reconfiguration) run.Series {
	return run.Series{Track: algo.TrackBatch, Dataset: dataset, GPU: "A100", Count: 1, Algorithm: algo.MustParse(algorithm).ID, Model: model}
}

func stream(dataset, algorithm string) run.Series {
	s := batch(dataset, algorithm, mig.Sequential)
	s.Track = algo.TrackStream
	return s
}

func bound(dataset, name string) run.Series {
	s := batch(dataset, name, mig.Sequential)
	s.Track = algo.TrackBound
	return s
}

// on returns the series on another GPU.
func on(gpu string, count int, s run.Series) run.Series {
	s.GPU, s.Count = gpu, count
	return s
}

// makespan is the metric of most numbers.
const makespan = track.MetricMakespan

// over returns, by instance, the makespan of one series over that of another.
func over(d *figures.Data, a, b run.Series, n int) []float64 {
	return figures.Ratios(d.Values(a, n, makespan), d.Values(b, n, makespan))
}

// area is the area bound of the instances of a series.
func area(s run.Series) run.Series { return on(s.GPU, s.Count, bound(s.Dataset, "area")) }

// rho returns, by instance, the makespan over the area bound (6.4).
func rho(d *figures.Data, s run.Series, n int) []float64 {
	return figures.Ratios(d.Values(s, n, makespan), d.Values(area(s), n, track.MetricBound))
}

// mean is the mean of a sample. The paper's number is the mean of 1000 executions (6.3).
func mean(d *figures.Data, values []float64) figures.Measurement {
	return d.MeanOf(values, verdict.Executions, executions)
}
