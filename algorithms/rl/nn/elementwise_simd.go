//go:build goexperiment.simd && amd64

package nn

import "simd/archsimd"

// tanhGradientVector and adamVector compute the first elements with vector instructions, with the same rounding as
// their callers, and return the number of elements computed. The caller computes the rest. All functions here leave
// the upper halves of vector registers clear; see [avx512].

var (
	hasAVX512 = archsimd.X86.AVX512()
	// hasAVX2 means AVX2 and fused multiply-add; some processors have only the former.
	hasAVX2 = archsimd.X86.AVX2() && archsimd.X86.FMA()
)

func tanhGradientVector(dy, y []float32) int {
	if !hasAVX2 {
		return 0
	}
	one := archsimd.BroadcastFloat32x8(1)
	i := 0
	for ; i+half <= len(y) && i+half <= len(dy); i += half {
		d := (*[half]float32)(dy[i:])
		v := archsimd.LoadFloat32x8((*[half]float32)(y[i:]))
		archsimd.LoadFloat32x8(d).Mul(one.Sub(v.Mul(v))).Store(d)
	}
	archsimd.ClearAVXUpperBits()
	return i
}

// adamVector needs four slices of the same length.
func adamVector(parameters, gradients, first, second []float32, c adamCoefficients) int {
	if !hasAVX2 {
		return 0
	}
	beta1, rest1 := archsimd.BroadcastFloat32x8(adamBeta1), archsimd.BroadcastFloat32x8(1-adamBeta1)
	beta2, rest2 := archsimd.BroadcastFloat32x8(adamBeta2), archsimd.BroadcastFloat32x8(1-adamBeta2)
	rate, scale, epsilon := archsimd.BroadcastFloat32x8(c.rate), archsimd.BroadcastFloat32x8(c.rootScale),
		archsimd.BroadcastFloat32x8(adamEpsilon)
	clip := archsimd.BroadcastFloat32x8(c.clip)
	i := 0
	for ; i+half <= len(parameters); i += half {
		p, f, s := (*[half]float32)(parameters[i:]), (*[half]float32)(first[i:]), (*[half]float32)(second[i:])
		g := archsimd.LoadFloat32x8((*[half]float32)(gradients[i:])).Mul(clip)
		m := beta1.Mul(archsimd.LoadFloat32x8(f)).Add(rest1.Mul(g))
		v := beta2.Mul(archsimd.LoadFloat32x8(s)).Add(rest2.Mul(g.Mul(g)))
		m.Store(f)
		v.Store(s)
		archsimd.LoadFloat32x8(p).Sub(rate.Mul(m).Div(v.Sqrt().Mul(scale).Add(epsilon))).Store(p)
	}
	archsimd.ClearAVXUpperBits()
	return i
}

// squaresVector returns the sum of all squares up to rounding. It reports false on a machine without these vectors.
func squaresVector(x []float32) (sum float64, ok bool) {
	if !hasAVX2 {
		return 0, false
	}
	var s0, s1, s2, s3 archsimd.Float64x4
	for len(x) >= 2*half {
		a, b := archsimd.LoadFloat32x8((*[half]float32)(x)), archsimd.LoadFloat32x8((*[half]float32)(x[half:]))
		a0, a1 := a.GetLo().ConvertToFloat64(), a.GetHi().ConvertToFloat64()
		b0, b1 := b.GetLo().ConvertToFloat64(), b.GetHi().ConvertToFloat64()
		s0, s1, s2, s3 = a0.MulAdd(a0, s0), a1.MulAdd(a1, s1), b0.MulAdd(b0, s2), b1.MulAdd(b1, s3)
		x = x[2*half:]
	}
	var parts [4]float64
	s0.Add(s1).Add(s2.Add(s3)).Store(&parts)
	archsimd.ClearAVXUpperBits()
	for _, p := range parts {
		sum += p
	}
	return sum + squares(x), true
}
