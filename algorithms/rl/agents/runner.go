package agents

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/nn"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/spec"
)

// tries is the parameter of all agents that schedule batches.
var tries = algo.Param{Name: "k", Default: "1", Type: spec.Whole(1, 1<<16), Doc: "best of k tries: the first takes the likeliest action each time, the others draw"}

// The counters of the agents' schedules: the number of decisions in all tries, and the
// number of instances that the schedule destroys.
const (
	counterDecisions = "decisions"
	counterDestroys  = "destroys"
)

type description struct {
	// weights is the name of the embedded file. small is that of the file for GPUs with the
	// partitions of the A30; "" if there is none.
	weights, small string
	// capacity is the number of tasks that the agent considers together; 0 means any
	// number. More tasks are split into parts, in order of arrival.
	capacity int
	// tasks and levels are the N and M that the weights must be for; 0 if they have no
	// meaning.
	tasks, levels int
	// sampled makes the first try draw its actions too.
	sampled bool
	// temperature divides preferences before an action is drawn; 0 means 1. More than 1 makes
	// tries differ more.
	temperature float64
	// startInLevels is [env.BatchOptions.StartInLevels]; lane sets it.
	startInLevels bool
	network       func(*mig.GPU) (nn.Policy, error)
	lane          func(*mig.GPU, mig.Reconfiguration) (lane, error)
}

// A lane is an environment in which a policy makes one try at a problem.
type lane interface {
	env.Env
	// Load passes tasks, numbered from first on, with their releases in seconds. The GPU
	// keeps the state that the decisions so far have left.
	Load(tasks []env.Times, first int, releases []float64) error
	Device() *env.Device
}

// An agent schedules with a trained network. It is safe for concurrent use.
type agent struct {
	description
	k int
}

// trainedSlices is the number of compute slices of the GPUs that agents are trained for:
// A100 and those with the same partitions.
const trainedSlices = 7

// smallSlices is the number of compute slices of the A30.
const smallSlices = 4

// weightsFor returns the name of the weights for a GPU.
func (d *description) weightsFor(g *mig.GPU) (string, error) {
	switch {
	case g.ComputeSlices == trainedSlices:
		return d.weights, nil
	case g.ComputeSlices == smallSlices && d.small != "":
		return d.small, nil
	}
	return "", &UnsupportedError{"a GPU of model " + g.Name, fmt.Sprintf("it was trained for those with %d slices", trainedSlices)}
}

// runners holds unused runners, one *sync.Pool for each setting: reading weights takes
// longer than scheduling a batch with them.
var runners sync.Map

type setting struct {
	weights                string
	k                      int
	sampled, startInLevels bool
	gpu                    *mig.GPU
	model                  mig.Reconfiguration
}

func (a *agent) Schedule(ctx context.Context, p algo.Problem) (schedule.Schedule, error) {
	return a.ScheduleStream(ctx, p, []int{len(p.Tasks)})
}

func (a *agent) ScheduleStream(ctx context.Context, p algo.Problem, lengths []int) (schedule.Schedule, error) {
	if n := p.GPUs(); n != 1 {
		return schedule.Schedule{}, &UnsupportedError{fmt.Sprintf("%d GPUs", n), "it was trained for one"}
	}
	if _, err := a.weightsFor(p.GPU); err != nil {
		return schedule.Schedule{}, err
	}
	pool, _ := runners.LoadOrStore(setting{a.weights, a.k, a.sampled, a.startInLevels, p.GPU, p.Model}, new(sync.Pool))
	r, ok := pool.(*sync.Pool).Get().(*runner)
	if !ok {
		var err error
		if r, err = a.newRunner(p.GPU, p.Model); err != nil {
			return schedule.Schedule{}, err
		}
	}
	defer pool.(*sync.Pool).Put(r)
	return r.run(ctx, p, lengths)
}

// A runner makes k tries at a problem side by side.
type runner struct {
	policy      nn.Policy
	shape       env.Shape
	capacity    int
	sampled     bool
	lanes       []lane
	temperature float64

	active       []int // lanes that are not done
	rows         []int // of observations, by active lane
	decisions    int   // in all lanes
	observations []float32
	masks        []bool
	equal        []float32 // preferences that favour no action
	weights      []float64 // by action
	times        []env.Times
	releases     []float64
}

func (a *agent) newRunner(g *mig.GPU, model mig.Reconfiguration) (*runner, error) {
	policy, err := a.network(g)
	if err != nil {
		return nil, err
	}
	weights, err := a.weightsFor(g)
	if err != nil {
		return nil, err
	}
	if err := load(weights, a.tasks, a.levels, policy); err != nil {
		return nil, err
	}
	r := &runner{policy: policy, capacity: a.capacity, sampled: a.sampled, temperature: cmp.Or(a.temperature, 1)}
	for range a.k {
		l, err := a.lane(g, model)
		if err != nil {
			return nil, err
		}
		r.lanes = append(r.lanes, l)
	}
	r.shape = r.lanes[0].Shape()
	r.observations, r.masks = make([]float32, a.k*r.shape.Observation), make([]bool, a.k*r.shape.Actions)
	r.rows, r.equal, r.weights = make([]int, a.k), make([]float32, r.shape.Actions), make([]float64, r.shape.Actions)
	return r, nil
}

func (r *runner) run(ctx context.Context, p algo.Problem, lengths []int) (schedule.Schedule, error) {
	for _, l := range r.lanes {
		if err := putInPlace(l.Device(), p.Start); err != nil {
			return schedule.Schedule{}, err
		}
	}
	// The draws of the tries depend only on the tasks.
	hash := p.Tasks.Hash()
	rng := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(hash[:]), binary.LittleEndian.Uint64(hash[8:])))
	from := 0
	r.decisions = 0
	for _, n := range lengths {
		part := n
		if r.capacity > 0 {
			part = r.capacity
		}
		for end := from + n; from < end; from += part {
			if err := ctx.Err(); err != nil {
				return schedule.Schedule{}, err
			}
			part = min(part, end-from)
			if err := r.decide(&p, from, part, rng); err != nil {
				return schedule.Schedule{}, err
			}
		}
	}
	best := r.lanes[0]
	for _, l := range r.lanes[1:] {
		if l.Device().Makespan() < best.Device().Makespan() {
			best = l
		}
	}
	s := best.Device().Schedule()
	destroys := 0
	for _, o := range s.Operations {
		if o.Op == schedule.Destroy {
			destroys++
		}
	}
	s.Counters = map[string]int{counterDecisions: r.decisions, counterDestroys: destroys}
	return s, nil
}

// decide lets every lane schedule a part of the tasks.
func (r *runner) decide(p *algo.Problem, from, n int, rng *rand.Rand) error {
	r.times, r.releases, r.active = r.times[:0], r.releases[:0], r.active[:0]
	for i := range n {
		var t env.Times
		for _, s := range p.GPU.Sizes() {
			t[s] = float64(p.Tasks[from+i].On(s))
		}
		r.times = append(r.times, t)
		r.releases = append(r.releases, float64(p.ReleaseOf(from+i)))
	}
	for i, l := range r.lanes {
		if err := l.Load(r.times, from, r.releases); err != nil {
			return err
		}
		r.active = append(r.active, i)
	}
	for len(r.active) > 0 {
		r.step(rng)
	}
	return nil
}

// step decides once in every active lane. Lane 0 takes the likeliest action unless all are
// sampled.
func (r *runner) step(rng *rand.Rand) {
	inputs, actions := r.shape.Observation, r.shape.Actions
	distinct := 0
	for i, l := range r.active {
		mask := r.masks[i*actions : (i+1)*actions]
		r.lanes[l].Observe(r.observations[distinct*inputs:(distinct+1)*inputs], mask)
		r.rows[i] = r.rowOf(distinct, mask)
		distinct = max(distinct, r.rows[i]+1)
	}
	preferences, _ := r.policy.Forward(r.observations[:distinct*inputs], distinct)
	r.decisions += len(r.active)
	left := r.active[:0]
	for i, l := range r.active {
		own, mask := r.equal, r.masks[i*actions:(i+1)*actions]
		if row := r.rows[i]; row != forced {
			own = preferences[row*actions : (row+1)*actions]
		}
		action := 0
		if l == 0 && !r.sampled {
			action = env.Likeliest(own, mask)
		} else {
			action = sample(own, mask, r.temperature, rng, r.weights)
		}
		if _, done := r.lanes[l].Step(action); !done {
			left = append(left, l)
		}
	}
	r.active = left
}

// forced is the row of a lane in which only one action is allowed: the network is not
// needed.
const forced = -1

// rowOf returns the first row of the observations that is equal to the last one, or forced.
// Tries at one batch often reach the same state.
func (r *runner) rowOf(last int, mask []bool) int {
	allowed := 0
	for _, m := range mask {
		if m {
			allowed++
		}
	}
	if allowed == 1 {
		return forced
	}
	n := r.shape.Observation
	own := r.observations[last*n : (last+1)*n]
	for row := range last {
		if slices.Equal(r.observations[row*n:(row+1)*n], own) {
			return row
		}
	}
	return last
}

// putInPlace resets a device and gives it the instances that exist at time 0.
func putInPlace(d *env.Device, start []schedule.Existing) error {
	d.Reset()
	for _, e := range start {
		i := slices.Index(d.Instances(), e.Instance)
		if i < 0 {
			return &UnsupportedError{"a GPU with instance " + e.Instance.String(), "it knows the standard instances only"}
		}
		d.Exists(i, float64(e.BusyUntil))
	}
	return nil
}

// sample draws an allowed action with a probability proportional to the exponential
// of its preference divided by the temperature. It uses the memory of weights, which has room
// for every action.
func sample(preferences []float32, mask []bool, temperature float64, rng *rand.Rand, weights []float64) int {
	top := preferences[env.Likeliest(preferences, mask)]
	sum := 0.0
	for i, v := range preferences {
		if mask[i] {
			weights[i] = math.Exp(float64(v-top) / temperature)
			sum += weights[i]
		}
	}
	at, last := rng.Float64()*sum, -1
	for i, allowed := range mask[:len(preferences)] {
		if allowed {
			last = i
			if at -= weights[i]; at < 0 {
				break
			}
		}
	}
	return last
}
