package agents

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/nn"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/portable"
	"miglab/harness/schedule"
	"miglab/harness/spec"
)

// tries is the parameter of all agents that schedule batches.
var tries = algo.Param{
	Name: "k", Default: "1", Type: spec.Whole(1, 1<<16),
	Doc: "best of k tries: the first takes the likeliest action each time, the others draw",
}

// settings holds the choices that an agent's parameters make.
type settings struct {
	// weights names the weights for GPUs with the partitions of the A100, and small those for GPUs with the partitions
	// of the A30. At most one is "".
	weights, small string
	// capacity is the number of tasks that the agent considers together; 0 means any
	// number. More tasks are split into parts, in order of arrival.
	capacity int
	k        int  // the number of tries
	sampled  bool // makes the first try draw its actions, too
	// temperature divides preferences before an action is drawn. More than 1 makes tries differ more.
	temperature   float64
	startInLevels bool // [env.BatchOptions.StartInLevels]
}

// A lane is an environment in which a policy makes one try at a problem.
type lane = env.Scheduler

// An agent schedules with a trained network. It is safe for concurrent use.
type agent struct {
	settings
	lane    func(*mig.GPU, mig.Reconfiguration) lane
	network func(lane) nn.Policy // makes an untrained network for the observations of a lane
}

// The models that agents are trained for. Weights also serve models with the same partitions.
const (
	trainedGPU = "A100"
	smallGPU   = "A30"
)

// geometry names the partitions of a model.
var geometry = mig.Derived(func(g *mig.GPU) string { return fmt.Sprint(g.Partitions()) })

// samePartitions reports whether a model has the partitions of a model that agents are trained for.
func samePartitions(g *mig.GPU, trained string) bool {
	return geometry(g) == geometry(mig.MustLookup(trained))
}

// weightsFor returns the name of the weights for a GPU.
func (s *settings) weightsFor(g *mig.GPU) (string, error) {
	switch {
	case s.weights != "" && samePartitions(g, trainedGPU):
		return s.weights, nil
	case s.small != "" && samePartitions(g, smallGPU):
		return s.small, nil
	}
	return "", &algo.UnsupportedError{
		What:   "a GPU of model " + g.Name,
		Reason: "it was trained for those with the partitions of " + s.trained(),
	}
}

// trained returns a GPU model that the agent is trained for.
func (s *settings) trained() string {
	if s.weights == "" {
		return smallGPU
	}
	return trainedGPU
}

// check returns an error if the parameters name weights that do not fit the agent's network.
func (a *agent) check(args algo.Args) error {
	if args[fileKey] == "" {
		return nil
	}
	return loadWeights(args[fileKey], a.network(a.lane(mig.MustLookup(a.trained()), mig.Sequential)))
}

// runners holds unused runners of a GPU model, one *sync.Pool for each key: reading weights takes longer
// than scheduling a batch with them.
var runners = mig.Derived(func(*mig.GPU) *sync.Map { return new(sync.Map) })

type runnerKey struct {
	settings
	model mig.Reconfiguration
}

func (a *agent) Schedule(ctx context.Context, p algo.Problem) (schedule.Schedule, error) {
	return a.ScheduleStream(ctx, p, []int{len(p.Tasks)})
}

func (a *agent) ScheduleStream(ctx context.Context, p algo.Problem, lengths []int) (schedule.Schedule, error) {
	all, err := a.ScheduleTogether(ctx, []algo.Problem{p}, [][]int{lengths})
	if err != nil {
		return schedule.Schedule{}, err
	}
	return all[0], nil
}

func (a *agent) ScheduleTogether(
	ctx context.Context, problems []algo.Problem, lengths [][]int,
) ([]schedule.Schedule, error) {
	for i := range problems {
		if n := problems[i].GPUs(); n != 1 {
			return nil, &algo.UnsupportedError{What: fmt.Sprintf("%d GPUs", n), Reason: "it was trained for one"}
		}
	}
	g, model := problems[0].GPU, problems[0].Model
	pool, _ := runners(g).LoadOrStore(runnerKey{a.settings, model}, new(sync.Pool))
	r, ok := pool.(*sync.Pool).Get().(*runner)
	if !ok {
		var err error
		if r, err = a.newRunner(g, model); err != nil {
			return nil, err
		}
	}
	defer pool.(*sync.Pool).Put(r)
	return r.run(ctx, problems, lengths)
}

// A runner makes tries at several problems side by side. The network decides for all of them at once.
type runner struct {
	runnerKey
	gpu    *mig.GPU
	agent  *agent
	policy nn.Policy
	shape  env.Shape

	attempts     []*attempt // one for each problem of the largest run so far
	rows         env.Rows   // masks by active lane, and the distinct observations
	equal        []float32  // preferences that favour no action
	exponentials []float64  // by action
}

// An attempt is k tries at one problem.
type attempt struct {
	lanes     []lane
	problem   *algo.Problem
	lengths   []int // of the batches that no lane has begun
	from, end int   // the tasks of the present batch that no lane has begun
	rng       *rand.Rand
	decisions int // of all lanes

	active []int // lanes that are not done
	rows   []int // by active lane, the row of its observation in the runner's rows, or forced
}

func (a *agent) newRunner(g *mig.GPU, model mig.Reconfiguration) (*runner, error) {
	weights, err := a.weightsFor(g)
	if err != nil {
		return nil, err
	}
	r := &runner{runnerKey: runnerKey{a.settings, model}, gpu: g, agent: a}
	r.grow(1)
	first := r.attempts[0].lanes[0]
	r.policy, r.shape = a.network(first), first.Shape()
	r.equal, r.exponentials = make([]float32, r.shape.Actions), make([]float64, r.shape.Actions)
	return r, loadWeights(weights, r.policy)
}

// grow makes room for n attempts.
func (r *runner) grow(n int) {
	for len(r.attempts) < n {
		t := &attempt{rows: make([]int, r.k)}
		for range r.k {
			t.lanes = append(t.lanes, r.agent.lane(r.gpu, r.model))
		}
		r.attempts = append(r.attempts, t)
	}
}

func (r *runner) run(ctx context.Context, problems []algo.Problem, lengths [][]int) ([]schedule.Schedule, error) {
	r.grow(len(problems))
	attempts := r.attempts[:len(problems)]
	for i, t := range attempts {
		if err := t.begin(&problems[i], lengths[i]); err != nil {
			return nil, err
		}
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		left := 0
		for _, t := range attempts {
			if err := t.refill(r.capacity); err != nil {
				return nil, err
			}
			left += len(t.active)
		}
		if left == 0 {
			break
		}
		r.step(attempts)
	}
	out := make([]schedule.Schedule, len(attempts))
	for i, t := range attempts {
		out[i] = t.best()
		t.problem = nil
	}
	return out, nil
}

// begin resets the attempt for a problem.
func (t *attempt) begin(p *algo.Problem, lengths []int) error {
	for _, l := range t.lanes {
		if err := putInPlace(l.Device(), p.Start); err != nil {
			return err
		}
	}
	// The tries draw from a stream that depends only on the tasks.
	hash := p.Tasks.Hash()
	t.rng = rand.New(rand.NewPCG(binary.LittleEndian.Uint64(hash[:]), binary.LittleEndian.Uint64(hash[8:])))
	t.problem, t.lengths, t.from, t.end = p, lengths, 0, 0
	t.active, t.decisions = t.active[:0], 0
	return nil
}

// refill gives the lanes the next tasks, at most as many as the capacity, once all have
// scheduled the tasks before. After the last tasks, no lane is active.
func (t *attempt) refill(capacity int) error {
	for len(t.active) == 0 {
		if t.from == t.end {
			if len(t.lengths) == 0 {
				return nil
			}
			t.end, t.lengths = t.from+t.lengths[0], t.lengths[1:]
			continue
		}
		n := t.end - t.from
		if capacity > 0 {
			n = min(n, capacity)
		}
		if err := t.load(n); err != nil {
			return err
		}
	}
	return nil
}

// load gives every lane the next n tasks.
func (t *attempt) load(n int) error {
	p := t.problem
	times, releases := env.TimesOf(p.GPU, p.Tasks[t.from:t.from+n]), make([]float64, n)
	for i := range releases {
		releases[i] = float64(p.ReleaseOf(t.from + i))
	}
	for i, l := range t.lanes {
		if err := l.Load(times, t.from, releases); err != nil {
			return err
		}
		t.active = append(t.active, i)
	}
	t.from += n
	return nil
}

// best returns the shortest schedule of all tries. It counts the decisions of all tries and the instances that the
// schedule destroys.
func (t *attempt) best() schedule.Schedule {
	best := t.lanes[0]
	for _, l := range t.lanes[1:] {
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
	s.Counters = map[string]int{"decisions": t.decisions, "destroys": destroys}
	return s
}

// step decides once in every active lane.
func (r *runner) step(attempts []*attempt) {
	active := 0
	for _, t := range attempts {
		active += len(t.active)
	}
	r.rows.Resize(r.shape, active)
	at, distinct := 0, 0
	for _, t := range attempts {
		first := distinct
		for i, l := range t.active {
			mask := r.rows.Mask(at + i)
			t.lanes[l].Observe(r.rows.Observation(distinct), mask)
			t.rows[i] = r.findRow(first, distinct, mask)
			distinct = max(distinct, t.rows[i]+1)
		}
		at += len(t.active)
	}
	preferences, _ := r.policy.Forward(r.rows.Observations[:distinct*r.shape.Observation], distinct)
	at = 0
	for _, t := range attempts {
		n := len(t.active)
		r.act(t, preferences, at)
		at += n
	}
}

// act takes an action in every active lane of an attempt, whose masks begin at the given row.
// Lane 0 takes the likeliest action unless all are sampled.
func (r *runner) act(t *attempt, preferences []float32, at int) {
	actions := r.shape.Actions
	t.decisions += len(t.active)
	left := t.active[:0]
	for i, l := range t.active {
		own, mask := r.equal, r.rows.Mask(at+i)
		if row := t.rows[i]; row != forced {
			own = preferences[row*actions : (row+1)*actions]
		}
		action := 0
		if l == 0 && !r.sampled {
			action = env.Likeliest(own, mask)
		} else {
			action = sampleAction(own, mask, r.temperature, t.rng, r.exponentials)
		}
		if _, done := t.lanes[l].Step(action); !done {
			left = append(left, l)
		}
	}
	t.active = left
}

// forced is the row of a lane in which only one action is allowed: the network is not needed.
const forced = -1

// findRow returns the first row of the observations, from the attempt's first row on, that is
// equal to the last one, or forced. Tries at one batch often reach the same state.
func (r *runner) findRow(first, last int, mask []bool) int {
	allowed := 0
	for _, m := range mask {
		if m {
			allowed++
		}
	}
	if allowed == 1 {
		return forced
	}
	for row := first; row < last; row++ {
		if slices.Equal(r.rows.Observation(row), r.rows.Observation(last)) {
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
			return &algo.UnsupportedError{
				What:   "a GPU with instance " + e.Instance.String(),
				Reason: "it knows the standard instances only",
			}
		}
		d.Preset(i, float64(e.BusyUntil))
	}
	return nil
}

// sampleAction draws an allowed action with a probability proportional to the exponential of its preference divided by
// the temperature. It uses the memory of weights, which has room for every action.
func sampleAction(preferences []float32, mask []bool, temperature float64, rng *rand.Rand, weights []float64) int {
	top := preferences[env.Likeliest(preferences, mask)]
	sum := 0.0
	for i, v := range preferences {
		if mask[i] {
			weights[i] = portable.Exp(float64(v-top) / temperature)
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
