package certificate

import (
	"fmt"
	"math/big"

	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// verifyWeights checks that the weighted time of the slices before the bound is not enough for the tasks.
func (w *Witness) verifyWeights(p *schedule.Problem) error {
	weights, err := w.exactWeights(p.GPU)
	if err != nil {
		return err
	}
	if w.Threshold != 0 && !(w.Threshold >= w.Bound && w.Threshold < inf) {
		return fmt.Errorf("threshold_s is %v; it cannot prove the larger bound %v", w.Threshold, w.Bound)
	}
	need, usable := w.needed(p, weights)
	if need == nil {
		return nil
	}
	limit, have := product(exact(w.Bound), slackKept), new(big.Int)
	for l, x := range weights {
		var from *big.Int
		for _, v := range p.GPU.Tree() {
			if v.Mask()>>l&1 != 0 && usable[v.Size()] {
				from = smaller(from, exact(p.Model.Cost(v.Profile.Create)))
			}
		}
		if from == nil {
			continue
		}
		time := new(big.Int).Sub(limit, product(from, slackWhole))
		if time.Sign() > 0 {
			have.Add(have, product(x, time))
		}
	}
	have.Mul(have, big.NewInt(int64(p.GPUs())))
	if have.Cmp(product(need, slackWhole)) >= 0 {
		have.Quo(have, slackWhole)
		return fmt.Errorf("before %v s the slices have %v weighted slice-seconds; the tasks need only %v", w.Bound,
			seconds(have.Rsh(have, fineBits)), seconds(need.Rsh(need, fineBits)))
	}
	return nil
}

// needed returns the weighted slice-seconds that the tasks need on sizes on which they can end before the threshold,
// and these sizes. It returns nil if a task has no such size.
func (w *Witness) needed(p *schedule.Problem, weights []*big.Int) (*big.Int, map[mig.Slices]bool) {
	lightest := map[mig.Slices]*big.Int{}
	for _, v := range p.GPU.Tree() {
		lightest[v.Size()] = smaller(lightest[v.Size()], coverWeight(v.Instance, weights))
	}
	need := new(big.Int)
	usable := map[mig.Slices]bool{}
	for i := range p.Tasks {
		var least *big.Int
		for _, s := range p.GPU.Sizes() {
			if w.possible(p, i, s) {
				usable[s] = true
				least = smaller(least, product(lightest[s], exact(p.Tasks[i].On(s))))
			}
		}
		if least == nil {
			return nil, nil
		}
		need.Add(need, least)
	}
	return need, usable
}

// exactWeights returns the weights. They must be one for each slice, finite, not negative, and add up to 1.
func (w *Witness) exactWeights(g *mig.GPU) (weights []*big.Int, err error) {
	if len(w.Weights) != int(g.ComputeSlices) {
		return nil, fmt.Errorf("there are %d weights for the %d compute slices of %v", len(w.Weights), g.ComputeSlices,
			g)
	}
	left, sum := exact(1.), 0.
	for l, x := range w.Weights {
		if !(x >= 0 && x < float64(inf)) {
			return nil, fmt.Errorf("the weight of slice %d is %v; it is a number that is not less than 0", l, x)
		}
		weights = append(weights, exact(x))
		left.Sub(left, weights[l])
		sum += x
	}
	if product(left.Abs(left), slackWhole).Cmp(exact(1.)) > 0 {
		return nil, fmt.Errorf("the weights add up to %v instead of 1", sum)
	}
	return weights, nil
}

// coverWeight returns the sum of the weights of the compute slices that an instance covers.
func coverWeight(in mig.Instance, weights []*big.Int) *big.Int {
	sum := new(big.Int)
	for l, x := range weights {
		if in.Mask()>>l&1 != 0 {
			sum.Add(sum, x)
		}
	}
	return sum
}

// possible reports whether a task can end on a size before the threshold less its slack: after its release, on an
// instance that is created at once.
func (w *Witness) possible(p *schedule.Problem, i int, s mig.Slices) bool {
	if !p.Tasks[i].Fits(s) {
		return false
	}
	end := exact(max(p.Model.Cost(p.GPU.Profile(s).Create), p.ReleaseOf(i)))
	end.Add(end, exact(p.Tasks[i].On(s)))
	return w.Threshold == 0 || product(end, slackWhole).Cmp(product(exact(w.Threshold), slackKept)) < 0
}
