//go:build !(goexperiment.simd && amd64)

package nn

// The functions below return how many elements vector instructions have done; the
// caller does the rest one by one. This build has none.

func tanhGradientVector(_, _ []float32) int                   { return 0 }
func adamVector(_, _, _, _ []float32, _ adamCoefficients) int { return 0 }
