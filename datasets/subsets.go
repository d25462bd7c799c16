package datasets

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/task"
)

// subsets has subsets of the measured kernels, as DRL 5.1.1 draws them: 100 different subsets of at least n kernels and
// 100 of fewer, each in 5 orders, cut into batches of n. Every subset is equally likely. The paper draws from 18
// Rodinia and Altis kernels, whose times are not all public; the 16 public Rodinia kernels replace them.
//
// Larger subsets come first, so that the instances that have a given part are the first ones.
type subsets struct {
	n      int
	seed   uint64
	part   int    // the only batch of an instance, from 1; 0 for all batches
	orders string // the key of the random stream of the orders
	// kernels has each subset as a bit set of kernels in the published order. n and seed decide them.
	kernels [2 * subsetsOfEach]uint16
}

const (
	subsetsName   = "drl/RODINIA"
	subsetKernels = 16
	subsetsOfEach = 100 // of at least n kernels, and as many of fewer

	// OrdersOfSubset is the number of consecutive instances of drl/RODINIA that hold the same
	// kernels, in different orders.
	OrdersOfSubset = 5
)

var _ = Register(Family{
	Name: subsetsName, Source: "DRL 5.1.1",
	Doc: "subsets of the 16 public Rodinia kernels in place of RODINIA + ALTIS, whose Altis kernels are not public: " +
		"100 of at least n, 100 of fewer, 5 orders each, in batches of n",
	Params: []spec.Param{
		// Beyond these limits there are no 100 different subsets on one side.
		whole("n", 14, 3, subsetKernels-2, "tasks in a batch"),
		seedParam("seed", "of the subsets and their orders"),
		{Name: "part", Type: spec.Whole(1, maxCount), Doc: "the batch that is there by itself, from 1"},
	},
	New: func(_ string, a spec.Args) (Dataset, error) {
		s := subsets{
			n: a.Int("n"), seed: a.Uint("seed"), part: a.Int("part"),
			orders: streamKey("order="+subsetsName, a, "n"),
		}
		s.choose(streamKey("workload="+subsetsName, a, "n", "seed"))
		return s, checkPart(a, len(cut(bits.OnesCount16(s.kernels[0]), s.n)))
	},
})

// choose draws the subsets.
func (s *subsets) choose(key string) {
	rng := rand.New(Hashed([]byte(key)))
	var sides [2][]uint16             // the subsets of at least n kernels, and the smaller ones
	for k := uint16(1); k != 0; k++ { // all sets but the empty one; after the last, k overflows to 0
		side := 0
		if bits.OnesCount16(k) < s.n {
			side = 1
		}
		sides[side] = append(sides[side], k)
	}
	for side, all := range sides {
		for i := range subsetsOfEach { // shuffle only the beginning
			j := i + rng.IntN(len(all)-i)
			all[i], all[j] = all[j], all[i]
		}
		copy(s.kernels[side*subsetsOfEach:], all[:subsetsOfEach])
	}
	slices.SortStableFunc(s.kernels[:], func(a, b uint16) int {
		return cmp.Compare(bits.OnesCount16(b), bits.OnesCount16(a))
	})
}

func (s subsets) Instances() int {
	n := 0
	for _, k := range s.kernels {
		if bits.OnesCount16(k) > (s.part-1)*s.n {
			n += OrdersOfSubset
		}
	}
	return n
}

func (s subsets) Instance(g *mig.GPU, index int) (task.Payload, error) {
	all, err := InstanceOf[task.Batches](MustParse("rodinia"), g, 0)
	if err != nil {
		return nil, err
	}
	subset := s.kernels[index/OrdersOfSubset]
	var b task.Batch
	for i, t := range all.Tasks {
		if subset&(1<<i) != 0 {
			b = append(b, t)
		}
	}
	rng := rand.New(pcg(s.orders, s.seed, g, index))
	rng.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
	return cutBatches(b, s.n, s.part), nil
}
