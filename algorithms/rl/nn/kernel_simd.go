//go:build goexperiment.simd && amd64

package nn

import "simd/archsimd"

// Fast returns the fastest kernel of this build on this machine.
func Fast() Kernel {
	if hasAVX512 {
		return avx512{}
	}
	return Portable()
}

// Each element of a product is one chain of fused multiply-adds in the order of the
// inner index, whatever the tiling: results do not depend on the number of rows.
//
// A function that has used vectors clears the upper halves of their registers before other
// code runs. While the halves hold values, many processors run every other floating-point
// instruction, such as those of math.Exp, several times slower.
type avx512 struct{}

const (
	lanes = 16
	// A tile is tall rows by wide columns: sums for 16 of the 32 vector registers, enough to
	// hide the latency of a multiply-add.
	wide = 2 * lanes
	tall = 8
	// few rows are multiplied one by one, which skips zeros.
	few = 4
	// depth is the number of rows of a panel. The panel and the rows that it is multiplied
	// with must fit into the first-level cache.
	depth = 192
)

func (avx512) Affine(y, x, w, b []float32, n, in, out int) {
	for i := range n {
		copy(y[i*out:(i+1)*out], b)
	}
	if n < few {
		for i := range n {
			addScaledRows(y[i*out:(i+1)*out], x[i*in:(i+1)*in], w)
		}
		return
	}
	multiply(y, matrix{x, in, 1}, matrix{w, out, 1}, n, in, out)
}

func (avx512) InputGradient(dx, dy, w []float32, n, in, out int) {
	clear(dx[:n*in])
	if out == 1 {
		for i := range n {
			addScaledRows(dx[i*in:(i+1)*in], dy[i:i+1], w)
		}
		return
	}
	multiply(dx, matrix{dy, out, 1}, matrix{w, 1, out}, n, out, in)
}

func (avx512) WeightGradient(dw, db, x, dy []float32, n, in, out int) {
	addRows(db, dy, n, out)
	if out == 1 {
		addScaledRows(dw[:in], dy[:n], x)
		return
	}
	multiply(dw, matrix{x, 1, in}, matrix{dy, out, 1}, in, n, out)
}

// A matrix has its element (i, j) at i·row + j·column.
type matrix struct {
	data        []float32
	row, column int
}

// multiply adds a·b to c, which is stored row by row.
func multiply(c []float32, a, b matrix, rows, inner, columns int) {
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
			pack(panel, matrix{b.data[first*b.row+j*b.column:], b.row, b.column}, width)
			multiplyPanel(c[j:], columns, block, rest, panel, rows, width)
		}
	}
}

// pack stores width columns of b row by row, each row in wide elements. The padding may
// hold anything: results computed from it are dropped.
func pack(panel []float32, b matrix, width int) {
	switch {
	case b.column == 1 && width == wide:
		for k := 0; k*wide < len(panel); k++ {
			from, to := (*[wide]float32)(b.data[k*b.row:]), (*[wide]float32)(panel[k*wide:])
			archsimd.LoadFloat32x16((*[lanes]float32)(from[:])).Store((*[lanes]float32)(to[:]))
			archsimd.LoadFloat32x16((*[lanes]float32)(from[lanes:])).Store((*[lanes]float32)(to[lanes:]))
		}
		archsimd.ClearAVXUpperBits()
	case b.column == 1:
		for k := 0; k*wide < len(panel); k++ {
			copy(panel[k*wide:], b.data[k*b.row:][:width])
		}
	default:
		packColumns(panel, b, width)
	}
}

// packColumns is pack for a matrix that is stored column by column.
func packColumns(panel []float32, b matrix, width int) {
	count := len(panel) / wide
	column := func(j int) []float32 { return b.data[j*b.column:][:count] }
	j := 0
	for ; j+4 <= width; j += 4 {
		transpose4(panel[j:], column(j), column(j+1), column(j+2), column(j+3))
	}
	for ; j < width; j++ {
		for k, v := range column(j) {
			panel[k*wide+j] = v
		}
	}
}

// transpose4 stores four columns of equal length at the beginning of the panel's rows.
func transpose4(panel, w, x, y, z []float32) {
	n := len(w)
	x, y, z = x[:n], y[:n], z[:n]
	k := 0
	for ; k+4 <= n; k += 4 {
		a, b := archsimd.LoadFloat32x4((*[4]float32)(w[k:])), archsimd.LoadFloat32x4((*[4]float32)(x[k:]))
		c, d := archsimd.LoadFloat32x4((*[4]float32)(y[k:])), archsimd.LoadFloat32x4((*[4]float32)(z[k:]))
		ab01, ab23 := a.SelectFromPair(0, 1, 4, 5, b), a.SelectFromPair(2, 3, 6, 7, b)
		cd01, cd23 := c.SelectFromPair(0, 1, 4, 5, d), c.SelectFromPair(2, 3, 6, 7, d)
		ab01.SelectFromPair(0, 2, 4, 6, cd01).Store((*[4]float32)(panel[k*wide:]))
		ab01.SelectFromPair(1, 3, 5, 7, cd01).Store((*[4]float32)(panel[(k+1)*wide:]))
		ab23.SelectFromPair(0, 2, 4, 6, cd23).Store((*[4]float32)(panel[(k+2)*wide:]))
		ab23.SelectFromPair(1, 3, 5, 7, cd23).Store((*[4]float32)(panel[(k+3)*wide:]))
	}
	for ; k < n; k++ {
		panel[k*wide], panel[k*wide+1], panel[k*wide+2], panel[k*wide+3] = w[k], x[k], y[k], z[k]
	}
}

// packRest stores the rows of a that do not fill a tile, column by column, each column in
// tall elements.
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

// multiplyPanel adds the rows of a times a panel to c. rest holds the last rows.
func multiplyPanel(c []float32, columns int, a matrix, rest, panel []float32, rows, width int) {
	i := 0
	for ; i+tall <= rows; i += tall {
		tile(c[i*columns:], columns, matrix{a.data[i*a.row:], a.row, a.column}, panel, tall, width)
	}
	if i < rows {
		tile(c[i*columns:], columns, matrix{rest, 1, tall}, panel, rows-i, width)
	}
}

// tile adds tall rows of a times a panel to c, which has only the given rows and width.
func tile(c []float32, columns int, a matrix, panel []float32, rows, width int) {
	count := len(panel) / wide
	_ = a.data[(tall-1)*a.row+(count-1)*a.column]
	if rows == tall && width == wide {
		_ = c[(tall-1)*columns+wide-1]
		tile8x2(&c[0], columns, &a.data[0], a.row, a.column, &panel[0], count)
		return
	}
	var edge [tall * wide]float32
	for r := range rows {
		copy(edge[r*wide:], c[r*columns:][:width])
	}
	tile8x2(&edge[0], wide, &a.data[0], a.row, a.column, &panel[0], count)
	for r := range rows {
		copy(c[r*columns:][:width], edge[r*wide:])
	}
}

// tile8x2 adds eight rows of a times a panel of two vectors and depth rows to c. columns is
// the distance of two rows of c; row and column are those of a.
//
//go:noescape
func tile8x2(c *float32, columns int, a *float32, row, column int, panel *float32, depth int)

// addScaledRows adds to y the rows of w times the elements of x, four at a time in
// the order of x. It skips elements of x that are zero.
func addScaledRows(y, x, w []float32) {
	out := len(y)
	var f [4]float32
	var at [4]int
	count := 0
	for k, v := range x {
		if v == 0 {
			continue
		}
		f[count], at[count] = v, k*out
		if count++; count == 4 {
			addFourRows(y, &f, w[at[0]:], w[at[1]:], w[at[2]:], w[at[3]:])
			count = 0
		}
	}
	for i := range count {
		addRow(y, f[i], w[at[i]:])
	}
	archsimd.ClearAVXUpperBits()
}

func addFourRows(y []float32, f *[4]float32, w0, w1, w2, w3 []float32) {
	v0, v1 := archsimd.BroadcastFloat32x16(f[0]), archsimd.BroadcastFloat32x16(f[1])
	v2, v3 := archsimd.BroadcastFloat32x16(f[2]), archsimd.BroadcastFloat32x16(f[3])
	n := len(y)
	w0, w1, w2, w3 = w0[:n], w1[:n], w2[:n], w3[:n]
	j := 0
	for ; j+lanes <= n; j += lanes {
		s := archsimd.LoadFloat32x16Slice(y[j : j+lanes])
		s = archsimd.LoadFloat32x16Slice(w0[j:j+lanes]).MulAdd(v0, s)
		s = archsimd.LoadFloat32x16Slice(w1[j:j+lanes]).MulAdd(v1, s)
		s = archsimd.LoadFloat32x16Slice(w2[j:j+lanes]).MulAdd(v2, s)
		s = archsimd.LoadFloat32x16Slice(w3[j:j+lanes]).MulAdd(v3, s)
		s.StoreSlice(y[j : j+lanes])
	}
	if j < n {
		s := loadPart(y[j:])
		s = loadPart(w0[j:]).MulAdd(v0, s)
		s = loadPart(w1[j:]).MulAdd(v1, s)
		s = loadPart(w2[j:]).MulAdd(v2, s)
		s = loadPart(w3[j:]).MulAdd(v3, s)
		storePart(y[j:], s)
	}
}

func addRow(y []float32, f float32, w []float32) {
	v := archsimd.BroadcastFloat32x16(f)
	n := len(y)
	w = w[:n]
	j := 0
	for ; j+lanes <= n; j += lanes {
		s := archsimd.LoadFloat32x16Slice(y[j : j+lanes])
		archsimd.LoadFloat32x16Slice(w[j:j+lanes]).MulAdd(v, s).StoreSlice(y[j : j+lanes])
	}
	if j < n {
		s := loadPart(y[j:])
		storePart(y[j:], loadPart(w[j:]).MulAdd(v, s))
	}
}

// loadPart loads fewer elements than a vector has. The library's own function uses a
// pointer beyond the slice, which the race detector rejects.
func loadPart(s []float32) archsimd.Float32x16 {
	var b [lanes]float32
	copy(b[:], s)
	return archsimd.LoadFloat32x16(&b)
}

func storePart(s []float32, v archsimd.Float32x16) {
	var b [lanes]float32
	v.Store(&b)
	copy(s, b[:])
}
