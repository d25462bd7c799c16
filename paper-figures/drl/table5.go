package drl

import (
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/stats"
	"miglab/harness/store"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// online is the online agent on a whole data set, of which it sees 14 tasks at a time.
var online = approach{"online DIRECT RECONFIG", "rl-online", true}

// scriptOnline learned from 50 tasks on an idle GPU, with 0.7 s for every reconfiguration.
var scriptOnline = approach{online.name, "rl-online?recipe=script", true}

// A queued approach schedules a whole data set.
type queued struct {
	approach
	track string
}

// inQueue lists the approaches that are compared with the online agent: FAR with its concatenation, MISO, which takes
// tasks one by one, and the offline agent, which starts each batch on the GPU as the previous batch left it.
var inQueue = []queued{
	{approach{name: "FAR", algorithm: "far-concat"}, algo.TrackStream},
	{approach{name: "MISO", algorithm: "miso"}, algo.TrackBatch},
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
	if q.learned {
		onlineRuns, curves = onlineRuns[:min(len(onlineRuns), len(others))], append(curves, q.curve(w))
	} else {
		others = slices.Repeat(others, len(onlineRuns))
	}
	for i, own := range onlineRuns {
		few := r.forRun(i)
		means = append(means,
			figures.Mean(d.Above(few.queue(w, q.track, others[i]), few.queue(w, algo.TrackStream, own), few.count(w))))
	}
	return overTraining(d, means, 1, curves...)
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
	of50 := reading{parameters: classOrdered, model: mig.Parallel, datasets: 100, total: 50}
	measure(d.Under("online agent as released"), of50, scriptOnline.learnedFrom(), inQueue, scriptOnline)
	head := d.Table("table5",
		"Table 5. p_online [%], by how much others' makespans exceed the online agent's",
		reports.Left("workload"),
		"whole data sets of 100 tasks, RODINIA + ALTIS (the suite's RODINIA, without Altis) of 1 to 16; all tasks "+
			"are there from the beginning, and the online agent sees the next 14",
		"the online agent's unit of time is the longest task of the whole queue, here of the whole data set, and of "+
			"56 tasks while it learned; the offline agent's is that of the batch")
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
