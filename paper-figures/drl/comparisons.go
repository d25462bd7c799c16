package drl

import (
	"fmt"
	"slices"
	"strings"

	"miglab/harness/store"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

const (
	// oursBatches is the number of batches for the comparison of our agents.
	oursBatches = 500
	// oursTriedBatches is the number for the best of 64 tries, which takes 64 times as long.
	oursTriedBatches = 50
)

// ours compares our agents with FAR and the paper's agents in the setting that they were made for: batches of
// 14 tasks on an empty GPU, one operation at a time. The paper has no such numbers.
func ours(d *figures.Data) {
	columns := append(slices.Clone(agents), ourAgent, ourLocal, ourBest, onesOnly)
	drawn := []approach{direct, ourAgent, ourLocal, ourBest}
	quality := d.Table("ours-p_opt", "p_opt [%] on batches of 14 tasks",
		reports.Left("workload", "generator"),
		fmt.Sprintf("%d batches of each workload, best of 64 on the first %d; empty GPU, Sequential; agents of the "+
			"first training run", d.Scale.Replicates(oursBatches), d.Scale.Replicates(oursTriedBatches)),
		"agent: one network, trained on the mixture of all workloads and both generators; the others on the workload",
		"FIXPART(1-1-1-1-1-1-1) never reconfigures",
		"the paper's agents learned with operations at the same time and from batches of 14 tasks; ours with one "+
			"operation at a time, from batches of 14 and, a quarter of them, of 1 to 28")
	quality.Columns = quality.Columns.Right(far.name).Right(namesOf(columns)...)
	below := d.Table("ours", "Makespan below FAR's [%] on the same batches",
		reports.Left("workload", "generator"),
		"the mean of 100 (1 - makespan / the other's) ± half of the 95 % confidence interval")
	below.Columns, below.Notes = below.Columns.PlusMinus(namesOf(columns)...), append(below.Notes, quality.Notes...)
	chart := barsOf("Makespan below FAR's on batches of 14 tasks, generator as in the text", "below FAR [%]", drawn)
	inClasses, values := readings[byScript].forRun(1), d.Under("create_dataset.py")
	for _, w := range synthetic {
		above := d.MeanOf(inClasses.above(d, w, ourAgent.algorithm, far.algorithm), dataSets, 0)
		values[claim.At(w.name, "agent below FAR")] = above.Affine(-1, 0)
	}
	for w, g := range figures.Each(synthetic, generators) {
		data := w.single(g.parameters)
		series := func(a approach) store.Series { return batch(data, a.one(w)) }
		pOpts, belows := []float64{figures.Mean(pOpt(d, series(far), oursBatches))}, []string(nil)
		for _, a := range columns {
			count := oursBatches
			if a == ourBest {
				count = oursTriedBatches
			}
			less := figures.Map(d.Above(series(a), series(far), count), func(v float64) float64 { return -v })
			m := d.MeanOf(less, "batches", 0)
			if i := slices.Index(drawn, a); i >= 0 && g.parameters == "" {
				chart.Groups[i].Add(m.Value, m.Low, m.High)
			}
			if a == ourAgent {
				d.Under(g.name + " generator")[claim.At(w.name, "agent below FAR")] = m
			}
			pOpts = append(pOpts, figures.Mean(pOpt(d, series(a), count)))
			belows = append(belows, figures.PlusMinus(m, 2)...)
		}
		quality.Row(w, g.name, reports.Cells(2, pOpts...))
		below.Row(w, g.name, belows)
	}
	d.Figure("ours", chart.Title, chart)
}

// reconfigures measures for conclusions whether agents reconfigure (6.5), under the readings of Table 4.
func reconfigures(d *figures.Data) {
	for r, values := range figures.Under(d, readings) {
		for w, a := range figures.Each(mixed, agents[:2]) {
			values[claim.Cell{Row: w.ours(), Column: a.name, Quantity: "on one partition"}] = r.onOnePartition(d, w, a)
		}
	}
}

// onOnePartition returns the percentage of the batches of a workload that an agent runs on one partition, over its
// training runs: of those in which it destroys no instance. Destroying what is left in the end does not count.
func (r *reading) onOnePartition(d *figures.Data, w workload, a approach) figures.Measurement {
	runs := a.runs(w)
	share := r.crossed(d, len(runs), func(few *reading, run int) []float64 {
		return w.independent(few.kept(d, w, runs[run]))
	})
	share.Low, share.High = max(share.Low, 0), min(share.High, 100)
	return share
}

// kept returns by data set the percentage of the batches that an agent runs on one partition.
func (r *reading) kept(d *figures.Data, w workload, agent string) []float64 {
	return average(r.batches(w, false), func(b batches) []float64 {
		return figures.Map(d.Values(r.series(b.data, agent), b.datasets, "destroys"), percentKept)
	})
}

// keptLess returns [reading.kept] of an agent less that of another.
func (r *reading) keptLess(d *figures.Data, w workload, a, b string) []float64 {
	return figures.Differences(r.kept(d, w, a), r.kept(d, w, b))
}

// percentKept returns 100 % for a batch that destroys no instance, and 0 for others.
func percentKept(destroys float64) float64 { return 100 * max(0, 1-destroys) }

// barsOf returns an empty chart by workload, with a group of bars for each approach.
func barsOf(title, label string, approaches []approach) reports.Bars {
	lines := strings.NewReplacer("SCALING", reports.MayBreak+"SCALING"+reports.MayBreak)
	return reports.Bars{
		Title: title, X: reports.Axis{Label: "Workload"}, Y: reports.Axis{Label: label}, Dots: true,
		Categories: figures.Map(namesOf(synthetic), lines.Replace),
		Groups: figures.Map(approaches, func(a approach) reports.BarGroup {
			return reports.BarGroup{Name: a.name}
		}),
	}
}

// A contest is a quantity of the artefact baselines. Runs of two agents are paired.
type contest struct {
	name string
	a, b approach
	of   comparison
	// on are the workloads that it is about.
	on []workload
}

// A comparison compares algorithms by data set.
type comparison func(r *reading, d *figures.Data, w workload, a, b string) []float64

// contests have the paper's last agent against its baselines (5.3) and against the optimum, and agents against agents.
var contests = []contest{
	{"FAR over DIRECT RECONFIG", far, direct, (*reading).above, workloads()},
	{"MISO over DIRECT RECONFIG", miso, direct, (*reading).above, workloads()},
	{"MISO less FAR, over DIRECT RECONFIG", miso, direct, beyond(far, (*reading).above), workloads()},
	{"FIXBEST over DIRECT RECONFIG", fixBest, direct, (*reading).fixedAbove, workloads()},
	{"FIXBEST less MISO, over DIRECT RECONFIG", fixBest, direct, beyond(miso, (*reading).fixedAbove), workloads()},
	{"NOMIG over DIRECT RECONFIG", noMIG, direct, (*reading).above, workloads()},
	{"NOMIG less MISO, over DIRECT RECONFIG", noMIG, direct, beyond(miso, (*reading).above), workloads()},
	{"DIRECT RECONFIG over the optimum, at most", approach{}, direct, (*reading).overBound, workloads()},
	{"ENTROPY less DIRECT RECONFIG", agents[2], direct, (*reading).less, unsolved},
	{"batches on one partition, ENTROPY less DIRECT RECONFIG", agents[2], direct, (*reading).keptLess, mixed},
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

// beyond compares by how many points an approach exceeds an agent by more than another approach does.
func beyond(other approach, above comparison) comparison {
	return func(r *reading, d *figures.Data, w workload, a, agent string) []float64 {
		return figures.Differences(above(r, d, w, a, agent), r.above(d, w, other.algorithm, agent))
	}
}

// overBound returns by how many percent makespans exceed the certified bound, by data set; few are enough.
func (r *reading) overBound(d *figures.Data, w workload, _, agent string) []float64 {
	return average(r.batches(w, true), func(b batches) []float64 {
		n := floorFull
		if w == rodinia {
			n = b.datasets
		}
		return d.AboveBound(r.series(b.data, agent), bound("A100", b.data, "certified", r.model), n)
	})
}

// less returns p_opt of an agent less p_opt of another, by data set.
func (r *reading) less(d *figures.Data, w workload, a, b string) []float64 {
	return figures.Differences(r.pOpt(d, w, a), r.pOpt(d, w, b))
}
