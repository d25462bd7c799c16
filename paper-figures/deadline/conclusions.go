package deadline

import (
	"cmp"
	"fmt"
	"strconv"

	"miglab/harness/portable"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// A formulation is a reading of [slackAndSettings]: agents with the same settings, one for each of [tightness], the
// days that they are evaluated on, and the rules that they are compared with.
type formulation struct {
	reading string
	agents  [2]*scheduler
	days    [2]sample
	rules   []*scheduler
}

var (
	enhancedAgents = [2]*scheduler{agent, tightAgent}
	originalAgents = [2]*scheduler{originalRelaxed, originalAgent}

	theirTwo = [2]sample{reported.relaxed, reported.tight}
	// ourTwo are as many of our days as all agents have.
	ourTwo = [2]sample{relaxed.first(sweep), tight.first(sweep)}

	formulations = []formulation{
		{"", enhancedAgents, theirTwo, methods},
		{"100 of our days", enhancedAgents, ourTwo, methods},
		{allRules, enhancedAgents, theirTwo, schedulers},
		{"trained on relaxed deadlines", [2]*scheduler{agent, agent}, theirTwo, methods},
		{"training by the text", [2]*scheduler{textAgent, textAgent}, theirTwo, methods},
		{"whole days in float32", [2]*scheduler{wholeAgent, wholeAgent}, theirTwo, methods},
		{"original settings", originalAgents, theirTwo, methods},
		{"original settings, 100 of our days", originalAgents, ourTwo, methods},
	}
)

// allRules names the readings that compare with all [schedulers] in place of the report's four [methods].
const allRules = "all rules of this suite"

// twoLeads is the value that T4 tests. It is above 0 only if agents win under relaxed deadlines and lose under tight
// ones.
var twoLeads = claim.Of("late jobs, the smaller of two leads: of the agent if deadlines are relaxed, " +
	"and of the best rule if they are tight")

// slackAndSettings separates the two changes of Table 9: the slack of deadlines, and the settings of the agent.
func slackAndSettings(d *figures.Data) {
	t := d.Table("formulation",
		"Late jobs by settings of the agent and slack of deadlines, beside the best rule",
		reports.Left("reading", "deadlines", "agent").PlusMinus("late [%]").Left("best rule").
			Right("its late [%]").PlusMinus("less it"),
		"that agents win if deadlines are relaxed and lose if they are tight needs both, so that the conclusion "+
			"rests on the lesser of what they win and what they lose, in percent of the best rule's late jobs",
		"± is half the 95 % interval, over training runs, and on our days over days too",
		runsNote(agent, tightAgent, originalRelaxed, originalAgent, textAgent, wholeAgent))
	for _, f := range formulations {
		for i, k := range tightness {
			f.days[i].against(d, t, []string{cmp.Or(f.reading, figures.DefaultReading), k.name}, f.agents[i], f.rules)
		}
		d.Under(f.reading)[twoLeads] = lesserOf(
			f.days[0].gain(d, f.agents[0], f.rules), f.days[1].loss(d, f.agents[1], f.rules))
	}
}

// lesserOf returns the lesser of two values, for a sentence that needs both above a threshold. Each end of its interval
// is the lesser of theirs, so that it does not depend on which value is less by chance.
func lesserOf(a, b figures.Measurement) figures.Measurement {
	if b.Value < a.Value {
		a, b = b, a
	}
	a.Low, a.High = min(a.Low, b.Low), min(a.High, b.High)
	return a
}

// against adds a row with the late jobs of an agent and of the best of some rules. It returns the agent's less the
// rule's.
func (x sample) against(
	d *figures.Data, t *figures.Table, cells []string, s *scheduler, rules []*scheduler,
) figures.Measurement {
	best, base := x.extreme(d, late, rules, lowest)
	less := x.less(d, s, base)
	t.Row(cells, s.title, figures.PlusMinus(x.level(d, s, late), late.decimals), best.title,
		reports.Fixed(figures.Mean(base), late.decimals), figures.PlusMinus(less, late.decimals))
	return less
}

// less measures an agent's late jobs less a rule's.
func (x sample) less(d *figures.Data, s *scheduler, base []float64) figures.Measurement {
	return x.training(d, evaluation, figures.Map(late.runs(d, s, x), func(run []float64) []float64 {
		return figures.Differences(run, base)
	}))
}

// rates are arrival rates relative to the report's, each over rateDays of our days.
var rates = []float64{0.5, 0.75, 1, 1.25, 1.5, 2}

const rateDays = 50

// load compares agents, trained at the report's arrival rates, with rules at other rates.
func load(d *figures.Data) {
	t := d.Table("load",
		fmt.Sprintf("Late jobs by arrival rate, over %d of our days", d.Scale.Replicates(rateDays)),
		reports.Left("reading").Right("rate").Left("agent").PlusMinus("late [%]").Left("best rule").
			Right("its late [%]").PlusMinus("less it"),
		"the rate is relative to the report's; all agents were trained at 1, and the best rule is that of the same "+
			"days",
		"± is half the 95 % interval over training runs and days; differences are paired by day",
		runsNote(agent, tightAgent, textAgent))
	for _, r := range []struct {
		reading, dataset string
		agent            *scheduler
		rules            []*scheduler
	}{
		{"", "deadline/relaxed", agent, methods},
		{allRules, "deadline/relaxed", agent, schedulers},
		{"training by the text", "deadline/relaxed", textAgent, methods},
		{"tight deadlines", "deadline/tight", tightAgent, methods},
	} {
		for _, rate := range rates {
			name := strconv.FormatFloat(rate, 'f', -1, 64)
			x := sample{figures.Dataset(r.dataset + "?rate=" + name), rateDays, true}
			d.Under(r.reading)[claim.At("rate "+name, "late, RL-PPO less the best rule")] = x.against(d, t,
				[]string{cmp.Or(r.reading, figures.DefaultReading), name}, r.agent, r.rules)
		}
	}
}

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
	value, half := m.Minus(other)
	m.Value, m.Low, m.High, m.Runs = value, value-half, value+half, nil
	m.StdErr, m.PrintSE = portable.Hypot(m.StdErr, other.StdErr), portable.Hypot(m.PrintSE, other.PrintSE)
	m.Replicates = min(m.Replicates, other.Replicates)
	return m
}
