package datasets

import (
	"math"

	"miglab/harness/strictcsv"
)

// An MPSTime has published times of a batch of inputs through a neural network on a GPU under MPS, CUDA's service by
// which processes share a GPU.
type MPSTime struct {
	Network string  `csv:"network"`
	GPU     string  `csv:"gpu"`
	Percent float64 `csv:"percent"` // the process's share of the multiprocessors
	// Alone is the time in milliseconds with the rest of the GPU idle. Beside is the time beside a second process of
	// the same network with the same share.
	Alone  float64 `csv:"alone_ms"`
	Beside float64 `csv:"beside_ms"`
	Source string  `csv:"source"`
}

// Slowdown returns the time beside the other process over the time alone.
func (t *MPSTime) Slowdown() float64 { return t.Beside / t.Alone }

// MPSTimes returns published times of processes that share the memory of a GPU, each on its own multiprocessors.
func MPSTimes() []MPSTime {
	return strictcsv.Embedded[MPSTime](hierarchicalTables, "hierarchical/mps.csv")
}

// MeasuredKappa returns the kappa of the co-run model that follows from [MPSTimes] alone, to a hundredth: the mean
// slowdown by one other job, less 1. The rule was written down before any method was run with it.
func MeasuredKappa() float64 {
	times := MPSTimes()
	sum := 0.0
	for i := range times {
		sum += times[i].Slowdown() - 1
	}
	return math.Round(100*sum/float64(len(times))) / 100
}
