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
	// wide is the width of a panel: two vectors. Four rows by two vectors are the
	// accumulators that the compiler keeps in registers without copies to memory.
	wide = 2 * lanes
	// tall is the number of rows of a tile.
	tall = 4
	// depth is the number of rows of a panel. The panel and the rows that it is multiplied
	// with must fit into the first-level cache.
	depth = 192
)

func (avx512) Affine(y, x, w, b []float32, n, in, out int) {
	for i := range n {
		copy(y[i*out:(i+1)*out], b)
	}
	if n < tall {
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
	memory := s.take(depth * wide)
	for first := 0; first < inner; first += depth {
		count := min(depth, inner-first)
		block := matrix{a.data[first*a.column:], a.row, a.column}
		for j := 0; j < columns; j += wide {
			width := min(wide, columns-j)
			padded := wide
			if width <= lanes {
				padded = lanes
			}
			panel := memory[:count*padded]
			pack(panel, matrix{b.data[first*b.row+j*b.column:], b.row, b.column}, width, padded)
			multiplyPanel(c[j:], columns, block, panel, rows, width, padded)
		}
	}
}

// pack stores width columns of b row by row. The padding may hold anything: results
// computed from it are dropped.
func pack(panel []float32, b matrix, width, padded int) {
	if b.column == 1 {
		for k := 0; k*padded < len(panel); k++ {
			copy(panel[k*padded:], b.data[k*b.row:][:width])
		}
		return
	}
	count := len(panel) / padded
	for j := range width {
		for k, v := range b.data[j*b.column:][:count] {
			panel[k*padded+j] = v
		}
	}
}

func multiplyPanel(c []float32, columns int, a matrix, panel []float32, rows, width, padded int) {
	var edge [tall * wide]float32
	for i := 0; i < rows; i += tall {
		at := a.data[i*a.row:]
		count := min(tall, rows-i)
		if count == tall && width == padded {
			tile(c[i*columns:], columns, at, a, panel, padded)
			continue
		}
		for r := range count {
			copy(edge[r*padded:], c[(i+r)*columns:][:width])
		}
		if count == tall {
			tile(edge[:], padded, at, a, panel, padded)
		} else {
			for r := range count {
				tileRow(edge[r*padded:], at[r*a.row:], a.column, panel, padded)
			}
		}
		for r := range count {
			copy(c[(i+r)*columns:][:width], edge[r*padded:])
		}
	}
	archsimd.ClearAVXUpperBits()
}

// tile adds four rows of a, which begin at at, times a panel to c.
func tile(c []float32, columns int, at []float32, a matrix, panel []float32, padded int) {
	if padded == lanes {
		tile4x1(c, columns, at, a.row, a.column, panel)
		return
	}
	pairs := len(panel) / (2 * wide)
	if pairs > 0 {
		tile4x2(c, columns, at, a.row, a.column, panel[:pairs*2*wide])
	}
	if last := panel[pairs*2*wide:]; len(last) > 0 {
		for r := range tall {
			tileRow(c[r*columns:], at[r*a.row+2*pairs*a.column:], a.column, last, padded)
		}
	}
}

// tile4x2 adds four rows of a times a panel of two vectors to c. The panel's rows
// come in pairs: the loop's end moves every accumulator to another register.
func tile4x2(c []float32, columns int, a []float32, row, column int, panel []float32) {
	n := (len(panel)/wide-1)*column + 1
	a0, a1, a2, a3 := a[:n], a[row:][:n], a[2*row:][:n], a[3*row:][:n]
	c0, c1, c2, c3 := (*[wide]float32)(c), (*[wide]float32)(c[columns:]), (*[wide]float32)(c[2*columns:]), (*[wide]float32)(c[3*columns:])
	s0, t0 := load(c0, 0), load(c0, lanes)
	s1, t1 := load(c1, 0), load(c1, lanes)
	s2, t2 := load(c2, 0), load(c2, lanes)
	s3, t3 := load(c3, 0), load(c3, lanes)
	for k := 0; k+column < n && len(panel) >= 2*wide; k += 2 * column {
		q := (*[wide]float32)(panel)
		p, r := load(q, 0), load(q, lanes)
		v := archsimd.BroadcastFloat32x16(a0[k])
		s0, t0 = v.MulAdd(p, s0), v.MulAdd(r, t0)
		v = archsimd.BroadcastFloat32x16(a1[k])
		s1, t1 = v.MulAdd(p, s1), v.MulAdd(r, t1)
		v = archsimd.BroadcastFloat32x16(a2[k])
		s2, t2 = v.MulAdd(p, s2), v.MulAdd(r, t2)
		v = archsimd.BroadcastFloat32x16(a3[k])
		s3, t3 = v.MulAdd(p, s3), v.MulAdd(r, t3)
		q = (*[wide]float32)(panel[wide:])
		p, r = load(q, 0), load(q, lanes)
		v = archsimd.BroadcastFloat32x16(a0[k+column])
		s0, t0 = v.MulAdd(p, s0), v.MulAdd(r, t0)
		v = archsimd.BroadcastFloat32x16(a1[k+column])
		s1, t1 = v.MulAdd(p, s1), v.MulAdd(r, t1)
		v = archsimd.BroadcastFloat32x16(a2[k+column])
		s2, t2 = v.MulAdd(p, s2), v.MulAdd(r, t2)
		v = archsimd.BroadcastFloat32x16(a3[k+column])
		s3, t3 = v.MulAdd(p, s3), v.MulAdd(r, t3)
		panel = panel[2*wide:]
	}
	store(c0, 0, s0)
	store(c0, lanes, t0)
	store(c1, 0, s1)
	store(c1, lanes, t1)
	store(c2, 0, s2)
	store(c2, lanes, t2)
	store(c3, 0, s3)
	store(c3, lanes, t3)
}

// tile4x1 adds four rows of a times a panel of one vector to c.
func tile4x1(c []float32, columns int, a []float32, row, column int, panel []float32) {
	n := (len(panel)/lanes-1)*column + 1
	a0, a1, a2, a3 := a[:n], a[row:][:n], a[2*row:][:n], a[3*row:][:n]
	s0 := archsimd.LoadFloat32x16Slice(c)
	s1 := archsimd.LoadFloat32x16Slice(c[columns:])
	s2 := archsimd.LoadFloat32x16Slice(c[2*columns:])
	s3 := archsimd.LoadFloat32x16Slice(c[3*columns:])
	for k := 0; k < n && len(panel) >= lanes; k += column {
		p := archsimd.LoadFloat32x16Slice(panel)
		s0 = archsimd.BroadcastFloat32x16(a0[k]).MulAdd(p, s0)
		s1 = archsimd.BroadcastFloat32x16(a1[k]).MulAdd(p, s1)
		s2 = archsimd.BroadcastFloat32x16(a2[k]).MulAdd(p, s2)
		s3 = archsimd.BroadcastFloat32x16(a3[k]).MulAdd(p, s3)
		panel = panel[lanes:]
	}
	s0.StoreSlice(c)
	s1.StoreSlice(c[columns:])
	s2.StoreSlice(c[2*columns:])
	s3.StoreSlice(c[3*columns:])
}

// tileRow adds one row of a times a panel to c.
func tileRow(c, a []float32, column int, panel []float32, padded int) {
	for j := 0; j < padded; j += lanes {
		s := archsimd.LoadFloat32x16Slice(c[j:])
		for k := 0; k*padded < len(panel); k++ {
			p := archsimd.LoadFloat32x16Slice(panel[k*padded+j:])
			s = archsimd.BroadcastFloat32x16(a[k*column]).MulAdd(p, s)
		}
		s.StoreSlice(c[j:])
	}
}

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

func load(q *[wide]float32, at int) archsimd.Float32x16 {
	return archsimd.LoadFloat32x16((*[lanes]float32)(q[at:]))
}

func store(q *[wide]float32, at int, v archsimd.Float32x16) {
	v.Store((*[lanes]float32)(q[at:]))
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
