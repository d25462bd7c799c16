package numpy

import (
	"math"
	"slices"
	"testing"
)

// TestMersenneTwister has the numbers of the reference implementation: the first ones of its
// default seed, and the ten thousandth, which the C++ standard requires.
func TestMersenneTwister(t *testing.T) {
	s := New(5489)
	if a, b := s.uint32(), s.uint32(); a != 3499211612 || b != 581869302 {
		t.Errorf("the first numbers are %d and %d", a, b)
	}
	s.Skip(9997)
	if got := s.uint32(); got != 4123659995 || s.Used() != 10_000 {
		t.Errorf("number %d is %d", s.Used(), got)
	}
}

// TestNumPy has numbers that NumPy prints after np.random.seed.
func TestNumPy(t *testing.T) {
	draw := func(seed uint32, n int, next func(*Stream) float64) []float64 {
		s := New(seed)
		out := make([]float64, n)
		for i := range out {
			out[i] = next(s)
		}
		return out
	}
	for name, c := range map[string]struct {
		got, want []float64
	}{
		"seed(42), random()": {
			draw(42, 3, (*Stream).Random),
			[]float64{0.3745401188473625, 0.9507143064099162, 0.7319939418114051},
		},
		"seed(42), randint(100000)": {
			draw(42, 10, func(s *Stream) float64 { return float64(s.RandInt(100_000)) }),
			[]float64{15795, 860, 76820, 54886, 6265, 82386, 37194, 87498, 44131, 60263},
		},
		"seed(0), normal(0, 1)": {
			draw(0, 5, func(s *Stream) float64 { return s.standardNormal() }),
			[]float64{1.764052345967664, 0.4001572083672233, 0.9787379841057392, 2.240893199201458, 1.8675579901499675},
		},
		"seed(42), uniform(1, 1.5)": {
			draw(42, 1, func(s *Stream) float64 { return s.Uniform(1, 1.5) }),
			[]float64{1 + 0.3745401188473625/2},
		},
		"seed(42), exponential(1)": {
			draw(42, 3, func(s *Stream) float64 { return s.Exponential(1) }),
			[]float64{0.4692680899768591, 3.010121430917521, 1.3167456935454493},
		},
		"seed(0), lognormal(1, 2)": {
			draw(0, 1, func(s *Stream) float64 { return s.LogNormal(1, 2) }),
			[]float64{math.Exp(1 + 2*1.764052345967664)},
		},
	} {
		same := func(a, b float64) bool { return math.Abs(a-b) <= 1e-15*math.Abs(b) }
		if !slices.EqualFunc(c.got, c.want, same) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}

func TestRandIntOfOneDrawsNothing(t *testing.T) {
	s := New(1)
	if got := s.RandInt(1); got != 0 || s.Used() != 0 {
		t.Errorf("%d, after %d draws", got, s.Used())
	}
	defer func() {
		if recover() == nil {
			t.Error("RandInt(0) does not panic")
		}
	}()
	s.RandInt(0)
}
