package hierarchical

import (
	"fmt"
	"slices"
	"strconv"

	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// ranked are the methods that are compared with the exact optimum.
var ranked = append(slices.Concat([]method{timeSharing}, compared, partitions), greedy, agent, local)

// gaps returns, for n windows, by how many percent a method's makespans exceed those of the exact optimum.
func gaps(d *figures.Data, m method, dataset string, n int) []float64 {
	return d.Above(m.on(dataset), exact.on(dataset), n)
}

// optimum compares all methods with the exact optimum. The paper has no optimum.
func optimum(d *figures.Data) (*figures.Output, error) {
	return new(figures.Output).Table("optimum", gapSummary(d)).Table("optimum-queues", gapsByQueue(d)), nil
}

// gapsByQueue lists the gaps of all methods on Q1 to Q12.
func gapsByQueue(d *figures.Data) reports.Table {
	t := reports.Table{
		Title:   "Gaps to the exact optimum on Q1 to Q12 in percent of its makespan, simulated",
		Columns: reports.Left("queue").Right("unseen jobs", exact.title+" [s]"),
		Notes:   []string{exact.title + ": the best groups on every partition of Table VII and of " + defaultTitle + ", by dynamic programming", simulated()},
	}
	spans := exact.values(d, queues, track.MetricMakespan)
	for i, name := range queueNames {
		t.Rows = append(t.Rows, []string{name, strconv.Itoa(figures.Count(jobsOf(queues, i), isUnseen)), reports.Fixed(spans[i], 2)})
	}
	t.Rows = append(t.Rows, []string{"mean", "", reports.Fixed(figures.Mean(spans), 2)}, []string{"largest", "", ""})
	for _, m := range ranked {
		own := gaps(d, m, queues, len(queueNames))
		t.Columns = t.Columns.Right(m.title)
		for i, g := range append(slices.Clone(own), figures.Mean(own), slices.Max(own)) {
			t.Rows[i] = append(t.Rows[i], reports.Fixed(g, 2))
		}
	}
	return t
}

// gapSummary lists the mean and largest gaps, and how often a method beats those of the paper.
func gapSummary(d *figures.Data) reports.Table {
	t := reports.Table{
		Title:   "Gaps to the exact optimum in percent, and queues won, simulated",
		Columns: reports.Left("method").Right("Q1-Q12, mean", "largest", "generated queues, mean", "generated queues, largest"),
		Notes: []string{
			fmt.Sprintf("generated: %d queues of 12 jobs of each of the four categories", few(d.Scale, generated)),
			"beats: on how many of Q1 to Q12 the method's makespan is the shorter one", simulated(),
		},
	}
	rivals := append(slices.Clone(compared), bestDefault(d, queues))
	for _, r := range rivals {
		t.Columns = t.Columns.Right("beats " + r.title)
	}
	for _, m := range append(ranked, exact) {
		own := gaps(d, m, queues, len(queueNames))
		var all []float64
		for _, data := range ofCategories(windowSize, "") {
			all = append(all, gaps(d, m, data, few(d.Scale, generated))...)
		}
		row := []string{m.title, reports.Fixed(figures.Mean(own), 2), reports.Fixed(slices.Max(own), 2), reports.Fixed(figures.Mean(all), 2), reports.Fixed(slices.Max(all), 2)}
		for _, r := range rivals {
			theirs := gaps(d, r, queues, len(queueNames))
			won := 0
			for i := range own {
				if own[i] < theirs[i]-1e-9 { // equal plans may differ by rounding
					won++
				}
			}
			row = append(row, strconv.Itoa(won))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// apart are queues of programs that the agent was trained on, and of programs that it never saw.
// They have two jobs of each class, which has three unseen programs.
var apart = []struct{ name, dataset string }{
	{"seen", figures.Dataset("corun/seen?w=6")}, {"unseen", figures.Dataset("corun/unseen?w=6")},
}

// apartQueues is the number of queues of each kind.
const apartQueues = 50

// unseen shows seen and unseen programs separately. Q1 to Q12 mix them.
func unseen(d *figures.Data) (*figures.Output, error) {
	methods := []method{migShared, mpsOnly, agent, local, exact}
	t := reports.Table{
		Title:   "Queues of seen and of unseen programs, simulated",
		Columns: reports.Left("programs", "method").PlusMinus("throughput", "mean slowdown", "gap to the optimum [%]"),
		Notes: []string{
			fmt.Sprintf("means over %d queues of two CI, two MI and two US programs; ± is half the 95 %% interval", d.Scale.Replicates(apartQueues)),
			"only the agent is trained: what the others do differently is due to the programs", simulated(),
		},
	}
	for a, m := range figures.Each(apart, methods) {
		row := []string{a.name, m.title}
		for i, values := range [][]float64{
			d.Values(m.on(a.dataset), apartQueues, track.MetricThroughput), d.Values(m.on(a.dataset), apartQueues, track.MetricSlowdownMean),
			gaps(d, m, a.dataset, apartQueues),
		} {
			row = append(row, figures.PlusMinus(d.MeanOf(values, verdict.Draws, 0), []int{3, 3, 2}[i])...)
		}
		t.Rows = append(t.Rows, row)
	}
	return new(figures.Output).Table("unseen", t), nil
}
