package advise

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/stats"
	"miglab/harness/task"
	"miglab/harness/work"
)

// A Question is a trace, the cluster, and the waits that are accepted.
type Question struct {
	GPU *mig.GPU
	// Requests is the trace; its fields about a cluster are not read.
	Requests task.Requests
	// GPUs is the size of the cluster in which policies, geometries and orders are compared. 0 means the number that
	// first fit needs.
	GPUs int
	// PerNode is the number of GPUs of a node; 0 for one node.
	PerNode int
	// Wait is the largest accepted mean of the waits and P95 their largest accepted 95th percentile, in seconds.
	// Negative ones accept every wait.
	Wait, P95 float64
	// Policies are algorithms of the placement track. [FirstFit] is always among them.
	Policies []string
	// Snapshot says that all requests are there at once. The only answer is then the number of GPUs.
	Snapshot bool
	// Bounds has proven bounds on the waits.
	Bounds Bounds
}

// Bounds are functions of package bounds, which this package cannot import.
type Bounds struct {
	// Wait returns a lower bound on the sum of the waits of all requests, in slots.
	Wait func(*mig.GPU, task.Requests) float64
	// Late returns a lower bound on the number of requests that wait longer than a number of slots.
	Late func(g *mig.GPU, in task.Requests, slots int) int
}

// FirstFit is the policy that the others are compared with.
const FirstFit = "ff"

// An Advice answers a question. All times are in seconds.
type Advice struct {
	Question *Question
	// Profiles has the demand for each requested profile, in the order of the model's profiles.
	Profiles []Demand
	Load     Load
	// GPUs is the size of the cluster of the comparisons.
	GPUs int
	// Policies are the compared policies, by their waits.
	Policies []Compared
	// WaitAtLeast bounds the mean wait of any policy on these GPUs.
	WaitAtLeast float64
	// Below is the least number of GPUs that the bounds allow any policy. Needs has numbers that are enough: for first
	// fit and, if it is another, for the best policy. FixedNeed has one for a fixed geometry.
	Below     int
	Needs     []Need
	FixedNeed Need
	Fixed     Fixed
	// Held is the answer for a snapshot.
	Held  Held
	Order Order
	// Moving has what moves gain, by their cost; empty if a policy fails.
	Moving []Moving
	// Span describes the blocks of all intervals.
	Span Span
}

// A Demand is the requests for one profile.
type Demand struct {
	Profile *mig.Profile
	// Requests is their number, and Several the number of those that need more than one GPU.
	Requests, Several int
	// Mean is the mean lifespan. GPUHours is the sum of lifespans times the share of a GPU's memory slices, in hours,
	// and SeveralHours is the part of those that need more than one GPU.
	Mean, GPUHours, SeveralHours float64
}

// A Load is the demand over time, as if no request waited.
type Load struct {
	// The lists are by part of the time. Hours is its middle, in hours since the first arrival. Memory and Compute are
	// the means of the memory and compute slices in use, in GPUs.
	Hours, Memory, Compute []float64
	// Peak is the largest of Memory and Compute at any time.
	Peak float64
	// Early and Late are the means of Memory in the halves of the time. Drifts says that they differ for certain.
	Early, Late float64
	Drifts      bool
}

// A Compared is a policy on the trace.
type Compared struct {
	Outcome
	// Mean is the mean wait. Less is the mean wait of first fit less this one, and Behind is this one less the best.
	Mean, Less, Behind stats.BlockEstimate
	// Apart says that Less is certainly not 0, and Tied that Behind may be 0. Both allow for the number of compared
	// policies (Bonferroni).
	Apart, Tied bool
}

// A Need is a number of GPUs that is enough.
type Need struct {
	Policy string
	GPUs   int
	// Least says that every smaller number from [Advice.Below] on was tried; otherwise GPUs was found by halving.
	Least   bool
	Outcome Outcome
	Mean    stats.BlockEstimate
}

// Advise answers a question. The runner does the units that it does not remember. Advise passes on the runner's errors,
// and returns one for a trace without requests, for too few GPUs, and for a policy that fails.
func Advise(ctx context.Context, q Question, runner *work.Runner) (*Advice, error) {
	if len(q.Requests.Requests) == 0 {
		return nil, fmt.Errorf("the trace has no requests")
	}
	if !slices.Contains(q.Policies, FirstFit) {
		q.Policies = append([]string{FirstFit}, q.Policies...)
	}
	a := newAdviser(ctx, &q, runner)
	out := &Advice{Question: &q, Span: a.span, Profiles: demands(q.GPU, a.in), Load: a.load()}
	out.Below = a.below()
	if q.Snapshot {
		err := a.snapshot(out)
		return out, err
	}
	first, err := a.least(FirstFit, out.Below)
	if err != nil {
		return nil, err
	}
	out.Needs = append(out.Needs, first)
	out.GPUs = cmp.Or(q.GPUs, first.GPUs)
	if err := a.setGPUs(out.GPUs); err != nil {
		return nil, err
	}
	out.WaitAtLeast = a.seconds(q.Bounds.Wait(q.GPU, a.in)) / float64(len(a.in.Requests))
	if out.Policies, err = a.compare(); err != nil {
		return nil, err
	}
	best := out.Policies[0].Policy
	if best != FirstFit {
		need, err := a.least(best, out.Below)
		if err != nil {
			return nil, err
		}
		out.Needs = append(out.Needs, need)
	}
	if out.Fixed, err = a.fixed(out.Policies[0]); err != nil {
		return nil, err
	}
	if out.FixedNeed, err = a.fixedLeast(out.Below); err != nil {
		return nil, err
	}
	if out.Order, err = a.order(); err != nil {
		return nil, err
	}
	out.Moving, err = a.moving()
	return out, err
}

// An adviser answers one question.
type adviser struct {
	q      *Question
	ctx    context.Context
	runner *work.Runner
	// in is the trace as a stream of requests that wait. GPUs is set for each simulation.
	in     task.Requests
	span   Span
	digest string
}

func newAdviser(ctx context.Context, q *Question, runner *work.Runner) *adviser {
	a := &adviser{q: q, ctx: ctx, runner: runner, span: newSpan(q.Requests), in: task.Requests{
		Requests: q.Requests.Requests, SlotSeconds: q.Requests.SlotSeconds, PerNode: q.PerNode, Waiting: task.Retry,
	}}
	d := task.NewDigest()
	a.in.AddTo(d)
	for i := range a.in.Requests {
		d.Int(a.in.Requests[i].Work)
	}
	a.digest = d.String()
	return a
}

// seconds converts slots.
func (a *adviser) seconds(slots float64) float64 { return float64(slots * a.in.Seconds()) }

// setGPUs sets the size of the cluster; an error if a request needs more.
func (a *adviser) setGPUs(gpus int) error {
	a.in.GPUs = gpus
	least := a.gang()
	if gpus < least {
		return fmt.Errorf("%d GPUs are too few: a request needs %d at once", gpus, least)
	}
	return nil
}

// gang returns the largest number of GPUs that a request needs at once.
func (a *adviser) gang() (most int) {
	for i := range a.in.Requests {
		most = max(most, a.in.Requests[i].Instances())
	}
	return most
}

// demands returns the demand for each requested profile.
func demands(g *mig.GPU, in task.Requests) []Demand {
	var out []Demand
	for _, p := range task.RequestProfiles(g) {
		d := Demand{Profile: p}
		var slots float64
		for i := range in.Requests {
			q := &in.Requests[i]
			if q.Profile != p {
				continue
			}
			d.Requests++
			slots += float64(q.Lifespan)
			hours := float64(q.Lifespan) * in.Seconds() / 3600 * float64(q.Slices()) / float64(g.MemorySlices)
			d.GPUHours += hours
			if q.Instances() > 1 {
				d.Several++
				d.SeveralHours += hours
			}
		}
		if d.Requests > 0 {
			d.Mean = slots / float64(d.Requests) * in.Seconds()
			out = append(out, d)
		}
	}
	return out
}

// loadParts is the number of parts of the time of a [Load].
const loadParts = 200

// load computes the demand over time.
func (a *adviser) load() (l Load) {
	g, first := a.q.GPU, a.in.Requests[0].Arrival
	width := float64(a.span.Slots) / loadParts
	l.Memory, l.Compute = make([]float64, loadParts), make([]float64, loadParts)
	type change struct {
		at              int
		memory, compute float64
	}
	var changes []change
	for i := range a.in.Requests {
		q := &a.in.Requests[i]
		memory := float64(q.Slices()) / float64(g.MemorySlices)
		compute := float64(q.Instances()*int(q.Profile.Size)) / float64(g.ComputeSlices)
		from, to := q.Arrival-first, q.Arrival-first+q.Lifespan
		changes = append(changes, change{from, memory, compute}, change{to, -memory, -compute})
		for part := int(float64(from) / width); part < loadParts && float64(part)*width < float64(to); part++ {
			overlap := min(float64(to), float64(part+1)*width) - max(float64(from), float64(part)*width)
			l.Memory[part] += memory * overlap / width
			l.Compute[part] += compute * overlap / width
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	var memory, compute float64
	for i, c := range changes {
		memory, compute = memory+c.memory, compute+c.compute
		if i+1 == len(changes) || changes[i+1].at > c.at {
			l.Peak = max(l.Peak, memory, compute)
		}
	}
	for part := range loadParts {
		l.Hours = append(l.Hours, (float64(part)+0.5)*width*a.in.Seconds()/3600)
	}
	l.drift()
	return l
}

// drift compares the halves of the time, without the first and the last twentieth.
func (l *Load) drift() {
	const block = loadParts / 20
	half := loadParts / 2
	ones := slices.Repeat([]float64{1}, half-block)
	early, err := stats.BlockMean(l.Memory[block:half], ones, block, 1)
	late, other := stats.BlockMean(l.Memory[half:loadParts-block], ones, block, 1)
	if err == nil && other == nil {
		l.Early, l.Late = early.Mean, late.Mean
		l.Drifts = early.High < late.Low || late.High < early.Low
	}
}

// below returns the least number of GPUs that the bounds allow: no policy does with fewer.
func (a *adviser) below() int {
	in, n := a.in, len(a.in.Requests)
	// late is the largest number of requests that may wait longer than the 95th percentile; see [stats.Quantile].
	late := n - 1 - int(0.95*float64(n-1))
	possible := func(gpus int) bool {
		in.GPUs = gpus
		if a.q.Wait >= 0 && a.seconds(a.q.Bounds.Wait(a.q.GPU, in))/float64(n) > a.q.Wait {
			return false
		}
		slots := int(math.Floor(a.q.P95 / in.Seconds()))
		return a.q.P95 < 0 || a.q.Bounds.Late(a.q.GPU, in, slots) <= late
	}
	least := max(a.gang(), 1)
	most := least
	for !possible(most) {
		least, most = most+1, 2*most
	}
	for least < most {
		middle := (least + most) / 2
		if possible(middle) {
			most = middle
		} else {
			least = middle + 1
		}
	}
	return least
}

// mostTried is the largest number of GPUs below a sufficient number that are all tried. More GPUs do not always help a
// policy, so that a search by halves alone may miss the least number.
const mostTried = 40

// A trial tries numbers of GPUs.
type trial struct {
	a *adviser
	// run simulates clusters of these numbers of GPUs.
	run   func(numbers []int) ([]Outcome, error)
	tried map[int]Outcome
}

// enough returns the index of the first number of GPUs that is enough; -1 if all are too few.
func (t *trial) enough(numbers ...int) (int, error) {
	outcomes, err := t.run(numbers)
	for i, o := range outcomes {
		t.tried[numbers[i]] = o
	}
	return slices.IndexFunc(outcomes, t.a.meets), err
}

// halve returns a number of GPUs that is enough. The number below it is not, unless that is below least.
func (t *trial) halve(least int) (int, error) {
	most := least
	for {
		i, err := t.enough(most)
		if err != nil {
			return 0, err
		}
		if i == 0 {
			break
		}
		least, most = most+1, most+max(most/2, 1)
	}
	for least < most {
		middle := (least + most) / 2
		i, err := t.enough(middle)
		if err != nil {
			return 0, err
		}
		if i == 0 {
			most = middle
		} else {
			least = middle + 1
		}
	}
	return most, nil
}

// least searches for the least number of GPUs that is enough under a policy, from below on.
func (a *adviser) least(policy string, below int) (Need, error) {
	t := &trial{a: a, tried: map[int]Outcome{}, run: func(numbers []int) ([]Outcome, error) {
		var all []Simulation
		for _, n := range numbers {
			all = append(all, Simulation{Policy: policy, GPUs: n})
		}
		outcomes, err := a.run(all)
		for _, o := range outcomes {
			if o.Error != "" {
				return nil, fmt.Errorf("%s on %d GPUs: %s", policy, o.GPUs, o.Error)
			}
		}
		return outcomes, err
	}}
	most, err := t.halve(below)
	if err != nil {
		return Need{}, err
	}
	need := Need{Policy: policy, GPUs: most, Least: most-below <= mostTried}
	if need.Least && most > below {
		var numbers []int
		for n := below; n < most; n++ {
			numbers = append(numbers, n)
		}
		i, err := t.enough(numbers...)
		if err != nil {
			return Need{}, err
		}
		if i >= 0 {
			need.GPUs = numbers[i]
		}
	}
	need.Outcome = t.tried[need.GPUs]
	need.Mean = a.wait(need.Outcome.Bins)
	return need, nil
}

// meets reports whether the waits of a simulation are accepted.
func (a *adviser) meets(o Outcome) bool {
	return o.Error == "" && (a.q.Wait < 0 || o.Wait <= a.q.Wait) && (a.q.P95 < 0 || o.P95 <= a.q.P95)
}

// compare simulates the policies and returns them by their mean waits.
func (a *adviser) compare() ([]Compared, error) {
	var units []Simulation
	for _, p := range a.q.Policies {
		units = append(units, Simulation{Policy: p, GPUs: a.in.GPUs})
	}
	outcomes, err := a.run(units)
	if err != nil {
		return nil, err
	}
	first := outcomes[slices.Index(a.q.Policies, FirstFit)]
	var out []Compared
	for _, o := range outcomes {
		if o.Error != "" {
			return nil, fmt.Errorf("%s on %d GPUs: %s", o.Policy, o.GPUs, o.Error)
		}
		out = append(out, Compared{Outcome: o, Mean: a.wait(o.Bins), Less: a.mean(difference(first.Bins, o.Bins))})
	}
	slices.SortStableFunc(out, func(x, y Compared) int {
		return cmp.Or(cmp.Compare(x.Mean.Mean, y.Mean.Mean), cmp.Compare(x.Wait, y.Wait))
	})
	for i := range out {
		c := &out[i]
		c.Behind = a.mean(difference(c.Bins, out[0].Bins))
		c.Apart = certain(c.Less, len(out)-1)
		c.Tied = i == 0 || !certain(c.Behind, len(out)-1)
	}
	return out, nil
}

// difference returns the differences of two lists.
func difference(x, y []float64) (out []float64) {
	for i := range x {
		out = append(out, x[i]-y[i])
	}
	return out
}

// certain reports whether a difference is certainly not 0, as one of several comparisons.
func certain(e stats.BlockEstimate, comparisons int) bool {
	if e.Blocks == 0 || e.Short {
		return false
	}
	const alpha = (1 - stats.Confidence) / 2
	wider := stats.StudentQuantile(e.Blocks-1, 1-alpha/float64(max(comparisons, 1))) /
		stats.StudentQuantile(e.Blocks-1, 1-alpha)
	return math.Abs(e.Mean) > (e.High-e.Mean)*wider
}

// wait estimates the mean wait as mean does. No wait is negative, and no end of the interval.
func (a *adviser) wait(bins []float64) stats.BlockEstimate {
	e := a.mean(bins)
	e.Low = max(e.Low, 0)
	return e
}

// mean estimates the mean wait from the sums of the waits in all bins. Without enough blocks it has no interval.
func (a *adviser) mean(bins []float64) stats.BlockEstimate {
	return a.span.mean(bins, 0, len(bins))
}
