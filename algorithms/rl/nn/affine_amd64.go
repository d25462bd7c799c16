package nn

import (
	"math"
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

// affineVector computes [Kernel.Affine] with the bits of [portable], which adds the
// same products in the same order, but keeps a row of y in registers instead of
// memory. It reports whether it has: it needs AVX and at least 16 columns.
func affineVector(y, x, w, b []float32, n, in, out int) bool {
	width, sum := 64, sum64
	if out < width {
		width, sum = 16, sum16
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
		// Whether a rectified element is zero cannot be predicted, so there is no branch.
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

// sum16 does the same for 16 elements.
//
//go:noescape
func sum16(y, b, w *float32, terms *term, n int)
