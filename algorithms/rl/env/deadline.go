package env

import (
	"errors"
	"math/rand/v2"

	"miglab/harness/nearest"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// Deadline is the queue of the deadline report: a day of jobs, each put on one of the free slices of a fleet in the
// order of deadlines. An action is a slice, by its index in [sim.Queue.Slices]; there are about 4150 decisions an
// episode on the report's days. [sim.Dispatch] has the rules, [DeadlineOptions.Observe] what the agent sees.
//
// The report's reward is
//
//	0.01 size/7, and 0.05 if the job will be in time, for each decision (its 3.5)
//	0.1 for each job that completes in time, -0.2 a minute of tardiness of each other
//	10 (1 - late/jobs) - tardiness/jobs at the end (its appendix C)
//
// The second line is only in the released code, as 0.1 early - 0.2 tardiness whenever time advances. Our reading: it is
// paid once for each completed job, with the decision before the completion, and it is the same for all jobs in time.
// On the last step the released code pays the third line alone; see [DeadlineOptions].
type Deadline struct {
	options    DeadlineOptions
	source     JobSource
	engine     *sim.Dispatch
	queue      *sim.Queue
	jobs       []task.Job
	running    []runningJob // by slice, the job that runs on it
	preemptive bool         // the fleet pre-empts jobs
}

// A runningJob is the present job of a slice.
type runningJob struct {
	busy     bool // there is a job whose completion has not been rewarded
	deadline task.Minutes
}

// A JobSource draws the jobs of an episode: at least one, by ascending arrival. It may
// overwrite and reuse buf. It is used by one goroutine at a time.
type JobSource func(rng *rand.Rand, buf []task.Job) []task.Job

// DeadlineOptions are the options of [Deadline]. The report's versions, and the authors' notebooks of them, have:
//
//	enhanced, report                 none
//	enhanced, notebook               Released, EnergyAsReleased
//	original, report                 Original, Sparse, EnergyAsReleased
//	original, notebook               First, Penalty, EnergyAsReleased, and a pre-emptive fleet
//	Improved and Relaxed, notebooks  Released, Original, Penalty, EnergyAsReleased
type DeadlineOptions struct {
	// Released takes scales and bins of the observation from the authors' notebook; see
	// [DeadlineOptions.Observe]. The reward of the last step is then the terminal one alone, as there. It replaces the
	// rewards of the decision and of the jobs that complete after it.
	Released bool `json:"released" csv:"released"`
	// Original is the report's original observation. With Released, it has two of the three extra features at the end.
	Original bool `json:"original" csv:"original"`
	// Sparse is the original reward, which is paid only at the end:
	//	-(tardiness + 2.25e-5 energy) / (2.25e-5 jobs + 1)
	Sparse bool `json:"sparse" csv:"sparse"`
	// Energy is the energy in the reward at the end. Without Sparse and Penalty, the reward then includes
	// -2.25e-5 energy/jobs, as in the released code; the report does not mention it.
	Energy EnergyCharge `json:"energy" csv:"energy"`
	// First is the observation of the authors' first notebook. It excludes Released and Original.
	First bool `json:"first" csv:"first"`
	// Penalty is the reward of the authors' notebooks before the enhanced one. The last step has the reward of Sparse.
	// When time advances after another step, it has, with the energy as released and its weight w = 2.25e-5,
	//	-(tardiness + w energy)/(n (1 + w))
	// where energy counts from the start of the day, tardiness is summed over the n jobs that complete, and n is at
	// least 1. On a pre-emptive fleet, energy counts from the step before, tardiness is the sum over all jobs that ran,
	// as if they ended now, and n is the number of jobs that return to the queue. The reward is 0 if none returns.
	Penalty bool `json:"penalty" csv:"penalty"`
}

// EnergyCharge says which energy, in watt-minutes, an agent is charged for.
type EnergyCharge string

// The energies, by their names in options and files.
const (
	NoEnergy         EnergyCharge = ""
	EnergyAsReleased EnergyCharge = "as-released" // [sim.DispatchResult.EnergyAsReleased]
	EnergyRight      EnergyCharge = "right"       // [sim.DispatchResult.Energy]
)

// UnmarshalText reads a name. The error is a [*nearest.UnknownError].
func (e *EnergyCharge) UnmarshalText(name []byte) error {
	switch c := EnergyCharge(name); c {
	case NoEnergy, EnergyAsReleased, EnergyRight:
		*e = c
		return nil
	}
	return nearest.Unknown("energy charge", string(name), []string{string(EnergyAsReleased), string(EnergyRight)})
}

// Weights of the rewards.
const (
	sizeReward     = 0.01
	inTimeExpected = 0.05
	inTimeReward   = 0.1
	latePenalty    = 0.2 // a minute
	lateScale      = 10
	energyWeight   = 2.25e-5 // a watt-minute
)

// NewDeadline returns an environment whose episodes come from source. The error is about the fleet or the options.
func NewDeadline(fleet task.Fleet, source JobSource, o DeadlineOptions) (*Deadline, error) {
	if o.First && (o.Released || o.Original) {
		return nil, errors.New("env: the option first excludes released and original: want one observation")
	}
	if o.Penalty && o.Sparse {
		return nil, errors.New("env: the options penalty and sparse exclude one another: want at most one")
	}
	engine, err := sim.NewDispatch(nil, fleet)
	if err != nil {
		return nil, err
	}
	return &Deadline{
		options: o, source: source, engine: engine, running: make([]runningJob, fleet.Slices()),
		preemptive: fleet.Preemptive,
	}, nil
}

// Shape implements [Env].
func (d *Deadline) Shape() Shape { return d.options.Shape(len(d.running)) }

// Reset begins a day. It panics if the engine refuses the jobs that the source draws.
func (d *Deadline) Reset(rng *rand.Rand) {
	d.jobs = d.source(rng, d.jobs)
	if len(d.jobs) == 0 {
		panic("env: the source draws a day without jobs")
	}
	if err := d.engine.Reset(d.jobs); err != nil {
		panic("env: the source draws bad jobs: " + err.Error())
	}
	clear(d.running)
	d.queue = d.engine.Next()
}

// Observe writes what an agent with these options sees.
func (d *Deadline) Observe(observation []float32, mask []bool) {
	d.options.Observe(d.queue, observation, mask)
}

// Step puts the job at the head on a slice. It panics if no job can start there.
func (d *Deadline) Step(action int) (reward float32, done bool) {
	deadline := d.queue.Head().Deadline
	if err := d.engine.Place(action); err != nil {
		panic("env: " + err.Error())
	}
	d.running[action] = runningJob{busy: true, deadline: deadline}
	now, before := d.queue.Now(), d.engine.Result()
	// The conversions round products, so that they are not fused with sums.
	r := 0.0
	shaped := !d.options.Sparse && !d.options.Penalty
	if shaped {
		s := &d.queue.Slices()[action]
		r = float64(sizeReward * (float64(s.Size) / 7))
		if s.FreeAt <= deadline {
			r += inTimeExpected
		}
	}
	done = d.engine.Next() == nil
	switch {
	case shaped:
		r += d.rewardCompletions()
	case d.options.Penalty && d.queue.Now() > now:
		r = d.penalty(before)
	}
	if done && (d.options.Released || d.options.Penalty) {
		r = 0
	}
	if done {
		r += d.final()
	}
	return float32(r), done
}

// penalty returns the reward of [DeadlineOptions.Penalty] for the time since the result before.
func (d *Deadline) penalty(before sim.DispatchResult) float64 {
	n, tardiness := 0, 0.0
	for i := range d.running {
		if late, completed := d.complete(i); completed {
			n++
			tardiness += max(0, float64(late))
		}
	}
	r := d.engine.Result()
	energy := float64(r.EnergyAsReleased)
	if d.preemptive {
		n -= r.Jobs - before.Jobs
		if n == 0 {
			return 0
		}
		energy -= float64(before.EnergyAsReleased)
	}
	return -(tardiness + float64(energyWeight*energy)) / (float64(max(1, n)) * (1 + energyWeight))
}

// rewardCompletions returns the reward for the jobs that have completed since the last call.
func (d *Deadline) rewardCompletions() float64 {
	sum := 0.0
	for i := range d.running {
		switch late, completed := d.complete(i); {
		case !completed:
		case late <= 0:
			sum += inTimeReward
		default:
			sum -= float64(latePenalty * float64(late))
		}
	}
	return sum
}

// complete reports whether the job of a slice has completed since the last call, and how long after its deadline;
// late is negative if it was early.
func (d *Deadline) complete(slice int) (late task.Minutes, completed bool) {
	job, s := &d.running[slice], &d.queue.Slices()[slice]
	if !job.busy || s.Busy {
		return 0, false
	}
	job.busy = false
	return s.FreeAt - job.deadline, true
}

// final returns the reward at the end of the day.
func (d *Deadline) final() float64 {
	r := d.engine.Result()
	jobs := float64(r.Jobs)
	energy := 0.0
	switch d.options.Energy {
	case EnergyAsReleased:
		energy = float64(energyWeight * float64(r.EnergyAsReleased))
	case EnergyRight:
		energy = float64(energyWeight * float64(r.Energy))
	}
	if d.options.Sparse || d.options.Penalty {
		return -(float64(float64(r.Tardiness)*jobs) + energy) / (float64(energyWeight*jobs) + 1)
	}
	return float64(lateScale*(1-float64(r.Late)/jobs)) - float64(r.Tardiness) - energy/jobs
}

// Result returns the day's measurements so far; they are complete once the episode is
// done. The next Reset overwrites its runs.
func (d *Deadline) Result() sim.DispatchResult { return d.engine.Result() }
