package advise

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"miglab/harness/mig"
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
	// Wait is the largest accepted mean of the waits, and P95 the largest accepted 95th percentile, in seconds. A
	// negative number accepts every wait.
	Wait, P95 float64
	// Policies are algorithms of the placement track. [FirstFit] is always among them.
	Policies []string
	// Named are the profiles that jobs name. A cluster without an instance of such a profile rejects these jobs.
	Named []*mig.Profile
	// Snapshot says that all requests exist at the same time. The only answer is then the number of GPUs.
	Snapshot bool
	// Bounds has proven bounds on the waits.
	Bounds Bounds
}

// IsWhole reports whether a request is for whole GPUs, and not for an instance that jobs name.
func (q *Question) IsWhole(r *task.Request) bool {
	return r.Gang == nil && r.Profile == q.GPU.Profile(q.GPU.ComputeSlices) &&
		(r.GPUs > 0 || !slices.Contains(q.Named, r.Profile))
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
	// Whole is a profile in Profiles, Held and the fixed geometries that means a GPU with MIG off; nil if no request
	// asks for whole GPUs.
	Whole *mig.Profile
	// Profiles has the demand for each requested profile, in the order of the model's profiles.
	Profiles []Demand
	Load     Load
	// GPUs is the size of the cluster of the comparisons.
	GPUs int
	// Policies are the compared policies, by their waits.
	Policies []Compared
	// WaitAtLeast is a lower bound on the mean wait of every policy on these GPUs.
	WaitAtLeast float64
	// Below is a lower bound on the number of GPUs that every policy needs. Needs has numbers that are enough: for
	// first fit and, if it is another policy, for the best one. FixedNeed has one for a fixed geometry.
	Below     int
	Needs     []Need
	FixedNeed Need
	// Fixed is the best fixed geometry with all named profiles or, if there is none, without. It is for the GPUs of the
	// question or, without them, of FixedNeed.
	Fixed Fixed
	// Held is the answer for a snapshot.
	Held  Held
	Order Order
	// Moving has the gain of moves by the cost of a move. It lacks a cost if a simulation for it fails.
	Moving []Moving
	// Span describes the blocks of all intervals.
	Span Span
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
	separate, whole := a.separateWhole()
	out := &Advice{
		Question: &q, Whole: whole, Span: a.span, Profiles: demands(separate.q.GPU, separate.in), Load: a.load(),
	}
	out.Below = a.below()
	if q.Snapshot {
		err := separate.snapshot(out)
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
	if out.FixedNeed, err = separate.fixedLeast(out.Below); err != nil {
		return nil, err
	}
	if out.Fixed, err = a.fixed(separate, cmp.Or(q.GPUs, out.FixedNeed.GPUs), best); err != nil {
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
	in   task.Requests
	span Span
	// digest identifies the trace.
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

// separateWhole returns an adviser that gives requests for whole GPUs a profile of their own, whole. In a fixed
// geometry, these GPUs have MIG off, so that they do not serve jobs that name the profile of a whole GPU. Without such
// requests, whole is nil.
func (a *adviser) separateWhole() (other *adviser, whole *mig.Profile) {
	g, q := a.q.GPU, *a.q
	p := *g.Profile(g.ComputeSlices)
	p.MemoryGB++ // so that no instance serves these requests
	p.Variant = "+whole"
	q.GPU, q.Requests.Requests = g.With(&p), slices.Clone(a.in.Requests)
	for i := range q.Requests.Requests {
		r := &q.Requests.Requests[i]
		if q.IsWhole(r) {
			r.Profile, whole = &p, &p
		}
	}
	if whole == nil {
		return a, nil
	}
	return newAdviser(a.ctx, &q, a.runner), whole
}

// seconds converts slots.
func (a *adviser) seconds(slots float64) float64 { return float64(slots * a.in.Seconds()) }

// setGPUs sets the size of the cluster. It returns an error if a request needs more GPUs.
func (a *adviser) setGPUs(gpus int) error {
	a.in.GPUs = gpus
	least := a.gang()
	if gpus < least {
		return fmt.Errorf("%d GPUs are too few: a request needs %d at once; give more, or take such "+
			"jobs out of the file", gpus, least)
	}
	return nil
}

// gang returns the largest number of GPUs that a request needs at once, at least 1.
func (a *adviser) gang() int {
	most := 1
	for i := range a.in.Requests {
		q := &a.in.Requests[i]
		if q.Gang == nil {
			most = max(most, q.Instances())
		}
		for q.Exceeds(a.q.GPU, most) {
			most++
		}
	}
	return most
}
