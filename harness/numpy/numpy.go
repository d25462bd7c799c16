// Package numpy is the random stream of np.random.seed: NumPy's RandomState, which draws from the Mersenne Twister
// MT19937 (Matsumoto and Nishimura, ACM TOMACS 8(1), 1998). NumPy has frozen this stream, so that what a seeded script
// drew can be drawn again, number by number. The functions are named after NumPy's.
package numpy

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/mathext/prng"

	"miglab/harness/portable"
)

// A Stream is a stream of random numbers.
type Stream struct {
	twister  prng.MT19937
	used     int
	spare    float64 // the second number of a pair of normal ones, if there is one
	hasSpare bool
}

// New returns the stream of np.random.seed(seed).
func New(seed uint32) *Stream {
	s := new(Stream)
	s.twister.Seed(uint64(seed))
	return s
}

// Used returns how many 32-bit numbers have been drawn.
func (s *Stream) Used() int { return s.used }

// Skip draws n 32-bit numbers.
func (s *Stream) Skip(n int) {
	for range n {
		s.uint32()
	}
}

func (s *Stream) uint32() uint32 {
	s.used++
	return s.twister.Uint32()
}

// Random returns a number from 0 to 1, without 1. Here and below, a conversion keeps a product from being fused with a
// sum.
func (s *Stream) Random() float64 {
	high, low := s.uint32()>>5, s.uint32()>>6
	return (float64(float64(high)*(1<<26)) + float64(low)) / (1 << 53)
}

// RandInt returns a number from 0 to n-1, without a draw if n is 1. It panics unless n is from 1 to 2^31.
func (s *Stream) RandInt(n int) int {
	if n < 1 || n > 1<<31 {
		panic("numpy: RandInt needs a number from 1 to 2^31")
	}
	if n == 1 {
		return 0
	}
	mask := uint32(1)<<bits.Len32(uint32(n-1)) - 1
	for {
		if v := s.uint32() & mask; int(v) < n {
			return int(v)
		}
	}
}

// Uniform returns a number from low to high, without high.
func (s *Stream) Uniform(low, high float64) float64 { return low + float64((high-low)*s.Random()) }

// Exponential returns an exponentially distributed number.
func (s *Stream) Exponential(mean float64) float64 {
	return float64(mean * -portable.Log(1-s.Random()))
}

// LogNormal returns the exponential function of a normal number with the given mean and standard deviation.
func (s *Stream) LogNormal(mean, deviation float64) float64 {
	return portable.Exp(mean + float64(deviation*s.standardNormal()))
}

// standardNormal returns a standard normal number. Every other call draws a pair by Marsaglia's polar method.
func (s *Stream) standardNormal() float64 {
	if s.hasSpare {
		s.hasSpare = false
		return s.spare
	}
	for {
		x := float64(2*s.Random()) - 1
		y := float64(2*s.Random()) - 1
		r := float64(x*x) + float64(y*y)
		if r >= 1 || r == 0 {
			continue
		}
		f := math.Sqrt(-2 * portable.Log(r) / r)
		s.spare, s.hasSpare = f*x, true
		return f * y
	}
}
