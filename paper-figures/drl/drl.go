// Package drl reproduces the DRL paper: Villarrubia, Costero, Igual, Olcoz, "Solving
// the task scheduling and GPU reconfiguration problem on MIG devices via deep
// reinforcement learning", Future Generation Computer Systems (2025) 108145.
//
// learning.csv says what is shown and measured of learning curves.
//
// p_opt is 100 (makespan / l_bound - 1). The l_bound is the published one, which is not a
// lower bound (see [bounds.LBound]). Means are over the batches of a data set first, then over
// data sets (5.2). A number about a trained agent is the mean over training runs.
//
// A [reading] settles how Table 4 was made. The default one follows the authors' public scripts.
package drl

import (
	"embed"

	"miglab/datasets"
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
	p, err := figures.Load("drl", files)
	if err != nil {
		return p, err
	}
	all := learned()
	measured := onGPU{datasets.Hardware()}
	p.Title = "DRL: Solving the task scheduling and GPU reconfiguration problem on MIG devices via deep " +
		"reinforcement learning"
	p.Cite = "J. Villarrubia, L. Costero, F. D. Igual, K. Olcoz, Future Generation Computer Systems (2025) 108145."
	p.Artefacts = []figures.Artefact{
		{Name: "figure1", Title: "the partitions of MIG-capable GPUs and their equivalence classes", Build: figure1},
		figures.ReconfigurationTable(datasets.Hardware()),
		{Name: "table2", Title: "times and efficiencies of three tasks on A30", Build: table2},
		{Name: "figure2", Title: "Table 2's tasks with molding by efficiency and decided jointly", Build: figure2},
		{Name: "figure3", Title: "offline and online batches as tasks run and arrive", Build: figure3},
		{Name: "figure5", Title: "a GPU's state and the canonical state", Build: figure5},
		{Name: "figure6", Title: "the scheduler's state and its evolution after two actions", Build: figure6},
		figure7(),
		{Name: "table3", Title: "simulated and real end times of nine Rodinia kernels on A100", Build: measured.table3},
		figure8(),
		{Name: "figure9", Title: "scalability and duration of synthetic tasks", Build: figure9},
		{
			Name: "figure10", Title: "learning with PPO and DQN, 64x64 and 256x256",
			Build: all.learning("figure10", "Fig. 10. Learning GOODSCALING with PPO and DQN, N = M = 14"),
		},
		{
			Name: "figure11", Title: "learning with continuous time and M levels",
			Build: all.learning("figure11", "Fig. 11. Learning GOODSCALING by time levels M, N = 14"),
		},
		{Name: "figure12", Title: "learning with batches of N tasks", Build: all.figure12},
		{
			Name: "figure13", Title: "learning the mixed workloads with FLOAT",
			Build: all.mixed("figure13", "Fig. 13. Learning the mixed workloads with FLOAT"),
		},
		{Name: "figure14", Title: "direct reconfiguration from the state of Fig. 6", Build: figure14},
		{
			Name: "figure15", Title: "learning with ENTROPY and with DIRECT RECONFIG",
			Build: all.mixed("figure15", "Fig. 15. Learning with ENTROPY and with DIRECT RECONFIG"),
		},
		{Name: "seeds", Title: "what the paper found about its modelling, over training runs", Build: all.seeds},
		{Name: "reconfigures", Title: "whether agents reconfigure (6.5)", Build: reconfigures},
		{Name: "training", Title: "all agents that the project trained", Build: all.training},
		{Name: "table4", Title: "average p_opt of baselines and agents", Build: table4},
		{
			Name: "floors", Build: floors,
			Title: "evidence for Table 4: the least p_opt that a schedule can have, and what a fixed partition reaches",
		},
		{Name: "table5", Title: "improvement of the online agent over baselines and the offline agent", Build: table5},
		{Name: "timing-latency", Title: "time of a decision (6.6)", Timed: true, Build: latency},
		{Name: "adversarial", Title: "p_opt where molding by efficiency is bad (6.7)", Build: adversarial},
		{Name: "figure16", Title: "20 runs of Rodinia's CFD", Build: figure16},
		{Name: "ours", Title: "our agent beside FAR and the paper's agents", Build: ours},
		{Name: "optimum", Title: "p_opt as published beside the gap to the certified bound", Build: optimum},
		{Name: "text", Title: "numbers in the text", Build: measured.text},
	}
	return p, nil
}

func seriesOn(gpu, dataset, algorithm string, model mig.Reconfiguration) store.Series {
	return store.Series{
		Track: algo.TrackBatch, Dataset: dataset, GPU: gpu, Count: 1,
		Algorithm: algo.MustParse(algorithm).ID, Model: model.String(),
	}
}

// batch is a series on A100, the GPU of the evaluation, with one operation at a time, as on the hardware.
func batch(dataset, algorithm string) store.Series {
	return seriesOn("A100", dataset, algorithm, mig.Sequential)
}

// lBound is the bound in the definition of p_opt.
func lBound(dataset string) store.Series { return bound("A100", dataset, "l-bound", mig.Sequential) }

func bound(gpu, dataset, algorithm string, model mig.Reconfiguration) store.Series {
	s := seriesOn(gpu, dataset, algorithm, model)
	s.Track = algo.TrackBound
	return s
}

const makespan = track.MetricMakespan

func pOpt(d *figures.Data, s store.Series, n int) []float64 {
	return d.AboveBound(s, lBound(s.Dataset), n)
}
