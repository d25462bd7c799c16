package hierarchical

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// printedName returns a program's name as Table IV prints it: with a star if no agent was trained on it.
func printedName(p task.Program) string {
	if p.Unseen {
		return p.Name + "*"
	}
	return p.Name
}

// table4 lists the programs of the co-run model beside the paper's classes.
func table4(d *figures.Data) {
	kernels := map[string]datasets.KernelFit{}
	for _, f := range datasets.KernelFits() {
		kernels[f.Program] = f
	}
	t := d.Table("table4",
		"Table IV. Programs of the co-run model: classes of the paper, parameters of the model",
		reports.Left("class", "program", "parameters").Right("solo [s]", "serial s", "compute w_c",
			"parallelism p", "memory w_m", "1 GPC / GPU").Left("class by the rule"),
		"* not trained on; s, w_c and w_m are shares of the solo time, simulated on the whole GPU",
		"drawn: from the class, under a fixed seed; fitted: solo time, s and p on public times of A100 instances, "+
			"the division of the work between w_c and w_m from the class, as times by instance size cannot tell",
		"1 GPC / GPU: time on one of eight GPCs with the memory that MIG gives it, over that of the whole GPU; the "+
			"paper's rule makes less than 1.1 US (V-A2)",
		"class by the rule: the class of the model's program by the paper's rule, if it is not the paper's class")
	inputs := map[claim.Cell]float64{} // counts
	for _, p := range datasets.Programs() {
		from := "drawn"
		if p.Fitted {
			from = "fitted on " + kernels[p.Name].Kernel
		}
		rule := ""
		if r := p.ByRule(); r != p.Class {
			rule = string(r)
		}
		t.Row(p.Class, printedName(p), from, fmt.Sprintf("%.3g", float64(p.Solo)),
			reports.Cells(3, p.Serial, p.Compute, p.Parallelism, p.Memory),
			reports.Fixed(p.Relative(0.125, 0.125), 2), rule)
		inputs[claim.Of(string(p.Class)+" programs")]++
		if p.Unseen {
			inputs[claim.Of("unseen programs")]++
		}
	}
	d.TakeInputs("programs, classes and marks are the paper's", inputs)
}

// table5 lists the jobs of the paper's queues.
func table5(d *figures.Data) {
	t := d.Table("table5", "Table V. Queues of the paper",
		reports.Left("queue").Right("CI", "MI", "US", "unseen").Left("jobs"),
		"* not trained on")
	jobs := make([][]task.Program, len(queueNames))
	for i, name := range queueNames {
		jobs[i] = figures.Instance[corun.Window](queues, gpu, i).Jobs
		var classes []string
		for _, c := range task.Classes() {
			classes = append(classes, strconv.Itoa(countClass(jobs[i], c)))
		}
		t.Row(name, classes, figures.Count(jobs[i], isUnseen), strings.Join(figures.Map(jobs[i], printedName), ", "))
	}
	dominated, balanced := jobs[0], jobs[len(jobs)-1]
	d.TakeInputs("the queues are the paper's", map[claim.Cell]float64{
		{Quantity: "queues"}:                                 float64(len(queueNames)),
		{Quantity: "jobs of a queue"}:                        float64(len(dominated)),
		{Quantity: "jobs of the dominant class"}:             float64(countClass(dominated, task.ComputeIntensive)),
		{Quantity: "jobs of each class in a balanced queue"}: float64(countClass(balanced, task.ComputeIntensive)),
	})
}

// countClass returns the number of jobs of a class.
func countClass(jobs []task.Program, class task.Class) int {
	return figures.Count(jobs, func(p task.Program) bool { return p.Class == class })
}

func isUnseen(p task.Program) bool { return p.Unseen }

// variants returns the number of a family's setups for 2 to [concurrency] jobs.
func variants(f corun.Family) (n int) {
	for jobs := 2; jobs <= concurrency; jobs++ {
		n += len(corun.Setups(f, jobs))
	}
	return n
}

// table7 counts the partitions that Table VII lists in full. Its other rows have dots, whose meaning the paper does not
// say; [partitionCounts] counts them under two readings.
func table7(d *figures.Data) {
	byMIG := func(s corun.Setup) bool { return s.GIs[0].CIs[0].MIG }
	values := d.Under("")
	values[claim.Of("MPS Only, C = 2")] = figures.Exactly(len(corun.Setups(corun.MPSOnly, 2)))
	values[claim.Of("MPS+MIG, C = 2")] = figures.Exactly(len(corun.Setups(corun.Hierarchical, 2)))
	values[claim.Of("MPS+MIG, C = 3, with compute instances")] = figures.Exactly(
		figures.Count(corun.Setups(corun.Hierarchical, 3), byMIG))
	partitionCounts(d)
}

// families are the rows of Table VII and the agent's actions.
var families = []struct {
	name string
	corun.Family
}{
	{"MPS Only", corun.MPSOnly},
	{"MPS+MIG, the same percentages in both compute instances", corun.Lockstep},
	{"MPS+MIG, any percentages", corun.Hierarchical},
	{"agent (our choice)", corun.Agent},
}

// partitionCounts lists the number of partitions of each family by concurrency.
func partitionCounts(d *figures.Data) {
	t := d.Table("table7", "Table VII. Number of partitions by concurrency C",
		reports.Left("partitions").Right("C = 2", "C = 3", "C = 4", "together"),
		fmt.Sprintf("MPS+MIG as printed: percentages in tenths that add up to 1, and thirds and quarters; read "+
			"literally the dots give %d partitions if two compute instances have the same percentages, and %d if they "+
			"have any", variants(corun.Lockstep), variants(corun.Hierarchical)),
		"the paper's agent has 29 actions (Table VI), which no reading of the table gives: which they are is our "+
			"choice")
	for _, f := range families {
		var row []string
		for jobs := 2; jobs <= concurrency; jobs++ {
			row = append(row, strconv.Itoa(len(corun.Setups(f.Family, jobs))))
		}
		t.Row(f.name, row, variants(f.Family))
	}
}

// text states the settings that the paper's text gives.
func text(d *figures.Data) {
	d.Under("")[claim.Of("partitions of A100")] = figures.Exactly(len(mig.MustLookup(gpu).Partitions()))
	training := datasets.MustParse("corun/training").Instances()
	seen := len(datasets.Programs()) - figures.Count(datasets.Programs(), isUnseen)
	d.TakeInputs("setting of the datasets and of the agent. The agent learns from newly drawn programs, because the "+
		"paper's 18 are not public", map[claim.Cell]float64{
		{Quantity: "agent actions"}:                                   float64(variants(corun.Agent)),
		{Quantity: "window size W"}:                                   windowSize,
		{Quantity: "concurrency Cmax"}:                                concurrency,
		{Quantity: "programs of the training"}:                        float64(seen),
		{Quantity: "queues of the training"}:                          float64(training),
		{Quantity: "loss on 1 GPC below which a program is US"}:       100 * task.UnscalableLoss,
		{Quantity: "compute over memory above which a program is CI"}: task.ComputeOverMemory,
	})
}

// decisions returns how long a method took for each queue, in microseconds, and as a share of the simulated
// makespan. It returns nil if some are missing: a power cut may have lost timings.
func decisions(d *figures.Data, m method) (micros, shares []float64) {
	makespans := m.runs()[0].onQueues(d, queues, track.MetricMakespan)
	micros = d.Micros(m.runs()[0].on(queues), len(queueNames))
	if len(micros) < len(queueNames) {
		return nil, nil
	}
	return micros, figures.Map(figures.Ratios(micros, makespans), func(v float64) float64 { return v / 1e6 })
}

// publishedOverhead is the most that the paper's decisions take of the makespan, on average (V-B).
const publishedOverhead = 0.005

// timed are the methods whose decisions are timed.
var timed = slices.Concat(paperMethods, partitions, []method{agent, ownAgent, greedy, local, exact})

// timing lists the decision times of all methods on Q1 to Q12. Wall times are not results, but one conclusion compares
// the agent's with [publishedOverhead].
func timing(d *figures.Data) {
	t := d.Table("timing-hierarchical", "Decision times for the queues of 12 jobs, one core",
		reports.Left("method").Right("mean [ms]", "longest [ms]", "share of the simulated makespan [%]"),
		"this machine, while as many cells ran at once as there are workers; the makespan is simulated")
	for _, m := range timed {
		row := []string{"", "", ""}
		micros, shares := decisions(d, m)
		if micros != nil {
			s := d.Summarize(micros)
			row = figures.Map([]float64{s.Mean / 1000, s.Max / 1000, 100 * figures.Mean(shares)},
				func(v float64) string { return fmt.Sprintf("%.3g", v) })
		}
		t.Row(m.title, row)
	}
	_, shares := decisions(d, agent)
	slow := figures.Measurement{Unit: "queues"} // without replicates, so that it decides nothing
	switch {
	case shares == nil:
	case figures.Mean(shares) >= publishedOverhead:
		slow = figures.Exactly(1)
	default:
		slow = figures.Exactly(0)
	}
	d.Under("")[claim.Of("1 if the agent's decisions take 0.5 % of the makespan or more on average, else 0")] = slow
}
