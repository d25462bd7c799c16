// Package drl reproduces the DRL paper: Villarrubia, Costero, Igual, Olcoz, "Solving
// the task scheduling and GPU reconfiguration problem on MIG devices via deep
// reinforcement learning", Future Generation Computer Systems (2025) 108145.
//
// published.csv has every number that the paper prints in tables and in words, margins.csv the
// margins that are not the default, and causes.csv the causes of deviations.
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
	"miglab/harness/run"
	"miglab/harness/track"
	figures "miglab/paper-figures"
)

//go:embed published.csv margins.csv causes.csv
var files embed.FS

// Paper returns the paper with its artefacts.
func Paper() (figures.Paper, error) {
	claims, err := figures.LoadClaims("drl", files)
	if err != nil {
		return figures.Paper{}, err
	}
	all, err := loadCurves(curveFiles)
	if err != nil {
		return figures.Paper{}, err
	}
	hardware := datasets.Hardware()
	return figures.Paper{
		Name:   "drl",
		Title:  "DRL: Solving the task scheduling and GPU reconfiguration problem on MIG devices via deep reinforcement learning",
		Cite:   "J. Villarrubia, L. Costero, F. D. Igual, K. Olcoz, Future Generation Computer Systems (2025) 108145.",
		Terms:  terms,
		Claims: claims,
		Artefacts: []figures.Artefact{
			figure1(), figures.ReconfigurationTable(hardware), table2(), figure2(), figure3(), figure5(), figure6(), figure7(), table3(claims, hardware), figure8(),
			figure9(), figure10(all), figure11(all), figure12(all), figure13(all),
			figure14(), figure15(all), seeds(all), reconfigures(), training(all),
			table4(), floors(), table5(), latency(), adversarial(), figure16(), ours(), optimum(), text(hardware),
		},
	}, nil
}

var terms = []figures.Term{
	{Name: "slice, instance, partition", Meaning: "an A100 has 7 compute slices; MIG joins them into instances of 1, 2, 3, 4 or 7; a partition is a division of the whole GPU into instances, for example 4-3"},
	{Name: "moldable", Meaning: "a task that runs on an instance of any size; its time t(s) depends on the size s, and the scheduler chooses the size"},
	{Name: "efficiency", Meaning: "t(1) / (s t(s)): 1 if a task is s times as fast on s slices"},
	{Name: "scalability", Meaning: "the mean efficiency of a task on more than one slice (5.1.3)"},
	{Name: "makespan", Meaning: "when the last task of a batch ends, in seconds"},
	{Name: "l_bound", Meaning: "the paper's lower bound on the makespan (5.2); it is not a proven one, but p_opt is defined by it"},
	{Name: "certified bound", Meaning: "this project's proven lower bound on the makespan: no schedule is shorter"},
	{Name: "p_opt", Meaning: "100 (makespan / l_bound - 1): by how many percent a schedule is longer than l_bound"},
	{Name: "p_online", Meaning: "by how many percent another approach's makespan of a whole data set exceeds the online agent's"},
	{Name: "data set, batch, full batch", Meaning: "a data set is 100 tasks, cut in batches of N = 14: 7 full ones, and a partial one of the 2 tasks that remain"},
	{Name: "class-ordered", Meaning: "the tasks of a data set stand in the order of the size up to which they scale, as create_dataset.py leaves them; then a batch has tasks of one or two classes"},
	{Name: "generator", Meaning: "draws the times of synthetic tasks; the one printed in 5.1.2, the one of create_dataset.py and the one of train.py differ"},
	{Name: "Sequential, Parallel", Meaning: "reconfigurations take place one at a time, as on hardware, or at the same time on different slices, as in the paper's environment"},
	{Name: "FAR, MISO", Meaning: "schedulers of earlier papers that reconfigure: FAR plans a batch, MISO takes tasks in order of arrival"},
	{Name: "FIXBEST", Meaning: "the best fixed partition of a data set: the one with the least sum of makespans; tasks in order of arrival"},
	{Name: "FIXPART(p)", Meaning: "keeps the partition p and never reconfigures; FIXPARTBEST keeps the best partition of each batch"},
	{Name: "NOMIG", Meaning: "runs one task at a time on the whole GPU"},
	{Name: "ONE-HOT, FLOAT", Meaning: "the paper's agent, which sees times as vectors with a single 1, or as numbers (6.4)"},
	{Name: "ENTROPY", Meaning: "FLOAT with a reward for trying other actions while it learns (6.5.1)"},
	{Name: "DIRECT RECONFIG", Meaning: "ENTROPY with reconfigurations that wait for their slices (6.5.2): the paper's last agent"},
	{Name: "ONLINE", Meaning: "DIRECT RECONFIG that takes the next task as soon as one of its 14 has started (6.6)"},
	{Name: "N, M", Meaning: "the number of tasks in a batch, and the number of levels that times are rounded to"},
	{Name: "training run", Meaning: "one training of an agent from one random seed; a verdict about an agent needs three, and the paper's numbers are taken to be of one, because it says nothing of more"},
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
func lBound(dataset string) run.Series { return bound("A100", dataset, "l-bound", mig.Sequential) }

// bound is a series of the bound track.
func bound(gpu, dataset, algorithm string, model mig.Reconfiguration) run.Series {
	s := on(gpu, dataset, algorithm, model)
	s.Track = algo.TrackBound
	return s
}

// makespan is the metric of most numbers.
const makespan = track.MetricMakespan

// pOpt returns p_opt by instance.
func pOpt(d *figures.Data, s run.Series, n int) []float64 {
	return d.AboveBound(s, lBound(s.Dataset), n)
}
