// Package hierarchical reproduces the hierarchical paper: "Hierarchical Resource
// Partitioning on Modern GPUs: A Reinforcement Learning Approach".
//
// The paper measured its numbers on an A100 and did not publish the profiles of its jobs. All
// numbers of this package are therefore simulated, by the model of package harness/sim/corun,
// and say so. None is a measurement. Of the 27 programs of Table IV, eight are fitted on times
// that others published, and the rest are drawn from their class under a fixed seed.
//
// claims.csv has the numbers of the text; the figures print no numbers. Absolute
// levels hang on the unpublished jobs and are shown as stand-ins. Orders of methods are judged,
// over draws of the programs ([reportedDraws]) and over training runs of the agent.
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
	"miglab/harness/sim/corun"
	"miglab/harness/store"
	"miglab/harness/task"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/reports"
)

//go:embed *.csv
var files embed.FS

// overhead measures no value: the makespan hangs on unpublished jobs, and wall times are not results.
func overhead(*figures.Data) {}

// Paper returns the paper with its artefacts.
func Paper() (figures.Paper, error) {
	return figures.Load("hierarchical", files,
		figures.Show("table4", "programs by class, with their parameters in the model", table4),
		figures.Show("table5", "the queues Q1 to Q12", table5),
		figures.Show("table7", "the partitions that are tried", table7),
		figures.Show("text", "numbers of the setting", text),
		figures.Show("figure2", "Fig. 2. Options to partition a GPU by MIG and MPS, an example of each", figure2),
		figures.Show("figure3", "Fig. 3. Relative throughput against the compute split under MPS (simulated)", figure3),
		figures.Show("figure4", "Fig. 4. Relative throughput with shared and private memory (simulated)", figure4),
		figures.Show("figure5", "Fig. 5. The options on four programs, each at its best (simulated)", figure5),
		figures.Show("figure8", "relative throughput on Q1 to Q12 (simulated)", figure8.build),
		figures.Show("figure9", "relative throughput against the window size W (simulated)", figure9),
		figures.Show("figure10", "relative throughput against the concurrency Cmax (simulated)", figure10.build),
		figures.Show("figure11", "mean slowdown on Q1 to Q12 (simulated)", figure11.build),
		figures.Show("figure12", "fairness on Q1 to Q12 (simulated)", figure12.build),
		figures.Show("unseen", "queues of programs that the paper's agent was not trained on (simulated)", unseen),
		figures.Show("overhead", "what the agent's decisions cost", overhead),
		figures.Show("ceiling", "what the agents reach of what their actions can (simulated)", ceilings),
		figures.Show("fit", "the co-run model's fit to 16 public kernels", fit),
		figures.Show("mps", "public times under MPS, and the kappa that follows from them alone", mps),
		figures.Time("timing", "decision times", timing),
	)
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
	trained          bool // says that there are several training runs; see [method.runs]
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

// paperMethods are the paper's methods without MIG+MPS Default and the agent.
var paperMethods = []method{timeSharing, migShared, migPrivate, mpsOnly}

const trainingRuns = 3

// runs returns the training runs of a trained method; any other is its own only run.
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

// rebuilt is a note of tables with the agents.
const rebuilt = "MIG+MPS w/ RL: network, number of actions, counters and exploration as in the paper. " +
	"Rebuilt from its prose: the rewards, and how a network with 29 outputs chooses jobs (it values every group of " +
	"the jobs left). Ours: which 29 setups, the order of slots, and all settings that the paper does not print, " +
	"chosen on draws 1 to 20, the number of training steps, chosen on draws 101 to 120, and the number of draws, " +
	"chosen by the spread of the lead on draws 121 to 140. The paper's 18 programs for training are not public: the " +
	"agent learns from programs drawn again from the classes and wider, so that it has seen none of these queues' " +
	"programs. MIG+MPS w/ RL, more inputs (ours) also sees what each group saves on each setup by the co-run model"

// simulated returns the note below every table of results.
func simulated() string {
	m, all := figures.Instance[corun.Window](queues, gpu, 0).Model, datasets.Programs()
	fitted := figures.Count(all, func(p task.Program) bool { return p.Fitted })
	return fmt.Sprintf("simulated, not measured, with kappa = %v and delta = %v, which were chosen with the order of "+
		"methods in the paper in view, on Q1 to Q12 and other draws than those reported; %v of the %d programs are "+
		"fitted on public times, %d are drawn from their class (table4); the readings vary all these",
		m.Kappa, m.Delta, fitted, len(all), len(all)-fitted)
}
