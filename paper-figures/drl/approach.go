package drl

import (
	"fmt"
	"math"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// An approach is a column of Table 4.
type approach struct {
	// name is the paper's.
	name string
	// algorithm is its spec. An agent's lacks the workload that it learned from.
	algorithm string
	// learned marks an agent that was trained for each workload.
	learned bool
}

var (
	far    = approach{name: "FAR", algorithm: "far"}
	miso   = approach{name: "MISO", algorithm: "miso"}
	noMIG  = approach{name: "NOMIG", algorithm: "nomig"}
	direct = approach{"DIRECT RECONFIG", "rl-direct", true}

	// fixBest chooses one partition for a whole data set (5.3). Its algorithm here chooses one
	// for each batch; see [reading.fixBest].
	fixBest = approach{name: "FIXBEST", algorithm: "fixpartbest"}

	// Our agent, trained on all workloads, its best of 64 tries, and trained on one.
	ourAgent = approach{name: "agent", algorithm: "agent"}
	ourBest  = approach{name: "best of 64", algorithm: "agent?k=64"}
	ourLocal = approach{"agent for the workload", "agent", true}

	// These never reconfigure.
	onesOnly = approach{name: "FIXPART(1-1-1-1-1-1-1)", algorithm: "fixpart?p=1-1-1-1-1-1-1"}
	bestOnly = approach{name: "FIXPARTBEST", algorithm: "fixpartbest"}

	// agents are the paper's offline agents.
	agents = []approach{{"ONE-HOT", "rl-onehot", true}, {"FLOAT", "rl-float", true}, {"ENTROPY", "rl-entropy", true}, direct}

	approaches = append([]approach{far, miso, fixBest, noMIG}, agents...)
)

func columnsOf(approaches []approach) (out []string) {
	for _, a := range approaches {
		out = append(out, a.name)
	}
	return out
}

// fixed formats numbers with two decimals, a cell each.
func fixed(values ...float64) (cells []string) {
	for _, v := range values {
		cells = append(cells, reports.Fixed(v, 2))
	}
	return cells
}

// runs lists the approach's algorithms for a workload: one, or one for each training run that
// is part of the program.
func (a approach) runs(w workload) []string {
	if !a.learned {
		return []string{a.algorithm}
	}
	first := a.algorithm + "?workload=" + w.trainedOn
	out := []string{first}
	for seed := 2; ; seed++ {
		next, err := algo.Parse(fmt.Sprintf("%s&seed=%d", first, seed))
		if err != nil || next.Weights() == "" {
			return out
		}
		out = append(out, next.ID)
	}
}

// one is the approach's algorithm for a workload, an agent's of the first training run.
func (a approach) one(w workload) string { return a.runs(w)[0] }

// dataSets is what a mean of a scheduler is over.
const dataSets verdict.Unit = "data sets"

// overRuns measures an approach on a workload. of returns a quantity by data set for one of its
// algorithms, and count is the number of the paper's data sets. For an agent the replicates are
// the training runs, each with its mean; the paper names one agent a workload, so that its
// number is taken to be of one run.
func (a approach) overRuns(d *figures.Data, w workload, count int, of func(algorithm string) []float64) figures.Measurement {
	if !a.learned {
		return d.MeanOf(of(a.algorithm), dataSets, count)
	}
	var means []float64
	for _, algorithm := range a.runs(w) {
		means = append(means, figures.Mean(of(algorithm)))
	}
	return overTraining(d, means, 1)
}

// overTraining is the mean over training runs, of which the paper had some.
func overTraining(d *figures.Data, values []float64, paper int) figures.Measurement {
	m := d.MeanOf(values, verdict.TrainingRuns, paper)
	if missing := verdict.TrainingRuns.Fewest() - len(values); missing > 0 {
		m.Detail = fmt.Sprintf("Missing: %d more of 2 million steps, about 90 CPU seconds each.", missing)
	}
	return m
}

func (a approach) measure(d *figures.Data, w workload, r *reading) figures.Measurement {
	if a == fixBest {
		return d.MeanOf(r.fixBest(d, w), dataSets, w.datasets)
	}
	if a.learned {
		r = r.fewer(forAgents)
	}
	return a.overRuns(d, w, w.datasets, func(algorithm string) []float64 { return r.pOpt(d, w, algorithm) })
}

// forAgents is the number of data sets for an agent, whose replicates are the training runs:
// 7 batches of each.
const forAgents = 300

// fewer is the reading on some of the data sets. If one batch represents a data set, there are
// no fewer.
func (r *reading) fewer(most int) *reading {
	few := *r
	if !r.alike && (r.datasets == 0 || r.datasets > most) {
		few.datasets = most
	}
	return &few
}

// partitioned is the number of data sets for FIXBEST. Each takes 16 partitions of 7 batches.
const partitioned = 50

func partition(p mig.Partition) string { return "fixpart?p=" + p.String() }

// partitions are those that leave no slice idle; the paper drops the others too (4.1).
func partitions() []mig.Partition { return mig.MustLookup("A100").Useful() }

// forPartitions returns the batches that partitions are run on.
func (r *reading) forPartitions(w workload) []batches {
	all := r.batches(w, true)
	if w != rodinia {
		for k := range all {
			all[k].datasets = min(all[k].datasets, partitioned)
		}
	}
	return all
}

// kept returns p_opt by data set with one partition throughout.
func (r *reading) kept(d *figures.Data, w workload, p mig.Partition) []float64 {
	all := r.forPartitions(w)
	return average(all, func(k int) []float64 { return pOpt(d, r.series(all[k].data, partition(p)), all[k].datasets) })
}

func (r *reading) fixBest(d *figures.Data, w workload) []float64 {
	all := r.forPartitions(w)
	var spans [][][]float64 // by partition, batch and data set
	for _, p := range partitions() {
		var own [][]float64
		for _, b := range all {
			own = append(own, d.Values(r.series(b.data, partition(p)), b.datasets, makespan))
		}
		spans = append(spans, own)
	}
	chosen := choose(spans)
	return average(all, func(k int) []float64 {
		return figures.Percent(figures.Ratios(chosen[k], d.Values(lBound(all[k].data), all[k].datasets, track.MetricBound)))
	})
}

// choose picks the partition with the least sum of makespans over the batches of a data set,
// the first of several. It returns the makespans with that partition, by batch and data set.
// spans has the makespans by partition, batch and data set; not every data set has every batch.
func choose(spans [][][]float64) [][]float64 {
	chosen := make([][]float64, len(spans[0]))
	for k := range chosen {
		chosen[k] = slices.Clone(spans[0][k])
	}
	for i := range chosen[0] {
		least := math.Inf(1)
		for _, own := range spans {
			sum := 0.0
			for _, batch := range own {
				if i < len(batch) {
					sum += batch[i]
				}
			}
			if sum >= least {
				continue
			}
			least = sum
			for k, batch := range own {
				if i < len(batch) {
					chosen[k][i] = batch[i]
				}
			}
		}
	}
	return chosen
}
