//go:build !(goexperiment.simd && amd64)

package nn

// Fast returns the fastest kernel of this build on this machine: here [Portable].
func Fast() Kernel { return Portable() }
