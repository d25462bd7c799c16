//go:build goexperiment.simd && amd64

package nn

import (
	"math"
	"math/rand/v2"
	"testing"
)

// withLessWideVectors runs a test with the widest vectors of this machine, and with AVX2.
func withLessWideVectors(t *testing.T, f func(*testing.T)) {
	if !hasAVX2 {
		t.Skip("needs AVX2")
	}
	t.Run("all vectors", f)
	defer func(was bool) { hasAVX512 = was }(hasAVX512)
	hasAVX512 = false
	t.Run("AVX2", f)
}

// TestFusedChains: whatever vectors the machine has, an element of a product is one chain of fused multiply-adds.
func TestFusedChains(t *testing.T) {
	withLessWideVectors(t, func(t *testing.T) {
		for _, s := range shapes {
			n, in, out := s[0], s[1], s[2]
			r := rng(29)
			x, w, b := normal(r, n*in), normal(r, in*out), normal(r, out)
			got := normal(r, n*out)
			avx512{}.Affine(got, x, w, b, Dims{n, in, out})
			for i := range got {
				want := b[i%out]
				for k := range in {
					want = float32(math.FMA(float64(x[i/out*in+k]), float64(w[k*out+i%out]), float64(want)))
				}
				if math.Float32bits(got[i]) != math.Float32bits(want) {
					t.Fatalf("%v: element %d is %v, want %v", s, i, got[i], want)
				}
			}
		}
	})
}

// Skipping zeros changes no bit of what tiles compute.
func TestThinProducts(t *testing.T) { withLessWideVectors(t, compareThinProducts) }

func compareThinProducts(t *testing.T) {
	for _, s := range [][3]int{{64, 93, 256}, {5, 18, 7}, {17, 40, 112}, {64, 256, 1}, {33, 1, 70}, {130, 70, 33}} {
		n, in, out := s[0], s[1], s[2]
		r := rng(23)
		x, w, b, dy := normal(r, n*in), normal(r, in*out), normal(r, out), normal(r, n*out)
		if out > 1 {
			thinned(t, r, dy)
			thinned(t, r, x)
		}
		k := avx512{}
		compare := func(name string, got, want []float32) {
			t.Helper()
			for i := range want {
				if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
					t.Fatalf("%v, %s: element %d is %v, want %v", s, name, i, got[i], want[i])
				}
			}
		}
		want, got := make([]float32, n*out), normal(r, n*out)
		for i := range n {
			copy(want[i*out:], b)
		}
		multiply(want, matrix{x, in, 1}, matrix{w, out, 1}, Dims{n, in, out}, false)
		k.Affine(got, x, w, b, Dims{n, in, out})
		compare("Affine", got, want)

		want, got = normal(r, n*in), normal(r, n*in)
		multiply(want, matrix{dy, out, 1}, matrix{w, 1, out}, Dims{n, out, in}, true)
		k.InputGradient(got, dy, w, Dims{n, in, out})
		compare("InputGradient", got, want)

		full := normal(r, n*in)
		for _, x := range [][]float32{x, full} {
			want, got = normal(r, in*out), normal(r, in*out)
			multiply(want, matrix{x, 1, in}, matrix{dy, out, 1}, Dims{in, n, out}, true)
			k.WeightGradient(got, make([]float32, out), x, dy, Dims{n, in, out})
			compare("WeightGradient", got, want)
		}
	}
}

// thinned sets nine tenths of the elements to zero.
func thinned(t *testing.T, r *rand.Rand, x []float32) {
	for i := range x {
		if r.IntN(10) > 0 {
			x[i] = 0
		}
	}
	if len(x) >= lanes && !thin(x) {
		t.Fatal("not thin")
	}
}
