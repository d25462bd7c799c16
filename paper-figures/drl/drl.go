// Package drl reproduces the DRL paper: Villarrubia, Costero, Igual, Olcoz, "Solving
// the task scheduling and GPU reconfiguration problem on MIG devices via deep
// reinforcement learning", Future Generation Computer Systems (2025) 108145.
//
// learning.csv lists the lines and claims of learning curves.
//
// p_opt is 100 (makespan / l_bound - 1). The l_bound is the published one, which is not a
// lower bound (see [bounds.LBound]). Means are over the batches of a data set first, then over
// data sets (5.2). A number about a trained agent is the mean over training runs.
//
// A [reading] settles how Table 4 was made. The default one follows the authors' public scripts.
package drl

import (
	"embed"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/store"
	"miglab/harness/track"
	figures "miglab/paper-figures"
)

//go:embed *.csv
var files embed.FS

// Paper returns the paper with its artefacts.
func Paper() (figures.Paper, error) {
	return figures.Load("drl", files, append(aboutTheProblem(), aboutAgents()...)...)
}

// aboutTheProblem returns the artefacts before the evaluation, sections 1 to 5.
func aboutTheProblem() []figures.Artefact {
	return []figures.Artefact{
		figures.Show("figure1", "the partitions of MIG-capable GPUs and their equivalence classes", figure1),
		figures.Show("table1", "seconds to create and to destroy an instance", figures.ReconfigurationTable),
		figures.Show("table2", "times and efficiencies of three tasks on A30", table2),
		figures.Show("figure2", "Table 2's tasks with molding by efficiency and decided jointly", figure2),
		figures.Show("figure6", "the scheduler's state and its evolution after two actions", figure6),
		speedups("figure7", "speedups of the public kernels on A100",
			"Fig. 7. Speedup of the 16 public Rodinia kernels on A100", "rodinia", 4),
		figures.Show("table3", "simulated and real end times of nine Rodinia kernels on A100", table3),
		speedups("figure8", "synthetic speedups for n = 10 tasks on A100",
			"Fig. 8. Speedup of 10 synthetic tasks, p = (10, 10, 20, 30, 30) %, p_sup = 50 %",
			"far/EXAMPLESCALING+WIDETIMES", 5),
		figures.Show("figure9", "scalability and duration of synthetic tasks", figure9),
	}
}

// aboutAgents returns the artefacts of the evaluation, section 6, and those that go beyond it.
func aboutAgents() []figures.Artefact {
	all := shippedCurves()
	return []figures.Artefact{
		figures.Show("figure10", "learning with PPO and DQN, 64x64 and 256x256", all.learning("figure10",
			"Fig. 10. Learning GOODSCALING with PPO and DQN, N = M = 14")),
		figures.Show("figure11", "learning with continuous time and M levels", all.learning("figure11",
			"Fig. 11. Learning GOODSCALING by time levels M, N = 14")),
		figures.Show("figure12", "learning with batches of N tasks", all.figure12),
		figures.Show("long", "FLOAT on MIXSCALINGUNIFORM with the released settings, trained for longer", all.long),
		figures.Show("figure13", "learning the mixed workloads with FLOAT", all.figure13),
		figures.Show("figure14", "direct reconfiguration from the state of Fig. 6", figure14),
		figures.Show("figure15", "learning with ENTROPY and with DIRECT RECONFIG", all.figure15),
		figures.Show("seeds", "what the paper found about its modelling, over training runs", all.seeds),
		figures.Show("ablations",
			"the final agent without canonical batches, merged partitions or masked actions (4.1, 4.2)",
			all.ablations),
		figures.Show("reconfigures", "whether agents reconfigure (6.5)", reconfigures),
		figures.Show("training", "all agents that the project trained", all.training),
		figures.Show("table4", "average p_opt of baselines and agents", table4),
		figures.Show("baselines",
			"agents against baselines, the optimum and one another, under each reading of Table 4", baselines),
		figures.Show("floors",
			"for Table 4: the least p_opt of any schedule, and what a fixed partition reaches",
			floors),
		figures.Show("table5", "improvement of the online agent over baselines and the offline agent", table5),
		figures.Time("timing-latency", "time of a decision (6.6)", latency),
		figures.Show("adversarial", "p_opt where molding by efficiency is bad (6.7)", adversarial),
		figures.Show("figure16", "20 runs of Rodinia's CFD", figure16),
		figures.Show("ours", "our agent beside FAR and the paper's agents", ours),
		figures.Show("nomig", "approaches of Tables 4 and 5 with other values of p_sup", nomig),
		figures.Show("script", "numbers of the authors' public code beside print", figures.Script),
		figures.Show("text", "numbers in the text", text),
	}
}

func seriesOn(gpu, dataset, algorithm string, model mig.Reconfiguration) store.Series {
	return figures.Series(algo.TrackBatch, dataset, gpu, algo.MustParse(algorithm).ID, model)
}

// batch returns a series on A100, the GPU of the evaluation, with one operation at a time, as on the hardware.
func batch(dataset, algorithm string) store.Series {
	return seriesOn("A100", dataset, algorithm, mig.Sequential)
}

// lBound returns the bound in the definition of p_opt.
func lBound(dataset string) store.Series { return bound("A100", dataset, "l-bound", mig.Sequential) }

func bound(gpu, dataset, algorithm string, model mig.Reconfiguration) store.Series {
	return figures.Series(algo.TrackBound, dataset, gpu, algo.MustParse(algorithm).ID, model)
}

const makespan = track.MetricMakespan

func pOpt(d *figures.Data, s store.Series, n int) []float64 {
	return d.AboveBound(s, lBound(s.Dataset), n)
}
