package advise

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/stats"
	"miglab/harness/task"
	"miglab/harness/work"
)

// An Order is the order in which a driver lists the places of a GPU, for an allocator that takes the first free one.
type Order struct {
	// Best is the best order of starts found: the memory slices at which devices begin. Chosen is the order to use:
	// Best if it is certainly better than ascending starts, and ascending starts otherwise.
	Best, Chosen []mig.Slices
	// Places are the devices of a GPU in the chosen order.
	Places []Place
	// Saved is the mean wait with ascending starts minus the mean wait with Best, in the second half of the time. The
	// search used the first half.
	Saved stats.BlockEstimate
	// Tried is the number of orders that were simulated.
	Tried int
}

// Better reports whether Best is certainly better than ascending starts.
func (o *Order) Better() bool { return certain(o.Saved, 1) && o.Saved.Mean > 0 }

// A Place is a device: a profile at a start.
type Place struct {
	Profile *mig.Profile
	Start   mig.Slices
}

// draPolicy is the policy whose parameter first is an order of starts.
const draPolicy = "dra-first-fit"

// mostOrders is the largest number of orders that are tried, since each takes a simulation of half the trace. A round
// of moves of seven starts tries 42 orders, so that 60 are a whole round and a part of the next.
const mostOrders = 60

// An orderSearch is the search for an order and the record of its result.
type orderSearch struct {
	Best  []mig.Slices `json:"first"`
	Tried int          `json:"tried"`
	wait  int          // earlyWait of Best
}

// order searches for the best order of starts.
func (a *adviser) order() (o Order, err error) {
	ascending, err := algo.ParseFor(draPolicy, algo.TrackPlacement)
	if err != nil {
		return o, err
	}
	unit := a.unit("order/"+a.gpus(), fmt.Sprint(ascending.Spec.Version), func(ctx context.Context) (any, error) {
		return a.searchOrder(ctx)
	})
	found, err := records[orderSearch](a, []work.Unit{unit})
	if err != nil {
		return o, err
	}
	o.Best, o.Tried = found[0].Best, found[0].Tried
	outcomes, err := a.run([]Simulation{
		{Policy: draPolicy, GPUs: a.in.GPUs}, {Policy: policyOf(o.Best), GPUs: a.in.GPUs},
	})
	if err != nil {
		return o, err
	}
	bins := len(a.span.counts)
	half := bins / 2 / a.span.Per * a.span.Per // the first bin of a block
	if outcomes[0].Error == "" && outcomes[1].Error == "" {
		o.Saved = a.span.mean(difference(outcomes[0].Bins, outcomes[1].Bins), half, bins)
	}
	o.Chosen = slices.Sorted(slices.Values(o.Best))
	if o.Better() {
		o.Chosen = o.Best
	}
	for _, p := range task.RequestProfiles(a.q.GPU) {
		for _, start := range o.Chosen {
			if slices.Contains(p.Starts, start) {
				o.Places = append(o.Places, Place{Profile: p, Start: start})
			}
		}
	}
	return o, nil
}

func (a *adviser) gpus() string { return strconv.Itoa(a.in.GPUs) }

// searchOrder begins with ascending starts and makes rounds of moves until a round improves nothing, the context is
// done or mostOrders orders were tried.
func (a *adviser) searchOrder(ctx context.Context) (s orderSearch, err error) {
	for _, p := range task.RequestProfiles(a.q.GPU) {
		s.Best = append(s.Best, p.Starts...)
	}
	slices.Sort(s.Best)
	s.Best = slices.Compact(s.Best)
	s.wait, err = a.earlyWait(s.Best)
	s.Tried = 1
	for improved := true; improved && err == nil; {
		improved, err = a.tryMoves(ctx, &s)
	}
	return s, cmp.Or(err, ctx.Err())
}

// tryMoves moves each start to each other place of the order, and keeps a move that lowers the waits of the first half
// of the trace. It reports whether one did.
func (a *adviser) tryMoves(ctx context.Context, s *orderSearch) (improved bool, err error) {
	for from := range s.Best {
		for to := range s.Best {
			if from == to || s.Tried >= mostOrders || ctx.Err() != nil {
				continue
			}
			moved := slices.Insert(slices.Delete(slices.Clone(s.Best), from, from+1), to, s.Best[from])
			wait, err := a.earlyWait(moved)
			if err != nil {
				return false, err
			}
			s.Tried++
			if wait < s.wait {
				s.Best, s.wait, improved = moved, wait, true
			}
		}
	}
	return improved, nil
}

// policyOf returns the policy with an order.
func policyOf(order []mig.Slices) string {
	starts := nearest.Names(order, func(s mig.Slices) string { return strconv.Itoa(int(s)) })
	return draPolicy + "?first=" + strings.Join(starts, "-")
}

// earlyWait returns the sum of the waits of the requests that arrive in the first half of the time, in slots.
func (a *adviser) earlyWait(order []mig.Slices) (sum int, err error) {
	algorithm, err := algo.ParseFor(policyOf(order), algo.TrackPlacement)
	if err != nil {
		return 0, err
	}
	in := a.in
	middle := in.Requests[0].Arrival + a.span.Slots/2
	if n := slices.IndexFunc(in.Requests, func(q task.Request) bool { return q.Arrival > middle }); n > 0 {
		in.Requests = in.Requests[:n]
	}
	r, err := runChecked(a, algorithm, in)
	if err != nil {
		return 0, err
	}
	for i, start := range r.Starts {
		sum += start - in.Requests[i].Arrival
	}
	return sum, nil
}
