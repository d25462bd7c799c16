package datasets

import (
	"fmt"
	"math/rand/v2"

	"miglab/harness/mig"
)

// A peak is a condition that keeps the tasks whose efficiency, t(1)/(s t(s)), is highest at one size and nearly as high
// at another. The zero value keeps all tasks.
//
// The workloads ADVERSARIAL4 and ADVERSARIAL2 have tasks for which DRL 6.7 says that the most efficient size of each is
// bad for all: 4 slices "but whose efficiency at 3 slices is only marginally worse", and 2 slices where it "is not much
// worse with 3 slices". The values of Share are our reading of these words. The paper does not say from which workload
// it drew the tasks. We take MIXSCALINGUNIFORM, which has all classes alike, and keep 1.3 % of its tasks for size 4 and
// 6.3 % for size 2. With gen=released-train we keep 0 and 0.5 %, because then no task gains more than linearly from 3
// to 4 slices.
type peak struct {
	// At is the only size with the highest efficiency. The efficiency at Near is at least Share times as high.
	At    mig.Slices `csv:"at"`
	Near  mig.Slices `csv:"near"`
	Share float64    `csv:"share"`
}

// picks reports whether the peak is a condition, which rejects some tasks.
func (p peak) picks() bool { return p.At != 0 }

// keeps reports whether the peak keeps a task.
func (p peak) keeps(t *times, sizes []mig.Slices) bool {
	if !p.picks() {
		return true
	}
	highest := efficiency(t, p.At)
	for _, s := range sizes {
		if s != p.At && efficiency(t, s) >= highest {
			return false
		}
	}
	return efficiency(t, p.Near) >= p.Share*highest
}

// efficiency returns t(1)/(s t(s)).
func efficiency(t *times, s mig.Slices) float64 { return t[1] / (float64(s) * t[s]) }

// drawsPerTask is the number of draws for each task of a batch after which [fillKept] gives up.
const drawsPerTask = 5000

// fillKept draws tasks until the peak has kept enough of them for the batch. It draws the class of each task in
// proportion to the weights. It returns an error if it gives up.
func fillKept[T ~[mig.MaxSize + 1]float64](s *synthetic, rng *rand.Rand, g *mig.GPU, tasks []T) error {
	weights, err := s.class().weights(g)
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
			return fmt.Errorf("dataset %q on %s: only %d of %d drawn tasks meet its condition; change the "+
				"parameter gen, psup or leave", s.id, g, kept, drawn)
		}
		class := 0
		for at := rng.IntN(total); at >= weights[class]; class++ {
			at -= weights[class]
		}
		memoryBound := rng.IntN(100) < s.psup
		t := s.draw(rng, g, shape{g.Sizes()[class], memoryBound})
		if s.keeps(&t, g.Sizes()) {
			tasks[kept] = T(t)
			kept++
		}
	}
	return nil
}
