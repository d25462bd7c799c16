package deadline

import (
	"miglab/harness/portable"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// The agents of the report's earlier versions, each trained as its own notebook does it.
var (
	notebookAgent = newAgent("RL-PPO of the first notebook", "notebook", 3)
	improvedAgent = newAgent("RL-PPO, version Improved", "improved", 3)
	relaxedAgent  = newAgent("RL-PPO, version Relaxed", "relaxed", 3)
)

// firstNotebook is the report's days in the environment of the first notebook, which returns all running jobs to the
// queue at each event and keeps times in float64. That notebook itself evaluates on days without a seed.
var firstNotebook = reportDays("the first notebook", "&clock=float64&preemption=yes")

// improvedResults is the reading by which the version Improved is the notebook RL_GPU_Scheduling_IMPROVED_RESULTS. It
// has the relaxed deadlines, environment and training of the version Relaxed.
const improvedResults = "the notebook IMPROVED_RESULTS"

// versionStep is by how much the step from the version Relaxed to Enhanced lowers late jobs, which T6 tests.
var versionStep = claim.Of("late, Relaxed less Enhanced")

// versions lists the versions of Table 2, each with its own notebook's agent, environment and deadlines.
func versions(d *figures.Data) {
	t := d.Table("versions", "Late jobs by version of Table 2, the report's ten days",
		reports.Left("version", "deadlines", "agent").PlusMinus("late [%]").Left("best rule").
			Right("its late [%]").PlusMinus("less it"),
		"pre-emptive: all running jobs return to the queue whenever a job arrives or ends, as in the first notebook; "+
			"the others keep a job on its slice",
		runsNote(originalAgent, notebookAgent, improvedAgent, relaxedAgent, agent))
	for _, v := range []struct {
		version, days string
		agent         *scheduler
		sample
	}{
		{"Original, by the report", "tight", originalAgent, reported.tight},
		{"Original, its notebook", "tight, pre-emptive", notebookAgent, firstNotebook.tight},
		{"Improved", "tight", improvedAgent, reported.tight},
		{"Improved, " + improvedResults, "relaxed", relaxedAgent, reported.relaxed},
		{"Relaxed", "relaxed", relaxedAgent, reported.relaxed},
		{"Enhanced", "relaxed", agent, reported.relaxed},
	} {
		v.against(d, t, []string{v.version, v.days}, v.agent, methods)
	}
	for w, to := range figures.Under(d, allDays) {
		to[versionStep] = w.relaxed.step(d, relaxedAgent, agent)
	}
	for x, to := range figures.Under(d, otherTrainings) {
		to[versionStep] = reported.relaxed.step(d, relaxedAgent, x.scheduler)
	}
}

// step measures by how much one agent has more late jobs than another. Its interval is over the training runs of both.
func (x sample) step(d *figures.Data, from, to *scheduler) figures.Measurement {
	m, other := x.level(d, from, late), x.level(d, to, late)
	value, half := m.Less(other)
	m.Value, m.Low, m.High, m.Runs = value, value-half, value+half, nil
	m.StdErr, m.PrintSE = portable.Hypot(m.StdErr, other.StdErr), portable.Hypot(m.PrintSE, other.PrintSE)
	m.Replicates = min(m.Replicates, other.Replicates)
	return m
}
