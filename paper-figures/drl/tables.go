package drl

import (
	"cmp"
	"fmt"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/stats"
	"miglab/harness/store"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

func table4(d *figures.Data) {
	for r, values := range figures.Under(d, readings) {
		measureAll(values, workloads(), approaches, func(w workload, a approach) figures.Measurement {
			return a.measure(d, w, &r)
		})
		standsIn(values, agents[:2]) // of which 6.5 says that they do poorly
	}
	releasedEvaluation(d)
	shortBatches(d)
	releasedLearner(d)
	head := d.Table("table4", "Table 4. Average p_opt [%] with N = 14",
		reports.Left("workload"),
		fmt.Sprintf("the mean over the full batches of a data set, then over data sets; agents: over %d data sets "+
			"for the first training run and %d for each further one, then over training runs",
			d.Scale.Replicates(forAgents), d.Scale.Replicates(forFurther)),
		fmt.Sprintf("FIXBEST: the best of %d partitions for each data set, over %d data sets",
			len(partitions()), d.Scale.Replicates(partitioned)),
		"RODINIA + ALTIS: the suite's RODINIA, all batches of subsets of the 16 public Rodinia kernels, which has no "+
			"Altis kernel; by the agents that learned from WIDETIMES")
	d.Layout(head, namesOf(workloads()), columnsOf(approaches), d.Readings[0])
}

// evaluated is the number of batches in the released evaluation.
const evaluated = 150

// releasedEvaluation measures agents as callbacks.py of the public code does while they learn.
func releasedEvaluation(d *figures.Data) {
	data := figures.Dataset("drl/GOODSCALING?start=busy&" + trainingGen)
	measureAll(d.Under("released evaluation"), synthetic, agents, func(w workload, a approach) figures.Measurement {
		return a.overRuns(d, w, &reading{}, evaluated, falls(leastPOpt), func(_ *reading, algorithm string) []float64 {
			s := seriesOn("A100", data, algorithm+"&actions=sampled&start=levels", mig.Free)
			return d.AboveBound(s, lBound(data), evaluated)
		})
	})
}

// shortBatches measures all batches of POORSCALING, with agents that learned from batches of 1 to 14 tasks, and of the
// other workloads that such agents learned.
func shortBatches(d *figures.Data) {
	for r, values := range figures.Under(d, []reading{
		{
			name: "all batches, learned from 1 to 14 tasks", parameters: classOrdered, partial: true,
			model: mig.Parallel, theirs: true, firstRun: forFurther,
		},
		{
			name: "random order, all batches, learned from 1 to 14 tasks", parameters: randomOrder, alike: true,
			partial: true, model: mig.Parallel, theirs: true, firstRun: forFurtherAlike,
		},
	}) {
		for _, a := range approaches {
			rows := []workload{generated(poorScaling)}
			if a.learned {
				a.algorithm += "?recipe=short"
				rows = a.learnedFrom()
			}
			measureAll(values, rows, []approach{a}, func(w workload, a approach) figures.Measurement {
				return a.measure(d, w, &r)
			})
		}
	}
}

// releasedLearner reads the ends of the learning curves of agents with the settings of the released learner. The
// repository has no room for their weights.
func releasedLearner(d *figures.Data) {
	measureAll(d.Under("released learner"), synthetic, agents[1:], func(w workload, a approach) figures.Measurement {
		name := a.curve(w) + released
		ends := figures.Map(shippedCurves().of(name), func(c course) float64 { return c.Final() })
		return overTraining(d, ends, 1, falls(leastPOpt), name)
	})
}

// floors shows limits that hold for every schedule, and for every partition. They are evidence for the default reading
// of Table 4 and against some of its numbers. The paper has no such table.
func floors(d *figures.Data) {
	certifiedFloors(d)
	fixedPartitions(d)
}

// The numbers of data sets for the floors. The batch of 2 tasks varies most, so it has more.
const (
	floorPartial = 300
	floorFull    = 12
)

// certifiedFloors lists the least p_opt that any schedule can have, and so the least mean over
// all 8 batches of a data set, beside the least number that Table 4 prints.
func certifiedFloors(d *figures.Data) {
	t := d.Table("floors", "The least p_opt [%] that any schedule can have, by the certified bound",
		reports.Left("workload", "tasks").PlusMinus("full batches", "batch of 2").
			Right("mean over all 8 batches", "least printed", "printed numbers below it").
			Left("a mean over all 8 batches is"),
		fmt.Sprintf("mean ± half of the 95 %% confidence interval, over %d data sets for each of the 7 full batches "+
			"and %d for the batch of 2", d.Scale.Replicates(floorFull), d.Scale.Replicates(floorPartial)),
		"where a printed number is below the floor of the mean over all 8 batches, no schedule at all can have it, "+
			"so that the batch of 2 cannot have counted",
		"with class-ordered tasks the batch of 2 has tasks of the last class alone, and the floor excludes nothing")
	for _, r := range []*reading{&readings[byPrintAll], &readings[byScriptAll]} { // all batches count in them
		name := "random order, printed generator"
		if !r.alike {
			name = "class-ordered, released generator"
		}
		for _, w := range synthetic {
			all := r.batches(w, true)
			floors := func(b batches, n int) []float64 { return leastOf(d, b.data, mig.Parallel, n) }
			full := average(all[:fullBatches], func(b batches) []float64 { return floors(b, floorFull) })
			of7 := d.MeanOf(full, dataSets, 0)
			of2 := d.MeanOf(floors(all[fullBatches], floorPartial), dataSets, 0)
			floor := (float64(fullBatches*of7.Value) + of2.Value) / (fullBatches + 1)
			printed := figures.Map(approaches, func(a approach) float64 { return printed4(d, w, a) })
			below := figures.Count(printed, func(v float64) bool { return v < floor })
			says := "not excluded"
			if below > 0 {
				says = "excluded"
			}
			t.Row(w, name, figures.PlusMinus(of7, 1), figures.PlusMinus(of2, 1), reports.Fixed(floor, 1),
				reports.Fixed(slices.Min(printed), 2), below, says)
		}
	}
}

func printed4(d *figures.Data, w workload, a approach) float64 {
	return d.Claims.Published("table4", claim.Cell{Row: w.name, Column: a.name})
}

// fixedPartitions compares printed numbers of Table 4, of FIXBEST and of agents said not to reconfigure, with each
// fixed partition under every generator.
func fixedPartitions(d *figures.Data) {
	t := d.Table("floors-partitions",
		"p_opt [%] of fixed partitions beside what Table 4 prints for FIXBEST and for agents that do not reconfigure",
		reports.Left("workload", "reading").PlusMinus("FIXPART(1-1-1-1-1-1-1)", "any action").Right("FIXBEST"),
		fmt.Sprintf("%d data sets, tasks in order of arrival, Parallel; the batch of 2 tasks counts where the "+
			"reading says all batches; of %d partitions that leave no slice idle",
			d.Scale.Replicates(partitioned), len(partitions())),
		"the best partition is at least as good as 1-1-1-1-1-1-1 and as any other one",
		"any action: each action is drawn from those that are possible for FLOAT, all equally likely, as an agent "+
			"acts that has learned nothing",
		"partitions below FIXBEST and so on: how many have less than the number that is printed for it")
	compared := append([]approach{fixBest}, agents[:3]...)
	for _, a := range compared {
		t.Columns = t.Columns.Right(a.name+", printed", "partitions below "+a.name)
	}
	for _, w := range synthetic {
		for _, i := range []int{byScript, byScriptAll, byPrint, byPrintAll, byTraining} {
			r := &readings[i]
			values := func(algorithm string) []float64 { return r.pOptOn(d, r.forPartitions(w), algorithm) }
			means := figures.Map(partitions(), func(p mig.Partition) float64 {
				return figures.Mean(values(partition(p)))
			})
			var beside []string
			for _, a := range compared {
				printed := printed4(d, w, a)
				below := figures.Count(means, func(mean float64) bool { return mean < printed })
				beside = append(beside, reports.Fixed(printed, 2), fmt.Sprint(below))
			}
			reading := cmp.Or(r.name, figures.DefaultReading)
			t.RowAbout(claim.Selection{Row: w.name}, reading, w, reading,
				figures.PlusMinus(d.MeanOf(values(onesOnly.algorithm), dataSets, 0), 1),
				figures.PlusMinus(d.MeanOf(values(agents[1].one(w)+"&actions=any"), dataSets, 0), 1),
				reports.Fixed(figures.Mean(r.fixBest(d, w)), 1), beside)
		}
	}
}

// online is the online agent on a whole data set, of which it sees 14 tasks at a time.
var online = approach{"online DIRECT RECONFIG", "rl-online", true}

// scriptOnline learned from 50 tasks on an idle GPU, with 0.7 s for every reconfiguration.
var scriptOnline = approach{online.name, "rl-online?recipe=script", true}

// A queued approach schedules a whole data set.
type queued struct {
	approach
	track string
}

var (
	queuedFAR  = queued{approach{name: "FAR", algorithm: "far-concat"}, algo.TrackStream}
	queuedMISO = queued{approach{name: "MISO", algorithm: "miso"}, algo.TrackBatch}
)

// inQueue lists the approaches that are compared with the online agent: FAR with its concatenation, MISO, which takes
// tasks one by one, and the offline agent, which starts each batch on the GPU as the previous batch left it.
var inQueue = []queued{
	queuedFAR, queuedMISO,
	{approach{"offline DIRECT RECONFIG", "rl-direct-stream", true}, algo.TrackStream},
}

// queue returns the series of an algorithm on whole data sets.
func (r *reading) queue(w workload, track string, algorithm string) store.Series {
	s := r.series(r.whole(w), algorithm)
	s.Track = track
	return s
}

// readings5 are the readings of Table 5. Whole data sets have no partial batches.
var readings5 = []reading{
	{parameters: classOrdered, model: mig.Parallel},
	{name: "random order", parameters: randomOrder, model: mig.Parallel, datasets: 300},
	{name: "Sequential", parameters: classOrdered, model: mig.Sequential, datasets: 200},
	{name: "printed generator", model: mig.Parallel},
}

// overOnline measures p_online, by how many percent makespans exceed the online agent's. Runs of two agents are paired.
func (r *reading) overOnline(d *figures.Data, w workload, q queued, online approach) figures.Measurement {
	var means []float64
	onlineRuns, others, curves := online.runs(w), q.approach.runs(w), []string{online.curve(w)}
	longer, most := prospect(anything), ""
	if q.learned {
		onlineRuns, curves = onlineRuns[:min(len(onlineRuns), len(others))], append(curves, q.curve(w))
	} else {
		certified := bound("A100", r.whole(w), "certified", r.model)
		ahead := d.MeanOf(d.AboveBound(r.queue(w, q.track, others[0]), certified, floorFull), dataSets, 0)
		longer = rises(ahead.High)
		most = fmt.Sprintf("By the certified bound, no schedule is more than %.2f ± %.2f %% ahead of %s. ",
			ahead.Value, ahead.High-ahead.Value, q)
		others = slices.Repeat(others, len(onlineRuns))
	}
	for i, own := range onlineRuns {
		few := r.forRun(i)
		means = append(means,
			figures.Mean(d.Above(few.queue(w, q.track, others[i]), few.queue(w, algo.TrackStream, own), few.count(w))))
	}
	m := overTraining(d, means, 1, longer, curves...)
	m.Training.Paper, m.Detail = onlineSteps, most+m.Detail
	return m
}

func table5(d *figures.Data) {
	measure := func(values figures.Values, r reading, rows []workload, columns []queued, online approach) {
		measureAll(values, rows, columns, func(w workload, q queued) figures.Measurement {
			return r.overOnline(d, w, q, online)
		})
	}
	for r, values := range figures.Under(d, readings5) {
		measure(values, r, workloads(), inQueue, online)
		standsIn(values, inQueue)
	}
	farAlone := []queued{{approach{name: far.name, algorithm: "far-concat?mode=trivial"}, algo.TrackStream}}
	measure(d.Under("FAR without concatenation"), readings5[0], synthetic, farAlone, online)
	theirs := readings5[byScript] // no agent has a part in MISO over FAR, which in print follows from their two numbers
	theirs.theirs = true
	for _, w := range synthetic {
		far := theirs.withModelOf(far).queue(w, algo.TrackStream, "far-concat?mode=trivial")
		over := d.Above(theirs.withModelOf(miso).queue(w, algo.TrackBatch, miso.algorithm), far, replicates)
		d.Under("")[claim.Cell{Row: w.name, Quantity: "MISO over FAR"}] = d.MeanOf(over, dataSets, replicates)
	}
	of50 := reading{parameters: classOrdered, model: mig.Parallel, datasets: 100, total: 50}
	measure(d.Under("online agent as released"), of50, scriptOnline.learnedFrom(), inQueue, scriptOnline)
	head := d.Table("table5", "Table 5. p_online [%], by how much others' makespans exceed the online agent's",
		reports.Left("workload"),
		"whole data sets of 100 tasks, RODINIA + ALTIS (the suite's RODINIA, without Altis) of 1 to 16; all tasks "+
			"are there from the beginning, and the online agent sees the next 14",
		"the online agent's unit of time is the longest task of the whole queue, here of the whole data set, and of "+
			"56 tasks while it learned; the offline agent's is that of the batch",
		"POORSCALING: "+d.Under("")[claim.Cell{Row: poorScaling, Column: far.name}].Detail)
	d.Layout(head, namesOf(workloads()), columnsOf(inQueue), d.Readings[0])
}

// publishedLatency is the 99th percentile of the paper's decisions, in microseconds (6.6).
const publishedLatency = 3090

// latency compares the time of a decision with the paper's (6.6). Wall times differ from run to run and are not claims;
// whether the paper's agent is slower than in print is a conclusion.
func latency(d *figures.Data) {
	const measuredOn = 200
	data := figures.Dataset("drl/" + wideTimes)
	t := d.Table("timing-latency", "Time of a decision, one core",
		reports.Left("agent").Right("mean [us]", "median of batches [us]", "99th percentile of batches [us]"),
		"published (6.6): 3.04 ms on average, 99th percentile 3.09 ms, MLP 256x256 on an Intel Xeon Silver 4314",
		"measured: whole batches of 14 tasks divided by their decisions, setting up included, while as many cells "+
			"ran at once as there are workers",
		"the paper's agents decide for eight batches at once, each with an equal share of the time; ours decides for "+
			"one")
	slow := figures.Measurement{Unit: "batches"} // of no batches, so that there is no verdict
	for _, a := range []string{"rl-onehot", "rl-float", "rl-entropy", "rl-direct", "agent"} {
		us := d.Micros(batch(data, a), measuredOn)
		counts := d.Values(batch(data, a), measuredOn, "decisions")
		cells := []string{"", "", ""}
		if len(us) == len(counts) { // timings are not results: a power cut may have lost them
			each := figures.Ratios(us, counts)
			most, err := stats.Quantile(each, 0.99)
			d.Fail(err)
			cells = reports.Cells(1, figures.Mean(each), d.Summarize(each).Median, most)
			if a == direct.algorithm {
				slow = figures.Exactly(0)
				if most > publishedLatency {
					slow = figures.Exactly(1)
				}
			}
		}
		t.Row(a, cells)
	}
	d.Under("")[claim.Of("DIRECT RECONFIG slower than 3.09 ms, 99th percentile")] = slow
}
