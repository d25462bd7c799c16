package deadline

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/store"
	figures "miglab/paper-figures"
)

const gpu = "A100"

// A scheduler is an algorithm of the dispatch track with its name in tables and figures.
type scheduler struct {
	title string
	// runs is the algorithm. An agent has one for each of its training runs, which differ in their seed.
	runs []string
	// learned marks an agent.
	learned bool
}

func newHeuristic(title, algorithm string) *scheduler {
	return &scheduler{title, []string{algorithm}, false}
}

// newAgent returns an agent with as many training runs, which have the seeds 1, 2 and so on.
func newAgent(title, training string, runs int) *scheduler {
	s := &scheduler{title: title, learned: true}
	for seed := range runs {
		s.runs = append(s.runs, fmt.Sprintf("rl-deadline?training=%s&seed=%d", training, seed+1))
	}
	return s
}

var (
	eft      = newHeuristic("EFT", "eft")
	largest  = newHeuristic("Largest-First", "largest-first")
	smallest = newHeuristic("Smallest-First", "smallest-first")
	random   = newHeuristic("Random", "random")
	// eftTrue uses true durations; eft, as released, uses averages.
	eftTrue = newHeuristic("EFT, true durations", "eft-true")

	leastSlack  = newHeuristic("least slack", "least-slack")
	energyAware = newHeuristic("energy-aware", "energy-aware")
	lookAhead   = newHeuristic("look-ahead", "look-ahead")
)

// The report's agent after different trainings. agent is its best one, trained as the authors' notebook does it, with
// settings that the report calls enhanced. The report's first notebook has the original settings (Table 5).
var (
	agent           = newAgent("RL-PPO", "enhanced", 22)
	firstFive       = newAgent("RL-PPO", "enhanced", ofOurs)
	tightAgent      = newAgent("RL-PPO, trained on tight deadlines", "tight", 5)
	wholeAgent      = newAgent("RL-PPO, trained on whole days in float32", "float32", 3)
	textAgent       = newAgent("RL-PPO, trained by the report's text", "text", 3)
	originalAgent   = newAgent("RL-PPO, original settings", "original", 10)
	originalRelaxed = newAgent("RL-PPO, original settings on relaxed deadlines", "original-relaxed", 5)
)

// ofOurs is the number of training runs of agent that are evaluated on our own days, which are a hundred times as many
// as the report's.
const ofOurs = 5

// agents lists the agents after all trainings.
var agents = []*scheduler{
	agent, tightAgent, wholeAgent, textAgent, originalAgent, originalRelaxed,
	notebookAgent, improvedAgent, relaxedAgent,
}

// methods are the heuristics of Table 7; schedulers are all heuristics of this suite.
var (
	methods    = []*scheduler{eft, largest, smallest, random}
	schedulers = []*scheduler{largest, eftTrue, eft, random, smallest, leastSlack, lookAhead, energyAware}
)

func titles(list []*scheduler) []string {
	return figures.Map(list, func(s *scheduler) string { return s.title })
}

// runsNote says how many training runs the number of an agent is the mean of.
func runsNote(agents ...*scheduler) string {
	each := figures.Map(agents, func(s *scheduler) string {
		text := fmt.Sprintf("%s %d", s.title, len(s.runs))
		if n := s.trainings(relaxed); n < len(s.runs) {
			text += fmt.Sprintf(" (%d on our days)", n)
		}
		return text
	})
	return "training runs that an agent's numbers are the mean of: " + strings.Join(each, "; ")
}

// on returns the series of a training run, counted from 0, on a dataset. A heuristic has run 0 alone.
func (s *scheduler) on(dataset string, training int) store.Series {
	return figures.Series(algo.TrackDispatch, dataset, gpu, algo.MustParse(s.runs[training]).ID, mig.Sequential)
}

// days returns the number of days that the scheduler has of a sample. Agents are a hundred times as slow as
// heuristics: only the report's best has more than [sweep] days, and only under relaxed deadlines.
func (s *scheduler) days(x sample) int {
	if s.learned && (s != agent || x.dataset != relaxed.dataset) {
		return min(x.n, sweep)
	}
	return x.n
}

// trainings returns the number of training runs that the scheduler has of a sample.
func (s *scheduler) trainings(x sample) int {
	if s == agent && x.ours {
		return min(ofOurs, len(s.runs))
	}
	return len(s.runs)
}

// A quantity is a metric of package sim in the unit of a table.
type quantity struct {
	// name is the name in claims.
	name, unit, metric string
	scale              float64
	// decimals is the number of digits after the point in our own tables.
	decimals int
}

var (
	late      = quantity{"late", "%", "late_percent", 1, 2}
	tardiness = quantity{"tardiness", "min", "tardiness_min", 1, 3}
	// energy is printed in Table 7.
	energy = quantity{"energy", "MW min", "energy_as_released_wmin", 1e-6, 3}
	// charged is without the error of the released loop: it frees slices in the interval before they complete.
	charged = quantity{"energy", "MW min", "energy_wmin", 1e-6, 3}
	jobs    = quantity{"jobs", "", "jobs", 1, 0}

	// megajoules is charged in MJ.
	megajoules = quantity{"energy", "MJ", "energy_wmin", 60e-6, 2}
)

// runs returns the quantity after each training run of the scheduler, by day.
func (q quantity) runs(d *figures.Data, s *scheduler, x sample) (out [][]float64) {
	for training := range s.trainings(x) {
		values := slices.Clone(d.Values(s.on(x.dataset, training), s.days(x), q.metric))
		floats.Scale(q.scale, values)
		out = append(out, values)
	}
	return out
}

// of returns the quantity by day. That of an agent is the mean over its training runs.
func (q quantity) of(d *figures.Data, s *scheduler, x sample) []float64 {
	runs := q.runs(d, s, x)
	out := runs[0]
	for _, more := range runs[1:] {
		floats.Add(out, more)
	}
	floats.Scale(1/float64(len(runs)), out)
	return out
}
