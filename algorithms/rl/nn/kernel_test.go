package nn

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"golang.org/x/sys/cpu"
)

// shapes cover every tail of every tile: rows, inputs and outputs that no block or
// vector width divides, and ones that exceed a block.
var shapes = [][3]int{
	{1, 1, 1},
	{1, 5, 3},
	{2, 3, 17},
	{3, 7, 16},
	{4, 4, 32},
	{5, 33, 31},
	{7, 16, 48},
	{1, 100, 256},
	{1, 300, 141},
	{9, 130, 65},
	{6, 257, 1},
	{64, 40, 112},
	{33, 1, 5},
	{37, 300, 70},
	{300, 20, 33},
	{521, 3, 2},
}

// product adds a·b in double precision to c, with the sum of absolute values, to
// which rounding errors are relative.
func product(c, scale []float64, rows, inner, columns int, a, b func(i, j int) float32) {
	for i := range rows {
		for k := range inner {
			for j := range columns {
				v := float64(a(i, k)) * float64(b(k, j))
				c[i*columns+j] += v
				scale[i*columns+j] += math.Abs(v)
			}
		}
	}
}

// TestGradientsOfNoRows: they are zero, whatever was there before.
func TestGradientsOfNoRows(t *testing.T) {
	for _, k := range []Kernel{Portable(), Fast()} {
		for _, out := range []int{1, 8} {
			dw, db := normal(rng(11), 3*out), normal(rng(12), out)
			k.WeightGradient(dw, db, nil, nil, Dims{0, 3, out})
			if slices.Max(dw) != 0 || slices.Min(dw) != 0 || slices.Max(db) != 0 || slices.Min(db) != 0 {
				t.Errorf("%T, %d columns: %v, %v", k, out, dw, db)
			}
		}
	}
}

func TestKernelsAgreeWithDoublePrecision(t *testing.T) {
	for _, k := range []Kernel{Portable(), Fast()} {
		for _, s := range shapes {
			t.Run(fmt.Sprintf("%T/%v", k, s), func(t *testing.T) {
				n, in, out := s[0], s[1], s[2]
				r := rng(11)
				x, w, b, dy := normal(r, n*in), normal(r, in*out), normal(r, out), normal(r, n*out)
				for i := range x { // one-hot inputs and rectified ones have many zeros
					if i%3 == 0 {
						x[i] = 0
					}
				}
				compare := func(name string, got []float32, want, scale []float64) {
					t.Helper()
					for i := range want {
						if math.Abs(float64(got[i])-want[i]) > 1e-6*scale[i] {
							t.Fatalf("%s: element %d is %v, want %v", name, i, got[i], want[i])
						}
					}
				}

				y := normal(r, n*out)
				want, scale := make([]float64, n*out), make([]float64, n*out)
				for i := range want {
					want[i], scale[i] = float64(b[i%out]), math.Abs(float64(b[i%out]))
				}
				product(want, scale, n, in, out, func(i, j int) float32 { return x[i*in+j] }, func(i, j int) float32 { return w[i*out+j] })
				k.Affine(y, x, w, b, Dims{n, in, out})
				compare("Affine", y, want, scale)

				dx := normal(r, n*in)
				want, scale = make([]float64, n*in), make([]float64, n*in)
				product(want, scale, n, out, in, func(i, j int) float32 { return dy[i*out+j] }, func(i, j int) float32 { return w[j*out+i] })
				k.InputGradient(dx, dy, w, Dims{n, in, out})
				compare("InputGradient", dx, want, scale)

				dw, db := normal(r, in*out), normal(r, out)
				want, scale = make([]float64, in*out), make([]float64, in*out)
				product(want, scale, in, n, out, func(i, j int) float32 { return x[j*in+i] }, func(i, j int) float32 { return dy[i*out+j] })
				wantB, scaleB := make([]float64, out), make([]float64, out)
				product(wantB, scaleB, 1, n, out, func(int, int) float32 { return 1 }, func(i, j int) float32 { return dy[i*out+j] })
				k.WeightGradient(dw, db, x, dy, Dims{n, in, out})
				compare("WeightGradient, dw", dw, want, scale)
				compare("WeightGradient, db", db, wantB, scaleB)
			})
		}
	}
}

// Vector instructions change no bit of what the portable kernel computes without them.
func TestPortableAffineBits(t *testing.T) { withFewerVectors(t, comparePortableAffine) }

// withFewerVectors runs a test with all vector instructions of this machine, without AVX-512
// and without any.
func withFewerVectors(t *testing.T, f func(*testing.T)) {
	t.Run("all vectors", f)
	features := cpu.X86
	defer func() { cpu.X86 = features }()
	cpu.X86.HasAVX512F = false
	t.Run("no AVX-512", f)
	cpu.X86.HasAVX = false
	t.Run("no AVX", f)
}

func comparePortableAffine(t *testing.T) {
	for kind := range 3 {
		comparePortableAffineOn(t, kind)
	}
}

// comparePortableAffineOn compares on inputs with zeros in one of three ways.
func comparePortableAffineOn(t *testing.T, kind int) {
	for _, s := range slices.Concat(shapes, [][3]int{{2, 300, 20}, {3, 64, 112}, {2, 1, 64}, {2, 31, 450}, {4, 256, 256}, {8, 256, 128}, {11, 7, 64}}) {
		n, in, out := s[0], s[1], s[2]
		r := rng(17)
		x, w, b := normal(r, n*in), normal(r, in*out), normal(r, out)
		zeros := [...]func(i int) bool{
			func(int) bool { return false }, // every tile is dense
			func(i int) bool { return i%3 == 0 },
			func(i int) bool { return i/in%5 == 0 && i%in == in-1 }, // the first tile is not
		}[kind]
		for i := range x {
			if zeros(i) {
				x[i] = float32(math.Copysign(0, float64(x[i])))
			}
		}
		got, want := normal(r, n*out), make([]float32, n*out)
		Portable().Affine(got, x, w, b, Dims{n, in, out})
		for i := range n {
			copy(want[i*out:], b)
			axpyRows(want[i*out:(i+1)*out], x[i*in:(i+1)*in], w, out)
		}
		for i := range want {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
				t.Fatalf("%v, zeros %d: element %d is %v, want %v", s, kind, i, got[i], want[i])
			}
		}
	}
}

// Nothing outside the matrices is written, and a second run gives the same bits
// wherever the matrices lie in memory.
func TestKernelsRepeatThemselves(t *testing.T) {
	for _, k := range []Kernel{Portable(), Fast()} {
		for _, s := range shapes {
			n, in, out := s[0], s[1], s[2]
			run := func(offset int) (results [][]float32) {
				r := rng(13)
				matrix := func(n int) []float32 { return append(make([]float32, offset, offset+n), normal(r, n)...)[offset:] }
				guarded := func(n int) []float32 {
					m := append(matrix(n), 1, 2, 3)
					results = append(results, m)
					return m[:n]
				}
				x, w, b, dy := matrix(n*in), matrix(in*out), matrix(out), matrix(n*out)
				k.Affine(guarded(n*out), x, w, b, Dims{n, in, out})
				k.InputGradient(guarded(n*in), dy, w, Dims{n, in, out})
				k.WeightGradient(guarded(in*out), guarded(out), x, dy, Dims{n, in, out})
				return results
			}
			first, second := run(0), run(3)
			for i := range first {
				for j := range first[i] {
					if first[i][j] != second[i][j] {
						t.Fatalf("%T, %v: result %d differs at %d: %v and %v", k, s, i, j, first[i][j], second[i][j])
					}
				}
				if g := first[i][len(first[i])-3:]; g[0] != 1 || g[1] != 2 || g[2] != 3 {
					t.Fatalf("%T, %v: result %d was written past its end", k, s, i)
				}
			}
		}
	}
}

// A row's result does not depend on the rows computed along with it, so that
// decisions are the same one at a time and in batches.
func TestAffineIsTheSameInBatches(t *testing.T) { withFewerVectors(t, compareBatches) }

func compareBatches(t *testing.T) {
	for _, k := range []Kernel{Portable(), Fast()} {
		for _, s := range shapes {
			n, in, out := s[0], s[1], s[2]
			r := rng(17)
			x, w, b := normal(r, n*in), normal(r, in*out), normal(r, out)
			together, alone := make([]float32, n*out), make([]float32, n*out)
			k.Affine(together, x, w, b, Dims{n, in, out})
			for i := range n {
				k.Affine(alone[i*out:(i+1)*out], x[i*in:(i+1)*in], w, b, Dims{1, in, out})
			}
			for i := range together {
				if together[i] != alone[i] {
					t.Fatalf("%T, %v: element %d is %v in a batch, %v alone", k, s, i, together[i], alone[i])
				}
			}
		}
	}
}

func BenchmarkKernel(b *testing.B) {
	for _, k := range []Kernel{Portable(), Fast()} {
		for _, s := range [][3]int{{1024, 100, 256}, {1024, 256, 256}, {1024, 256, 112}, {1024, 256, 1}, {4096, 16, 64}, {1, 256, 256}, {8, 256, 256}} {
			n, in, out := s[0], s[1], s[2]
			r := rng(1)
			x, w, bias := normal(r, n*in), normal(r, in*out), normal(r, out)
			y, dw, db := normal(r, n*out), make([]float32, in*out), make([]float32, out)
			for _, c := range []struct {
				name string
				f    func()
			}{
				{"Affine", func() { k.Affine(y, x, w, bias, Dims{n, in, out}) }},
				{"InputGradient", func() { k.InputGradient(x, y, w, Dims{n, in, out}) }},
				{"WeightGradient", func() { k.WeightGradient(dw, db, x, y, Dims{n, in, out}) }},
			} {
				b.Run(fmt.Sprintf("%T/%s/%dx%dx%d", k, c.name, n, in, out), func(b *testing.B) {
					for b.Loop() {
						c.f()
					}
					b.ReportMetric(2*float64(n*in*out)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
				})
			}
		}
	}
}
