package bounds

import (
	"context"
	"fmt"
	"math"
	"slices"

	"miglab/bounds/certificate"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/task"
)

var _ = algo.Register(algo.Spec{
	Name: "offline-bound", Version: 3,
	Cite:    "ours; proof in certificate.AcceptedAtMost",
	Summary: "proven upper bound on the accepted requests of a stream, lower bounds where requests wait",
	New:     algo.NewOffline(func(algo.Args) (algo.Offline, error) { return offline{}, nil }),
})

type offline struct{}

// TurnaroundAtLeast implements [algo.Offline].
func (offline) TurnaroundAtLeast(g *mig.GPU, in task.Requests) (turnaround float64, end int) {
	return TurnaroundAtLeast(g, in)
}

// AcceptedAtMost implements [algo.Offline] with the upper bound that the prices of [ProveOffline] prove.
func (offline) AcceptedAtMost(ctx context.Context, g *mig.GPU, gpus int, requests []task.Request) (int, error) {
	instants, err := ProveOffline(ctx, g, gpus, requests)
	if err != nil {
		return 0, err
	}
	return certificate.AcceptedAtMost(g, gpus, requests, instants)
}

// ProveOffline returns prices that prove an upper bound on the number of requests that any scheduler can accept, even
// if it knows all requests in advance; [certificate.AcceptedAtMost] has the proof. The GPUs are empty at first.
//
// The prices are dual variables of a linear program: accept as much of the requests as possible, so that in each slot
// all GPUs together run no more than a mean of valid partitions would. The primal-dual hybrid gradient method with
// restarts (Applegate et al., NeurIPS 2021) comes near its optimum. The bound holds for any prices.
//
// It returns an error for a request that the model cannot run, or the context's error.
func ProveOffline(ctx context.Context, g *mig.GPU, gpus int, requests []task.Request) ([]certificate.Instant, error) {
	l, err := newLoads(g, gpus, requests)
	if err != nil {
		return nil, err
	}
	y := l.solve(ctx)
	var out []certificate.Instant
	for t, slot := range l.slots {
		prices := make([]int, l.profiles)
		for k, w := range l.facets {
			for p := range prices {
				prices[p] += int(math.Round(w[p] * y[t*len(l.facets)+k] * certificate.PriceScale))
			}
		}
		for p := range prices {
			prices[p] = min(prices[p], certificate.PriceScale)
		}
		if slices.Max(prices) > 0 {
			out = append(out, certificate.Instant{Slot: slot, Prices: prices})
		}
	}
	return out, ctx.Err()
}

// loads is the linear program of [ProveOffline]. The share x_i of request i is accepted, from 0 to 1. There is a row
// for each pair of a slot and a facet: the accepted shares of the requests that live in the slot weigh at most the
// number of GPUs. Rows are numbered slot by slot.
type loads struct {
	facets   [][]float64
	profiles int
	gpus     float64
	// slots are overloaded by all requests together, and no other slot holds the same requests and more.
	slots []int
	// requests are the requests that live in at least one of the slots.
	requests []lifetime
	// tau has a step size for each request, and sigma for each row; it is 0 for a row that no shares overload.
	tau, sigma []float64
	// sums is scratch by slot and profile, with one slot more than slots.
	sums []float64
}

// A lifetime is a request in the indices of the linear program.
type lifetime struct {
	arrival, departure int
	needs              []need
	// The request lives in slots[from:until].
	from, until int
}

// A need is a profile, by its index, and how many instances of it a request needs.
type need struct {
	profile   int
	instances float64
}

// listNeeds returns the needs of a request.
func listNeeds(q *task.Request, profiles []*mig.Profile) (out []need) {
	if q.Gang == nil {
		return []need{{slices.Index(profiles, q.Profile), float64(q.Instances())}}
	}
	for _, m := range q.Gang.Members {
		out = append(out, need{slices.Index(profiles, m.Profile), 1})
	}
	return out
}

// weigh returns the weight of all instances that are needed. weights has the weight of each profile.
func weigh(needs []need, weights []float64) (sum float64) {
	for _, n := range needs {
		sum += float64(weights[n.profile] * n.instances)
	}
	return sum
}

func newLoads(g *mig.GPU, gpus int, requests []task.Request) (*loads, error) {
	profiles := task.RequestProfiles(g)
	l := &loads{facets: facets(g), profiles: len(profiles), gpus: float64(gpus)}
	for i := range requests {
		q := &requests[i]
		p := slices.Index(profiles, q.Profile)
		if err := q.CheckGPUs(g); p < 0 || q.Lifespan < 1 || err != nil {
			return nil, fmt.Errorf("request %d asks for %v on %d GPUs for %d slots, which %v cannot give", i, q.Profile,
				q.Instances(), q.Lifespan, g)
		}
		departure := task.Forever
		if q.Lifespan <= task.Forever-q.Arrival {
			departure = q.Arrival + q.Lifespan
		}
		if !q.Exceeds(g, gpus) {
			l.requests = append(l.requests,
				lifetime{arrival: q.Arrival, departure: departure, needs: listNeeds(q, profiles)})
		}
	}
	l.index(l.fullest())
	weights := l.weights(l.ones())
	crowded := []int{}
	for t, slot := range l.slots {
		if slices.ContainsFunc(weights[t*len(l.facets):][:len(l.facets)], l.overloads) {
			crowded = append(crowded, slot)
		}
	}
	l.index(crowded)
	l.requests = slices.DeleteFunc(l.requests, func(q lifetime) bool { return q.from == q.until })
	l.setSteps()
	return l, nil
}

// loadSlack is larger than the relative error of a weight. A smaller excess over the number of GPUs is rounding.
const loadSlack = 1e-12

func (l *loads) overloads(weight float64) bool { return weight > l.gpus*(1+loadSlack) }

func (l *loads) ones() []float64 { return slices.Repeat([]float64{1}, len(l.requests)) }

// fullest returns the slots in which a request arrives and after which another departs before the next arrival.
func (l *loads) fullest() []int {
	var departures, out []int
	for _, q := range l.requests {
		departures = append(departures, q.departure)
	}
	slices.Sort(departures)
	for i, q := range l.requests {
		next, _ := slices.BinarySearch(departures, q.arrival+1)
		if i+1 == len(l.requests) || departures[next] <= l.requests[i+1].arrival {
			out = append(out, q.arrival)
		}
	}
	return out
}

// index sets slots, the from and until of the requests, and sums.
func (l *loads) index(slots []int) {
	l.slots = slots
	for i := range l.requests {
		q := &l.requests[i]
		q.from, _ = slices.BinarySearch(slots, q.arrival)
		q.until, _ = slices.BinarySearch(slots, q.departure)
	}
	l.sums = make([]float64, (len(slots)+1)*l.profiles)
}

// weights returns the weight of the shares x of the requests in each row.
func (l *loads) weights(x []float64) []float64 {
	clear(l.sums)
	for i := range l.requests {
		q := &l.requests[i]
		for _, n := range q.needs {
			v := float64(n.instances * x[i])
			l.sums[q.from*l.profiles+n.profile] += v
			l.sums[q.until*l.profiles+n.profile] -= v
		}
	}
	out := make([]float64, 0, len(l.slots)*len(l.facets))
	running := make([]float64, l.profiles)
	for t := range l.slots {
		for p, v := range l.sums[t*l.profiles:][:l.profiles] {
			running[p] += v
		}
		for _, w := range l.facets {
			sum := 0.0
			for p, v := range running {
				sum += float64(w[p] * v)
			}
			out = append(out, sum)
		}
	}
	return out
}

// charges returns the charge of each request, for all its instances over its life, at the prices y of the rows.
func (l *loads) charges(y []float64) []float64 {
	running := slices.Clone(l.sums[:l.profiles]) // any start is right, as only differences count
	for t := range l.slots {
		copy(l.sums[t*l.profiles:], running)
		for k, w := range l.facets {
			price := y[t*len(l.facets)+k]
			for p, v := range w {
				running[p] += float64(v * price)
			}
		}
	}
	copy(l.sums[len(l.slots)*l.profiles:], running)
	out := make([]float64, len(l.requests))
	for i := range l.requests {
		q := &l.requests[i]
		for _, n := range q.needs {
			charge := l.sums[q.until*l.profiles+n.profile] - l.sums[q.from*l.profiles+n.profile]
			out[i] += float64(n.instances * charge)
		}
	}
	return out
}

// setSteps sets each step to 1 over the sum of its row or column (Pock and Chambolle, ICCV 2011).
func (l *loads) setSteps() {
	l.sigma = l.weights(l.ones())
	rows := make([]float64, len(l.sigma))
	for r, weight := range l.sigma {
		l.sigma[r] = 0
		if l.overloads(weight) {
			l.sigma[r], rows[r] = 1/weight, 1
		}
	}
	l.tau = l.charges(rows)
	for i, c := range l.tau {
		if c > 0 {
			l.tau[i] = 1 / c
		}
	}
}

// bound returns the upper bound on the sum of the shares that the prices y prove.
func (l *loads) bound(y []float64) float64 {
	sum := 0.0
	for _, v := range y {
		sum += float64(l.gpus * v)
	}
	for _, c := range l.charges(y) {
		sum += max(0, 1-c)
	}
	return sum
}

// A point is a solution of the program and of its dual.
type point struct{ x, y []float64 }

// step takes one step of the primal-dual hybrid gradient method.
func (l *loads) step(at point) point {
	next := point{make([]float64, len(at.x)), make([]float64, len(at.y))}
	ahead := make([]float64, len(at.x))
	for i, c := range l.charges(at.y) {
		next.x[i] = min(max(at.x[i]+float64(l.tau[i]*(1-c)), 0), 1)
		ahead[i] = 2*next.x[i] - at.x[i]
	}
	for r, weight := range l.weights(ahead) {
		next.y[r] = max(at.y[r]+float64(l.sigma[r]*(weight-l.gpus)), 0)
	}
	return next
}

// The method restarts from the mean of roundSteps points, up to maxRounds times, within maxSteps steps of a request.
const (
	roundSteps = 100
	maxRounds  = 40
	maxSteps   = 100_000_000
)

// solve returns the prices of the rows with the least bound that it finds. It ends when ctx is done, or when no prices
// can lower the bound, rounded down, because the point accepts as much.
func (l *loads) solve(ctx context.Context) []float64 {
	at := point{l.ones(), make([]float64, len(l.sigma))}
	best := at.y
	least := l.bound(best)
	rounds := min(max(maxSteps/roundSteps/(len(l.requests)+1), 1), maxRounds)
	for range rounds {
		mean := point{make([]float64, len(at.x)), make([]float64, len(at.y))}
		for range roundSteps {
			if ctx.Err() != nil {
				return best
			}
			at = l.step(at)
			for i, x := range at.x {
				mean.x[i] += x / roundSteps
			}
			for r, y := range at.y {
				mean.y[r] += y / roundSteps
			}
		}
		for _, y := range [][]float64{at.y, mean.y} {
			bound := l.bound(y)
			if bound < least {
				least, best = bound, y
			}
		}
		at = mean
		if l.acceptable(at.x) >= math.Floor(least) {
			break
		}
	}
	return best
}

// acceptable returns the sum of the shares x after scaling them down until no row is overloaded.
func (l *loads) acceptable(x []float64) float64 {
	most := l.gpus
	for _, weight := range l.weights(x) {
		most = max(most, weight)
	}
	return sum(x) * l.gpus / most
}
