package nn

import (
	"math"
	"slices"
	"sync"

	"golang.org/x/sys/cpu"
)

// A term is an element of x that is not zero, with the place in w where the row that
// it scales begins.
type term struct {
	row   int
	value float32
}

var termPool = sync.Pool{New: func() any { return new([]term) }}

// affineVector computes [Kernel.Affine] with the same bits as scaledRows: it adds the same
// products in the same order, but keeps the sums in registers instead of memory. It returns
// false if it has computed nothing: it needs AVX and at least 8 columns.
func affineVector(y, x, w, b []float32, n, in, out int) bool {
	width, sum := 64, sum64
	if out < width {
		width, sum = 8, sum8
	}
	if out < width || in == 0 || !cpu.X86.HasAVX {
		return false
	}
	pooled := termPool.Get().(*[]term)
	defer termPool.Put(pooled)
	for i := range n {
		*pooled = nonZero(*pooled, x[i*in:(i+1)*in], out)
		terms, row := *pooled, y[i*out:(i+1)*out]
		for j := 0; j < out; j += width {
			at := min(j, out-width) // the last columns may be computed twice
			sum(&row[at], &b[at], &w[at], &terms[:1][0], len(terms))
		}
	}
	return true
}

// nonZero lists the elements that are not zero, in the memory of terms if they fit.
func nonZero(terms []term, x []float32, out int) []term {
	if cap(terms) < len(x)+1 {
		terms = make([]term, len(x)+1)
	}
	terms = terms[:len(x)+1]
	n := 0
	for k, v := range x {
		terms[n] = term{k * out, v}
		// Zeros among rectified elements are hard to predict, so there is no branch.
		magnitude := math.Float32bits(v) << 1
		n += int((magnitude | -magnitude) >> 31)
	}
	return terms[:n]
}

// sum64 sets 64 elements of y to those of b plus, for each of the n terms, its value
// times the elements of w from its row on.
//
//go:noescape
func sum64(y, b, w *float32, terms *term, n int)

// sum8 does the same for 8 elements.
//
//go:noescape
func sum8(y, b, w *float32, terms *term, n int)

// tanhVector computes [Tanh] in place and returns for how many elements. The caller
// computes the rest.
func tanhVector(y []float32) int {
	n := len(y) &^ 7
	if n == 0 || !cpu.X86.HasAVX {
		return 0
	}
	tanh8(&y[0], n, &tanhConstants[0])
	return n
}

var tanhConstants = slices.Concat([]float32{tanhLimit, -tanhLimit}, tanhNumerator[:], tanhDenominator[:])

// tanh8 computes n elements in place, a multiple of 8.
//
//go:noescape
func tanh8(y *float32, n int, constants *float32)

// upperHalves reports whether the upper half of a vector register holds a value, and clears
// them. It is for tests.
//
//go:noescape
func upperHalves() bool
