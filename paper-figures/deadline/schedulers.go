package deadline

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/run"
	figures "miglab/paper-figures"
)

// A scheduler is an algorithm of the dispatch track with its name in tables and figures.
type scheduler struct {
	title string
	// runs is the algorithm. An agent has one for each of its training runs, which differ in
	// their seed.
	runs []string
	// learned marks an agent.
	learned bool
}

func heuristic(title, algorithm string) *scheduler {
	return &scheduler{title, []string{algorithm}, false}
}

func trained(title string, runs ...string) *scheduler { return &scheduler{title, runs, true} }

var (
	eft      = heuristic("EFT", "eft")
	largest  = heuristic("Largest-First", "largest-first")
	smallest = heuristic("Smallest-First", "smallest-first")
	random   = heuristic("Random", "random")
	// eftTrue uses true durations; eft, as released, uses averages.
	eftTrue = heuristic("EFT, true durations", "eft-true")

	leastSlack  = heuristic("least slack", "least-slack")
	energyAware = heuristic("energy-aware", "energy-aware")
	lookAhead   = heuristic("look-ahead", "look-ahead")
)

// The report's agent after different trainings. The first is its best. The report calls the
// settings of that one enhanced, and those of the notebook original (Table 5).
var (
	agent           = trained("RL-PPO", "rl-deadline")
	tightAgent      = trained("RL-PPO, trained on tight deadlines", "rl-deadline?training=tight")
	releasedAgent   = trained("RL-PPO, energy as released in its reward", "rl-deadline?training=released")
	energyAgent     = trained("RL-PPO, energy charged rightly in its reward", "rl-deadline?training=energy")
	originalAgent   = trained("RL-PPO, original settings", "rl-deadline?training=original")
	originalRelaxed = trained("RL-PPO, original settings on relaxed deadlines", "rl-deadline?training=original-relaxed")
)

// agents are all of them.
var agents = []*scheduler{agent, tightAgent, releasedAgent, energyAgent, originalAgent, originalRelaxed}

// methods are the heuristics of Table 7; schedulers are all heuristics.
var (
	methods    = []*scheduler{eft, largest, smallest, random}
	schedulers = []*scheduler{largest, eftTrue, eft, random, smallest, leastSlack, lookAhead, energyAware}
)

// titles are the names of schedulers.
func titles(of []*scheduler) []string {
	return figures.Map(of, func(s *scheduler) string { return s.title })
}

// on is a training run of the scheduler on a dataset.
func (s *scheduler) on(dataset string, training int) run.Series {
	return run.Series{
		Track: algo.TrackDispatch, Dataset: dataset, GPU: "A100", Count: 1,
		Algorithm: algo.MustParse(s.runs[training]).ID, Model: mig.Sequential,
	}
}

const (
	// evaluation is the report's number of days.
	evaluation = 10
	// many is the number of our own days that decides what 10 leave open.
	many = 1000
	// sweep is the number of days for each point of the figure over slack, for agents other
	// than the report's best, and for the best one under tight deadlines.
	sweep = 100
)

// Our own days, with deadlines as the report relaxes them, and as the original notebook has
// them (3.3).
var (
	relaxed = figures.Dataset("deadline/relaxed")
	tight   = figures.Dataset("deadline/tight")
)

// A quantity is a metric of package sim in the unit of a table.
type quantity struct {
	// name is the name in claims.
	name, metric string
	scale        float64
}

var (
	late      = quantity{"late", "late_percent", 1}
	tardiness = quantity{"tardiness", "tardiness_min", 1}
	// energy is what Table 7 prints, in MW min.
	energy = quantity{"energy", "energy_as_released_wmin", 1e-6}
	// charged is the same energy without the error of the released loop, which treats
	// slices as free in the interval before they complete.
	charged = quantity{"energy", "energy_wmin", 1e-6}
	jobs    = quantity{"jobs", "jobs", 1}

	// megajoules and megajoulesAsReleased are charged and energy in MJ.
	megajoules           = quantity{"energy", "energy_wmin", 60e-6}
	megajoulesAsReleased = quantity{"energy", "energy_as_released_wmin", 60e-6}
)

// days is the number of days that a scheduler has where others have n. Agents are a hundred times
// as slow as heuristics, so that only the report's best has more than [sweep] days, and only under
// relaxed deadlines.
func (s *scheduler) days(dataset string, n int) int {
	if s.learned && (s != agent || dataset != relaxed) {
		return min(n, sweep)
	}
	return n
}

// run returns the quantity over n days, by day, after one training of the scheduler.
func (q quantity) run(d *figures.Data, s *scheduler, training int, dataset string, n int) []float64 {
	out := slices.Clone(d.Values(s.on(dataset, training), s.days(dataset, n), q.metric))
	floats.Scale(q.scale, out)
	return out
}

// of is [quantity.run] after the first training.
func (q quantity) of(d *figures.Data, s *scheduler, dataset string, n int) []float64 {
	return q.run(d, s, 0, dataset, n)
}

// end is an end of a range, by the sign of what is largest there.
type end float64

const (
	lowest  end = -1
	highest end = 1
)

// extreme returns the scheduler with the lowest or highest mean, and its values. Of several it
// returns the first.
func (q quantity) extreme(d *figures.Data, dataset string, n int, among []*scheduler, which end) (best *scheduler, values []float64) {
	for _, s := range among {
		v := q.of(d, s, dataset, n)
		if sign := float64(which); best == nil || sign*figures.Mean(v) > sign*figures.Mean(values) {
			best, values = s, v
		}
	}
	return best, values
}

// lead returns the lowest or highest of the other schedulers and, by day, the difference to it.
func (q quantity) lead(d *figures.Data, dataset string, n int, s *scheduler, among []*scheduler, which end) (rival *scheduler, less []float64) {
	others := slices.DeleteFunc(slices.Clone(among), func(o *scheduler) bool { return o == s })
	rival, theirs := q.extreme(d, dataset, n, others, which)
	return rival, differences(q.of(d, s, dataset, n), theirs)
}

// differences returns, by day, values less those of base, of as many days as both have.
func differences(values, base []float64) []float64 {
	out := make([]float64, min(len(values), len(base)))
	return floats.SubTo(out, values[:len(out)], base[:len(out)])
}

// reductions returns, by day, values with the mean of [reduction]: that of the ratio, linearised
// at the two means. There are as many as both have days.
func reductions(values, base []float64) []float64 {
	out := make([]float64, min(len(values), len(base)))
	values, base = values[:len(out)], base[:len(out)]
	mean := figures.Mean(base)
	ratio := figures.Mean(values) / mean
	for i := range out {
		out[i] = 100 * (1 - ratio - (values[i]-float64(ratio*base[i]))/mean)
	}
	return out
}

// reduction returns by how many percent the mean of values is below that of base, as in
// Table 8.
func reduction(values, base []float64) float64 {
	return 100 * (1 - figures.Mean(values)/figures.Mean(base))
}
