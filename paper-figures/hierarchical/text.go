package hierarchical

import (
	"fmt"
	"slices"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
	"miglab/harness/track"
	figures "miglab/paper-figures"
)

// text lists the numbers of the text about the setting.
func text(*figures.Data) (*figures.Output, error) {
	partitions := figures.Exactly(float64(len(mig.MustLookup(gpu).Partitions())))
	seen := len(datasets.Programs()) - figures.Count(datasets.Programs(), isUnseen)
	o := figures.Read(figures.Reading{Values: figures.Values{"partitions of A100": partitions}})
	return o.Take("setting of the datasets and of the agent, which learns from programs drawn anew in place of the 18", map[string]float64{
		"agent actions": float64(variants(corun.Agent)), "window size W": windowSize, "concurrency Cmax": concurrency,
		"programs of the training": float64(seen), "queues of the training": float64(datasets.MustParse("corun/training").Instances()),
		"loss on 1 GPC below which a program is US":       100 * task.UnscalableLoss,
		"compute over memory above which a program is CI": task.ComputeOverMemory,
	}), nil
}

// overhead has no value: the makespan hangs on unpublished jobs, and wall times are no results.
func overhead(*figures.Data) (*figures.Output, error) {
	return new(figures.Output), nil
}

// decisions returns how long a method took for each queue, in microseconds, and as a share of
// the simulated makespan. Timings are not results: a power cut may have lost some. Then it
// returns none.
func decisions(d *figures.Data, m method) (micros, shares []float64) {
	makespans := m.runs()[0].onQueues(d, queues, track.MetricMakespan)
	micros = d.Micros(m.runs()[0].on(queues), len(queueNames))
	if len(micros) < len(queueNames) {
		return nil, nil
	}
	return micros, figures.Map(figures.Ratios(micros, makespans), func(v float64) float64 { return v / 1e6 })
}

// timing lists the decision times of all methods on Q1 to Q12. They are kept apart, because wall
// times are not results.
func timing(d *figures.Data) (*figures.Output, error) {
	t := d.Claims.Head("timing-hierarchical")
	for _, m := range slices.Concat(paperMethods, partitions, []method{agent, ownAgent, greedy, local, exact}) {
		row := []string{m.title, "", "", ""}
		if micros, shares := decisions(d, m); micros != nil {
			s := d.Summarize(micros)
			for i, v := range []float64{s.Mean / 1000, s.Max / 1000, 100 * figures.Mean(shares)} {
				row[i+1] = fmt.Sprintf("%.3g", v)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return new(figures.Output).Table("timing-hierarchical", t), nil
}
