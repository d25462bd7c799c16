package bounds

import (
	"context"
	"math"
	"slices"

	"miglab/bounds/certificate"
	"miglab/harness/mig"
)

const (
	// nearCuts is how many of the largest cuts are tried, for more than 100 tasks fewer, and
	// farCuts how many of the others.
	nearCuts, farCuts = 200, 50
	// roundedSteps is how many thresholds are tried.
	roundedSteps = 24
	// mixes is how many shares of rounded durations are tried.
	mixes = 50
)

// rounded returns the rounded-weights term of [Prove]. It is the slice-weights term with
// durations rounded in part by a dual feasible function (Fekete and Schepers, Mathematical
// Programming 2001), which knows that two long tasks do not fit one slice. Let H be a
// threshold, C = H - min dead(g, l), and w weights of the slices as in [sliceWeights]. With a
// cut of at most C/2 and a share mix,
//
//	r(t) = 0 if t < cut; C if t > C - cut; t otherwise,
//	q(t) = (1 - mix) t + mix r(t).
//
// If sum_i min_v w(v) q(t_i(|v|)) > C * GPUs, where the minimum is over the options that can end
// before H, then no makespan is below H.
//
// PROVEN: take a schedule with a makespan below H. The tasks on a slice run one at a time after
// the least dead(g, l) and before H, so their durations add up to less than C. If one of them
// exceeds C - cut, the others are shorter than the cut, so their r add up to C; otherwise no r
// exceeds its duration. So the r, and with them the q, of the tasks on a slice add up to C at
// most. Weighted and summed over the slices of all GPUs, this is C * GPUs at most, and task i
// counts w(v) q(t_i(|v|)) on the node v that runs it.
//
// Any H, w, cut and mix may be tried. H comes from bisection, w is that of [sliceWeights] or
// uniform, and the cuts are those at which some r changes. [Prove] uses it for several GPUs
// only: one GPU with few tasks has chains, and with many tasks rounding matters little.
func (s *sliceWeights) rounded(ctx context.Context, lower, atMost mig.Seconds) Witness {
	uniform := make([]float64, len(s.current))
	for l := range uniform {
		uniform[l] = 1 / float64(len(uniform))
	}
	candidates := [][]float64{slices.Clone(s.weights), uniform}
	out := Witness{Bound: lower}
	high := min(atMost, mig.Seconds(1.25*float64(lower)))
	for range roundedSteps {
		h := (out.Bound + high) / 2
		if w, ok := s.roundedAt(ctx, h, candidates); ok {
			out = w
		} else {
			high = h
		}
	}
	return out
}

// roundedAt returns a witness for the threshold, none once ctx is done.
func (s *sliceWeights) roundedAt(ctx context.Context, h mig.Seconds, candidates [][]float64) (Witness, bool) {
	usable := make([]bool, len(s.options.sizes))
	for i, times := range s.options.times {
		for j, t := range times {
			s.times[i][j] = mig.Seconds(math.Inf(1))
			if s.options.ends[i][j] < h {
				s.times[i][j], usable[j] = t, true
			}
		}
	}
	dead := deadSlices(s.problem, usable)
	if len(dead) == 0 {
		return Witness{}, false
	}
	room := h - dead[0].until
	have := float64(room) * float64(s.problem.GPUs())
	for _, cut := range s.cuts(room) {
		if ctx.Err() != nil {
			break
		}
		for _, w := range candidates {
			copy(s.current, w)
			for k := range mixes {
				mix := float64(k+1) / mixes
				if s.roundedCharge(room, cut, mix) > have*(1+1e-8) {
					return Witness{Kind: certificate.RoundedWeights, Bound: h, Weights: w, Cut: cut, Mix: mix}, true
				}
			}
		}
	}
	return Witness{}, false
}

// cuts returns cuts at which the rounding of some option changes, the largest first.
func (s *sliceWeights) cuts(room mig.Seconds) []mig.Seconds {
	var all []mig.Seconds
	half := mig.Seconds(float64(room) / 2 * (1 - 1e-7))
	for _, times := range s.times {
		for _, t := range times {
			switch {
			case t <= room/2:
				all = append(all, min(half, t))
			case t < room:
				all = append(all, min(half, mig.Seconds(float64(room-t)*(1+1e-6))))
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	slices.Reverse(all)
	out := slices.Clone(all[:min(nearCuts, 1+100*nearCuts/len(s.times), len(all))])
	rest := all[len(out):]
	for k := 0; k < len(rest); k += 1 + len(rest)/farCuts {
		out = append(out, rest[k])
	}
	return out
}

// roundedCharge returns sum_i min_v w(v) q(t_i(|v|)).
func (s *sliceWeights) roundedCharge(room, cut mig.Seconds, mix float64) float64 {
	weight := s.bySize()
	var sum float64
	for _, times := range s.times {
		least := math.Inf(1)
		for j, t := range times {
			r := t
			switch {
			case math.IsInf(float64(t), 1):
				continue
			case t < cut:
				r = 0
			case t > room-cut:
				r = room
			}
			q := float64((1-mix)*float64(t)) + float64(mix*float64(r))
			least = min(least, float64(weight[j]*q))
		}
		sum += least
	}
	return sum
}
