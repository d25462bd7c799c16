package datasets

import (
	"fmt"
	"math/rand/v2"

	"miglab/harness/mig"
)

// A peak is a condition that keeps the tasks whose efficiency, t(1)/(s t(s)), is highest at one size
// and nearly as high at another. The zero value keeps all tasks.
//
// ADVERSARIAL4 and ADVERSARIAL2 are the two situations of DRL 6.7 in which giving each task its most efficient size
// is bad for all: at 4 slices "but whose efficiency at 3 slices is only marginally worse", and at 2, where it "is not
// much worse with 3 slices". The shares are our reading of these words. The paper does not say from which of its
// workloads the tasks were drawn. We take MIXSCALINGUNIFORM, which has all classes alike: 1.2 % of its tasks are kept
// for size 4 and 6.4 % for size 2. With gen=released-train these shares are 0 and 0.5 %, because then no task gains
// more than linearly from 3 to 4 slices.
type peak struct {
	// At is the only size with the highest efficiency. The efficiency at Near is at least Share times as high.
	At    mig.Slices `csv:"at"`
	Near  mig.Slices `csv:"near"`
	Share float64    `csv:"share"`
}

// picks reports whether the peak rejects some tasks.
func (p peak) picks() bool { return p.At != 0 }

func (p peak) keeps(t *times, sizes []mig.Slices) bool {
	most := efficiency(t, p.At)
	for _, s := range sizes {
		if s != p.At && efficiency(t, s) >= most {
			return false
		}
	}
	return efficiency(t, p.Near) >= p.Share*most
}

func efficiency(t *times, s mig.Slices) float64 { return t[1] / (float64(s) * t[s]) }

// drawsPerTask is the number of draws for each task of a batch after which [fillOnly] gives up.
const drawsPerTask = 5000

// fillOnly draws tasks until enough of them are kept. It draws the class of each task in
// proportion to the weights. It returns an error if too few tasks are kept.
func fillOnly[T ~[mig.MaxSize + 1]float64](s *synthetic, rng *rand.Rand, g *mig.GPU, tasks []T) error {
	weights, err := s.scaling().weights(g)
	if err != nil {
		return err
	}
	total := 0
	for _, w := range weights {
		total += w
	}
	kept, limit := 0, drawsPerTask*len(tasks)
	for drawn := 0; kept < len(tasks); drawn++ {
		if drawn == limit {
			return fmt.Errorf("dataset %q on %s: only %d of %d drawn tasks meet its condition; choose another gen, "+
				"psup or leave", s.id, g, kept, drawn)
		}
		class := 0
		for at := rng.IntN(total); at >= weights[class]; class++ {
			at -= weights[class]
		}
		t := s.draw(rng, g, shape{g.Sizes()[class], rng.IntN(100) < s.psup})
		if s.keeps(&t, g.Sizes()) {
			tasks[kept] = T(t)
			kept++
		}
	}
	return nil
}
