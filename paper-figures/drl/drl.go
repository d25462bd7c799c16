// Package drl reproduces the DRL paper: Villarrubia, Costero, Igual, Olcoz, "Solving
// the task scheduling and GPU reconfiguration problem on MIG devices via deep
// reinforcement learning", Future Generation Computer Systems (2025) 108145.
//
// learning.csv says what is shown and measured of learning curves, and learners.csv by what agents learned.
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
	all, h := learned(), onGPU{datasets.Hardware()}
	builds := figures.Builds{
		"figure1": figure1, "figure2": figure2, "figure3": figure3, "figure5": figure5, "figure6": figure6,
		"figure7": speedups("figure7", "Fig. 7. Speedup of the 16 public Rodinia kernels on A100", "rodinia", 4),
		"figure8": speedups("figure8",
			"Fig. 8. Speedup of 10 synthetic tasks, p = (10, 10, 20, 30, 30) %, p_sup = 50 %",
			"far/EXAMPLESCALING+WIDETIMES", 5),
		"figure9":  figure9,
		"figure10": all.learning("figure10", "Fig. 10. Learning GOODSCALING with PPO and DQN, N = M = 14"),
		"figure11": all.learning("figure11", "Fig. 11. Learning GOODSCALING by time levels M, N = 14"),
		"figure12": all.figure12,
		"long":     all.mixed("long", "FLOAT as released on MIXSCALINGUNIFORM, trained for longer"),
		"figure13": all.mixed("figure13", "Fig. 13. Learning the mixed workloads with FLOAT"),
		"figure14": figure14,
		"figure15": all.mixed("figure15", "Fig. 15. Learning with ENTROPY and with DIRECT RECONFIG"),
		"figure16": figure16,
		"table1":   figures.ReconfigurationTable(h.HardwareSet), "table2": table2, "table3": h.table3,
		"table4": table4, "baselines": baselines, "floors": floors, "nomig": nomig, "table5": table5,
		"seeds": all.seeds, "training": all.training, "ablations": all.ablations, "kept": all.kept,
		"reconfigures": reconfigures, "timing-latency": latency,
		"adversarial": adversarial, "ours": ours, "optimum": optimum, "text": h.text,
	}
	builds["script"] = figures.Script(builds)
	return figures.Load("drl", files, builds)
}

func seriesOn(gpu, dataset, algorithm string, model mig.Reconfiguration) store.Series {
	return figures.Series(algo.TrackBatch, dataset, gpu, algo.MustParse(algorithm).ID, model)
}

// batch is a series on A100, the GPU of the evaluation, with one operation at a time, as on the hardware.
func batch(dataset, algorithm string) store.Series {
	return seriesOn("A100", dataset, algorithm, mig.Sequential)
}

// lBound is the bound in the definition of p_opt.
func lBound(dataset string) store.Series { return bound("A100", dataset, "l-bound", mig.Sequential) }

func bound(gpu, dataset, algorithm string, model mig.Reconfiguration) store.Series {
	return figures.Series(algo.TrackBound, dataset, gpu, algo.MustParse(algorithm).ID, model)
}

const makespan = track.MetricMakespan

func pOpt(d *figures.Data, s store.Series, n int) []float64 {
	return d.AboveBound(s, lBound(s.Dataset), n)
}
