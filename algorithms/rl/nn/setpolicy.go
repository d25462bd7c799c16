package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// SetShape is the layout of what a [SetPolicy] sees: the number of live rows, then
// Globals values, then Capacity rows of Row values each, the live ones first. It
// prefers one of Choices for each row.
//
// Deep joins each row with the globals before the rows are added up, and gives the head
// another layer.
type SetShape struct {
	Capacity, Globals, Row, Choices int
	Deep                            bool
}

// A SetPolicy is an actor-critic for choosing from a set, such as the tasks of a batch.
// Each row goes through the same small network. The sum of the results and the globals go
// through a trunk. The trunk's output, joined with each row, goes through the same head.
// The policy therefore works for any number of rows in any order, and computes only the
// live rows. Hidden units are rectified.
type SetPolicy struct {
	network
	shape SetShape
	units int // hidden ones of a row

	// Layers. The head adds the output of context (from the trunk) to that of item (from a
	// row). A deep network adds the output of encodeGlobals to that of encode1, and has the
	// layer head.
	encode1, encodeGlobals, encode2, trunk1, trunk2, context, item, head, preference, value dense

	// The results of the last Forward, which Backward needs, and their gradients.
	n                                       int
	live                                    []int // rows of each observation
	x, encoded1, encoded2, joined, up1, up2 tape
	globals, encodedGlobals                 tape
	contexts, items, heads, scores, values  tape
	preferences                             []float32
}

// dense is a layer's place in the parameters: in times out weights, then out biases.
type dense struct{ in, out, at int }

func (d dense) weights(p []float32) []float32 { return p[d.at : d.at+d.in*d.out] }
func (d dense) biases(p []float32) []float32 {
	return p[d.at+d.in*d.out : d.at+(d.in+1)*d.out]
}

// A tape holds a layer's results and their gradients.
type tape struct{ y, dy []float32 }

// grow makes room for n results. Their contents are undefined.
func (t *tape) grow(n int) {
	if cap(t.y) < n {
		t.y, t.dy = make([]float32, n+n/4), make([]float32, n+n/4)
	}
	t.y, t.dy = t.y[:n], t.dy[:n]
}

// NewSetPolicy returns a network with hidden units for each row and twice as many
// in the trunk.
func NewSetPolicy(shape SetShape, hidden int, kernel Kernel, rng *rand.Rand) *SetPolicy {
	p := &SetPolicy{shape: shape, units: hidden}
	p.inputs, p.actions, p.kernel = 1+shape.Globals+shape.Capacity*shape.Row, shape.Capacity*shape.Choices, kernel
	at := 0
	layer := func(in, out int) dense {
		d := dense{in, out, at}
		at += (in + 1) * out
		return d
	}
	p.encode1 = layer(shape.Row, hidden)
	if shape.Deep {
		p.encodeGlobals = layer(shape.Globals, hidden)
	}
	p.encode2 = layer(hidden, hidden)
	p.trunk1 = layer(hidden+shape.Globals, 2*hidden)
	p.trunk2 = layer(2*hidden, 2*hidden)
	p.context = layer(2*hidden, hidden)
	p.item = layer(hidden, hidden)
	if shape.Deep {
		p.head = layer(hidden, hidden)
	}
	p.preference = layer(hidden, shape.Choices)
	p.value = layer(2*hidden, 1)
	p.parameters, p.gradients = make([]float32, at), make([]float32, at)
	for _, l := range []struct {
		dense
		gain float64
	}{
		{p.encode1, math.Sqrt2},
		{p.encodeGlobals, 1},
		{p.encode2, math.Sqrt2},
		{p.trunk1, math.Sqrt2},
		{p.trunk2, math.Sqrt2},
		{p.context, 1},
		{p.item, 1},
		{p.head, math.Sqrt2},
		{p.preference, 0.01},
		{p.value, 1},
	} {
		if l.out == 0 {
			continue // only a deep network has it
		}
		// He's initialisation: variances neither grow nor shrink from layer to layer.
		sigma := l.gain / math.Sqrt(float64(l.in))
		w := l.weights(p.parameters)
		for i := range w {
			w[i] = float32(sigma * rng.NormFloat64())
		}
	}
	return p
}

// String implements [Policy]. It leaves out the capacity: the same weights work for any
// number of rows.
func (p *SetPolicy) String() string {
	kind := "relu"
	if p.shape.Deep {
		kind = "deep relu"
	}
	return fmt.Sprintf("set %d+%dx%d-%d %s", p.shape.Globals, p.shape.Row, p.shape.Choices, p.units, kind)
}

// Share implements [Policy].
func (p *SetPolicy) Share() Policy {
	s := *p
	s.gradients = make([]float32, len(p.gradients))
	s.live, s.preferences = nil, nil
	for _, t := range s.tapes() {
		*t = tape{}
	}
	return &s
}

func (p *SetPolicy) tapes() []*tape {
	return []*tape{
		&p.x, &p.encoded1, &p.encoded2, &p.joined, &p.up1, &p.up2,
		&p.globals, &p.encodedGlobals, &p.contexts, &p.items, &p.heads, &p.scores, &p.values,
	}
}

// affine computes a layer for n rows.
func (p *SetPolicy) affine(to *tape, from []float32, l dense, n int) {
	to.grow(n * l.out)
	p.kernel.Affine(to.y, from, l.weights(p.parameters), l.biases(p.parameters), n, l.in, l.out)
}

// Forward implements [Policy].
func (p *SetPolicy) Forward(observations []float32, n int) (preferences, values []float32) {
	s := p.shape
	p.gather(observations, n)
	rows := len(p.x.y) / s.Row
	p.affine(&p.encoded1, p.x.y, p.encode1, rows)
	if s.Deep {
		p.affine(&p.encodedGlobals, p.globals.y, p.encodeGlobals, n)
		p.spread(&p.encodedGlobals, &p.encoded1)
	}
	ReLU.Apply(p.encoded1.y)
	p.affine(&p.encoded2, p.encoded1.y, p.encode2, rows)
	ReLU.Apply(p.encoded2.y)
	p.pool()
	p.affine(&p.up1, p.joined.y, p.trunk1, n)
	ReLU.Apply(p.up1.y)
	p.affine(&p.up2, p.up1.y, p.trunk2, n)
	ReLU.Apply(p.up2.y)
	p.affine(&p.values, p.up2.y, p.value, n)
	p.affine(&p.contexts, p.up2.y, p.context, n)
	p.affine(&p.items, p.encoded2.y, p.item, rows)
	p.spread(&p.contexts, &p.items)
	ReLU.Apply(p.items.y)
	last := &p.items
	if s.Deep {
		last = &p.heads
		p.affine(last, p.items.y, p.head, rows)
		ReLU.Apply(last.y)
	}
	p.affine(&p.scores, last.y, p.preference, rows)
	p.scatter()
	return p.preferences, p.values.y
}

// gather copies the live rows of all observations one after the other, and the globals to
// their places in the trunk's input.
func (p *SetPolicy) gather(observations []float32, n int) {
	s := p.shape
	p.n = n
	p.live = p.live[:0]
	rows := 0
	for i := range n {
		k := int(observations[i*p.inputs])
		p.live = append(p.live, k)
		rows += k
	}
	p.x.grow(rows * s.Row)
	wide := p.units + s.Globals
	p.joined.grow(n * wide)
	p.globals.grow(n * s.Globals)
	at := 0
	for i, k := range p.live {
		o := observations[i*p.inputs:]
		copy(p.joined.y[i*wide+p.units:(i+1)*wide], o[1:])
		copy(p.globals.y[i*s.Globals:(i+1)*s.Globals], o[1:])
		at += copy(p.x.y[at:at+k*s.Row], o[1+s.Globals:])
	}
}

// pool writes the sum of each observation's embeddings, times poolScale, to the trunk's
// input.
func (p *SetPolicy) pool() {
	wide, at := p.units+p.shape.Globals, 0
	for i, k := range p.live {
		sum := p.joined.y[i*wide : i*wide+p.units]
		clear(sum)
		for range k {
			for j, v := range p.encoded2.y[at : at+p.units] {
				sum[j] += v
			}
			at += p.units
		}
		for j := range sum {
			sum[j] *= poolScale
		}
	}
}

// poolScale keeps the sum of a batch of 14 rows in proportion to the globals.
const poolScale = 1.0 / 8

// spread adds a result of each observation to those of its rows.
func (p *SetPolicy) spread(from, to *tape) {
	at := 0
	for i, k := range p.live {
		c := from.y[i*p.units : (i+1)*p.units]
		for range k {
			row := to.y[at : at+p.units]
			for j, v := range c {
				row[j] += v
			}
			at += p.units
		}
	}
}

// scatter copies the preferences of the live rows to their actions.
func (p *SetPolicy) scatter() {
	actions := p.actions
	if cap(p.preferences) < p.n*actions {
		p.preferences = make([]float32, p.n*actions)
	}
	p.preferences = p.preferences[:p.n*actions]
	at := 0
	for i, k := range p.live {
		to := p.preferences[i*actions : (i+1)*actions]
		m := copy(to, p.scores.y[at:at+k*p.shape.Choices])
		clear(to[m:])
		at += m
	}
}

// Backward implements [Policy].
func (p *SetPolicy) Backward(dPreferences, dValues []float32) {
	rows := len(p.x.y) / p.shape.Row
	at, actions := 0, p.actions
	for i, k := range p.live {
		at += copy(p.scores.dy[at:at+k*p.shape.Choices], dPreferences[i*actions:])
	}
	if p.shape.Deep {
		p.back(p.preference, &p.heads, p.scores.dy, rows)
		ReLU.Gradient(p.heads.dy, p.heads.y)
		p.back(p.head, &p.items, p.heads.dy, rows)
	} else {
		p.back(p.preference, &p.items, p.scores.dy, rows)
	}
	ReLU.Gradient(p.items.dy, p.items.y)
	p.gatherBack(&p.contexts, &p.items)
	p.back(p.item, &p.encoded2, p.items.dy, rows)

	p.back(p.value, &p.up2, dValues, p.n)
	p.addBack(p.context, &p.up2, p.contexts.dy, p.n)
	ReLU.Gradient(p.up2.dy, p.up2.y)
	p.back(p.trunk2, &p.up1, p.up2.dy, p.n)
	ReLU.Gradient(p.up1.dy, p.up1.y)
	p.back(p.trunk1, &p.joined, p.up1.dy, p.n)

	p.unpool()
	ReLU.Gradient(p.encoded2.dy, p.encoded2.y)
	p.back(p.encode2, &p.encoded1, p.encoded2.dy, rows)
	ReLU.Gradient(p.encoded1.dy, p.encoded1.y)
	if p.shape.Deep {
		p.gatherBack(&p.encodedGlobals, &p.encoded1)
		p.weightsBack(p.encodeGlobals, p.globals.y, p.encodedGlobals.dy, p.n)
	}
	p.weightsBack(p.encode1, p.x.y, p.encoded1.dy, rows)
}

// weightsBack adds the gradients of a layer with no other layer before it.
func (p *SetPolicy) weightsBack(l dense, x, dy []float32, n int) {
	p.kernel.WeightGradient(l.weights(p.gradients), l.biases(p.gradients), x, dy, n, l.in, l.out)
}

// back adds the gradients of a layer and sets the gradients of its input.
func (p *SetPolicy) back(l dense, from *tape, dy []float32, n int) {
	p.kernel.WeightGradient(l.weights(p.gradients), l.biases(p.gradients), from.y, dy, n, l.in, l.out)
	p.kernel.InputGradient(from.dy, dy, l.weights(p.parameters), n, l.in, l.out)
}

// addBack is back for an input that already has gradients from another layer.
func (p *SetPolicy) addBack(l dense, from *tape, dy []float32, n int) {
	p.kernel.WeightGradient(l.weights(p.gradients), l.biases(p.gradients), from.y, dy, n, l.in, l.out)
	if cap(p.preferences) < len(from.dy) {
		p.preferences = make([]float32, len(from.dy))
	}
	// The preferences have been read by now, so their memory can be reused.
	sum := p.preferences[:len(from.dy)]
	p.kernel.InputGradient(sum, dy, l.weights(p.parameters), n, l.in, l.out)
	for i, v := range sum {
		from.dy[i] += v
	}
}

// gatherBack sets the gradients of a result of each observation to the sums of its rows'.
func (p *SetPolicy) gatherBack(to, from *tape) {
	clear(to.dy)
	at := 0
	for i, k := range p.live {
		c := to.dy[i*p.units : (i+1)*p.units]
		for range k {
			for j, v := range from.dy[at : at+p.units] {
				c[j] += v
			}
			at += p.units
		}
	}
}

func (p *SetPolicy) unpool() {
	wide, at := p.units+p.shape.Globals, 0
	for i, k := range p.live {
		d := p.joined.dy[i*wide : i*wide+p.units]
		for range k {
			row := p.encoded2.dy[at : at+p.units]
			for j, v := range d {
				row[j] += v * poolScale
			}
			at += p.units
		}
	}
}
