package nn

import (
	"fmt"
	"math"
	"testing"
	"time"

	"golang.org/x/sys/cpu"
)

// vectorCall is a call of a function that may use vector registers.
type vectorCall struct {
	name string
	f    func()
}

func vectorCalls() []vectorCall {
	var calls []vectorCall
	r := rng(19)
	for _, k := range []Kernel{Portable(), Fast()} {
		for _, s := range shapes {
			n, in, out := s[0], s[1], s[2]
			x, w, b, y := normal(r, n*in), normal(r, in*out), normal(r, out), normal(r, n*out)
			at := fmt.Sprintf(" of %T, %v", k, s)
			calls = append(
				calls,
				vectorCall{"Affine" + at, func() { k.Affine(y, x, w, b, Dims{n, in, out}) }},
				vectorCall{"InputGradient" + at, func() { k.InputGradient(x, y, w, Dims{n, in, out}) }},
				vectorCall{"WeightGradient" + at, func() { k.WeightGradient(w, b, x, y, Dims{n, in, out}) }},
			)
		}
	}
	x, g := normal(r, 33), normal(r, 33)
	adam := NewAdam(len(x))
	return append(
		calls,
		vectorCall{"Tanh.Apply", func() { Tanh.Apply(x) }},
		vectorCall{"Tanh.Gradient", func() { Tanh.Gradient(g, x) }},
		vectorCall{"ReLU.Apply", func() { ReLU.Apply(x) }},
		vectorCall{"ReLU.Gradient", func() { ReLU.Gradient(g, x) }},
		vectorCall{"Adam.Step", func() { adam.Step(x, g, 1, 1e-3) }},
		vectorCall{"ClipNorm", func() { ClipNorm(g, 1) }},
	)
}

// While upper halves hold values, many processors run all other floating-point code
// several times slower. Those that do not have the penalty still show the values.
func TestUpperHalvesAreClear(t *testing.T) {
	if !cpu.X86.HasAVX {
		t.Skip("needs AVX")
	}
	for _, c := range vectorCalls() {
		upperHalves()
		if c.f(); upperHalves() {
			t.Errorf("%s leaves values in the upper halves of vector registers", c.name)
		}
	}
}

// BenchmarkExpAfterKernel measures math.Exp after a product of the fast kernel. "slower" is
// the ratio to math.Exp after clearing the upper halves of vector registers: about 1, and
// up to 10 if the kernel leaves values in them and the processor has the penalty.
func BenchmarkExpAfterKernel(b *testing.B) {
	if !cpu.X86.HasAVX {
		b.Skip("needs AVX")
	}
	const n = 64
	r := rng(1)
	x, w, bias, y := normal(r, n*n), normal(r, n*n), normal(r, n), normal(r, n*n)
	exponentials := func() (sum float64, took time.Duration) {
		start := time.Now()
		for i := range 1000 {
			sum += math.Exp(float64(-i) / 100)
		}
		return sum, time.Since(start)
	}
	var after, alone time.Duration
	for b.Loop() {
		Fast().Affine(y, x, w, bias, Dims{n, n, n})
		_, took := exponentials()
		after += took
		upperHalves()
		_, took = exponentials()
		alone += took
	}
	b.ReportMetric(after.Seconds()/alone.Seconds(), "slower")
}
