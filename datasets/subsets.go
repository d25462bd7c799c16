package datasets

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// subsets are DRL 5.1.1's subsets of the measured kernels: 100 different ones with at
// least n kernels and 100 with fewer, each in 5 orders, cut in batches of n. Every
// subset is equally likely. The paper draws from 18 Rodinia and Altis kernels, whose
// times are not public; the 16 Rodinia kernels that are stand in for them.
//
// Larger subsets come first, so that instances with a part of a number are the first
// of all.
type subsets struct {
	n    int
	seed uint64
	// part is 0 for all batches.
	part int
	// kernels are the subsets, which n and seed settle, as bit sets of kernels in the
	// published order.
	kernels [2 * subsetsOfEach]uint16
}

const (
	subsetsName    = "drl/RODINIA"
	subsetKernels  = 16
	subsetsOfEach  = 100
	ordersOfSubset = 5
)

func parseSubsets(pairs []string) (Spec, error) {
	s := subsets{n: 14, seed: 1}
	// Beyond these limits there are no 100 different subsets on one side.
	err := setParameters(pairs, []parameter{count("n", &s.n, 3, subsetKernels-2), seed(&s.seed), count("part", &s.part, 1, maxCount)})
	if err == nil {
		s.choose()
		err = checkPart(s.part, len(cut(bits.OnesCount16(s.kernels[0]), s.n)))
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func subsetsInfo() Info {
	return Info{
		Name: subsetsName,
		Summary: "subsets of the 16 public Rodinia kernels in place of RODINIA + ALTIS, whose Altis kernels are not public: " +
			"100 of at least n, 100 of fewer, 5 orders each, in batches of n (14); seed (1), part",
		Source: "DRL 5.1.1",
	}
}

func (s subsets) ID() string {
	var p []string
	if s.n != 14 {
		p = append(p, "n="+strconv.Itoa(s.n))
	}
	if s.seed != 1 {
		p = append(p, "seed="+strconv.FormatUint(s.seed, 10))
	}
	if s.part != 0 {
		p = append(p, "part="+strconv.Itoa(s.part))
	}
	return canonical(subsetsName, p)
}

func (s subsets) Instances() int {
	n := 0
	for _, k := range s.kernels {
		if bits.OnesCount16(k) > (s.part-1)*s.n {
			n += ordersOfSubset
		}
	}
	return n
}

// choose draws the subsets.
func (s *subsets) choose() {
	rng := rand.New(hashed(fmt.Appendf(nil, "workload=%s\nn=%d\nseed=%d", subsetsName, s.n, s.seed)))
	var sides [2][]uint16
	for k := uint16(1); k != 0; k++ {
		side := 0
		if bits.OnesCount16(k) < s.n {
			side = 1
		}
		sides[side] = append(sides[side], k)
	}
	for side, all := range sides {
		for i := range subsetsOfEach { // the beginning of a shuffle
			j := i + rng.IntN(len(all)-i)
			all[i], all[j] = all[j], all[i]
		}
		copy(s.kernels[side*subsetsOfEach:], all[:subsetsOfEach])
	}
	slices.SortStableFunc(s.kernels[:], func(a, b uint16) int { return cmp.Compare(bits.OnesCount16(b), bits.OnesCount16(a)) })
}

func (s subsets) Instance(g *mig.GPU, index int) (task.Payload, error) {
	if err := checkIndex(s, index); err != nil {
		return nil, err
	}
	all, err := InstanceOf[task.Batches](measured{kernelSet: kernelsNamed("rodinia"), copies: 1}, g, 0)
	if err != nil {
		return nil, err
	}
	subset := s.kernels[index/ordersOfSubset]
	var b task.Batch
	for i, t := range all.Tasks {
		if subset&(1<<i) != 0 {
			b = append(b, t)
		}
	}
	rng := rand.New(pcg(fmt.Appendf(nil, "order=%s\nn=%d", subsetsName, s.n), s.seed, g, index))
	rng.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
	return cutOf(b, s.n, s.part), nil
}
