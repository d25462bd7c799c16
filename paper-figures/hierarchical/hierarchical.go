// Package hierarchical reproduces the hierarchical paper: "Hierarchical Resource
// Partitioning on Modern GPUs: A Reinforcement Learning Approach".
//
// The paper measured its numbers on an A100 and did not publish the profiles of its jobs. All
// numbers of this package are therefore simulated, by the model of package harness/sim/corun,
// and say so. None is a measurement. Of the 27 programs of Table IV, eight are fitted on times
// that others published, and the rest are drawn from their class under a fixed seed.
//
// published.csv has the numbers of the text; those of the figures are not printed. Absolute
// levels hang on the unpublished jobs and are shown as stand-ins. Orders of methods are judged,
// over draws of the programs ([reported]) and over training runs of the agent.
//
// The text does not name the programs of Figs. 3 to 5, so these are our choice.
package hierarchical

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/store"
	"miglab/harness/task"
	"miglab/harness/track"
	figures "miglab/paper-figures"
)

//go:embed *.csv
var files embed.FS

// Paper returns the paper with its artefacts.
func Paper() (figures.Paper, error) {
	p, err := figures.Load("hierarchical", files)
	p.Title = "Hierarchical paper: Hierarchical Resource Partitioning on Modern GPUs: A Reinforcement Learning Approach"
	p.Cite = "arXiv 2405.08754. Simulated by a model, not measured: the paper's jobs were not published."
	p.Artefacts = []figures.Artefact{
		{Name: "table4", Title: "programs by class, with their parameters in the model", Build: table4},
		{Name: "table5", Title: "the queues Q1 to Q12", Build: table5},
		{Name: "table7", Title: "the partitions that are tried", Build: table7},
		{Name: "text", Title: "numbers of the setting", Build: text},
		figure2(),
		{
			Name: "figure3", Title: "Fig. 3. Relative throughput against the compute split under MPS (simulated)",
			Build: figure3,
		},
		{Name: "figure4", Title: "Fig. 4. Relative throughput with shared and private memory (simulated)", Build: figure4},
		{Name: "figure5", Title: "Fig. 5. The options on four programs, each at its best (simulated)", Build: figure5},
		{Name: "figure8", Title: "relative throughput on Q1 to Q12 (simulated)", Build: figure8.build},
		{Name: "figure9", Title: "relative throughput against the window size W (simulated)", Build: figure9},
		{Name: "figure10", Title: "relative throughput against the concurrency Cmax (simulated)", Build: figure10},
		{Name: "figure11", Title: "mean slowdown on Q1 to Q12 (simulated)", Build: figure11.build},
		{Name: "figure12", Title: "fairness on Q1 to Q12 (simulated)", Build: figure12.build},
		// The makespan hangs on unpublished jobs, and wall times are no results.
		{Name: "overhead", Title: "what the agent's decisions cost", Build: func(*figures.Data) (*figures.Output, error) {
			return new(figures.Output), nil
		}},
		{Name: "ceiling", Title: "what the agents reach of what their actions can (simulated)", Build: ceilings},
		{Name: "optimum", Title: "gaps to the exact optimum (simulated)", Build: optimum},
		{Name: "sensitivity", Title: "how results move with the model (simulated)", Build: sensitivity},
		{Name: "fit", Title: "the co-run model's fit to 16 public kernels", Build: fit},
		{Name: "corun", Title: "the model's error on measured co-runs", Build: corunErrors},
		{Name: "timing", Title: "decision times", Build: timing, Timed: true},
	}
	return p, err
}

const (
	gpu = "A100"
	// windowSize is the paper's W, concurrency its Cmax.
	windowSize, concurrency = 12, 4
	// queues is the dataset of Table V, with an instance for each queue.
	queues = "corun/queues"
)

var queueNames = func() (out []string) {
	for i := range datasets.MustParse(queues).Instances() {
		out = append(out, "Q"+strconv.Itoa(i+1))
	}
	return out
}()

// A method is an algorithm of the co-run track with its name in tables and figures.
type method struct {
	title, algorithm string
	// trained says that there are several training runs; see [method.runs].
	trained bool
}

// agentTitle is the paper's name of its agent.
const agentTitle = "MIG+MPS w/ RL"

// The methods of V-A4 and ours.
var (
	timeSharing = method{title: "Time Sharing", algorithm: "time-sharing"}
	migShared   = method{title: "MIG Only, shared", algorithm: "mig-only"}
	migPrivate  = method{title: "MIG Only, private", algorithm: "mig-only?memory=private"}
	mpsOnly     = method{title: "MPS Only", algorithm: "mps-only"}
	agent       = method{agentTitle, "d3qn", true}

	ownAgent = method{agentTitle + ", more inputs (ours)", "d3qn-own", true} // it goes beyond the paper
	ceiling  = method{title: "ceiling of " + agentTitle, algorithm: "d3qn-ceiling"}
	greedy   = method{title: "greedy (ours)", algorithm: "greedy"}
	local    = method{title: "local (ours)", algorithm: "local"}
	exact    = method{title: "exact optimum", algorithm: "exact"}
)

// paperMethods are those of the paper without MIG+MPS Default and the agent.
var paperMethods = []method{timeSharing, migShared, migPrivate, mpsOnly}

const trainingRuns = 3

// runs are the training runs of a trained method; any other is its own only run.
func (m method) runs() []method {
	if !m.trained {
		return []method{m}
	}
	out := make([]method, trainingRuns)
	for i := range out {
		out[i] = method{title: m.title, algorithm: fmt.Sprintf("%s?seed=%d", m.algorithm, i+1)}
	}
	return out
}

// defaultTitle is the paper's name of MIG+MPS without percentages. Its MIG partition is the
// one with the highest mean throughput over the queues.
const defaultTitle = "MIG+MPS Default"

// partitions are MIG+MPS Default with each of its partitions.
var partitions = []method{
	{title: defaultTitle + ", 3-4 private", algorithm: "mig-mps-default"},
	{title: defaultTitle + ", 3-4 shared", algorithm: "mig-mps-default?partition=3-4-shared"},
	{title: defaultTitle + ", 7", algorithm: "mig-mps-default?partition=7"},
	{title: defaultTitle + ", 2-2-3 private", algorithm: "mig-mps-default?partition=2-2-3-private"},
}

func (m method) on(dataset string) store.Series {
	return store.Series{
		Track: algo.TrackCorun, Dataset: dataset, GPU: gpu, Count: 1,
		Algorithm: algo.MustParse(m.algorithm).ID, Model: mig.Sequential.String(),
	}
}

// queuesWith is Q1 to Q12 with other parameters of the dataset.
func queuesWith(format string, args ...any) string {
	return figures.Dataset(queues + "?" + fmt.Sprintf(format, args...))
}

// values returns a metric of the method on n windows of a dataset, the mean over its training runs.
func (m method) values(d *figures.Data, dataset string, n int, metric string) []float64 {
	runs := m.runs()
	out := make([]float64, d.Scale.Replicates(n))
	for _, r := range runs {
		floats.AddScaled(out, 1/float64(len(runs)), d.Values(r.on(dataset), n, metric))
	}
	return out
}

// onQueues returns a metric of the method on Q1 to Q12 of a dataset.
func (m method) onQueues(d *figures.Data, dataset, metric string) []float64 {
	return m.values(d, dataset, len(queueNames), metric)
}

// throughput returns the method's mean throughput on Q1 to Q12 of a dataset.
func (m method) throughput(d *figures.Data, dataset string) float64 {
	return figures.Mean(m.onQueues(d, dataset, track.MetricThroughput))
}

// bestDefault returns MIG+MPS Default with the partition of the highest mean throughput.
func bestDefault(d *figures.Data, dataset string) method {
	return slices.MaxFunc(partitions, func(a, b method) int {
		return cmp.Compare(a.throughput(d, dataset), b.throughput(d, dataset))
	})
}

// simulated is the note below every table of results.
func simulated() string {
	m, all := shippedModel(), datasets.Programs()
	fitted := figures.Count(all, func(p task.Program) bool { return p.Fitted })
	return fmt.Sprintf("simulated, not measured, with kappa = %g and delta = %g, which were chosen with the order of "+
		"methods in the paper in view, on Q1 to Q12 and other draws than those reported; %d of the %d programs are fitted "+
		"on public times, %d are drawn from their class (table4); sensitivity shows how results move with all these",
		m.Kappa, m.Delta, fitted, len(all), len(all)-fitted)
}
