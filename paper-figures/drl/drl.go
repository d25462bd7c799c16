// Package drl reproduces the DRL paper: Villarrubia, Costero, Igual, Olcoz, "Solving
// the task scheduling and GPU reconfiguration problem on MIG devices via deep
// reinforcement learning", Future Generation Computer Systems (2025) 108145.
//
// published.csv has every number that the paper prints in tables and in words. tolerances.csv
// has the tolerances that differ from the default.
//
// p_opt is 100 (makespan / l_bound - 1). The l_bound is the published one, which is not a
// lower bound (see [bounds.LBound]). Means are over the batches of a dataset first, then over
// datasets (5.2).
package drl

import (
	"embed"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/track"
	figures "miglab/paper-figures"
)

//go:embed published.csv tolerances.csv
var files embed.FS

// Paper returns the paper with its artefacts.
func Paper() (figures.Paper, error) {
	claims, err := figures.LoadClaims("drl", files)
	if err != nil {
		return figures.Paper{}, err
	}
	all := loadCurves(curveFiles)
	hardware := datasets.Hardware()
	return figures.Paper{
		Name:  "drl",
		Title: "DRL: Solving the task scheduling and GPU reconfiguration problem on MIG devices via deep reinforcement learning",
		Cite:  "J. Villarrubia, L. Costero, F. D. Igual, K. Olcoz, Future Generation Computer Systems (2025) 108145.",
		Artefacts: []figures.Artefact{
			figure1(), figures.ReconfigurationTable(claims, hardware), table2(claims), figure2(claims), figure3(), figure5(), figure6(claims), figure7(), table3(claims, hardware), figure8(),
			figure9(claims), figure10(claims, all), figure11(claims, all), figure12(claims, all), figure13(claims, all),
			figure14(claims), figure15(claims, all), seeds(claims, all), reconfigures(), training(all),
			table4(claims), table5(claims), latency(), adversarial(claims), figure16(claims), ours(), optimum(), text(claims, hardware),
		},
	}, nil
}

// on is a series of the batch track on a GPU.
func on(gpu, dataset, algorithm string, model mig.Reconfiguration) run.Series {
	return run.Series{Track: algo.TrackBatch, Dataset: dataset, GPU: gpu, Count: 1, Algorithm: algo.MustParse(algorithm).ID, Model: model}
}

// batch is a series on A100, the GPU of the evaluation, with one operation at a time, as on
// the hardware.
func batch(dataset, algorithm string) run.Series {
	return on("A100", dataset, algorithm, mig.Sequential)
}

// lBound is the bound in the definition of p_opt.
func lBound(dataset string) run.Series {
	s := batch(dataset, "l-bound")
	s.Track = algo.TrackBound
	return s
}

// makespan is the metric of most numbers.
const makespan = track.MetricMakespan

// pOpt returns p_opt by instance.
func pOpt(d *figures.Data, s run.Series) []float64 {
	return d.AboveBound(s, lBound(s.Dataset))
}
