package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"miglab/harness/portable"
)

// SetShape describes the observations and actions of a [SetPolicy]. An observation is the number of live rows, then
// Globals values, then Capacity rows of Row values each, the live rows first. An action is one of Choices for one row.
//
// Deep joins each row with the globals before the rows are added up, and gives the head another layer.
type SetShape struct {
	Capacity, Globals, Row, Choices int
	Deep                            bool
}

// A SetPolicy is an actor-critic for choosing from a set, such as the tasks of a batch. Each row goes through the same
// small network. The sum of the results and the globals go through a trunk. The trunk's output, joined with each row,
// goes through the same head. The policy therefore works for any number of rows in any order, and computes only the
// live rows. Hidden units are rectified.
type SetPolicy struct {
	network
	shape SetShape
	units int // hidden units for each row

	// The head adds the outputs of context (from the trunk) and of item (from a row). A deep network adds the outputs
	// of encodeGlobals and of encode1, and has the layer head.
	encode1, encodeGlobals, encode2, trunk1, trunk2, context, item, head, preference, value *Affine

	live                 []int     // rows of each observation of the last Forward
	x, globals, joined   []float32 // the live rows, the globals, and the trunk's input
	preferences, dScores []float32
	sums                 []float32 // a row for each observation: the sum of the derivatives of its rows
}

// A setLayer is a layer of a [SetPolicy]. gain scales its first weights.
type setLayer struct {
	layer   **Affine
	in, out int
	gain    float64
}

// layers lists the layers in the order of their parameters.
func (p *SetPolicy) layers() []setLayer {
	s, h := p.shape, p.units
	all := []setLayer{
		{&p.encode1, s.Row, h, math.Sqrt2},
		{&p.encodeGlobals, s.Globals, h, 1},
		{&p.encode2, h, h, math.Sqrt2},
		{&p.trunk1, h + s.Globals, 2 * h, math.Sqrt2},
		{&p.trunk2, 2 * h, 2 * h, math.Sqrt2},
		{&p.context, 2 * h, h, 1},
		{&p.item, h, h, 1},
		{&p.head, h, h, math.Sqrt2},
		{&p.preference, h, s.Choices, 0.01},
		{&p.value, 2 * h, 1, 1},
	}
	return slices.DeleteFunc(all, func(l setLayer) bool {
		return !s.Deep && (l.layer == &p.encodeGlobals || l.layer == &p.head)
	})
}

// NewSetPolicy returns a network with hidden units for each row and twice as many in the trunk.
func NewSetPolicy(shape SetShape, hidden int, kernel Kernel, rng *rand.Rand) *SetPolicy {
	p := &SetPolicy{shape: shape, units: hidden}
	p.inputs, p.actions, p.kernel = 1+shape.Globals+shape.Capacity*shape.Row, shape.Capacity*shape.Choices, kernel
	size := 0
	for _, l := range p.layers() {
		size += AffineSize(l.in, l.out)
	}
	p.parameters = make([]float32, size)
	p.build()
	for _, l := range p.layers() {
		// He's initialisation: variances neither grow nor shrink from layer to layer.
		sigma := l.gain / math.Sqrt(float64(l.in))
		w := (*l.layer).weights
		for i := range w {
			w[i] = float32(sigma * portable.Normal(rng))
		}
	}
	return p
}

func (p *SetPolicy) build() {
	p.gradients = make([]float32, len(p.parameters))
	at := 0
	for _, l := range p.layers() {
		*l.layer = NewAffine(l.in, l.out, p.parameters[at:], p.gradients[at:])
		at += AffineSize(l.in, l.out)
	}
}

// String implements [Policy]. It leaves out the capacity: the same weights work for any number of rows.
func (p *SetPolicy) String() string {
	kind := "relu"
	if p.shape.Deep {
		kind = "deep relu"
	}
	return fmt.Sprintf("set %d+%dx%d-%d %s", p.shape.Globals, p.shape.Row, p.shape.Choices, p.units, kind)
}

// Share implements [Policy].
func (p *SetPolicy) Share() Policy {
	s := &SetPolicy{network: p.network, shape: p.shape, units: p.units}
	s.build()
	return s
}

// Forward implements [Policy].
func (p *SetPolicy) Forward(observations []float32, n int) (preferences, values []float32) {
	k := p.kernel
	rows := p.gather(observations, n)
	e := p.encode1.Forward(k, p.x, rows)
	if p.shape.Deep {
		p.spread(p.encodeGlobals.Forward(k, p.globals, n), e, 1)
	}
	ReLU.Apply(e)
	e = p.encode2.Forward(k, e, rows)
	ReLU.Apply(e)
	p.pool(e)
	trunk := p.trunk1.Forward(k, p.joined, n)
	ReLU.Apply(trunk)
	trunk = p.trunk2.Forward(k, trunk, n)
	ReLU.Apply(trunk)
	values = p.value.Forward(k, trunk, n)
	items := p.item.Forward(k, e, rows)
	p.spread(p.context.Forward(k, trunk, n), items, 1)
	ReLU.Apply(items)
	if p.shape.Deep {
		items = p.head.Forward(k, items, rows)
		ReLU.Apply(items)
	}
	p.scatter(p.preference.Forward(k, items, rows))
	return p.preferences, values
}

// gather copies the live rows of all observations one after the other, and the globals to
// their places in the trunk's input. It returns the number of live rows.
func (p *SetPolicy) gather(observations []float32, n int) (rows int) {
	s, wide := p.shape, p.units+p.shape.Globals
	p.live = p.live[:0]
	for i := range n {
		p.live = append(p.live, int(observations[i*p.inputs]))
		rows += p.live[i]
	}
	p.x, p.joined, p.globals = resize(p.x, rows*s.Row), resize(p.joined, n*wide), resize(p.globals, n*s.Globals)
	at := 0
	for i, k := range p.live {
		o := observations[i*p.inputs:]
		copy(p.joined[i*wide+p.units:(i+1)*wide], o[1:])
		copy(p.globals[i*s.Globals:(i+1)*s.Globals], o[1:])
		at += copy(p.x[at:at+k*s.Row], o[1+s.Globals:])
	}
	return rows
}

// poolScale keeps the sum of a batch of 14 rows in proportion to the globals.
const poolScale = 1.0 / 8

// pool writes the sum of each observation's embeddings, times poolScale, to the trunk's input.
func (p *SetPolicy) pool(embeddings []float32) {
	wide := p.units + p.shape.Globals
	for i, k := range p.live {
		sum := p.joined[i*wide : i*wide+p.units]
		embeddings = sumFirst(sum, embeddings, k)
		for j := range sum {
			sum[j] *= poolScale
		}
	}
}

// sumFirst sets sum to the sum of the first count rows, and returns the rows after them.
func sumFirst(sum, rows []float32, count int) []float32 {
	clear(sum)
	for range count {
		for j, v := range rows[:len(sum)] {
			sum[j] += v
		}
		rows = rows[len(sum):]
	}
	return rows
}

// spread adds the first p.units values of each observation's row in from, times scale, to all rows of the observation
// in to.
func (p *SetPolicy) spread(from, to []float32, scale float32) {
	wide := len(from) / max(1, len(p.live))
	for i, k := range p.live {
		c := from[i*wide : i*wide+p.units]
		for range k {
			row := to[:p.units]
			for j, v := range c {
				row[j] += float32(v * scale)
			}
			to = to[p.units:]
		}
	}
}

// scatter copies the preferences of the live rows to their actions.
func (p *SetPolicy) scatter(scores []float32) {
	p.preferences = resize(p.preferences, len(p.live)*p.actions)
	for i, k := range p.live {
		to := p.preferences[i*p.actions : (i+1)*p.actions]
		m := copy(to, scores[:k*p.shape.Choices])
		clear(to[m:])
		scores = scores[m:]
	}
}

// Backward implements [Policy].
func (p *SetPolicy) Backward(dPreferences, dValues []float32) {
	k := p.kernel
	p.dScores = p.dScores[:0]
	for i, rows := range p.live {
		p.dScores = append(p.dScores, dPreferences[i*p.actions:][:rows*p.shape.Choices]...)
	}
	dItems := p.preference.through(k, p.dScores)
	if p.shape.Deep {
		ReLU.Gradient(dItems, p.head.y)
		dItems = p.head.through(k, dItems)
	}
	ReLU.Gradient(dItems, p.item.y)
	dEmbeddings := p.item.through(k, dItems)

	dTrunk := p.value.through(k, dValues)
	for i, v := range p.context.through(k, p.sum(dItems)) {
		dTrunk[i] += v
	}
	ReLU.Gradient(dTrunk, p.trunk2.y)
	dTrunk = p.trunk2.through(k, dTrunk)
	ReLU.Gradient(dTrunk, p.trunk1.y)
	p.spread(p.trunk1.through(k, dTrunk), dEmbeddings, poolScale)

	ReLU.Gradient(dEmbeddings, p.encode2.y)
	d := p.encode2.through(k, dEmbeddings)
	ReLU.Gradient(d, p.encode1.y)
	if p.shape.Deep {
		p.encodeGlobals.Backward(k, p.sum(d))
	}
	p.encode1.Backward(k, d)
}

// sum adds up the rows of each observation.
func (p *SetPolicy) sum(rows []float32) []float32 {
	p.sums = resize(p.sums, len(p.live)*p.units)
	for i, k := range p.live {
		rows = sumFirst(p.sums[i*p.units:(i+1)*p.units], rows, k)
	}
	return p.sums
}
