package hierarchical

import (
	"fmt"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// text lists the numbers of the text about the setting.
func text(*figures.Data) (*figures.Output, error) {
	partitions := figures.Exactly(float64(len(mig.MustLookup(gpu).Partitions())))
	seen := len(datasets.Programs()) - figures.Count(datasets.Programs(), isUnseen)
	o := figures.Read(figures.Reading{Basis: "the GPU model", Values: figures.Values{"partitions of A100": partitions}})
	return o.Take("setting of the datasets and of the agent", map[string]float64{
		"agent actions": float64(variants(corun.Agent)), "window size W": windowSize, "concurrency Cmax": concurrency,
		"programs of the training": float64(seen), "queues of the training": float64(datasets.MustParse("corun/training").Instances()),
		"loss on 1 GPC below which a program is US":       100 * task.UnscalableLoss,
		"compute over memory above which a program is CI": task.ComputeOverMemory,
	}), nil
}

// decisions returns how long a method took for each queue, in microseconds, and as a share of
// the simulated makespan. Timings are not results: a power cut may have lost some. Then it
// returns none.
func decisions(d *figures.Data, m method) (micros, shares []float64) {
	makespans := m.values(d, queues, track.MetricMakespan)
	micros = d.Micros(m.on(queues), len(queueNames))
	if len(micros) < len(queueNames) {
		return nil, nil
	}
	for i, s := range makespans {
		shares = append(shares, micros[i]/1e6/s)
	}
	return micros, shares
}

// overhead has no value: the makespan hangs on unpublished jobs, and wall times are no results.
func overhead(*figures.Data) (*figures.Output, error) {
	return &figures.Output{Missing: map[string]string{
		"decision time of the agent over the makespan": "The makespan hangs on the paper's unpublished jobs. The table timing-hierarchical has the decision times of this machine over simulated makespans.",
	}}, nil
}

// timing lists the decision times of all methods on Q1 to Q12. They are kept apart, because wall
// times are not results.
func timing(d *figures.Data) (*figures.Output, error) {
	all := append([]method{timeSharing, migShared, migPrivate, mpsOnly}, append(partitions, agent, greedy, local, exact)...)
	t := reports.Table{
		Title:   "Decision times for the queues of 12 jobs, one core",
		Columns: reports.Left("method").Right("mean [ms]", "longest [ms]", "share of the simulated makespan [%]"),
		Notes:   []string{"this machine, while as many cells ran at once as there are workers; the makespan is simulated"},
	}
	for _, m := range all {
		micros, shares := decisions(d, m)
		if micros == nil {
			t.Rows = append(t.Rows, []string{m.title, "", "", ""})
			continue
		}
		s := d.Summarize(micros)
		number := func(v float64) string { return fmt.Sprintf("%.3g", v) }
		t.Rows = append(t.Rows, []string{m.title, number(s.Mean / 1000), number(s.Max / 1000), number(100 * figures.Mean(shares))})
	}
	return new(figures.Output).Table("timing-hierarchical", t), nil
}
