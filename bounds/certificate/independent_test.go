package certificate_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"miglab/bounds/certificate"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// tie is a duration for which sums tie exactly with a bound less its slack, as tie/(1-1e-9) is a float64.
const tie = 999_999_999. * 7 / (1 << 28)

// small returns a problem that a judge can decide. Every third has durations that tie, and costs nothing.
func small(r *rand.Rand, k int) schedule.Problem {
	g := mig.GPUs()[k%len(mig.GPUs())]
	p := schedule.Problem{GPU: g, Model: mig.Reconfiguration(r.IntN(3)), Count: 1 + r.IntN(2)*r.IntN(3)}
	ties := r.IntN(3) == 0
	scale := math.Exp(20*r.Float64() - 10)
	switch {
	case ties:
		p.Model = mig.Free
	case k/len(mig.GPUs())%2 == 0: // chain orders are for such problems alone
		p.Model, p.Count = mig.Sequential, 1
	}
	for i := range 1 + r.IntN(5) {
		x := task.Task{Name: fmt.Sprint(i)}
		for _, s := range g.Sizes() {
			switch {
			case s < g.ComputeSlices && r.IntN(5) == 0:
			case ties:
				x.Set(s, mig.Seconds(tie*float64(1+r.IntN(6))))
			default:
				x.Set(s, mig.Seconds(scale*(0.1+r.Float64())))
			}
		}
		p.Tasks = append(p.Tasks, x)
		if i > 0 && r.IntN(2) == 0 { // equal tasks
			p.Tasks[i] = p.Tasks[i-1]
			p.Tasks[i].Name = x.Name
		}
	}
	if r.IntN(4) == 0 {
		for gpu := range p.Count {
			for i, in := range g.Partitions()[r.IntN(len(g.Partitions()))] {
				if i < 2 || r.IntN(3) == 0 { // a judge tries all orders in which they are destroyed
					p.Start = append(p.Start, schedule.Existing{GPU: gpu, Instance: in, BusyUntil: mig.Seconds(scale * r.Float64() * float64(r.IntN(2)))})
				}
			}
		}
	}
	if r.IntN(4) == 0 {
		for range p.Tasks {
			p.Release = append(p.Release, mig.Seconds(scale*r.Float64()))
		}
	}
	return p
}

// witnesses returns a witness of each kind that a judge can decide. Their bounds say nothing yet.
func witnesses(r *rand.Rand, j *judge) []certificate.Witness {
	n := int(j.p.GPU.ComputeSlices)
	weights := slices.Repeat([]float64{1 / float64(n)}, n)
	switch r.IntN(3) {
	case 0: // weights that are exact
		clear(weights)
		for range 8 {
			weights[r.IntN(n)] += 1. / 8
		}
	case 1:
		left := 1.
		for l := range n - 1 {
			weights[l] = left * r.Float64()
			left -= weights[l]
		}
		weights[n-1] = left
	}
	all := []certificate.Witness{{Kind: certificate.Area}, {Kind: certificate.SliceWeights, Weights: weights}}
	if j.chains != nil {
		all = append(all, certificate.Witness{Kind: certificate.Chains})
	}
	if j.orders != nil {
		all = append(all, certificate.Witness{Kind: certificate.ChainOrders})
	}
	if j.optimum != nil {
		all = append(all, certificate.Witness{Kind: certificate.Search})
	}
	price, equal := r.Float64(), r.IntN(2) == 0
	w := certificate.Witness{Kind: certificate.TaskPrices, Cells: 1 + r.IntN(9)}
	for range j.p.Tasks {
		if !equal {
			price = r.Float64()
		}
		w.Prices = append(w.Prices, price)
	}
	return append(all, w)
}

// edge sets the bound to the largest that a bisection finds to be proven.
func edge(j *judge, w certificate.Witness) certificate.Witness {
	low, high := mig.Seconds(1e-9), mig.Seconds(1e9)
	for math.Nextafter(float64(low), math.Inf(1)) < float64(high) {
		w.Bound = low + (high-low)/2
		if low*4 < high {
			w.Bound = mig.Seconds(math.Sqrt(float64(low * high)))
		}
		if j.proves(w) {
			low = w.Bound
		} else {
			high = w.Bound
		}
	}
	w.Bound = low
	return w
}

// mutate changes a witness in one way, mostly by one unit in the last place.
func mutate(r *rand.Rand, w certificate.Witness) certificate.Witness {
	w.Weights, w.Prices = slices.Clone(w.Weights), slices.Clone(w.Prices)
	numbers := w.Weights
	if w.Kind == certificate.TaskPrices {
		numbers = w.Prices
	}
	step := func(x float64) float64 { return max(0, math.Nextafter(x, float64(r.IntN(2))*math.MaxFloat64)) }
	for range r.IntN(4) {
		w.Bound = mig.Seconds(step(float64(w.Bound)))
	}
	some := r.IntN(max(1, len(numbers)))
	switch change := r.IntN(8); {
	case change == 0:
		w.Bound *= mig.Seconds(1 + (r.Float64()-0.5)*4e-9)
	case change == 1:
		w.Bound *= mig.Seconds(0.5 + r.Float64())
	case change == 2 && w.Kind == certificate.SliceWeights:
		w.Threshold = w.Bound * mig.Seconds(1+r.Float64()*float64(r.IntN(2)))
		for range r.IntN(3) {
			w.Threshold = mig.Seconds(step(float64(w.Threshold)))
		}
	case change == 2:
		w.Cells = max(1, w.Cells+r.IntN(3)-1)
	case numbers == nil:
	case change == 3:
		numbers[some] = step(numbers[some])
	case change == 4:
		r.Shuffle(len(numbers), func(i, k int) { numbers[i], numbers[k] = numbers[k], numbers[i] })
	case change == 5:
		scale := []float64{0.5, 3, 1 << 40, 1e-9, 1 + 1e-9, 1 - 1e-10}[r.IntN(6)]
		for i := range numbers {
			numbers[i] *= scale
		}
	case change == 6:
		copy(numbers, slices.Repeat([]float64{slices.Max(numbers)}, len(numbers)))
	}
	if w.Kind != certificate.TaskPrices {
		w.Cells = 0
	}
	return w
}

// TestVerifierAgreesWithAnIndependentOne mutates witnesses of all kinds whose bounds are as large as they can be.
func TestVerifierAgreesWithAnIndependentOne(t *testing.T) {
	total, each := deep.N(4_000, 10_000), deep.N(20, 60) // so that few mutations are of problems on all boards
	if os.Getenv("MIGLAB_LONG") == "1" {
		total = 100_000
	}
	accepted, refused := map[string]int{}, map[string]int{}
	boards := map[string]bool{}
	for k := 0; total > 0; k++ {
		r := rand.New(rand.NewPCG(39, uint64(k)))
		p := small(r, k)
		j := newJudge(p)
		boards[p.GPU.Name] = true
		for _, of := range witnesses(r, j) {
			of = edge(j, of)
			for range each {
				w := mutate(r, of)
				total--
				err := certificate.VerifyWitness(p, w)
				if (err == nil) != j.proves(w) {
					t.Fatalf("problem %d: the independent verifier says %v, the package %v\n%+v\n%+v", k, j.proves(w), err, p, w)
				}
				if err != nil {
					refused[w.Kind]++
					continue
				}
				accepted[w.Kind]++
				if j.optimum != nil && j.optimum.Cmp(slacken(w.Bound)) < 0 {
					t.Fatalf("problem %d: a bound of %v is proven, the optimum is %v\n%+v\n%+v", k, w.Bound, j.optimum.FloatString(20), p, w)
				}
			}
		}
	}
	t.Logf("accepted %v, refused %v, %d boards", accepted, refused, len(boards))
	for _, kind := range []string{certificate.Area, certificate.SliceWeights, certificate.TaskPrices, certificate.Chains, certificate.ChainOrders, certificate.Search} {
		if accepted[kind] < 50 || refused[kind] < 50 {
			t.Errorf("of the kind %s %d are accepted and %d refused; that tests little", kind, accepted[kind], refused[kind])
		}
	}
	if len(boards) < len(mig.GPUs()) {
		t.Errorf("only %d of %d boards are tested", len(boards), len(mig.GPUs()))
	}
}

// TestAcceptanceAgreesWithAnIndependentOne does the same with prices of requests.
func TestAcceptanceAgreesWithAnIndependentOne(t *testing.T) {
	less := 0
	for k := range deep.N(200, 1_000) {
		r := rand.New(rand.NewPCG(40, uint64(k)))
		g := mig.GPUs()[k%len(mig.GPUs())]
		profiles := task.RequestProfiles(g)
		gpus := []int{1, 1 + r.IntN(4), 1, math.MaxInt - r.IntN(2)}[r.IntN(4)]
		var requests []task.Request
		for range 10 + r.IntN(50) {
			q := task.Request{Arrival: r.IntN(5), Lifespan: 1 + r.IntN(6), Profile: profiles[r.IntN(len(profiles))]}
			if r.IntN(8) == 0 {
				q.Lifespan = task.Forever - r.IntN(2)
			}
			if q.Profile.Length == g.MemorySlices {
				q.GPUs = []int{0, 1, 2, 1 << 40, math.MaxInt}[r.IntN(5)]
			}
			requests = append(requests, q)
		}
		var instants []certificate.Instant
		for _, slot := range []int{math.MinInt, -1, 0, 1, 3, 4, 1 << 40, math.MaxInt} {
			if r.IntN(2) == 0 {
				continue
			}
			at := certificate.Instant{Slot: slot}
			for range profiles {
				at.Prices = append(at.Prices, []int{0, 1, certificate.PriceScale / 7, certificate.PriceScale/7 + 1, certificate.PriceScale}[r.IntN(5)])
			}
			instants = append(instants, at)
		}
		got, err := certificate.AcceptedAtMost(g, gpus, requests, instants)
		want := accepted(g, gpus, requests, instants)
		if err != nil || !want.IsInt64() || int64(got) != want.Int64() {
			t.Fatalf("stream %d: %d, %v; the independent verifier says %v\n%v\n%+v", k, got, err, want, requests, instants)
		}
		if got < len(requests) {
			less++
		}
	}
	if less < 30 {
		t.Errorf("only %d streams have a bound that says anything", less)
	}
}

// accepted computes the formula of [certificate.AcceptedAtMost] in rational numbers.
func accepted(g *mig.GPU, gpus int, requests []task.Request, instants []certificate.Instant) *big.Int {
	whole := func(x int) *big.Rat { return new(big.Rat).SetInt64(int64(x)) }
	profiles, sum := task.RequestProfiles(g), new(big.Rat)
	price := func(at certificate.Instant, p *mig.Profile) *big.Rat {
		return big.NewRat(int64(at.Prices[slices.Index(profiles, p)]), certificate.PriceScale)
	}
	for _, at := range instants {
		dearest := new(big.Rat)
		for _, part := range g.PartitionsOf(func(p *mig.Profile) bool { return slices.Contains(profiles, p) }) {
			earned := new(big.Rat)
			for _, in := range part {
				earned = add(earned, price(at, in.Profile))
			}
			dearest = most(dearest, earned)
		}
		sum = add(sum, mul(whole(gpus), dearest))
	}
	for _, q := range requests {
		charged := new(big.Rat)
		for _, at := range instants {
			slot := whole(at.Slot)
			ends := add(whole(q.Arrival), whole(q.Lifespan))
			forever := q.Lifespan > task.Forever-q.Arrival
			if slot.Cmp(whole(q.Arrival)) >= 0 && (forever || slot.Cmp(ends) < 0) {
				charged = add(charged, mul(whole(q.Instances()), price(at, q.Profile)))
			}
		}
		if q.Instances() <= gpus && charged.Cmp(whole(1)) < 0 {
			sum = add(sum, new(big.Rat).Sub(whole(1), charged))
		}
	}
	sum = least(sum, whole(len(requests)))
	return new(big.Int).Quo(sum.Num(), sum.Denom())
}
