package nn

import (
	"slices"
	"sync"
)

// Dims are the dimensions of a product: N rows of In elements become N rows of Out elements.
type Dims struct{ N, In, Out int }

// A Kernel computes the three products of a fully connected layer, on matrices stored row by row. It has no state, so
// that goroutines may share one. The same arguments give the same bits. On finite numbers, two kernels
// differ only by rounding.
type Kernel interface {
	// Affine computes y[N×Out] = x[N×In]·w[In×Out] + b[Out].
	Affine(y, x, w, b []float32, d Dims)
	// InputGradient computes dx[N×In] = dy[N×Out]·wᵀ.
	InputGradient(dx, dy, w []float32, d Dims)
	// WeightGradient computes dw[In×Out] = xᵀ·dy and the column sums db of dy.
	WeightGradient(dw, db, x, dy []float32, d Dims)
}

// Portable returns the kernel that gives the same bits in every build. It skips zeros in x
// and dy, such as the zeros of one-hot observations.
func Portable() Kernel { return rowKernel{} }

// A rowKernel computes products as sums of scaled rows ("axpy"). Unlike in a vectorised inner product,
// the order of addition does not depend on memory alignment.
type rowKernel struct{}

func (rowKernel) Affine(y, x, w, b []float32, d Dims) {
	n, in, out := d.N, d.In, d.Out
	if affineVector(y, x, w, b, d) {
		return
	}
	for i := range n {
		row := y[i*out : (i+1)*out]
		copy(row, b)
		axpyRows(row, x[i*in:(i+1)*in], w, out)
	}
}

func (rowKernel) InputGradient(dx, dy, w []float32, d Dims) {
	n, in, out := d.N, d.In, d.Out
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	t := s.take(in * out)
	transpose(t, w, in, out)
	for i := range n {
		row := dx[i*in : (i+1)*in]
		clear(row)
		axpyRows(row, dy[i*out:(i+1)*out], t, in)
	}
}

func (rowKernel) WeightGradient(dw, db, x, dy []float32, d Dims) {
	n, in, out := d.N, d.In, d.Out
	clear(dw[:in*out])
	clear(db[:out])
	for i := range n {
		axpy(1, dy[i*out:(i+1)*out], db)
	}
	// Work in blocks of rows, so that the rows of dy stay in the first-level cache.
	const block = 16
	for first := 0; first < n; first += block {
		last := min(first+block, n)
		for k := range in {
			row := dw[k*out : (k+1)*out]
			for i := first; i < last; i++ {
				axpy(x[i*in+k], dy[i*out:(i+1)*out], row)
			}
		}
	}
}

// axpyRows adds to y the rows of w times the elements of x.
func axpyRows(y, x, w []float32, out int) {
	for k, v := range x {
		axpy(v, w[k*out:(k+1)*out], y)
	}
}

// axpy adds alpha times x to y.
func axpy(alpha float32, x, y []float32) {
	if alpha == 0 {
		return
	}
	for i := axpyVector(alpha, x, y); i < len(y); i++ {
		y[i] += float32(alpha * x[i])
	}
}

// transpose stores the rows×columns matrix m as columns×rows in t.
func transpose(t, m []float32, rows, columns int) {
	for i := range rows {
		for j, v := range m[i*columns : (i+1)*columns] {
			t[j*rows+i] = v
		}
	}
}

// A scratch is temporary memory for one product.
type scratch struct{ buffer []float32 }

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// take returns the scratch's memory for n elements. Their contents are undefined.
func (s *scratch) take(n int) []float32 {
	s.buffer = resize(s.buffer, n)
	return s.buffer
}

// resize returns a slice of n elements in the memory of s if it fits. The contents are undefined.
func resize(s []float32, n int) []float32 { return slices.Grow(s[:0], n)[:n] }
