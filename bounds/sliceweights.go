package bounds

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"miglab/bounds/certificate"
	"miglab/harness/algo"
	"miglab/harness/mig"
)

// sliceWeights computes the slice-weights term of [Prove], a dual solution of the configuration linear program.
//
// The term is the least T for which the slices have as much weighted time until T as the tasks need. Package
// certificate defines both and proves the term. If a task fits one slice, T is create(1) + sum_i min_v w(v) t_i(|v|) /
// GPUs.
//
// An option is a task on a size. With a threshold H, the options that cannot end before H are left out. If the least T
// of the remaining options is at least H, no makespan is below H. Bisection finds the largest H: the set of options
// changes only at their ends, and the fewer options are left out, the lower is the term.
//
// Any w is valid, so the best w need not be found. The right side is concave in w, so it is largest where slices that
// the tree's symmetry exchanges weigh the same: three weights on the 7-slice models (slices 0 to 3, 4 and 5, 6) and one
// on A30. Nested golden section searches find them.
type sliceWeights struct {
	problem *algo.Problem
	// ends has the earliest end of each option, and durations its duration, by task and size index; +Inf if the task
	// does not fit.
	ends, durations [][]mig.Seconds
	// times are the durations of the options that are not left out, +Inf for the others.
	times [][]mig.Seconds
	dead  []deadSlice
	// current are the weights to evaluate and weights the best weights so far, by slice; bound is the term of weights.
	current, weights []float64
	bound            mig.Seconds
}

// A deadSlice is a compute slice on which no task can run before an instant.
type deadSlice struct {
	until mig.Seconds
	slice int
}

func newSliceWeights(p *algo.Problem) *sliceWeights {
	s := &sliceWeights{problem: p, current: make([]float64, p.GPU.ComputeSlices)}
	for i := range p.Tasks {
		var ends, times []mig.Seconds
		for _, size := range p.GPU.Sizes() {
			ready := p.Model.Cost(p.GPU.Profile(size).Create)
			takes := p.Tasks[i].On(size)
			ends = append(ends, max(p.ReleaseOf(i), ready)+takes)
			times = append(times, takes)
		}
		s.ends = append(s.ends, ends)
		s.durations = append(s.durations, times)
		s.times = append(s.times, slices.Clone(times))
	}
	return s
}

// prove returns the witness of the term. lower is the bound of the other terms.
func (s *sliceWeights) prove(lower mig.Seconds) Witness {
	inf := mig.Seconds(math.Inf(1))
	plain := s.maximize(inf)
	w := Witness{Kind: certificate.SliceWeights, Bound: plain, Weights: s.weights}

	useless := func(e mig.Seconds) bool { return e < max(plain, lower) || e >= inf }
	ends := slices.DeleteFunc(slices.Concat(s.ends...), useless)
	slices.Sort(ends)
	ends = slices.Compact(ends)
	// Without the options that end at ends[k] or later, the term reaches ends[k] exactly if k < first.
	first := sort.Search(len(ends), func(k int) bool { return s.maximize(ends[k]) < ends[k] })
	var threshold mig.Seconds
	if first < len(ends) {
		threshold = s.maximize(ends[first])
	}
	if first > 0 && ends[first-1] >= threshold {
		threshold = ends[first-1]
		s.maximize(threshold)
	}
	if threshold > plain {
		w = Witness{Kind: certificate.SliceWeights, Bound: threshold, Threshold: threshold, Weights: s.weights}
	}
	return w
}

// maximize returns the term without the options that end at the threshold or later, and stores its weights in s.
func (s *sliceWeights) maximize(threshold mig.Seconds) mig.Seconds {
	usable := make([]bool, len(s.problem.GPU.Sizes()))
	for i, times := range s.durations {
		for j, t := range times {
			if s.ends[i][j] >= threshold {
				t = mig.Seconds(math.Inf(1))
			}
			s.times[i][j] = t
			usable[j] = usable[j] || !math.IsInf(float64(t), 1)
		}
	}
	s.dead = deadSlices(s.problem, usable)
	s.bound, s.weights = 0, nil
	s.divide(leafClasses(s.problem.GPU), 1)
	return s.bound
}

// divide divides a weight between the slices of the classes in the best way and returns the term.
func (s *sliceWeights) divide(classes [][]int, weight float64) mig.Seconds {
	give := func(w float64) {
		for _, l := range classes[0] {
			s.current[l] = w / float64(len(classes[0]))
		}
	}
	if len(classes) == 1 {
		give(weight)
		return s.evaluate()
	}
	at := func(w float64) mig.Seconds {
		give(w)
		return s.divide(classes[1:], weight-w)
	}
	const (
		steps = 32                 // the interval shrinks to ratio^32 of the weight, 2e-7
		ratio = 0.6180339887498949 // 1 / golden ratio, with which each step needs a single new value
	)
	low, high := 0.0, weight
	a, b := high-float64(ratio*(high-low)), low+float64(ratio*(high-low))
	atA, atB := at(a), at(b)
	for range steps {
		if atA < atB {
			low, a, atA = a, b, atB
			b = low + float64(ratio*(high-low))
			atB = at(b)
		} else {
			high, b, atB = b, a, atA
			a = high - float64(ratio*(high-low))
			atA = at(a)
		}
	}
	return max(atA, atB)
}

// evaluate returns the term with the current weights, and stores both if they are the best so far.
func (s *sliceWeights) evaluate() mig.Seconds {
	bound := s.timeToSupply(s.weightedWork())
	if s.weights == nil || bound > s.bound {
		s.bound, s.weights = bound, slices.Clone(s.current)
	}
	return bound
}

// weightedWork returns sum_i min_v w(v) t_i(|v|): the weighted time that the tasks need at least.
func (s *sliceWeights) weightedWork() float64 {
	bySize := s.leastWeights()
	var sum float64
	for _, times := range s.times {
		least := math.Inf(1)
		for j, t := range times {
			// A weight of 0 times +Inf is NaN, which is not less.
			work := float64(bySize[j] * float64(t))
			if work < least {
				least = work
			}
		}
		sum += least
	}
	return sum
}

// leastWeights returns the least weight of a node of each size, by index of the size.
func (s *sliceWeights) leastWeights() (least [mig.MaxSize]float64) {
	for j, covers := range sizeCovers(s.problem.GPU) {
		least[j] = math.Inf(1)
		for _, c := range covers {
			least[j] = min(least[j], c.weight(s.current))
		}
	}
	return least
}

// timeToSupply returns the least T until which the slices have as much weighted time as the work.
func (s *sliceWeights) timeToSupply(work float64) mig.Seconds {
	if work == 0 {
		return 0
	}
	// For T between the last until met and the next, that time is slope T - constant.
	var slope, constant float64
	gpus := float64(s.problem.GPUs())
	for _, d := range s.dead {
		if float64(slope*float64(d.until))-constant >= work {
			break
		}
		w := float64(s.current[d.slice] * gpus)
		slope += w
		constant += float64(w * float64(d.until))
	}
	return mig.Seconds((work + constant) / slope)
}

// deadSlices returns the dead slices in order of time, without slices that no task can use. usable is by size index.
func deadSlices(p *algo.Problem, usable []bool) []deadSlice {
	var dead []deadSlice
	for l := range int(p.GPU.ComputeSlices) {
		until := mig.Seconds(math.Inf(1))
		for _, n := range p.GPU.Tree() {
			if n.Mask()>>l&1 != 0 && usable[slices.Index(p.GPU.Sizes(), n.Size())] {
				until = min(until, p.Model.Cost(n.Profile.Create))
			}
		}
		if !math.IsInf(float64(until), 1) {
			dead = append(dead, deadSlice{until, l})
		}
	}
	slices.SortStableFunc(dead, func(a, b deadSlice) int { return cmp.Compare(a.until, b.until) })
	return dead
}

// A cover is the set of compute slices that a node covers.
type cover []int

func (c cover) weight(bySlice []float64) float64 {
	var sum float64
	for _, l := range c {
		sum += bySlice[l]
	}
	return sum
}

func newCover(g *mig.GPU, in mig.Instance) cover {
	var c cover
	for l := range int(g.ComputeSlices) {
		if in.Mask()>>l&1 != 0 {
			c = append(c, l)
		}
	}
	return c
}

var sizeCovers = mig.Derived(func(g *mig.GPU) [][]cover {
	var out [][]cover
	for _, s := range g.Sizes() {
		var covers []cover
		for _, n := range g.Tree() {
			if n.Size() == s {
				covers = append(covers, newCover(g, n.Instance))
			}
		}
		out = append(out, covers)
	}
	return out
})

// leafClasses returns classes of compute slices that are covered by the same numbers of nodes of each size.
var leafClasses = mig.Derived(func(g *mig.GPU) [][]int {
	var classes [][]int
	var paths [][mig.MaxSize + 1]int
	for l := range int(g.ComputeSlices) {
		var path [mig.MaxSize + 1]int
		for _, n := range g.Tree() {
			if n.Mask()>>l&1 != 0 {
				path[n.Size()]++
			}
		}
		k := slices.Index(paths, path)
		if k < 0 {
			k = len(paths)
			paths, classes = append(paths, path), append(classes, nil)
		}
		classes[k] = append(classes[k], l)
	}
	return classes
})
