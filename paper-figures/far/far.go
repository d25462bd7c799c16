// Package far reproduces the FAR paper: Villarrubia, Costero, Igual, Olcoz, "Leveraging Multi-Instance GPUs
// through moldable task scheduling", Journal of Parallel and Distributed Computing 204 (2025) 105128.
//
// claims.csv has every number that the paper prints. A number of the text that repeats a table's is a place of that
// claim.
//
// The default reading of Tables 4 to 9 is the authors' public script that made the table: inputs_config_task_size_test,
// compare_size_test, refinement_test, concat_test and multi_batch_test. What the text describes is another reading.
package far

import (
	"embed"
	"fmt"

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
	return figures.Load("far", files,
		figures.Draw("figure1", "the partitions of A30 and A100/H100", "Partitions of A30 and A100",
			reports.Partitions{Title: "Fig. 1. Partitions of A30 and of A100/H100", GPUs: partitioned}),
		figures.Show("table1", "seconds to create and to destroy an instance", figures.ReconfigurationTable),
		figures.Draw("figure2", "speedup of Gaussian by instance size on A100 (the public input size)",
			figure2().Title, figure2()),
		figures.Draw("figure3", "speedups of Rodinia kernels on A100", "Speedups of the Rodinia kernels on A100",
			reports.Speedups("Fig. 3. Speedup of the 16 Rodinia kernels on A100", a100, kernels("A100"), 4, true)),
		figures.Show("table2", "largest difference in time, alone against beside others, A100", table2),
		figures.Show("figure4", "the trees of repartitioning", figure4),
		figures.Show("figures5-6", "a move and a swap of the refinement, before and after", figures5and6),
		figures.Show("figures7-9", "concatenations of the same two batches", figures7to9),
		figures.Show("factor", "approximation factors (5.1, 5.2): the largest ratio found", factors),
		figures.Show("figure10", "the cases of the proof of the approximation factors", figure10),
		figures.Show("table3", "simulated and real end times of nine Rodinia kernels on A30", table3),
		figures.Draw("figure11", "synthetic speedups for n = 10 tasks on A100", "Synthetic speedups on A100",
			reports.Speedups("Fig. 11. Speedup of 10 synthetic tasks, p = (10, 10, 20, 30, 30) %, p_sup = 50 %", a100,
				figures.Tasks("far/EXAMPLESCALING+WIDETIMES", "A100", 0), 5, true)),
		figures.Show("rodinia", "rho and sigma of the 16 Rodinia kernels on A100 (6.4.1, 6.5.1)", rodinia),
		figures.Show("figure12", "the Rodinia kernels on A100 under different approaches", figure12),
		figures.Show("optimum", "the 16 Rodinia kernels on A100, beside what is proven", optimum),
		figures.Show("table4", "Average of rho in 1000 executions of FAR with WIDETIMES on A100", table4.build),
		figures.Show("error",
			"FAR above the area bound and the certified bound, WIDETIMES and NARROWTIMES (6.4.2)",
			distances),
		figures.Show("reconfiguration", "FAR with and without reconfiguration time (6.4.2)", reconfiguration),
		figures.Show("a30", "rho of FAR on A30, WIDETIMES (6.4.2)", a30),
		figures.Show("table5", "Average of sigma in 1000 executions on A100", table5.build),
		figures.Show("gpus", "FAR against MISO-OPT and fixed partitions on A30 and H100 (6.5.2), n = 15", otherGPUs),
		figures.Show("table6", "Mean p_ref (%) and mean number of moves and swaps in an execution, of 1000, A100",
			table6.build),
		figures.Show("table7",
			"Gain (%) of reversal, moves and swaps in 1000 batches joined by default to their copies, A100",
			gainsOfJoining),
		figures.Show("table8", "Mean moves and swaps in 1000 batches joined by default to their copies, A100",
			table8.build),
		figures.Show("table9", "p_multi-batch (%) of 1001 batches with WIDETIMES, A100", manyBatches),
		figures.Show("contradiction", "printed numbers that exclude one another or exceed a bound", contradiction),
		figures.Show("script", "numbers of the authors' code beside print", figures.Script),
		figures.Show("text", "numbers of the text", text),
		figures.Show("premises", "how tasks scale, beside measured work", premises),
		figures.Show("measured", "schedulers on measured work", measured),
		figures.Show("energy", "schedulers by energy, and how far their order hangs on idle boards", energies),
		figures.Time("timing", "scheduling times (6.4.2, 6.5.2, 6.7.1)", timing),
	)
}

var (
	a100        = mig.MustLookup("A100")
	partitioned = []*mig.GPU{mig.MustLookup("A30"), a100}
)

// synthetic returns a workload of 6.3 with further parameters, such as psup=50. They may be empty.
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
	// wide are the rows of Tables 4 and 9, workloads the rows of Tables 5 to 8.
	wide      = []workload{{"POORSCALING", "WIDETIMES"}, {"MIXEDSCALING", "WIDETIMES"}, {"GOODSCALING", "WIDETIMES"}}
	workloads = []workload{
		{"POORSCALING", "NARROWTIMES"},
		wide[0],
		{"MIXEDSCALING", "NARROWTIMES"},
		wide[1],
		{"GOODSCALING", "NARROWTIMES"},
		wide[2],
	}

	// allSizes are the numbers of tasks in Tables 4 and 9, threeSizes the ones in Tables 6 to 8.
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

// area returns the area bound of the instances of a series.
func area(s store.Series) store.Series {
	return seriesOn(s.GPU, s.Count, bound(s.Dataset, "area", mig.Sequential))
}

// rho returns, by instance, the makespan over the area bound (6.4).
func rho(d *figures.Data, s store.Series, n int) []float64 {
	return figures.Ratios(d.Values(s, n, makespan), d.Values(area(s), n, track.MetricBound))
}

// mean returns the mean of a sample. The paper's number is the mean of 1000 executions (6.3, captions of Tables 4 to
// 9), also where the script has fewer.
func mean(d *figures.Data, values []float64) figures.Measurement {
	return d.MeanOf(values, verdict.Executions, executions)
}
