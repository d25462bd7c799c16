package verdict

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"miglab/harness/stats"
)

// seed is the seed of the hierarchical bootstrap.
const seed = 20260101

// Crossed is the mean over training runs and draws, where values[i][j] is what run i achieves on draw j. Its
// interval is that of a hierarchical bootstrap, which resamples both, because the number would move with
// either; below 30 runs it is widened as Student's t is. The replicates are the training runs.
func Crossed(values [][]float64) (Measurement, error) {
	runs := make([]float64, len(values)) // the mean of each run
	for i, v := range values {
		if len(v) != len(values[0]) {
			return Measurement{}, fmt.Errorf("run %d has %d draws, the first one %d", i+1, len(v), len(values[0]))
		}
		runs[i] = stat.Mean(v, nil)
	}
	m, err := MeanOf(runs, TrainingRuns, 0)
	if err != nil || len(runs) < 2 {
		return m, err
	}
	means := stats.ResampleCrossed(values, seed)
	// Of few runs the bootstrap's deviation is too small by this factor.
	n := float64(len(runs))
	m.StdErr = stat.StdDev(means, nil) * math.Sqrt(n/(n-1))
	half := m.quantile() * m.StdErr
	m.Low, m.High, m.Shared = m.Value-half, m.Value+half, true
	return m, nil
}
