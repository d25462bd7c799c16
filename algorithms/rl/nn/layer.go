package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"miglab/harness/portable"
)

// An Affine is a fully connected layer y = x·w + b without activation, on parameters that belong to its network: w row
// by row (In rows), then b. It is used by one goroutine at a time.
type Affine struct {
	In, Out       int
	weights, bias []float32
	dw, db        []float32

	n     int
	x     []float32 // of the last Forward
	y, dx []float32
}

// AffineSize returns the number of parameters of a layer.
func AffineSize(in, out int) int { return (in + 1) * out }

// NewAffine returns the layer on the first AffineSize(in, out) parameters and gradients.
func NewAffine(in, out int, parameters, gradients []float32) *Affine {
	w, size := in*out, AffineSize(in, out)
	return &Affine{
		In: in, Out: out,
		weights: parameters[:w:w], bias: parameters[w:size:size],
		dw: gradients[:w:w], db: gradients[w:size:size],
	}
}

// Initialise draws orthogonal weights times gain and sets the bias to zero, as
// Stable-Baselines3 does: gain √2 for hidden layers, 0.01 for a policy's head and
// 1 for a value's. Without rng the weights are zero, too, as for a network that is to be loaded.
func (a *Affine) Initialise(gain float64, rng *rand.Rand) {
	clear(a.bias)
	if rng == nil {
		clear(a.weights)
		return
	}
	orthogonal(a.weights, a.In, a.Out, gain, rng)
}

// Forward computes n rows. It keeps x, which must not change before Backward. The result
// belongs to the layer and is valid until the next Forward.
func (a *Affine) Forward(k Kernel, x []float32, n int) []float32 {
	a.n, a.x = n, x[:n*a.In]
	a.y = resize(a.y, n*a.Out)
	k.Affine(a.y, a.x, a.weights, a.bias, Dims{n, a.In, a.Out})
	return a.y
}

// Backward sets the gradients of a loss. dy are the derivatives of the loss by the result of the last Forward.
func (a *Affine) Backward(k Kernel, dy []float32) {
	k.WeightGradient(a.dw, a.db, a.x, dy[:a.n*a.Out], Dims{a.n, a.In, a.Out})
}

// InputGradient returns the derivatives of the same loss by the input of the last Forward.
// The result belongs to the layer and is valid until the next InputGradient.
func (a *Affine) InputGradient(k Kernel, dy []float32) []float32 {
	a.dx = resize(a.dx, a.n*a.In)
	k.InputGradient(a.dx, dy[:a.n*a.Out], a.weights, Dims{a.n, a.In, a.Out})
	return a.dx
}

// through calls Backward and then InputGradient.
func (a *Affine) through(k Kernel, dy []float32) []float32 {
	a.Backward(k, dy)
	return a.InputGradient(k, dy)
}

// orthogonal draws a rows×columns matrix. Its rows, or its columns if those are fewer, are orthogonal and of length
// gain. It orthogonalises normal vectors one after the other, which is uniform over all such matrices.
func orthogonal(m []float32, rows, columns int, gain float64, rng *rand.Rand) {
	count, length := min(rows, columns), max(rows, columns)
	vectors := make([][]float64, count)
	for i := range vectors {
		v := make([]float64, length)
		for j := range v {
			v[j] = portable.Normal(rng)
		}
		// Two passes make the vectors orthogonal up to rounding (Kahan and Parlett).
		for range 2 {
			for _, u := range vectors[:i] {
				dot := 0.0
				for j := range v {
					dot += float64(u[j] * v[j])
				}
				for j := range v {
					v[j] -= float64(dot * u[j])
				}
			}
		}
		square := 0.0
		for _, c := range v {
			square += float64(c * c)
		}
		norm := math.Sqrt(square)
		for j := range v {
			v[j] /= norm
		}
		vectors[i] = v
	}
	for i := range rows {
		for j := range columns {
			v := 0.0
			if rows < columns {
				v = vectors[i][j]
			} else {
				v = vectors[j][i]
			}
			m[i*columns+j] = float32(gain * v)
		}
	}
}

// An MLP is a chain of layers, each followed by its activation.
type MLP struct {
	layers      []*Affine
	activations []Activation
}

// MLPSize returns the number of parameters of an MLP of these widths, the input's first.
func MLPSize(widths ...int) int {
	size := 0
	for i := 1; i < len(widths); i++ {
		size += AffineSize(widths[i-1], widths[i])
	}
	return size
}

// NewMLP returns the network on the first MLPSize(widths...) parameters and gradients, layer after layer. The last
// layer has an activation of its own. Fewer than two widths make the identity.
func NewMLP(widths []int, hidden, last Activation, parameters, gradients []float32) *MLP {
	m := &MLP{}
	offset := 0
	for i := 1; i < len(widths); i++ {
		l := NewAffine(widths[i-1], widths[i], parameters[offset:], gradients[offset:])
		m.layers, m.activations = append(m.layers, l), append(m.activations, hidden)
		offset += AffineSize(l.In, l.Out)
	}
	if n := len(m.activations); n > 0 {
		m.activations[n-1] = last
	}
	return m
}

// Initialise draws the weights of each layer; the last layer has its own gain (see [Affine.Initialise]).
func (m *MLP) Initialise(hidden, last float64, rng *rand.Rand) {
	for i, l := range m.layers {
		gain := hidden
		if i == len(m.layers)-1 {
			gain = last
		}
		l.Initialise(gain, rng)
	}
}

// Forward computes n rows, as [Affine.Forward] does.
func (m *MLP) Forward(k Kernel, x []float32, n int) []float32 {
	for i, l := range m.layers {
		x = l.Forward(k, x, n)
		m.activations[i].Apply(x)
	}
	return x
}

// Backward sets the gradients of a loss. dy are the derivatives of the loss by the result
// of the last Forward; they are overwritten if the last layer has an activation.
func (m *MLP) Backward(k Kernel, dy []float32) {
	for i, l := range slices.Backward(m.layers) {
		m.activations[i].Gradient(dy[:len(l.y)], l.y)
		l.Backward(k, dy)
		if i > 0 {
			dy = l.InputGradient(k, dy)
		}
	}
}

// architecture writes widths as "106-256-112".
func architecture(widths []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(widths), "[]"), " ", "-")
}

// chain returns the widths of a whole network.
func chain(inputs int, hidden []int, outputs int) []int {
	return append(append([]int{inputs}, hidden...), outputs)
}
