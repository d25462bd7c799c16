package certificate

import (
	"fmt"
	"math"

	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// verifyWeights checks that the weighted time of the slices before the bound is not enough for the tasks.
//
// At any instant the nodes that run tasks weigh at most as much as the slices on which something can run by then. So up
// to the makespan the slices have at least as much weighted time as the tasks need, each on its node of least weight
// times duration. In a schedule that ends before the threshold, every task ends before it, so options that cannot do so
// are left out.
func (w *Witness) verifyWeights(p *schedule.Problem) error {
	if err := w.verifySum(p); err != nil {
		return err
	}
	threshold := inf
	if w.Threshold != 0 {
		threshold = w.Threshold
	}
	if !(threshold > 0) || threshold < w.Bound {
		return fmt.Errorf("threshold_s is %v; it cannot prove the larger bound %v", w.Threshold, w.Bound)
	}
	ends := earliestEnds(p)
	possible := func(i int, s mig.Slices) bool { return ends[i][s] < threshold }

	var need float64
	for i := range p.Tasks {
		least := math.Inf(1)
		for _, v := range p.GPU.Tree() {
			if possible(i, v.Size()) {
				least = min(least, w.of(v.Instance)*float64(p.Tasks[i].On(v.Size())))
			}
		}
		need += least
	}
	var have float64
	for gpu := range p.GPUs() {
		for l, x := range w.Weights {
			from := inf
			for _, v := range p.GPU.Tree() {
				for i := range p.Tasks {
					if v.Mask()>>l&1 != 0 && possible(i, v.Size()) {
						from = min(from, earliest(p, gpu, v.Instance))
					}
				}
			}
			if from < w.below() {
				have += x * float64(w.below()-from)
			}
		}
	}
	if have >= need {
		return fmt.Errorf("before %v s the slices have %v weighted slice-seconds; the tasks need only %v", w.Bound,
			have, need)
	}
	return nil
}

// verifySum checks that there is a weight for each slice and that they add up to 1.
func (w *Witness) verifySum(p *schedule.Problem) error {
	if len(w.Weights) != int(p.GPU.ComputeSlices) {
		return fmt.Errorf("there are %d weights for the %d compute slices of %v", len(w.Weights),
			p.GPU.ComputeSlices, p.GPU)
	}
	var sum float64
	for l, x := range w.Weights {
		if !(x >= 0) {
			return fmt.Errorf("the weight of slice %d is %v, less than 0", l, x)
		}
		sum += x
	}
	if !(math.Abs(sum-1) <= 1e-9) {
		return fmt.Errorf("the weights add up to %v instead of 1", sum)
	}
	return nil
}

// of returns the weight of a node: the sum over the compute slices that it covers.
func (w *Witness) of(in mig.Instance) float64 {
	var sum float64
	for l, x := range w.Weights {
		if in.Mask()>>l&1 != 0 {
			sum += x
		}
	}
	return sum
}

// earliest returns when a task can begin on a node of a GPU.
func earliest(p *schedule.Problem, gpu int, in mig.Instance) mig.Seconds {
	var free mig.Seconds
	for _, e := range p.Start {
		switch {
		case e.GPU != gpu || !e.Instance.Overlaps(in):
		case e.Instance.Start == in.Start && e.Instance.Size() == in.Size():
			return e.BusyUntil
		default:
			free = max(free, e.BusyUntil+p.Model.Cost(e.Instance.Profile.Destroy))
		}
	}
	return free + p.Model.Cost(in.Profile.Create)
}
