package nn

import (
	"math"
	"slices"
	"sync"

	"golang.org/x/sys/cpu"
	"gonum.org/v1/gonum/blas/gonum"
)

// terms holds the elements of a row x that are not zero, each with the index in w at which the row that
// it scales begins. There are n; the slices are longer.
type terms struct {
	values []float32
	rows   []int32
	n      int
}

var termPool = sync.Pool{New: func() any { return new(terms) }}

// axpyVector adds alpha times x to y and returns the number of elements that it has changed: all, or 0 if there are
// fewer than four. The assembly of gonum rounds each product. Its Go code, for other processors, may not.
func axpyVector(alpha float32, x, y []float32) int {
	if len(y) < 4 {
		return 0
	}
	gonum.Implementation{}.Saxpy(len(y), alpha, x, 1, y, 1)
	return len(y)
}

// affineVector computes [Kernel.Affine] with the same bits as axpyRows: it adds the same
// products in the same order, but keeps the sums in registers instead of memory. It returns
// false, without any effect, if it cannot compute them: it needs AVX-512, or AVX and at least 8 columns.
func affineVector(y, x, w, b []float32, d Dims) bool {
	n, in, out := d.N, d.In, d.Out
	if in == 0 || out == 0 || !cpu.X86.HasAVX || out < 8 && !cpu.X86.HasAVX512F {
		return false
	}
	t := termPool.Get().(*terms)
	defer termPool.Put(t)
	tiles := out >= tileColumns && cpu.X86.HasAVX512F
	for i := 0; i < n; {
		count := min(n-i, tileRows)
		if tiles && count > 1 && t.dense(x[i*in:], count, in, out) {
			sumTile(y[i*out:], x[i*in:], b, w, Dims{count, in, out})
			i += count
			continue
		}
		row := y[i*out : (i+1)*out]
		t.take(x[i*in:(i+1)*in], out)
		if cpu.X86.HasAVX512F {
			t.sumAVX512(row, b, w)
		} else {
			t.sumAVX(row, b, w)
		}
		i++
	}
	return true
}

// A tile is tileRows rows by tileColumns columns. [sumRows] reads an element of w once for all rows of a tile. A single
// row would be limited by the speed at which w comes from the second-level cache.
const (
	tileRows    = 4
	tileColumns = 64
)

// dense reports whether the first rows of x have no zeros. Tiles may be used only then: they do not leave zeros out, as
// the sums do.
func (t *terms) dense(x []float32, rows, in, out int) bool {
	for i := range rows {
		t.take(x[i*in:(i+1)*in], out)
		if t.n < in {
			return false
		}
	}
	return true
}

// sumTile sets up to tileRows rows of y to b plus the rows of x times w. If there are fewer rows, it repeats the last
// one. The last columns may be computed twice.
func sumTile(y, x, b, w []float32, d Dims) {
	rows, in, out := d.N, d.In, d.Out
	var from, to [tileRows]*float32
	for j := 0; j < out; j += tileColumns {
		at := min(j, out-tileColumns)
		for i := range tileRows {
			row := min(i, rows-1)
			from[i], to[i] = &x[row*in], &y[row*out+at]
		}
		sumRows(&to, &from, &b[at], &w[at], in, out)
	}
}

// take lists the elements of x that are not zero. Rows have out elements.
func (t *terms) take(x []float32, out int) {
	const slack = 16 // compress writes whole vectors
	if n := len(x) + slack; len(t.values) < n {
		t.values, t.rows = make([]float32, n), make([]int32, n)
	}
	if cpu.X86.HasAVX512F {
		t.n = compress(&t.values[0], &t.rows[0], &x[0], len(x), out)
		return
	}
	t.n = 0
	for k, v := range x {
		t.values[t.n], t.rows[t.n] = v, int32(k*out)
		// This has no branch, because zeros among rectified elements are hard to predict.
		magnitude := math.Float32bits(v) << 1
		t.n += int((magnitude | -magnitude) >> 31)
	}
}

// sumAVX512 sets y to b plus, for each term, its value times the elements of w from its row on.
func (t *terms) sumAVX512(y, b, w []float32) {
	values, rows := &t.values[0], &t.rows[0]
	for j := 0; j < len(y); {
		switch rest := len(y) - j; {
		case rest >= 256:
			sum256(&y[j], &b[j], &w[j], values, rows, t.n)
			j += 256
		case rest >= 128:
			sum128(&y[j], &b[j], &w[j], values, rows, t.n)
			j += 128
		default:
			mask := uint64(math.MaxUint64) >> (64 - min(rest, 64))
			sumMasked(&y[j], &b[j], &w[j], values, rows, t.n, mask)
			j += 64
		}
	}
}

// sumAVX does the same as sumAVX512 for at least 8 columns. It needs AVX.
func (t *terms) sumAVX(y, b, w []float32) {
	width, sum := 64, sum64
	if len(y) < width {
		width, sum = 8, sum8
	}
	for j := 0; j < len(y); j += width {
		at := min(j, len(y)-width) // the last columns may be computed twice
		sum(&y[at], &b[at], &w[at], &t.values[0], &t.rows[0], t.n)
	}
}

// compress lists the elements of x that are not zero in values, and stride times their indices in rows, and returns how
// many there are. Both must have room for 16 more than n. It needs AVX-512.
//
//go:noescape
func compress(values *float32, rows *int32, x *float32, n, stride int) int

// sum256 sets 256 elements of y to elements of b plus, for each of the n terms, its value
// times the elements of w from its row on. It needs AVX-512.
//
//go:noescape
func sum256(y, b, w, values *float32, rows *int32, n int)

// sum128 does the same for 128 elements. It needs AVX-512.
//
//go:noescape
func sum128(y, b, w, values *float32, rows *int32, n int)

// sumMasked does the same for those of 64 elements whose bit in the mask is set. It touches no other memory. It needs
// AVX-512.
//
//go:noescape
func sumMasked(y, b, w, values *float32, rows *int32, n int, mask uint64)

// sumRows sets 64 elements of each row of y to elements of b plus the row of x times w. A row of x has in elements, and
// a row of w has out. Zeros of x are added as well. in must not be 0. It needs AVX-512.
//
//go:noescape
func sumRows(y, x *[tileRows]*float32, b, w *float32, in, out int)

// sum64 does the same as sum256 for 64 elements. It needs AVX, as does sum8.
//
//go:noescape
func sum64(y, b, w, values *float32, rows *int32, n int)

// sum8 does the same for 8 elements.
//
//go:noescape
func sum8(y, b, w, values *float32, rows *int32, n int)

// tanhVector computes [Tanh] of the first elements in place and returns their number. The caller computes the rest.
func tanhVector(y []float32) int {
	vector, width := tanh16, 16
	if !cpu.X86.HasAVX512F {
		vector, width = tanh8, 8
	}
	n := len(y) &^ (width - 1)
	if n == 0 || !cpu.X86.HasAVX {
		return 0
	}
	vector(&y[0], n, &tanhConstants[0])
	return n
}

var tanhConstants = slices.Concat([]float32{tanhLimit, -tanhLimit}, tanhNumerator[:], tanhDenominator[:])

// tanh16 computes n elements in place, a multiple of 16. It needs AVX-512.
//
//go:noescape
func tanh16(y *float32, n int, constants *float32)

// tanh8 does the same for a multiple of 8. It needs AVX.
//
//go:noescape
func tanh8(y *float32, n int, constants *float32)

// upperHalves reports whether the upper half of any vector register holds a value, and clears all upper halves. It is
// for tests.
//
//go:noescape
func upperHalves() bool
