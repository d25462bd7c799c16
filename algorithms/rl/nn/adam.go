package nn

import "math"

// Adam (Kingma and Ba, 2015) with Stable-Baselines3's constants: decay rates 0.9
// and 0.999 of the moments, epsilon 1e-5. Its exported fields are its whole state, for
// checkpoints. Every build computes the same bits.
type Adam struct {
	// First and Second are the moving averages of the gradients and of their squares.
	First, Second []float32
	// Steps is the number of steps taken.
	Steps int64
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

type adamCoefficients struct {
	// rate is the learning rate with the first moment's bias correction, scale the
	// second moment's.
	rate, scale float32
}

// Step moves the parameters against the gradients at a learning rate.
func (a *Adam) Step(parameters, gradients []float32, rate float64) {
	a.Steps++
	t := float64(a.Steps)
	c := adamCoefficients{
		rate:  float32(rate / (1 - math.Pow(adamBeta1, t))),
		scale: float32(1 / math.Sqrt(1-math.Pow(adamBeta2, t))),
	}
	for i := adamVector(parameters, gradients, a.First, a.Second, c); i < len(parameters); i++ {
		g := gradients[i]
		m := float32(adamBeta1*a.First[i]) + float32((1-adamBeta1)*g)
		v := float32(adamBeta2*a.Second[i]) + float32((1-adamBeta2)*float32(g*g))
		a.First[i], a.Second[i] = m, v
		root := float32(math.Sqrt(float64(v)))
		parameters[i] -= float32(c.rate*m) / (float32(root*c.scale) + adamEpsilon)
	}
}

// ClipNorm scales the gradients down to the limit if their Euclidean norm is larger. It
// returns the norm before scaling. If the norm is not finite, the gradients stay as they
// are and the caller should stop.
func ClipNorm(gradients []float32, limit float64) float64 {
	var sums [4]float64
	for i, g := range gradients {
		sums[i%4] += float64(g) * float64(g)
	}
	norm := math.Sqrt(sums[0] + sums[1] + sums[2] + sums[3])
	if !(norm > limit) || math.IsInf(norm, 0) {
		return norm
	}
	scale := float32(limit / norm)
	for i := range gradients {
		gradients[i] *= scale
	}
	return norm
}
