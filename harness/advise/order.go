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
	"miglab/harness/stats"
	"miglab/harness/task"
	"miglab/harness/work"
)

// An Order is the order in which a driver lists the places of a GPU, for an allocator that takes the first free one.
type Order struct {
	// First lists the memory slices in the order in which devices that begin there are listed.
	First []mig.Slices
	// Places are the devices of a GPU in that order.
	Places []Place
	// Less is the mean wait with ascending starts less that with this order, on the second half of the time. The order was
	// searched for on the first half.
	Less stats.BlockEstimate
	// Tried is the number of orders that were simulated.
	Tried int
}

// A Place is a device.
type Place struct {
	Profile *mig.Profile
	Start   mig.Slices
	// Used is the share of the instances of the profile that began there.
	Used float64
}

const (
	draPolicy = "dra-first-fit"
	// mostOrders bounds the search, which takes most of the time on large clusters.
	mostOrders = 60
)

// foundOrder is the record of the search.
type foundOrder struct {
	Policy string       `json:"policy"`
	First  []mig.Slices `json:"first"`
	Tried  int          `json:"tried"`
	// Used has, by profile and start, how many instances began there on the whole trace.
	Used map[string]int `json:"used"`
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
	f := found[0]
	o.First, o.Tried = f.First, f.Tried
	outcomes, err := a.run([]Simulation{{Policy: draPolicy, GPUs: a.in.GPUs}, {Policy: f.Policy, GPUs: a.in.GPUs}})
	if err != nil {
		return o, err
	}
	bins := len(a.span.counts)
	half := bins / 2 / a.span.Per * a.span.Per
	if outcomes[0].Error == "" && outcomes[1].Error == "" {
		o.Less = a.span.mean(difference(outcomes[0].Bins, outcomes[1].Bins), half, bins-a.span.Per)
	}
	for _, p := range task.RequestProfiles(a.q.GPU) {
		total := 0
		for _, s := range p.Starts {
			total += f.Used[placeName(p, s)]
		}
		for _, s := range f.First {
			if slices.Contains(p.Starts, s) {
				place := Place{Profile: p, Start: s}
				if total > 0 {
					place.Used = float64(f.Used[placeName(p, s)]) / float64(total)
				}
				o.Places = append(o.Places, place)
			}
		}
	}
	return o, nil
}

func (a *adviser) gpus() string { return strconv.Itoa(a.in.GPUs) }

func placeName(p *mig.Profile, start mig.Slices) string { return fmt.Sprintf("%v:%d", p, start) }

// searchOrder moves one slice of the order to another place as long as that lowers the waits of the first half of the
// trace.
func (a *adviser) searchOrder(ctx context.Context) (f foundOrder, err error) {
	var order []mig.Slices
	for _, p := range task.RequestProfiles(a.q.GPU) {
		order = append(order, p.Starts...)
	}
	slices.Sort(order)
	order = slices.Compact(order)
	best, err := a.earlyWait(order)
	f.Tried = 1
	for improved := true; improved && err == nil; {
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
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return f, err
	}
	f.First, f.Policy, f.Used = order, policyOf(order), map[string]int{}
	algorithm, err := algo.ParseFor(f.Policy, algo.TrackPlacement)
	if err != nil {
		return f, err
	}
	r, err := runChecked(a, algorithm, a.in)
	for i, spots := range r.Spots {
		for _, s := range spots {
			f.Used[placeName(a.in.Requests[i].Profile, s.Start)]++
		}
	}
	return f, err
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
	for i, start := range r.Starts {
		sum += start - in.Requests[i].Arrival
	}
	return sum, err
}
