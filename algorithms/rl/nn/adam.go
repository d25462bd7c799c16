package nn

import (
	"math"

	"miglab/harness/portable"
)

// Adam is the optimiser of Kingma and Ba (2015) with Stable-Baselines3's constants: decay rates 0.9 and 0.999 of the
// moments, epsilon 1e-5. Its exported fields are its whole state, for checkpoints. Every build computes the same bits.
type Adam struct {
	First, Second []float32 // the moving averages of the gradients and of their squares
	Steps         int64     // the number of steps taken
}

const (
	adamBeta1   = 0.9
	adamBeta2   = 0.999
	adamEpsilon = 1e-5
)

// NewAdam returns an optimiser for the given number of parameters, before its first step.
func NewAdam(parameters int) *Adam {
	return &Adam{First: make([]float32, parameters), Second: make([]float32, parameters)}
}

// adamCoefficients are the factors of one step.
type adamCoefficients struct {
	// rate is the learning rate with the bias correction of the first moment, and rootScale corrects the root of the
	// second.
	rate, rootScale float32
	clip            float32 // scales the gradients
}

// Step moves the parameters against scale times the gradients, at a learning rate. Gradients of 0 and -0 have the same
// effect.
func (a *Adam) Step(parameters, gradients []float32, scale float32, rate float64) {
	a.Steps++
	t := float64(a.Steps)
	c := adamCoefficients{
		rate:      float32(rate / (1 - portable.Pow(adamBeta1, t))),
		rootScale: float32(1 / math.Sqrt(1-portable.Pow(adamBeta2, t))),
		clip:      scale,
	}
	for i := adamVector(parameters, gradients, a.First, a.Second, c); i < len(parameters); i++ {
		g := float32(gradients[i] * scale)
		m := float32(adamBeta1*a.First[i]) + float32((1-adamBeta1)*g)
		v := float32(adamBeta2*a.Second[i]) + float32((1-adamBeta2)*float32(g*g))
		a.First[i], a.Second[i] = m, v
		root := float32(math.Sqrt(float64(v)))
		parameters[i] -= float32(c.rate*m) / (float32(root*c.rootScale) + adamEpsilon)
	}
}

// ClipNorm returns the Euclidean norm of the gradients, and the factor that scales them down to the limit if the norm
// is larger, else 1. The scale has the same bits in every build; the norm is only close. If it is not finite, the scale
// is 1 and the caller should stop.
func ClipNorm(gradients []float32, limit float64) (norm float64, scale float32) {
	clip := func(sum float64) (float64, float32) {
		norm := math.Sqrt(sum)
		if !(norm > limit) || math.IsInf(norm, 0) {
			return norm, 1
		}
		return norm, float32(limit / norm)
	}
	// Squares are exact. Sums of n of them in different orders differ by less than n roundings each. If both ends of
	// this range give the same scale, the portable sum gives it as well.
	if sum, ok := squaresVector(gradients); ok {
		margin := float64(len(gradients)) * 0x1p-51
		low, scale := clip(sum * (1 - margin))
		if _, other := clip(sum * (1 + margin)); scale == other {
			return low, scale
		}
	}
	return clip(squares(gradients))
}

// squares returns the sum of the squares. Four sums take every fourth element each, so that
// additions need not wait for each other.
func squares(x []float32) float64 {
	var s0, s1, s2, s3 float64
	for len(x) >= 4 {
		s0 += square(x[0])
		s1 += square(x[1])
		s2 += square(x[2])
		s3 += square(x[3])
		x = x[4:]
	}
	rest := [4]float32{}
	copy(rest[:], x)
	return (s0 + square(rest[0])) + (s1 + square(rest[1])) + (s2 + square(rest[2])) + s3
}

// square returns the square of v, rounded before it is added, in every build.
func square(v float32) float64 { return float64(float64(v) * float64(v)) }

// Add adds each element of x to the same element of sum.
func Add(sum, x []float32) { axpy(1, x, sum) }
