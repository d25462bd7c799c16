package drl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"miglab/harness/store"
	"miglab/harness/track"
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
			m := lowerThan(d, series(a), series(far), count)
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

// reconfigures shows whether agents reconfigure (6.5), under the readings of Table 4.
func reconfigures(d *figures.Data) {
	for r, values := range figures.Under(d, readings) {
		for w, a := range figures.Each(mixed, []approach{agents[0], agents[1], direct}) {
			share := r.counted(d, w, a, onOnePartition)
			share.Low, share.High = max(share.Low, 0), min(share.High, 100)
			values[claim.Cell{Row: w.ours(), Column: a.name, Quantity: "on one partition"}] = share
		}
	}
	t := d.Table("reconfigures",
		"Instances destroyed and created in a batch of 14 tasks, and batches on one partition [%]",
		reports.Left("workload", "reading", "agent").Right("destroyed", "created", "on one partition [%]"),
		fmt.Sprintf("the readings are those of Table 4, of which the defaults are shown; RODINIA: all batches "+
			"of subsets of the 16 public Rodinia kernels, by the agents that learned from WIDETIMES; %d data sets "+
			"of seven batches with tasks class by class, the first batch of %d in random order; means over training "+
			"runs; agent: ours", d.Scale.Replicates(forFurther), d.Scale.Replicates(forFurtherAlike)),
		"a batch in which nothing is destroyed is run on one partition; destroying what is left in the end does not "+
			"count",
		"the paper finds that ONE-HOT and FLOAT hardly reconfigure (6.5), with p_opt of 70 to 90 % where it matters; "+
			"what one partition reaches is in the artefact floors")
	for w, r := range figures.Each(workloads(), readings[:defaults]) {
		for _, a := range append(slices.Clone(agents), ourAgent) {
			t.Row(w.ours(), cmp.Or(r.name, figures.DefaultReading), a,
				reports.Cells(2, r.counted(d, w, a, destroyed).Value, r.counted(d, w, a, created).Value),
				reports.Fixed(r.counted(d, w, a, onOnePartition).Value, 0))
		}
	}
}

// A changeMeasure is a value of a batch, from its numbers of destroys and of all reconfigurations.
type changeMeasure func(destroys, changes float64) float64

func destroyed(destroys, _ float64) float64     { return destroys }
func created(destroys, changes float64) float64 { return changes - destroys }

// onOnePartition returns 100 % for a batch that destroys no instance, and 0 for others.
func onOnePartition(destroys, _ float64) float64 {
	if destroys == 0 {
		return 100
	}
	return 0
}

// counted returns the mean of value over the batches of a workload and the training runs of an agent.
func (r *reading) counted(d *figures.Data, w workload, a approach, value changeMeasure) figures.Measurement {
	runs := a.runs(w)
	return r.crossed(d, len(runs), func(once *reading, run int) []float64 {
		return w.independent(average(once.batches(w, false), func(b batches) []float64 {
			s := once.series(b.data, runs[run])
			out := slices.Clone(d.Values(s, b.datasets, "destroys"))
			for i, changes := range d.Values(s, b.datasets, track.MetricReconfigurations) {
				out[i] = value(out[i], changes)
			}
			return out
		}))
	})
}

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

// lowerThan measures by how many percent the makespans of series a are below those of another, in the mean over n
// batches.
func lowerThan(d *figures.Data, a, than store.Series, n int) figures.Measurement {
	below := figures.Map(d.Above(a, than, n), func(v float64) float64 { return -v })
	return d.MeanOf(below, "batches", 0)
}

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
