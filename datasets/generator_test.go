package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
)

func classCounts(n int, weights []int) []int {
	counts := make([]int, len(weights))
	countClasses(counts, n, weights)
	return counts
}

func TestClassCounts(t *testing.T) {
	poorScaling, mixedScaling, goodScaling, mixScalingExtreme := scalingClasses[0], scalingClasses[1], scalingClasses[2], scalingClasses[3]
	for _, c := range []struct {
		n       int
		weights []int
		want    []int
	}{
		{10, poorScaling.sevenSlices, []int{5, 5, 0, 0, 0}},
		{15, poorScaling.sevenSlices, []int{8, 7, 0, 0, 0}}, // 7.5 each: the first size wins
		{14, mixedScaling.sevenSlices, []int{3, 3, 3, 3, 2}},
		{11, mixedScaling.sevenSlices, []int{3, 2, 2, 2, 2}},
		{1, mixedScaling.sevenSlices, []int{1, 0, 0, 0, 0}},
		{1, goodScaling.sevenSlices, []int{0, 0, 0, 1, 0}},
		{14, mixScalingExtreme.sevenSlices, []int{6, 1, 0, 1, 6}}, // 6.3 0.7 0 0.7 6.3
		{10, mixScalingExtreme.sevenSlices, []int{5, 1, 0, 0, 4}}, // 4.5 0.5 0 0.5 4.5
		{10, []int{10, 10, 20, 30, 30}, []int{1, 1, 2, 3, 3}},     // FAR Fig. 11
		{10, mixedScaling.fourSlices, []int{4, 3, 3}},
		{11, mixedScaling.fourSlices, []int{4, 4, 3}},
		{15, goodScaling.fourSlices, []int{0, 8, 7}},
		{15, mixScalingExtreme.fourSlices, []int{8, 0, 7}},
	} {
		if got := classCounts(c.n, c.weights); !slices.Equal(got, c.want) {
			t.Errorf("classCounts(%d, %v) = %v, want %v", c.n, c.weights, got, c.want)
		}
	}
}

func TestClassCountsStayWithinOneOfTheExactShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 1000).Draw(t, "n")
		weights := rapid.SliceOfN(rapid.IntRange(0, 100), 1, 5).Draw(t, "weights")
		weights[0]++ // not all zero
		total, sum := 0, 0
		for _, w := range weights {
			total += w
		}
		for i, c := range classCounts(n, weights) {
			sum += c
			if exact := float64(n*weights[i]) / float64(total); math.Abs(float64(c)-exact) >= 1 {
				t.Fatalf("class %d has %d tasks, exactly %v", i, c, exact)
			}
		}
		if sum != n {
			t.Fatalf("%d tasks, want %d", sum, n)
		}
	})
}

// plain returns the generator with one value of r for each speedup, so that the
// speedups of a task can be read off its times.
func (v *generator) plain() *generator {
	p := *v
	for kind, r := range []float64{superLinear: -0.5, nearLinear: 0, subLinear: 1} {
		p.r[kind] = clippedNormal{mean: r, low: r, high: r}
	}
	return &p
}

// ratios returns the r of the steps from 1, 2, ... slices.
func ratios(t times, slices mig.Slices) []float64 {
	var out []float64
	for k := 1; k < int(slices); k++ {
		out = append(out, t[k+1]/t[k]*float64(k+1)-float64(k))
	}
	return out
}

func drawShape(t *rapid.T) (shape, mig.Slices) {
	g := mig.MustLookup(rapid.SampledFrom([]string{"A30", "A100"}).Draw(t, "gpu"))
	return shape{
		size:        rapid.SampledFrom(g.Sizes()).Draw(t, "size"),
		memoryBound: rapid.Bool().Draw(t, "memory-bound"),
	}, g.ComputeSlices
}

// checkKinds says what is wrong with the speedups of a task, or nothing.
func checkKinds(v *generator, s shape, compute mig.Slices, kinds []speedup) error {
	left := false
	for i, kind := range kinds {
		have := mig.Slices(i + 1)
		var allowed []speedup
		switch {
		case have >= s.size:
			allowed = []speedup{subLinear}
		case !s.memoryBound:
			allowed = []speedup{nearLinear}
		case left:
			allowed = []speedup{nearLinear}
		case have == 1:
			allowed = []speedup{superLinear}
		case have == 3 && v.noBandwidthAt4 && compute == 7:
			// A task that left at 2 -> 3 is near-linear already.
			allowed = []speedup{subLinear, nearLinear}
			left = kind == nearLinear
		case have == 3 && v.noBandwidthAt4:
			allowed = []speedup{nearLinear}
		case have == 4 && v.noBandwidthAt4:
			allowed = []speedup{superLinear} // no draw follows 3 -> 4
		default:
			allowed = []speedup{superLinear, nearLinear}
			left = kind == nearLinear
		}
		if !slices.Contains(allowed, kind) {
			return fmt.Errorf("speedup %d from %d slices, want one of %v", kind, have, allowed)
		}
	}
	return nil
}

func TestSpeedupsFollowTheSize(t *testing.T) {
	for _, v := range generators {
		t.Run(v.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s, slices := drawShape(t)
				rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
				drawn := v.plain().durations(rng, 50, s, slices, rapid.SampledFrom([]float64{0, 0.1, 0.3, 1}).Draw(t, "leave"))
				var kinds []speedup
				for _, r := range ratios(drawn, slices) {
					switch math.Round(2 * r) {
					case -1:
						kinds = append(kinds, superLinear)
					case 0:
						kinds = append(kinds, nearLinear)
					case 2:
						kinds = append(kinds, subLinear)
					default:
						t.Fatalf("r = %v", r)
					}
				}
				if err := checkKinds(v, s, slices, kinds); err != nil {
					t.Fatalf("%+v on %d slices, speedups %v: %v", s, slices, kinds, err)
				}
			})
		})
	}
}

// near fails unless a share of n trials is within four standard errors of p.
func near(t *testing.T, what string, hits, n int, p float64) {
	t.Helper()
	got, tolerance := float64(hits)/float64(n), 4*math.Sqrt(p*(1-p)/float64(n))
	if math.Abs(got-p) > tolerance {
		t.Errorf("%s: %.4f, want %.4f +- %.4f", what, got, p, tolerance)
	}
}

func TestEndsOfIntervalsHaveTheMassOfTheTails(t *testing.T) {
	tail := func(c clippedNormal, x float64) float64 { return 0.5 * math.Erfc((x-c.mean)/(c.sigma*math.Sqrt2)) }
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 50_000
	for _, v := range generators {
		for kind, c := range v.r {
			low, high := 0, 0
			for range n {
				switch c.draw(rng) {
				case c.low:
					low++
				case c.high:
					high++
				}
			}
			near(t, fmt.Sprintf("%s %d: share at the lower end", v.name, kind), low, n, 1-tail(c, c.low))
			near(t, fmt.Sprintf("%s %d: share at the upper end", v.name, kind), high, n, tail(c, c.high))
		}
	}
}

func TestMemoryBoundTasksLeaveWithTheirProbability(t *testing.T) {
	// FAR 6.3: still super-linear from 2 to 4 slices with probability (1-0.3)^2.
	rng := rand.New(rand.NewPCG(5, 6))
	const n = 20_000
	var still [mig.MaxSize]int
	paper := generators[0].plain()
	for range n {
		drawn := paper.durations(rng, 50, shape{size: 7, memoryBound: true}, 7, 0.3)
		for i, r := range ratios(drawn, 7) {
			if r < -0.25 {
				still[i]++
			}
		}
	}
	if still[0] != n {
		t.Errorf("%d of %d gain super-linearly from 1 to 2 slices, want all", still[0], n)
	}
	for i := 1; i < 6; i++ {
		near(t, fmt.Sprintf("share still super-linear from %d slices", i+1), still[i], n, math.Pow(0.7, float64(i)))
	}
}
