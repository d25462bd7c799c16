package deadline

import (
	"cmp"

	"miglab/harness/portable"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
)

// The agents of the report's earlier versions, each trained as its own notebook does it, and agents that differ from
// the enhanced one in a single factor of 5.1.
var (
	notebookAgent = trained("RL-PPO of the first notebook", "notebook", 3)
	improvedAgent = trained("RL-PPO, version Improved", "improved", 3)
	relaxedAgent  = trained("RL-PPO, version Relaxed", "relaxed", 3)

	blindAgent  = trained("RL-PPO without sizes of slices", "enhanced-blind", 3)
	sparseAgent = trained("RL-PPO with a reward at the end alone", "enhanced-sparse", 3)
	shortAgent  = trained("RL-PPO after 200,000 steps", "enhanced-short", 3)
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
func versions(d *figures.Data) (*figures.Output, error) {
	t := d.Claims.Head("versions", runsNote(originalAgent, notebookAgent, improvedAgent, relaxedAgent, agent))
	for _, v := range []struct {
		version, days string
		agent         *scheduler
		sample
	}{
		{"Original, by the report", "tight", originalAgent, theirs.tight},
		{"Original, its notebook", "tight, pre-emptive", notebookAgent, firstNotebook.tight},
		{"Original, its notebook", "relaxed, pre-emptive", notebookAgent, firstNotebook.relaxed},
		{"Improved", "tight", improvedAgent, theirs.tight},
		{"Improved", "tight, pre-emptive", improvedAgent, firstNotebook.tight},
		{"Relaxed", "relaxed", relaxedAgent, theirs.relaxed},
		{"Enhanced", "relaxed", agent, theirs.relaxed},
	} {
		v.against(d, t, []string{v.version, v.days}, v.agent, methods)
	}
	rs := readings(func(w *days, to figures.Values) { to[versionStep] = w.relaxed.step(d, relaxedAgent, agent) })
	for _, x := range trainings {
		rs = append(rs, x.reading(func(w *days, to figures.Values) {
			to[versionStep] = w.relaxed.step(d, relaxedAgent, x.scheduler)
		}))
	}
	return figures.Read(rs...).Table(t), nil
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

// factors takes from the enhanced agent one of the factors at a time that 5.1 names.
func factors(d *figures.Data) (*figures.Output, error) {
	out := figures.Read()
	t := d.Claims.Head("factors", runsNote(agent, tightAgent, blindAgent, sparseAgent, shortAgent))
	for _, f := range []struct {
		name  string
		agent *scheduler
		at    func(w *days) sample
	}{
		{"", agent, relaxedOf},
		{"slack", tightAgent, tightOf},
		{"sizes of slices", blindAgent, relaxedOf},
		{"immediate rewards", sparseAgent, relaxedOf},
		{"500,000 steps", shortAgent, relaxedOf},
	} {
		for _, r := range []struct {
			days
			rules []*scheduler
		}{{theirs, methods}, {theirDays(allRules), schedulers}} {
			less := f.at(&r.days).against(d, t, []string{cmp.Or(r.name, figures.DefaultReading), cmp.Or(f.name, "nothing")},
				f.agent, r.rules)
			if f.name != "" {
				out.Under(r.name)[claim.At("without "+f.name, "late, RL-PPO less the best rule")] = less
			}
		}
	}
	return out.Table(t), nil
}

func relaxedOf(w *days) sample { return w.relaxed }
func tightOf(w *days) sample   { return w.tight }
