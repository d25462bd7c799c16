// Package hierarchical reproduces the hierarchical paper: "Hierarchical Resource
// Partitioning on Modern GPUs: A Reinforcement Learning Approach".
//
// The paper measured its numbers on an A100 and did not publish the profiles of its jobs. All
// numbers of this package are therefore simulated, by the model of package harness/sim/corun,
// and say so. None is a measurement. Of the 27 programs of Table IV, eight are fitted on times
// that others published, and the rest are drawn from their class under a fixed seed.
//
// claims.csv has the numbers of the text; those of the figures are not printed. Absolute
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

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/portable"
	"miglab/harness/store"
	"miglab/harness/task"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/reports"
)

//go:embed *.csv
var files embed.FS

// Paper returns the paper with its artefacts.
func Paper() (figures.Paper, error) {
	return figures.Load("hierarchical", files, figures.Builds{
		"table4": table4, "table5": table5, "table7": table7, "text": text,
		"figure2": figure2, "figure3": figure3, "figure4": figure4, "figure5": figure5, "figure8": figure8.build,
		"figure9": figure9, "figure10": figure10.build, "figure11": figure11.build, "figure12": figure12.build,
		// The makespan hangs on unpublished jobs, and wall times are no results.
		"overhead": func(*figures.Data) (*figures.Output, error) { return new(figures.Output), nil },
		"unseen":   unseen, "mps": mps,
		"ceiling": ceilings, "optimum": optimum, "sensitivity": sensitivity, "fit": fit, "timing": timing,
		"corun": func(d *figures.Data) (*figures.Output, error) {
			return corunError(d.Claims, datasets.Hardware()), nil
		},
	})
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
	ordered  = method{title: "ceiling with all setups of Table VII", algorithm: "d3qn-ceiling?setups=hierarchical"}
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

// defaultTitle is MIG+MPS without percentages, on the MIG partition of the highest mean throughput over the queues.
const defaultTitle = "MIG+MPS Default"

// partitions are MIG+MPS Default with each of its partitions.
var partitions = []method{
	{title: defaultTitle + ", 3-4 private", algorithm: "mig-mps-default"},
	{title: defaultTitle + ", 3-4 shared", algorithm: "mig-mps-default?partition=3-4-shared"},
	{title: defaultTitle + ", 7", algorithm: "mig-mps-default?partition=7"},
	{title: defaultTitle + ", 2-2-3 private", algorithm: "mig-mps-default?partition=2-2-3-private"},
}

func (m method) on(dataset string) store.Series {
	return figures.Series(algo.TrackCorun, dataset, gpu, algo.MustParse(m.algorithm).ID, mig.Sequential)
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
		portable.AddScaled(out, 1/float64(len(runs)), d.Values(r.on(dataset), n, metric))
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

// overTimeSharing is the axis of a throughput.
var overTimeSharing = reports.Axis{Label: "Throughput / time sharing"}

// simulated is the note below every table of results.
func simulated(d *figures.Data) string {
	m, all := shippedModel(), datasets.Programs()
	fitted := figures.Count(all, func(p task.Program) bool { return p.Fitted })
	return d.Claims.Words("simulated", m.Kappa, m.Delta, fitted, len(all), len(all)-fitted)
}
