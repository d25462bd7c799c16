package deadline

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"miglab/harness/task"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// inputTable lists the inputs of an artefact, with inputs of other tables that it prints again.
func inputTable(d *figures.Data, artefact, file, title string, notes ...string) {
	t := d.Table(file, title, reports.Left("parameter").Right("published").Left("unit", "source"), notes...)
	for _, c := range d.Claims.Of(artefact) {
		if c.Basis == claim.Input {
			t.Row(c.Cell, strconv.FormatFloat(c.Published, 'f', c.Decimals, 64), c.Unit, c.Source)
		}
	}
}

func table1(d *figures.Data) {
	inputs := maps.Clone(originalSettings)
	least, most := tight.slackRange()
	inputs[claim.At("Original", "least slack")], inputs[claim.At("Original", "largest slack")] = least, most
	d.TakeInputs("A setting of the agents with original settings, or of the tight deadlines.", inputs)
	inputTable(d, "table1", "table1", "Table 1. Configuration of the original notebook",
		"its agent, trained and evaluated here: table5")
}

func table4(d *figures.Data) {
	d.TakeInputs("A part of what our agents see.", observation)
	inputTable(d, "table4", "table4", "Table 4. Observation by agent",
		"original: 4 features of the job, 40 bins and the state of 20 slices, 64 numbers",
		"enhanced: 5 features, 40 bins, state and size of 20 slices, and 3 of queue, free slices and largest "+
			"free size (appendix C), 88 numbers",
		"the report prints neither the bins nor the scales")
}

// Settings of our agents, by their names in the report. This package must not import the agents; a test of the training
// compares these numbers with theirs.
var (
	// originalSettings are in Tables 1 and 5.
	originalSettings = map[claim.Cell]float64{
		{Row: "Original", Quantity: "units of hidden layer 1"}: 256,
		{Row: "Original", Quantity: "units of hidden layer 2"}: 256,
		{Row: "Original", Quantity: "batch size"}:              2048,
		{Row: "Original", Quantity: "training epochs"}:         5,
		{Row: "Original", Quantity: "timesteps"}:               200_000,
		{Row: "Original", Quantity: "learning rate"}:           3e-4,
		{Row: "Original", Quantity: "entropy coefficient"}:     0.001,
	}
	// furtherSettings are in Table 5 alone.
	furtherSettings = map[claim.Cell]float64{
		{Row: "Original", Quantity: "clip range"}:                0.2,
		{Row: "Original", Quantity: "parallel environments"}:     4,
		{Row: "Enhanced", Quantity: "units of hidden layer 1"}:   256,
		{Row: "Enhanced", Quantity: "units of hidden layer 2"}:   256,
		{Row: "Enhanced", Quantity: "units of hidden layer 3"}:   128,
		{Row: "Enhanced", Quantity: "batch size"}:                4096,
		{Row: "Enhanced", Quantity: "training epochs"}:           10,
		{Row: "Enhanced", Quantity: "timesteps"}:                 500_000,
		{Row: "Enhanced", Quantity: "clip range"}:                0.15,
		{Row: "Enhanced", Quantity: "parallel environments"}:     8,
		{Row: "Enhanced", Quantity: "first learning rate"}:       3e-4,
		{Row: "Enhanced", Quantity: "last learning rate"}:        1e-5,
		{Row: "Enhanced", Quantity: "first entropy coefficient"}: 0.02,
		{Row: "Enhanced", Quantity: "last entropy coefficient"}:  0.001,
	}
	// observation has the sizes of parts of the observation (Table 4).
	observation = map[claim.Cell]float64{
		{Row: "Original", Quantity: "features of the next job"}: 4,
		{Row: "Enhanced", Quantity: "features of the next job"}: 5,
		{Quantity: "bins of the queue"}:                         40,
	}
)

// day returns the first day of a sample.
func (x sample) day() task.Queue { return figures.Instance[task.Queue](x.dataset, gpu, 0) }

// slackRange returns the least and the largest slack of the first day's jobs, in durations on the whole GPU.
func (x sample) slackRange() (least, most float64) {
	all := figures.Map(x.day().Jobs, func(j task.Job) float64 { return float64((j.Deadline - j.Arrival) / j.On(7)) })
	return slices.Min(all), slices.Max(all)
}

// Steps per second of the report's environments on the released code, measured once: the notebook's and the report's.
const pandas, numpy = 29.0, 2500.0

// table3 compares the speed of this simulator with the speeds of the report's environments. How many times NumPy is as
// fast as Pandas is a claim. Speeds of this simulator are not, because wall times differ from run to run.
func table3(d *figures.Data) {
	t := d.Table("timing-deadline", "Table 3. Steps a second; a step is the dispatch of a job",
		reports.Left("environment").Right("steps/s", "over Pandas").Left("source"),
		"this simulator: one core, while as many cells ran at once as there are workers; generating the jobs is not "+
			"included",
		"the environments of the report also build an agent's observations, which a heuristic does without; RL-PPO "+
			"builds them, and evaluates its network")
	add := func(name string, perSecond float64, source string) {
		t.Row(name, fmt.Sprintf("%.3g", perSecond), fmt.Sprintf("%.3g", perSecond/pandas), source)
	}
	add("original, Pandas", pandas, "measured on the released code")
	add("improved, NumPy", numpy, "measured on the released code")
	for _, s := range append([]*scheduler{agent}, schedulers...) {
		name := "this simulator, " + s.title
		us, steps := d.Micros(s.on(relaxed.dataset, 0), ourDays), figures.Mean(jobs.of(d, s, relaxed))
		if len(us) == 0 { // timings are not results: a power cut may have lost them
			t.Row(name, "", "", "not timed")
			continue
		}
		add(name, steps/figures.Mean(us)*1e6, fmt.Sprintf("%d days", len(us)))
	}
	speedup := d.MeanOf([]float64{numpy / pandas}, verdict.Measurements, 0)
	speedup.Detail = "The two environments were timed once, on another machine than the report's; this suite runs " +
		"no Python."
	d.Under("")[claim.Of("NumPy over Pandas")] = speedup
}
