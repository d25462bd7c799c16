package nn

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A QNetwork maps observations to action values by ReLU layers. A dueling network has two heads on the last hidden
// layer, V and A, and returns V + A − mean A (Wang et al., 2016). It implements [Policy]: preferences are the action
// values, and values are nil.
type QNetwork struct {
	network
	dueling bool

	body             *MLP
	advantage, value *Affine   // value is nil if the network is not dueling
	n                int       // rows of the last Forward
	q                []float32 // the action values of a dueling network
	dAdvantage       []float32 // derivatives by the results of the heads
	dValue           []float32
}

// NewQNetwork returns a network with freshly drawn parameters: body, then the head
// of advantages (or of action values), then the head of the value. Without rng they are zero.
func NewQNetwork(inputs int, hidden []int, actions int, dueling bool, kernel Kernel, rng *rand.Rand) *QNetwork {
	q := &QNetwork{
		network: network{inputs: inputs, actions: actions, hidden: slices.Clone(hidden), kernel: kernel},
		dueling: dueling,
	}
	outputs := actions
	if dueling {
		outputs++ // the value
	}
	q.parameters = make([]float32, MLPSize(chain(inputs, hidden, outputs)...))
	q.build()
	q.body.Initialise(math.Sqrt2, math.Sqrt2, rng)
	q.advantage.Initialise(1, rng)
	if dueling {
		q.value.Initialise(1, rng)
	}
	return q
}

func (q *QNetwork) build() {
	q.gradients = make([]float32, len(q.parameters))
	widths := append([]int{q.inputs}, q.hidden...)
	offset, features := MLPSize(widths...), widths[len(widths)-1]
	q.body = NewMLP(widths, ReLU, ReLU, q.parameters, q.gradients)
	q.advantage = NewAffine(features, q.actions, q.parameters[offset:], q.gradients[offset:])
	if q.dueling {
		offset += AffineSize(features, q.actions)
		q.value = NewAffine(features, 1, q.parameters[offset:], q.gradients[offset:])
	}
	q.q, q.dAdvantage, q.dValue = nil, nil, nil
}

// String implements [Policy].
func (q *QNetwork) String() string {
	name := "q-network "
	if q.dueling {
		name = "dueling q-network "
	}
	return name + architecture(chain(q.inputs, q.hidden, q.actions)) + " relu"
}

// Forward implements [Policy].
func (q *QNetwork) Forward(observations []float32, n int) (preferences, values []float32) {
	q.n = n
	features := q.body.Forward(q.kernel, observations, n)
	advantages := q.advantage.Forward(q.kernel, features, n)
	if !q.dueling {
		return advantages, nil
	}
	states := q.value.Forward(q.kernel, features, n)
	q.q = resize(q.q, len(advantages))
	for i, v := range states {
		row := advantages[i*q.actions : (i+1)*q.actions]
		shift := v - mean(row)
		for j, a := range row {
			q.q[i*q.actions+j] = a + shift
		}
	}
	return q.q, nil
}

// Backward implements [Policy].
func (q *QNetwork) Backward(dPreferences, _ []float32) {
	if !q.dueling {
		q.body.Backward(q.kernel, q.advantage.through(q.kernel, dPreferences))
		return
	}
	q.dAdvantage, q.dValue = resize(q.dAdvantage, q.n*q.actions), resize(q.dValue, q.n)
	for i := range q.n {
		row := dPreferences[i*q.actions : (i+1)*q.actions]
		m := mean(row)
		for j, d := range row {
			q.dAdvantage[i*q.actions+j] = d - m
		}
		q.dValue[i] = float32(m * float32(q.actions))
	}
	dBody := q.advantage.through(q.kernel, q.dAdvantage)
	for i, d := range q.value.through(q.kernel, q.dValue) {
		dBody[i] += d
	}
	q.body.Backward(q.kernel, dBody)
}

// Share implements [Policy].
func (q *QNetwork) Share() Policy {
	s := *q
	s.build()
	return &s
}

func mean(s []float32) float32 {
	sum := float32(0)
	for _, v := range s {
		sum += v
	}
	return sum / float32(len(s))
}
