package drl

import (
	"math"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/track"
	figures "miglab/paper-figures"
)

// An approach is a column of Table 4.
type approach struct {
	// name is the paper's.
	name string
	// algorithm is the algorithm for a workload.
	algorithm func(w workload) string
}

// fixed is an algorithm that is the same for all workloads.
func fixed(spec string) func(workload) string {
	return func(workload) string { return spec }
}

// learned is an agent that was trained as in the paper for a workload.
func learned(agent string) func(workload) string {
	return func(w workload) string { return agent + "?workload=" + w.trainedOn }
}

// isAgent reports whether the approach was learned.
func (a approach) isAgent() bool { return strings.HasPrefix(a.algorithm(rodinia), "rl-") }

// agentsDiffer is why the agents' numbers differ from the paper's.
const agentsDiffer = "trained anew, in fewer steps than the paper's 200 million (the artefact training says how many) and in an environment written from the text; " + trainedOtherwise +
	"; the baselines on these datasets are not the paper's either"

// trainedOtherwise says how training and evaluation of the paper's agents differ.
const trainedOtherwise = "agents of the paper's modelling learned from batches of 14 tasks only, so that smaller ones are new to them, " +
	"and with operations in parallel, as in the paper's environment, while they are judged with operations one at a time"

// fixBest chooses one partition for a whole dataset (5.3). The algorithm of the same name
// here chooses one for each batch.
const fixBest = "FIXBEST"

var (
	far    = approach{"FAR", fixed("far")}
	direct = approach{"DIRECT RECONFIG", learned("rl-direct")}

	// Our agent, trained on all workloads, its best of 64 tries, and trained on one.
	ourAgent = approach{"agent", fixed("agent")}
	ourBest  = approach{"best of 64", fixed("agent?k=64")}
	ourLocal = approach{"agent for the workload", learned("agent")}

	// These never reconfigure.
	onesOnly = approach{"FIXPART(1-1-1-1-1-1-1)", fixed("fixpart?p=1-1-1-1-1-1-1")}
	bestOnly = approach{"FIXPARTBEST", fixed("fixpartbest")}

	approaches = []approach{
		far,
		{"MISO", fixed("miso")},
		{fixBest, fixed("fixpartbest")},
		{"NOMIG", fixed("nomig")},
		{"ONE-HOT", learned("rl-onehot")},
		{"FLOAT", learned("rl-float")},
		{"ENTROPY", learned("rl-entropy")},
		direct,
	}
)

// columnsOf lists the names of approaches.
func columnsOf(approaches []approach) (out []string) {
	for _, a := range approaches {
		out = append(out, a.name)
	}
	return out
}

// pOpt returns p_opt of an approach on a workload.
func (a approach) pOpt(d *figures.Data, w workload, generator string) averages {
	shares := w.shares(d.Scale, generator)
	return average(shares, func(k int) []float64 { return pOpt(d, batch(shares[k].data, a.algorithm(w))) })
}

// overFAR returns by how many percent an approach's makespans exceed FAR's on the same
// batches.
func (a approach) overFAR(d *figures.Data, w workload, generator string) averages {
	shares := w.shares(d.Scale, generator)
	return average(shares, func(k int) []float64 { return a.over(d, w, shares[k].data, far) })
}

// over returns by how many percent an approach's makespans exceed another's.
func (a approach) over(d *figures.Data, w workload, data string, other approach) []float64 {
	return d.Above(batch(data, a.algorithm(w)), batch(data, other.algorithm(w)))
}

// need lists what the functions above read.
func (a approach) need(s figures.Scale, w workload, generator string) (out []figures.Need) {
	for _, x := range w.shares(s, generator) {
		out = append(out, figures.NeedFirst(x.datasets, batch(x.data, a.algorithm(w)), batch(x.data, far.algorithm(w)), lBound(x.data))...)
	}
	return out
}

// partitioned is the number of datasets for FIXBEST. Each dataset takes 16 partitions of 8
// batches.
const partitioned = 50

// partition is the algorithm that keeps a partition.
func partition(p mig.Partition) string { return "fixpart?p=" + p.String() }

// partitions are those that leave no slice idle; the paper drops the others too (4.1).
func partitions() []mig.Partition { return mig.MustLookup("A100").Useful() }

// fixBestShares are the batches that FIXBEST is run on.
func (w workload) fixBestShares(s figures.Scale, generator string) []share {
	if w == rodinia {
		return w.every(s, generator, replicates)
	}
	return w.every(s, generator, partitioned)
}

func needFixBest(s figures.Scale, w workload, generator string) (out []figures.Need) {
	for _, x := range w.fixBestShares(s, generator) {
		for _, p := range partitions() {
			out = append(out, figures.NeedFirst(x.datasets, batch(x.data, partition(p)))...)
		}
		out = append(out, figures.NeedFirst(x.datasets, lBound(x.data), batch(x.data, far.algorithm(w)))...)
	}
	return out
}

// choose picks the partition with the least sum of makespans over the batches of a dataset,
// the first of several. It returns the makespans with that partition, by share and dataset.
// spans has the makespans by partition, share and dataset.
func choose(shares []share, spans [][][]float64) [][]float64 {
	chosen := make([][]float64, len(shares))
	for k, x := range shares {
		chosen[k] = make([]float64, x.datasets)
	}
	for i := range shares[0].datasets {
		least, best := math.Inf(1), 0
		for p := range spans {
			sum := 0.0
			for k, x := range shares {
				if i < x.datasets {
					sum += spans[p][k][i]
				}
			}
			if sum < least {
				least, best = sum, p
			}
		}
		for k, x := range shares {
			if i < x.datasets {
				chosen[k][i] = spans[best][k][i]
			}
		}
	}
	return chosen
}

// fixBestPOpt returns p_opt of FIXBEST, and by how many percent its makespans exceed
// FAR's.
func fixBestPOpt(d *figures.Data, w workload, generator string) (pOpt, overFAR averages) {
	shares := w.fixBestShares(d.Scale, generator)
	var spans [][][]float64
	for _, p := range partitions() {
		own := make([][]float64, len(shares))
		for k, x := range shares {
			own[k] = d.Values(batch(x.data, partition(p)), makespan)
		}
		spans = append(spans, own)
	}
	chosen := choose(shares, spans)
	over := func(s func(share) run.Series, metric string) averages {
		return average(shares, func(k int) []float64 {
			return figures.Percent(figures.Ratios(chosen[k], d.Values(s(shares[k]), metric)))
		})
	}
	return over(func(x share) run.Series { return lBound(x.data) }, track.MetricBound),
		over(func(x share) run.Series { return batch(x.data, far.algorithm(w)) }, makespan)
}
