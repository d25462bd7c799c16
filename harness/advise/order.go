package advise

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/stats"
	"miglab/harness/task"
	"miglab/harness/work"
)

// An Order is the order in which a driver lists the places of a GPU, for an allocator that takes the first free one.
type Order struct {
	// Found is the best order found. It orders devices by the memory slice at which they begin. First is the order to
	// use: Found if it is certainly better than ascending starts, and ascending starts otherwise.
	Found, First []mig.Slices
	// Places are the devices of a GPU in the order to use.
	Places []Place
	// Less is the mean wait with ascending starts minus the mean wait with Found, in the second half of the time. The
	// search used the first half.
	Less stats.BlockEstimate
	// Tried is the number of orders that were simulated.
	Tried int
}

// Better reports whether Found is to be used.
func (o *Order) Better() bool { return certain(o.Less, 1) && o.Less.Mean > 0 }

// A Place is a device: a profile at a start.
type Place struct {
	Profile *mig.Profile
	Start   mig.Slices
}

// draPolicy is the policy whose parameter first is an order.
const draPolicy = "dra-first-fit"

// mostOrders is the largest number of orders that are tried. On large clusters, the search takes most of the time.
const mostOrders = 60

// foundOrder is the record of the search.
type foundOrder struct {
	First []mig.Slices `json:"first"`
	Tried int          `json:"tried"`
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
	found, err := records[foundOrder](a, []work.Unit{unit})
	if err != nil {
		return o, err
	}
	o.Found, o.Tried = found[0].First, found[0].Tried
	outcomes, err := a.run([]Simulation{
		{Policy: draPolicy, GPUs: a.in.GPUs}, {Policy: policyOf(o.Found), GPUs: a.in.GPUs},
	})
	if err != nil {
		return o, err
	}
	bins := len(a.span.counts)
	half := bins / 2 / a.span.Per * a.span.Per // the first bin of a block
	if outcomes[0].Error == "" && outcomes[1].Error == "" {
		o.Less = a.span.mean(difference(outcomes[0].Bins, outcomes[1].Bins), half, bins)
	}
	o.First = slices.Sorted(slices.Values(o.Found))
	if o.Better() {
		o.First = o.Found
	}
	for _, p := range task.RequestProfiles(a.q.GPU) {
		for _, start := range o.First {
			if slices.Contains(p.Starts, start) {
				o.Places = append(o.Places, Place{Profile: p, Start: start})
			}
		}
	}
	return o, nil
}

func (a *adviser) gpus() string { return strconv.Itoa(a.in.GPUs) }

// searchOrder begins with ascending starts. It moves one start to another place of the order, as long as that lowers
// the waits of the first half of the trace and fewer than mostOrders orders were tried.
func (a *adviser) searchOrder(ctx context.Context) (f foundOrder, err error) {
	var order []mig.Slices
	for _, p := range task.RequestProfiles(a.q.GPU) {
		order = append(order, p.Starts...)
	}
	slices.Sort(order)
	order = slices.Compact(order)
	best, err := a.earlyWait(order)
	if err != nil {
		return f, err
	}
	f.Tried = 1
	for improved := true; improved; {
		improved = false
		for from := range order {
			for to := range order {
				if from == to || f.Tried >= mostOrders || ctx.Err() != nil {
					continue
				}
				slice := order[from]
				next := slices.Insert(slices.Delete(slices.Clone(order), from, from+1), to, slice)
				wait, err := a.earlyWait(next)
				if err != nil {
					return f, err
				}
				f.Tried++
				if wait < best {
					order, best, improved = next, wait, true
				}
			}
		}
	}
	f.First = order
	return f, ctx.Err()
}

// policyOf returns the policy with an order.
func policyOf(order []mig.Slices) string {
	var words []string
	for _, s := range order {
		words = append(words, strconv.Itoa(int(s)))
	}
	return draPolicy + "?first=" + strings.Join(words, "-")
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
