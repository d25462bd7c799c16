package certificate

import (
	"fmt"
	"math/big"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// verifyArea checks that the slices have too little time before the bound, for every set of sizes.
func (w *Witness) verifyArea(p *schedule.Problem) error {
	sizes := p.GPU.Sizes()
	var least *big.Int
	for bits := 1; bits < 1<<len(sizes); bits++ {
		var used []mig.Slices
		for i, s := range sizes {
			if bits>>i&1 != 0 {
				used = append(used, s)
			}
		}
		area := leastArea(p, used)
		if area != nil {
			least = smaller(least, area)
		}
	}
	capacity := int64(p.GPU.ComputeSlices) * int64(p.GPUs())
	have := product(product(exact(w.Bound), slackKept), big.NewInt(capacity))
	if product(least, slackWhole).Cmp(have) < 0 {
		return fmt.Errorf("area proves %v s only, not %v", seconds(least)/float64(capacity), w.Bound)
	}
	return nil
}

// leastArea returns the least size times time of the problem if the tasks run on the used sizes; nil if they cannot.
func leastArea(p *schedule.Problem, used []mig.Slices) *big.Int {
	sum := new(big.Int)
	for i := range p.Tasks {
		var least *big.Int
		for _, s := range used {
			if p.Tasks[i].Fits(s) {
				least = smaller(least, area(s, p.Tasks[i].On(s)))
			}
		}
		if least == nil {
			return nil
		}
		sum.Add(sum, least)
	}
	if p.Model == mig.Free {
		return sum
	}
	for _, s := range used {
		if !slices.ContainsFunc(p.Start, func(e schedule.Existing) bool { return e.Instance.Size() == s }) {
			sum.Add(sum, area(s, p.GPU.Profile(s).Create))
		}
	}
	var least *big.Int
	for _, gone := range endings(p.GPU, used, p.GPUs()) {
		takes := new(big.Int)
		for _, s := range gone {
			takes.Add(takes, area(s, p.GPU.Profile(s).Destroy))
		}
		least = smaller(least, takes)
	}
	return sum.Add(sum, least)
}

func area(s mig.Slices, t mig.Seconds) *big.Int { return product(big.NewInt(int64(s)), exact(t)) }

// smaller returns the smaller of two numbers, b if a is nil.
func smaller(a, b *big.Int) *big.Int {
	if a == nil || b.Cmp(a) < 0 {
		return b
	}
	return a
}

// endings returns, for each choice of the partitions in which the GPUs end, the used sizes that no partition holds.
func endings(g *mig.GPU, used []mig.Slices, gpus int) [][]mig.Slices {
	lists := [][]mig.Slices{used}
	for range min(gpus, len(used)) { // as many GPUs as sizes can end with all of them
		var next [][]mig.Slices
		for _, list := range lists {
			for _, part := range g.Partitions() {
				gone := slices.DeleteFunc(slices.Clone(list), func(s mig.Slices) bool {
					return slices.ContainsFunc(part, func(in mig.Instance) bool { return in.Size() == s })
				})
				if !slices.ContainsFunc(next, func(l []mig.Slices) bool { return slices.Equal(l, gone) }) {
					next = append(next, gone)
				}
			}
		}
		lists = next
	}
	return lists
}

// leastDestroy returns the shortest destroy of an instance of a size or of a larger one.
func leastDestroy(g *mig.GPU, size mig.Slices) mig.Seconds {
	least := inf
	for _, s := range g.Sizes() {
		if s >= size {
			least = min(least, g.Profile(s).Destroy)
		}
	}
	return least
}
