//go:build !(goexperiment.simd && amd64)

package nn

// These functions return the number of elements that vector instructions have computed;
// the caller computes the rest. This build has no vector instructions for them.

func tanhGradientVector(_, _ []float32) int                   { return 0 }
func adamVector(_, _, _, _ []float32, _ adamCoefficients) int { return 0 }
