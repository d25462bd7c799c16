package drl

import (
	"cmp"
	"fmt"
	"slices"

	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// A contest is a column of the artefact baselines. Runs of two agents are paired.
type contest struct {
	name string
	a, b approach
	// of compares algorithms by data set.
	of func(r *reading, d *figures.Data, w workload, a, b string) []float64
	// on are the workloads that it is about.
	on []workload
}

// contests have the paper's last agent against its baselines (5.3) and against the optimum, and agents against agents.
var contests = []contest{
	{"FAR over DIRECT RECONFIG", far, direct, (*reading).above, workloads()},
	{"MISO over DIRECT RECONFIG", miso, direct, (*reading).above, workloads()},
	{"FIXBEST over DIRECT RECONFIG", fixBest, direct, (*reading).fixedAbove, workloads()},
	{"NOMIG over DIRECT RECONFIG", noMIG, direct, (*reading).above, workloads()},
	{
		"DIRECT RECONFIG over the optimum, at most",
		approach{algorithm: "certified"},
		direct, (*reading).overBound,
		workloads(),
	},
	{"ENTROPY less DIRECT RECONFIG", agents[2], direct, (*reading).less, unsolved},
	{"ONE-HOT less FLOAT", agents[0], agents[1], (*reading).less, workloads()},
}

// baselines measures for conclusions, under the readings of Table 4. The paper has no such table.
func baselines(d *figures.Data) {
	for r, values := range figures.Under(d, readings) {
		for w, c := range figures.Each(workloads(), contests) {
			if slices.Contains(c.on, w) {
				values[claim.At(w.ours(), c.name)] = r.contest(d, w, c)
			}
		}
		values[claim.At(rodinia.ours(), onReal)] = r.beyondTraining(d)
	}
	t := d.Table("baselines",
		"How much makespans exceed the agent's [%], and differences of p_opt [points], with N = 14",
		reports.Left("workload", "reading"),
		"over: the mean of 100 (the other's makespan / the agent's - 1), or of the agent's over the certified bound; "+
			"less: the difference of p_opt. ±: half of the 95 % interval over training runs and data sets; none where "+
			"there is one training run",
		fmt.Sprintf("%d data sets of all full batches with tasks class by class, the first full batch of %d in "+
			"random order; every training run on the same ones; FIXBEST: all batches of %d; the optimum: all "+
			"batches of %d. RODINIA: all batches of 200 subsets of the 16 public Rodinia kernels, each in 5 orders, "+
			"by the agents that learned from WIDETIMES; it is the same under each generator",
			d.Scale.Replicates(forFurther), d.Scale.Replicates(forFurtherAlike), d.Scale.Replicates(partitioned),
			d.Scale.Replicates(floorFull)))
	t.Columns = t.Columns.PlusMinus(figures.Map(contests, func(c contest) string { return c.name })...)
	for w, r := range figures.Each(workloads(), d.Readings) {
		t.Row(w.ours(), cmp.Or(r.Name, figures.DefaultReading), figures.Map(contests, func(c contest) []string {
			if m, ok := r.Values[claim.At(w.ours(), c.name)]; ok {
				return figures.PlusMinus(m, 1)
			}
			return []string{reports.Missing, reports.Missing}
		}))
	}
}

func (r *reading) contest(d *figures.Data, w workload, c contest) figures.Measurement {
	as, bs := c.a.runs(w), c.b.runs(w)
	if !c.a.learned {
		as = slices.Repeat(as, len(bs))
	}
	return r.crossed(d, min(len(as), len(bs)), func(few *reading, run int) []float64 {
		return w.independent(c.of(few, d, w, as[run], bs[run]))
	})
}

// onReal is how much worse the paper's last agent is on real kernels than on the synthetic tasks that it learned from.
const onReal = "p_opt of DIRECT RECONFIG less that on WIDETIMES"

func (r *reading) beyondTraining(d *figures.Data) figures.Measurement {
	var values []float64
	for i, agent := range direct.runs(rodinia) {
		few := r.forRun(i)
		p := func(w workload) float64 { return figures.Mean(few.pOpt(d, w, agent)) }
		values = append(values, p(rodinia)-p(generated(rodinia.trainedOn)))
	}
	return d.MeanOf(values, verdict.TrainingRuns, 0)
}

// crossed returns the mean over training runs, all on the data sets of further runs. of returns a quantity by data set.
func (r *reading) crossed(d *figures.Data, runs int, of func(few *reading, run int) []float64) figures.Measurement {
	var values [][]float64
	for run := range runs {
		values = append(values, of(r.forRun(1), run))
	}
	return d.Crossed(values)
}

// fixedAbove returns [reading.above] of the best partition for each data set.
func (r *reading) fixedAbove(d *figures.Data, w workload, _, agent string) []float64 {
	return r.onBestPartition(d, w, func(b batches, fixed string) []float64 {
		return d.Above(r.series(b.data, fixed), r.series(b.data, agent), b.datasets)
	})
}

// overBound returns by how many percent makespans exceed a lower bound, by data set. Bounds take long, and few
// data sets of one size are enough.
func (r *reading) overBound(d *figures.Data, w workload, lower, agent string) []float64 {
	return average(r.batches(w, true), func(b batches) []float64 {
		n := floorFull
		if w == rodinia {
			n = b.datasets
		}
		return d.AboveBound(r.series(b.data, agent), bound("A100", b.data, lower, r.model), n)
	})
}

// less returns p_opt of an agent less p_opt of another, by data set.
func (r *reading) less(d *figures.Data, w workload, a, b string) []float64 {
	return figures.Differences(r.pOpt(d, w, a), r.pOpt(d, w, b))
}
