//go:build goexperiment.simd && amd64

package nn

import (
	"math"
	"math/bits"
	"simd/archsimd"
)

// Fast returns the fastest kernel of this build on this machine.
func Fast() Kernel {
	if hasAVX2 {
		return avx512{}
	}
	return Portable()
}

// avx512 multiplies with AVX-512, or with AVX2 on a processor without it. Checkpoints name the type.
//
// Each element of a product is one chain of fused multiply-adds in the order of the
// inner index, whatever the tiling: results do not depend on the number of rows.
//
// A function that has used vectors clears the upper halves of their registers before other
// code runs. While the halves hold values, many processors run every other floating-point
// instruction, for example in math.Exp, several times slower.
type avx512 struct{}

const (
	lanes = 16
	half  = lanes / 2 // the elements of a vector in AVX2
	// A tile is tall rows by wide columns: sums for 16 of the 32 vector registers, enough to
	// hide the latency of a multiply-add. AVX2 computes it in four parts.
	wide = 2 * lanes
	tall = 8
	few  = 4 // so many rows are multiplied one by one, which skips zeros
	// depth is the number of rows of a panel. The panel and the rows that it is multiplied
	// with must fit into the first-level cache.
	depth = 192
)

func (avx512) Affine(y, x, w, b []float32, d Dims) {
	n, in, out := d.N, d.In, d.Out
	for i := range n {
		copy(y[i*out:(i+1)*out], b)
	}
	switch {
	case n < few || thin(x[:n*in]):
		for i := range n {
			addScaledRows(y[i*out:(i+1)*out], x[i*in:(i+1)*in], w)
		}
	case out == 1:
		s := scratches.Get().(*scratch)
		defer scratches.Put(s)
		columns := s.take(n * in)
		transposeFast(columns, x, n, in)
		addScaledRows(y[:n], w[:in], columns)
	default:
		multiply(y, matrix{x, in, 1}, matrix{w, out, 1}, Dims{n, in, out}, false)
	}
}

func (avx512) InputGradient(dx, dy, w []float32, d Dims) {
	n, in, out := d.N, d.In, d.Out
	if out > 1 && !thin(dy[:n*out]) {
		multiply(dx, matrix{dy, out, 1}, matrix{w, 1, out}, Dims{n, out, in}, true)
		return
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	columns := w
	if out > 1 {
		columns = s.take(in * out)
		transposeFast(columns, w, in, out)
	}
	clear(dx[:n*in])
	for i := range n {
		addScaledRows(dx[i*in:(i+1)*in], dy[i*out:(i+1)*out], columns)
	}
}

func (avx512) WeightGradient(dw, db, x, dy []float32, d Dims) {
	n, in, out := d.N, d.In, d.Out
	clear(db[:out])
	if n == 0 {
		clear(dw[:in*out])
		return
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	ones := s.take(n)
	for i := range ones {
		ones[i] = 1
	}
	addScaledRows(db[:out], ones, dy)
	switch {
	case out == 1:
		clear(dw[:in])
		addScaledRows(dw[:in], dy[:n], x)
	case thin(x[:n*in]):
		thinProduct(dw, x, dy, Dims{n, in, out})
	case thin(dy[:n*out]):
		transposed := s.take(in * out)
		thinProduct(transposed, dy, x, Dims{n, out, in})
		transposeFast(dw, transposed, out, in)
	default:
		multiply(dw, matrix{x, 1, in}, matrix{dy, out, 1}, Dims{in, n, out}, true)
	}
}

// thinProduct computes c[rows×columns] = aᵀ·b, where a and b have n rows and a is thin.
func thinProduct(c, a, b []float32, d Dims) {
	n, rows, columns := d.N, d.In, d.Out
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	transposed := s.take(n * rows)
	transposeFast(transposed, a, n, rows)
	clear(c[:rows*columns])
	for k := range rows {
		addScaledRows(c[k*columns:(k+1)*columns], transposed[k*n:(k+1)*n], b)
	}
}

// thin reports whether so many elements are zeros that it is faster to skip them. It looks at the first ones.
func thin(x []float32) bool {
	const looks = 128
	var zero archsimd.Float32x8
	nonzero, i := 0, 0
	for ; i < looks && (i+1)*half <= len(x); i++ {
		v := archsimd.LoadFloat32x8((*[half]float32)(x[i*half:]))
		nonzero += bits.OnesCount8(v.NotEqual(zero).ToBits())
	}
	archsimd.ClearAVXUpperBits()
	return nonzero < i*half*3/10
}

// transposeFast stores the rows x columns matrix m as columns x rows in t.
func transposeFast(t, m []float32, rows, columns int) {
	i, whole := 0, columns&^3
	for ; i+lanes <= rows && whole > 0; i += lanes {
		transpose16(&t[i], rows, &m[i*columns], columns, whole/4)
		for j := whole; j < columns; j++ {
			for r := i; r < i+lanes; r++ {
				t[j*rows+r] = m[r*columns+j]
			}
		}
	}
	for ; i < rows; i++ {
		for j, v := range m[i*columns : (i+1)*columns] {
			t[j*rows+i] = v
		}
	}
}

// A matrix has its element (i, j) at i·row + j·column.
type matrix struct {
	data        []float32
	row, column int
}

// multiply adds a·b to c, which is stored row by row. If c is fresh, it overwrites the content of c.
func multiply(c []float32, a, b matrix, d Dims, fresh bool) {
	rows, inner, columns := d.N, d.In, d.Out
	if fresh && inner == 0 {
		clear(c[:rows*columns])
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	memory := s.take(depth * (wide + tall))
	for first := 0; first < inner; first += depth {
		count := min(depth, inner-first)
		panel, rest := memory[:count*wide], memory[depth*wide:][:count*tall]
		block := matrix{a.data[first*a.column:], a.row, a.column}
		packRest(rest, block, rows)
		for j := 0; j < columns; j += wide {
			width := min(wide, columns-j)
			packPanel(panel, matrix{b.data[first*b.row+j*b.column:], b.row, b.column}, width)
			multiplyPanel(c[j:], columns, block, rest, panel, rows, width, fresh && first == 0)
		}
	}
}

// packPanel stores width columns of b row by row, each row in wide elements. The padding may
// hold anything: results computed from it are dropped.
func packPanel(panel []float32, b matrix, width int) {
	switch {
	case b.column == 1 && width == wide:
		for k := 0; k*wide < len(panel); k++ {
			*(*[wide]float32)(panel[k*wide:]) = *(*[wide]float32)(b.data[k*b.row:])
		}
	case b.column == 1:
		for k := 0; k*wide < len(panel); k++ {
			copy(panel[k*wide:], b.data[k*b.row:][:width])
		}
	default:
		packColumns(panel, b, width)
	}
}

// packColumns does the same as packPanel for a matrix that is stored column by column.
func packColumns(panel []float32, b matrix, width int) {
	count := len(panel) / wide
	column := func(j int) []float32 { return b.data[j*b.column:][:count] }
	whole := 0 // elements of the columns that are stored by vectors
	if count >= 4 {
		whole = count &^ 3
	}
	j := 0
	for ; j+lanes <= width && whole > 0; j += lanes {
		_ = column(j + lanes - 1)
		transpose16(&panel[j], wide, &column(j)[0], b.column, whole/4)
		for k := whole; k < count; k++ {
			for i := range lanes {
				panel[k*wide+j+i] = column(j + i)[k]
			}
		}
	}
	for ; j < width; j++ {
		for k, v := range column(j) {
			panel[k*wide+j] = v
		}
	}
}

// transpose16 stores sixteen rows, of four elements for each block, as columns. The distances of two rows are given in
// elements.
//
//go:noescape
func transpose16(to *float32, toStride int, from *float32, fromStride, blocks int)

// packRest stores the rows of a that do not fill a tile, column by column, each column in tall elements.
func packRest(rest []float32, a matrix, rows int) {
	clear(rest)
	whole := rows / tall * tall
	for r := range rows - whole {
		from := a.data[(whole+r)*a.row:]
		for k := 0; k*tall < len(rest); k++ {
			rest[k*tall+r] = from[k*a.column]
		}
	}
}

// multiplyPanel adds the rows of a times a panel to c, or to zeros. rest holds the last rows.
func multiplyPanel(c []float32, columns int, a matrix, rest, panel []float32, rows, width int, fresh bool) {
	i := 0
	for ; i+tall <= rows; i += tall {
		tile(c[i*columns:], columns, matrix{a.data[i*a.row:], a.row, a.column}, panel, tall, width, fresh)
	}
	if i < rows {
		tile(c[i*columns:], columns, matrix{rest, 1, tall}, panel, rows-i, width, fresh)
	}
}

// tile adds tall rows of a times a panel to c, or to zeros. c has only the given rows and width.
func tile(c []float32, columns int, a matrix, panel []float32, rows, width int, fresh bool) {
	count := len(panel) / wide
	_ = a.data[(tall-1)*a.row+(count-1)*a.column]
	if rows == tall && width == wide {
		_ = c[(tall-1)*columns+wide-1]
		tile8x2(&c[0], columns, &a.data[0], a.row, a.column, &panel[0], count, fresh)
		return
	}
	var edge [tall * wide]float32
	for r := 0; r < rows && !fresh; r++ {
		copy(edge[r*wide:], c[r*columns:][:width])
	}
	tile8x2(&edge[0], wide, &a.data[0], a.row, a.column, &panel[0], count, fresh)
	for r := range rows {
		copy(c[r*columns:][:width], edge[r*wide:])
	}
}

// tile8x2 adds eight rows of a times a panel of two vectors and depth rows to c, or to zeros. columns is
// the distance of two rows of c; row and column belong to a.
//
//go:noescape
func tile8x2(c *float32, columns int, a *float32, row, column int, panel *float32, depth int, fresh bool)

// addScaledRows adds to y the rows of w times the elements of x, in the order of x. It skips elements of x that are
// zero.
func addScaledRows(y, x, w []float32) {
	t := termPool.Get().(*terms)
	defer termPool.Put(t)
	t.take(x, len(y))
	t.add(y, w)
}

// add adds to y, for each term, its value times the elements of w from its row on.
func (t *terms) add(y, w []float32) {
	for j := 0; j < len(y); {
		rest, values, rows := len(y)-j, &t.values[0], &t.rows[0]
		switch {
		case hasAVX512 && rest >= 256:
			fuse256(&y[j], &w[j], values, rows, t.n)
			j += 256
		case hasAVX512:
			mask := uint64(math.MaxUint64) >> (64 - min(rest, 64))
			fuseMasked(&y[j], &w[j], values, rows, t.n, mask)
			j += 64
		case rest >= 64:
			fuse64(&y[j], &w[j], values, rows, t.n)
			j += 64
		case rest >= half:
			fuse8(&y[j], &w[j], values, rows, t.n)
			j += half
		default:
			fuse1(&y[j], &w[j], values, rows, t.n)
			j++
		}
	}
}

// fuse256 adds to 256 elements of y, for each of the n terms, its value times the elements of w from its row on.
//
//go:noescape
func fuse256(y, w, values *float32, rows *int32, n int)

// fuseMasked does the same for the elements, of 64, that the mask has a bit for. It touches no other memory.
//
//go:noescape
func fuseMasked(y, w, values *float32, rows *int32, n int, mask uint64)

// fuse64 does the same as fuse256 for 64 elements. It needs AVX2, as do fuse8 and fuse1.
//
//go:noescape
func fuse64(y, w, values *float32, rows *int32, n int)

// fuse8 does the same for 8 elements.
//
//go:noescape
func fuse8(y, w, values *float32, rows *int32, n int)

// fuse1 does the same for an element.
//
//go:noescape
func fuse1(y, w, values *float32, rows *int32, n int)
