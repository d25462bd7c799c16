//go:build !(goexperiment.simd && amd64)

package nn

// Fast returns the fastest kernel of this build on this machine: here [Portable].
func Fast() Kernel { return Portable() }

// These functions return the number of elements that vector instructions have computed;
// the caller computes the rest. This build has no vector instructions for them.

func squaresVector([]float32) (sum float64, ok bool)          { return 0, false }
func tanhGradientVector(_, _ []float32) int                   { return 0 }
func adamVector(_, _, _, _ []float32, _ adamCoefficients) int { return 0 }
