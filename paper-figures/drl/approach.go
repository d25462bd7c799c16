package drl

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/verdict"
)

// An approach is a column of Table 4.
type approach struct {
	// name is the paper's.
	name string
	// algorithm is its spec. The spec of an agent lacks the workload that it learned from.
	algorithm string
	// learned marks an agent that was trained for each workload.
	learned bool
}

var (
	far    = approach{name: "FAR", algorithm: "far"}
	miso   = approach{name: "MISO", algorithm: "miso"}
	noMIG  = approach{name: "NOMIG", algorithm: "nomig"}
	direct = approach{"DIRECT RECONFIG", "rl-direct", true}

	// fixBest has one partition for a data set (5.3), but its algorithm has one for each batch. See [reading.fixBest].
	fixBest = approach{name: "FIXBEST", algorithm: "fixpartbest"}

	// ourAgent and ourBest, its best of 64 tries, learned from all workloads; ourLocal was also trained on one.
	ourAgent = approach{name: "agent", algorithm: "agent"}
	ourBest  = approach{name: "best of 64", algorithm: "agent?k=64"}
	ourLocal = approach{"agent for the workload", "agent", true}

	// These never reconfigure.
	onesOnly = approach{name: "FIXPART(1-1-1-1-1-1-1)", algorithm: "fixpart?p=1-1-1-1-1-1-1"}
	bestOnly = approach{name: "FIXPARTBEST", algorithm: "fixpartbest"}

	// agents are the paper's offline agents.
	agents = []approach{
		{"ONE-HOT", "rl-onehot", true},
		{"FLOAT", "rl-float", true},
		{"ENTROPY", "rl-entropy", true},
		direct,
	}

	approaches = append([]approach{far, miso, fixBest, noMIG}, agents...)
)

// runs lists the approach's algorithms for a workload: one, or one for each training run, if the program has any.
func (a approach) runs(w workload) (out []string) {
	if !a.learned {
		return []string{a.algorithm}
	}
	separator := "?"
	if strings.Contains(a.algorithm, separator) {
		separator = "&"
	}
	id := a.algorithm + separator + "workload=" + w.trainedOn
	for seed := 2; ; seed++ {
		if next, err := algo.Parse(id); err != nil || next.Weights() == "" {
			return out
		}
		out = append(out, id)
		id = fmt.Sprintf("%s&seed=%d", out[0], seed)
	}
}

// learnedFrom lists the synthetic workloads for which a training run is part of the program.
func (a approach) learnedFrom() []workload {
	return slices.DeleteFunc(slices.Clone(synthetic), func(w workload) bool { return len(a.runs(w)) == 0 })
}

// one returns the approach's algorithm for a workload. For an agent that is the first training run.
func (a approach) one(w workload) string { return a.runs(w)[0] }

// curve returns the name of an agent's learning curve for a workload.
func (a approach) curve(w workload) string {
	name, parameters, _ := strings.Cut(a.algorithm, "?")
	name = strings.TrimSuffix(name, "-stream") + "-" + w.trainedOn
	if recipe, ok := strings.CutPrefix(parameters, "recipe="); ok {
		name += "-" + recipe
	}
	return name
}

// dataSets are the replicates of a scheduler that does not learn.
const dataSets verdict.Unit = "data sets"

// overRuns measures an approach on a workload with count data sets in the paper. quantity returns the values by data
// set for an algorithm. The replicates of an agent are its training runs, each with its mean. The paper names one agent
// a workload, so its number counts as the result of one run.
func (a approach) overRuns(d *figures.Data, w workload, r *reading, count int, longer prospect,
	quantity func(r *reading, algorithm string) []float64,
) figures.Measurement {
	if !a.learned {
		return d.MeanOf(quantity(r, a.algorithm), dataSets, count)
	}
	var means []float64
	for i, algorithm := range a.runs(w) {
		means = append(means, figures.Mean(quantity(r.forRun(i), algorithm)))
	}
	return overTraining(d, means, 1, longer, a.curve(w))
}

// The steps of training of the paper's agents: offline, and online (6.6).
const (
	paperSteps  = 200e6
	onlineSteps = 500e6
)

// A prospect returns the least and the greatest number that longer training could give, from the present one.
type prospect func(present float64) (from, to float64)

// falls is for numbers that longer training lowers, such as p_opt, but not below a floor.
func falls(floor float64) prospect {
	return func(present float64) (from, to float64) { return floor, present }
}

// rises is for numbers that longer training raises, such as gains over schedulers that do not learn, but not above a
// ceiling.
func rises(ceiling float64) prospect {
	return func(present float64) (from, to float64) { return present, ceiling }
}

// anything is for comparisons of agents, which longer training could move either way without a known limit.
func anything(float64) (from, to float64) { return math.Inf(-1), math.Inf(1) }

// leastPOpt is below the p_opt of every schedule of full batches: see the artefact floors.
const leastPOpt = 0

// overTraining returns the mean over training runs. paperRuns is the number of runs behind the paper's number, and
// longer says what longer training could give. The detail says how many runs of the agents are missing, and how their
// learning curves end.
func overTraining(
	d *figures.Data, values []float64, paperRuns int, longer prospect, agents ...string,
) figures.Measurement {
	m := d.MeanOf(values, verdict.TrainingRuns, paperRuns)
	m.Training.Steps, m.Training.Paper = shippedCurves().of(agents[0])[0].Last(), paperSteps
	m.Training.From, m.Training.To = longer(m.Value)
	var details []string
	missing := 0
	for _, agent := range agents {
		long := figures.Count(shippedCurves().of(agent), func(c course) bool { return c.Last() >= enoughSteps })
		if lacks := verdict.TrainingRuns.Fewest() - long; lacks > 0 {
			missing += lacks
		} else {
			details = append(details, trendSentence(agent, shippedCurves().trend(agent)))
		}
	}
	if missing > 0 {
		details = append(details, fmt.Sprintf("Missing: %d training runs.", missing), d.TrainingRun)
	}
	m.Detail = strings.Join(details, " ")
	return m
}

func (a approach) measure(d *figures.Data, w workload, r *reading) figures.Measurement {
	r = r.withModelOf(a)
	if a == fixBest {
		return d.MeanOf(r.fixBest(d, w), dataSets, w.datasets)
	}
	longer := prospect(anything) // only for approaches that learn
	if a.learned {
		longer = falls(r.floor(d, w))
	}
	return a.overRuns(d, w, r, w.datasets, longer, func(r *reading, algorithm string) []float64 {
		return r.pOpt(d, w, algorithm)
	})
}

// floor returns the least p_opt that schedules could have: the lower end of the 95 % interval of the certified bound.
func (r *reading) floor(d *figures.Data, w workload) float64 {
	least := average(r.batches(w, true), func(b batches) []float64 { return leastOf(d, b.data, r.model, floorFull) })
	return d.MeanOf(least, dataSets, 0).Low
}

// leastOf returns p_opt of the certified bound, by instance.
func leastOf(d *figures.Data, data string, model mig.Reconfiguration, n int) []float64 {
	certified := d.Values(bound("A100", data, "certified", model), n, track.MetricBound)
	return figures.Percent(figures.Ratios(certified, d.Values(lBound(data), n, track.MetricBound)))
}

// withModelOf returns the reading with the cost model of an approach. In the authors' code, FAR reconfigures one
// instance at a time, and the other baselines in no time.
func (r *reading) withModelOf(a approach) *reading {
	timed := *r
	switch {
	case !r.theirs || a.learned:
	case a == far:
		timed.model = mig.Sequential
	default:
		timed.model = mig.Free
	}
	return &timed
}

// The number of data sets, of 7 full batches each, for the first training run of an agent and for each further one.
// Where one batch represents a data set, further runs have more data sets.
const (
	forAgents       = 300
	forFurther      = 50
	forFurtherAlike = 150
)

// forRun returns the reading with the data sets for the i-th training run alone.
func (r *reading) forRun(i int) *reading {
	most := r.firstRun
	if i > 0 {
		most = forFurther
		if r.alike {
			most = forFurtherAlike
		}
	}
	few := *r
	if most > 0 && (r.datasets == 0 || r.datasets > most) {
		few.datasets = most
	}
	return &few
}

// partitioned is the number of data sets for FIXBEST. Each takes 16 partitions of 7 batches.
const partitioned = 50

func partition(p mig.Partition) string { return "fixpart?p=" + p.String() }

// partitions returns the partitions that leave no slice idle; the paper drops the others too (4.1).
func partitions() []mig.Partition { return mig.MustLookup("A100").Useful() }

// forPartitions returns the batches on which fixed partitions are compared: every batch of few data sets.
func (r *reading) forPartitions(w workload) []batches {
	all := r.batches(w, true)
	if w != rodinia {
		for k := range all {
			all[k].datasets = min(all[k].datasets, partitioned)
		}
	}
	return all
}

// fixBest returns p_opt by data set with its best partition.
func (r *reading) fixBest(d *figures.Data, w workload) []float64 {
	return r.onBestPartition(d, w, func(b batches, algorithm string) []float64 {
		return pOpt(d, r.series(b.data, algorithm), b.datasets)
	})
}

// onBestPartition returns a quantity by data set, on the partition with the least mean makespan over its batches; the
// first one if there are several.
func (r *reading) onBestPartition(d *figures.Data, w workload,
	quantity func(b batches, algorithm string) []float64,
) (best []float64) {
	all := r.forPartitions(w)
	var least []float64
	for _, p := range partitions() {
		values := average(all, func(b batches) []float64 { return quantity(b, partition(p)) })
		means := average(all, func(b batches) []float64 {
			return d.Values(r.series(b.data, partition(p)), b.datasets, makespan)
		})
		if best == nil {
			best, least = values, means
		}
		choose(best, least, values, means)
	}
	return best
}

// choose takes the values of those data sets that have a lower mean than the least so far.
func choose(best, least, values, means []float64) {
	for i, mean := range means {
		if mean < least[i] {
			best[i], least[i] = values[i], mean
		}
	}
}
