package kernels

import (
	"math"

	"miglab/profiling/cuda"
)

// The host sides. Each does what the class does in the source of the same name, for example lu.cu. Comments there say
// why a comparison allows an error such as 1e-6.

var bfs = &Program{
	Name: "bfs", What: "Breadth-first search of a random graph: irregular, bound by latency.", Unit: "vertices",
	Size: 1 << 22, Iterations: 300, VerifySize: 5000, MaxSize: 1 << 27,
	Bytes: func(n uint64) uint64 { return (n + 1 + edgeCount(n) + n + 2*n + 1) * 4 },
	start: func(h *host, n, seed uint64) (iterate, verify func()) {
		edges := edgeCount(n)
		offsets, targets, levels := h.alloc(n+1, 4), h.alloc(edges, 4), h.alloc(n, 4)
		frontiers, count := [2]uint64{h.alloc(n, 4), h.alloc(n, 4)}, h.alloc(1, 4)
		first := make([]uint32, n+1)
		for v := range n {
			first[v+1] = first[v] + uint32(degree(v))
		}
		writeValues(h, offsets, first...)
		h.fill(edges, targets, edges, n, seed)
		iterate = func() {
			if h.err == nil {
				h.err = h.gpu.Fill(cuda.Pointer(levels), 0xff, 4*n) // -1
			}
			writeValues(h, levels, uint32(0))
			writeValues(h, frontiers[0], uint32(0))
			found := uint64(1)
			for level := uint64(0); found > 0 && h.err == nil; level++ {
				writeValues(h, count, uint32(0))
				h.launch("expand", line(blocks(found, 256)), line(256),
					offsets, targets, levels, level, frontiers[level%2], found, frontiers[(level+1)%2], count)
				found = uint64(readValues[uint32](h, count, 1)[0])
			}
		}
		verify = func() { compareIntegers(h, readValues[int32](h, levels, n), bfsLevels(first, n, seed)) }
		return iterate, verify
	},
}

// degree returns the number of edges of a vertex.
func degree(vertex uint64) uint64 {
	edges := uint64(4)
	for v := vertex + 1; v%2 == 0 && edges < 512; v /= 2 {
		edges *= 2
	}
	return edges
}

func edgeCount(vertices uint64) (edges uint64) {
	for v := range vertices {
		edges += degree(v)
	}
	return edges
}

func bfsLevels(first []uint32, n, seed uint64) []int32 {
	levels := make([]int32, n)
	for i := range levels {
		levels[i] = -1
	}
	levels[0] = 0
	for queue := []uint64{0}; len(queue) > 0; queue = queue[1:] {
		for edge := first[queue[0]]; edge < first[queue[0]+1]; edge++ {
			to := randomBelow(seed, uint64(edge), n)
			if levels[to] == -1 {
				levels[to] = levels[queue[0]] + 1
				queue = append(queue, to)
			}
		}
	}
	return levels
}

var gaussian = &Program{
	Name: "gaussian", What: "Gaussian elimination, column by column: bound by launches.", Unit: "unknowns",
	Size: 2048, Iterations: 80, VerifySize: 70, MaxSize: 1 << 17,
	Bytes: func(n uint64) uint64 { return (n*(n+1) + n) * 4 },
	start: func(h *host, n, seed uint64) (iterate, verify func()) {
		system, factors := h.alloc(n*(n+1), 4), h.alloc(n, 4)
		iterate = func() {
			h.fill(n*(n+1), system, n, seed)
			for k := range n - 1 {
				rows := n - k - 1
				h.launch("multipliers", line(blocks(rows, 256)), line(256), system, factors, n, k)
				h.launch("eliminate", rectangle(blocks(rows+2, 32), blocks(rows, 8)), rectangle(32, 8), system,
					factors, n, k)
			}
		}
		verify = func() {
			width := n + 1
			want, got := factorise(seed, n, width), readValues[float32](h, system, n*width)
			for at := range n * width {
				if i, j := at/width, at%width; j >= i { // below the diagonal are zeros, or what is left of them
					h.compare(int(at), float64(got[at]), want[at], 1e-6*math.Sqrt(float64(n))*scale(i, j, n))
				}
			}
		}
		return iterate, verify
	},
}

// factorise returns the LU factorisation of a matrix of n rows: the factors are below the diagonal.
func factorise(seed, n, width uint64) []float64 {
	values := make([]float64, n*width)
	for i := range n {
		row := values[i*width : (i+1)*width]
		for j := range width {
			value := uniform(seed, i*width+j)
			if i == j {
				value += float32(n) // the diagonal is larger than the rest of its row
			}
			row[j] = float64(value)
		}
		for p := range i {
			above := values[p*width : (p+1)*width]
			row[p] /= above[p]
			for j := p + 1; j < width; j++ {
				row[j] -= row[p] * above[j]
			}
		}
	}
	return values
}

// scale returns the order of magnitude of a value of a factorised matrix: n on the diagonal and 1 above it. For values
// below it, lu divides this by n.
func scale(row, column, n uint64) float64 {
	if row == column {
		return float64(n)
	}
	return 1
}

var gemm = &Program{
	Name: "gemm", What: "Product of two matrices: bound by arithmetic.", Unit: "rows of a matrix",
	WindowSize: 4096,
	Size:       8192, Iterations: 20, VerifySize: 150, MaxSize: 1 << 17,
	Bytes: func(n uint64) uint64 { return 3 * roundUp(n, 128) * roundUp(n, 128) * 4 },
	start: func(h *host, n, seed uint64) (iterate, verify func()) {
		padded := roundUp(n, 128)
		a, b, c := h.alloc(padded*padded, 4), h.alloc(padded*padded, 4), h.alloc(padded*padded, 4)
		h.fill(padded*padded, a, padded, n, seed)
		h.fill(padded*padded, b, padded, n, ^seed)
		tiles := padded / 128
		iterate = func() { h.launch("multiply", rectangle(tiles, tiles), rectangle(16, 16), a, b, c, padded) }
		verify = func() {
			got := readValues[float32](h, c, padded*padded)
			value := func(seed, i uint64) float64 { return float64(uniform(seed, i) - 0.5) }
			want := make([]float64, n)
			for i := range n {
				clear(want)
				for k := range n {
					left := value(seed, i*n+k)
					for j := range n {
						want[j] += left * value(^seed, k*n+j)
					}
				}
				for j := range n {
					h.compare(int(i*padded+j), float64(got[i*padded+j]), want[j], 1e-6*float64(n))
				}
			}
		}
		return iterate, verify
	},
}

var lu = &Program{
	Name: "lu", What: "LU factorisation by tiles: bound by arithmetic, then by latency.", Unit: "rows of the matrix",
	WindowSize: 4096,
	Size:       8192, Iterations: 25, VerifySize: 150, MaxSize: 1 << 17,
	Bytes: func(n uint64) uint64 { return roundUp(n, 64) * roundUp(n, 64) * 4 },
	start: func(h *host, n, seed uint64) (iterate, verify func()) {
		padded := roundUp(n, 64)
		matrix, tiles := h.alloc(padded*padded, 4), padded/64
		iterate = func() {
			h.fill(padded*padded, matrix, padded, n, seed)
			for k := range tiles {
				h.launch("diagonal", line(1), line(64), matrix, padded, k)
				if rest := tiles - k - 1; rest > 0 {
					h.launch("right", line(rest), line(64), matrix, padded, k)
					h.launch("below", line(rest), line(64), matrix, padded, k)
					h.launch("update", rectangle(rest, rest), rectangle(16, 16), matrix, padded, k)
				}
			}
		}
		verify = func() {
			want, got := factorise(seed, n, n), readValues[float32](h, matrix, padded*padded)
			for at := range n * n {
				i, j := at/n, at%n
				allowed := 1e-6 * math.Sqrt(float64(n)) * scale(i, j, n)
				if i > j {
					allowed /= float64(n)
				}
				h.compare(int(i*padded+j), float64(got[i*padded+j]), want[at], allowed)
			}
		}
		return iterate, verify
	},
}

var nw = &Program{
	Name: "nw", What: "Needleman-Wunsch score of two sequences, as a wave: bound by latency.",
	Unit: "letters of a sequence",
	Size: 16384, Iterations: 200, VerifySize: 150, MaxSize: 1 << 17,
	Bytes: func(n uint64) uint64 { n = roundUp(n, 32); return (n+1)*(n+1)*4 + 2*n },
	start: func(h *host, n, seed uint64) (iterate, verify func()) {
		padded := roundUp(n, 32)
		table, first, second := h.alloc((padded+1)*(padded+1), 4), h.alloc(padded, 1), h.alloc(padded, 1)
		h.fill(padded, first, second, padded, seed)
		h.launch("border", line(blocks(padded+1, 256)), line(256), table, padded)
		iterate = func() {
			tiles := padded / 32
			for diagonal := range 2*tiles - 1 { // the tiles (i, diagonal-i) depend on earlier diagonals alone
				from, to := max(diagonal+1, tiles)-tiles, min(diagonal, tiles-1)
				h.launch("wave", line(to-from+1), line(32), table, first, second, padded, from, diagonal)
			}
		}
		verify = func() {
			got := readValues[int32](h, table, (padded+1)*(padded+1))
			row, above := make([]int32, n+1), make([]int32, n+1)
			for i := range n + 1 {
				row, above = above, row
				for j := range n + 1 {
					switch {
					case i == 0:
						row[j] = -4 * int32(j)
					case j == 0:
						row[j] = -4 * int32(i)
					default:
						pair := above[j-1] - 3
						if randomBelow(seed, i-1, 4) == randomBelow(^seed, j-1, 4) {
							pair = above[j-1] + 5
						}
						row[j] = max(pair, above[j]-4, row[j-1]-4)
					}
				}
				compareIntegers(h, got[i*(padded+1):], row)
			}
		}
		return iterate, verify
	},
}

var randomAccess = &Program{
	Name: "randomaccess", What: "Random updates of a table: bound by memory latency.",
	Unit: "64-bit words of the table",
	Size: 1 << 26, Iterations: 40, VerifySize: 10000, MaxSize: 1 << 32,
	Bytes: func(n uint64) uint64 { return n * 8 },
	start: func(h *host, n, seed uint64) (iterate, verify func()) {
		table := h.alloc(n, 8)
		iterate = func() {
			h.fill(n, table, n)
			h.launch("update", line(blocks(4*n, 256)), line(256), table, n, seed)
		}
		verify = func() {
			want := make([]uint64, n)
			for i := range n {
				want[i] = i
			}
			for i := range 4 * n {
				want[randomBelow(seed, i, n)] ^= randomBits(seed, i)
			}
			compareIntegers(h, readValues[uint64](h, table, n), want)
		}
		return iterate, verify
	},
}

var reduction = &Program{
	Name: "reduction", What: "Sum of an array that fits the L2 cache of a whole GPU: bound by cache and launches.",
	Unit: "64-bit words of the array",
	Size: 1 << 21, Iterations: 100000, VerifySize: 10000, MaxSize: 1 << 36,
	Bytes: func(n uint64) uint64 { return (n + partialSums(n) + 1) * 8 },
	start: func(h *host, n, seed uint64) (iterate, verify func()) {
		count := partialSums(n)
		values, partial, total := h.alloc(n, 8), h.alloc(count, 8), h.alloc(1, 8)
		h.fill(n, values, n, seed)
		iterate = func() {
			h.launch("sum", line(count), line(256), values, n, partial)
			h.launch("sum", line(1), line(256), partial, count, total)
		}
		verify = func() {
			var want uint64
			for i := range n {
				want += randomBits(seed, i)
			}
			compareIntegers(h, readValues[uint64](h, total, 1), []uint64{want})
		}
		return iterate, verify
	},
}

// partialSums returns the number of blocks of the first kernel of reduction.
func partialSums(n uint64) uint64 { return min(blocks(n, 256), 256) }

var stream = &Program{
	Name: "stream", What: "Triad a = b + s c: bound by memory bandwidth.", Unit: "elements of an array",
	Size: 1 << 26, Iterations: 1000, VerifySize: 10000, MaxSize: 1 << 36,
	Bytes: func(n uint64) uint64 { return 3 * n * 8 },
	start: func(h *host, n, seed uint64) (iterate, verify func()) {
		a, b, c := h.alloc(n, 8), h.alloc(n, 8), h.alloc(n, 8)
		h.fill(n, b, c, n, seed)
		iterate = func() { h.launch("triad", line(blocks(n, 256)), line(256), a, b, c, n) }
		verify = func() {
			for i, got := range readValues[float64](h, a, n) {
				h.compare(i, got, float64(uniform(seed, uint64(2*i)))+3*float64(uniform(seed, uint64(2*i+1))), 0)
			}
		}
		return iterate, verify
	},
}
