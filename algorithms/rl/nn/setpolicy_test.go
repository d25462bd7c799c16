package nn

import (
	"math"
	"math/rand/v2"
	"testing"
)

var setShape = SetShape{Capacity: 5, Globals: 3, Row: 4, Choices: 2}

// setObservations draws observations with any number of live rows.
func setObservations(r *rand.Rand, p *SetPolicy, n int) []float32 {
	var x []float32
	for range n {
		live := r.IntN(p.shape.Capacity + 1)
		x = append(x, float32(live))
		x = append(x, normal(r, p.shape.Globals+live*p.shape.Row)...)
		x = append(x, make([]float32, (p.shape.Capacity-live)*p.shape.Row)...)
	}
	return x
}

// setReference computes one observation in double precision, row by row, from the
// description and apart from the code under test.
func setReference(p *SetPolicy, x, parameters []float64) (preferences []float64, value float64) {
	s, h := p.shape, p.units
	rest := parameters
	layer := func(in, out int) func(x []float64, rectified bool) []float64 {
		own := rest[:(in+1)*out]
		rest = rest[(in+1)*out:]
		return func(x []float64, rectified bool) []float64 {
			kind := ""
			if rectified {
				kind = "relu"
			}
			y, _ := reference(x, own, []int{in, out}, "", kind)
			return y
		}
	}
	encode1, encodeGlobals := layer(s.Row, h), func([]float64, bool) []float64 { return make([]float64, h) }
	if s.Deep {
		encodeGlobals = layer(s.Globals, h)
	}
	encode2 := layer(h, h)
	trunk1, trunk2 := layer(h+s.Globals, 2*h), layer(2*h, 2*h)
	context, item, head := layer(2*h, h), layer(h, h), func(x []float64, _ bool) []float64 { return x }
	if s.Deep {
		head = layer(h, h)
	}
	preference, critic := layer(h, s.Choices), layer(2*h, 1)
	together := func(x, y []float64) []float64 {
		for j := range x {
			x[j] = math.Max(0, x[j]+y[j])
		}
		return x
	}
	globals := encodeGlobals(x[1:1+s.Globals], false)
	var embeddings [][]float64
	joined := make([]float64, h)
	for k := range int(x[0]) {
		row := x[1+s.Globals+k*s.Row:][:s.Row]
		e := encode2(together(encode1(row, false), globals), true)
		embeddings = append(embeddings, e)
		for j, v := range e {
			joined[j] += v / 8
		}
	}
	trunk := trunk2(trunk1(append(joined, x[1:1+s.Globals]...), true), true)
	preferences = make([]float64, p.Actions())
	c := context(trunk, false)
	for k, e := range embeddings {
		z := head(together(item(e, false), c), true)
		copy(preferences[k*s.Choices:], preference(z, false))
	}
	return preferences, critic(trunk, false)[0]
}

// The order of the rows changes nothing but the order of their preferences, and
// rows beyond the live ones change nothing at all.
func TestSetPolicyTreatsRowsAlike(t *testing.T) {
	r := rng(5)
	p := NewSetPolicy(setShape, 16, Portable(), r)
	for i := range p.parameters {
		p.parameters[i] += float32(0.1 * r.NormFloat64())
	}
	for range 50 {
		x := setObservations(r, p, 1)
		live := int(x[0])
		a, v := p.Forward(x, 1)
		a = append([]float32(nil), a...)
		value := v[0]
		order := r.Perm(live)
		y := append([]float32(nil), x...)
		rows, from := y[1+p.shape.Globals:], x[1+p.shape.Globals:]
		for i, k := range order {
			copy(rows[i*p.shape.Row:(i+1)*p.shape.Row], from[k*p.shape.Row:])
		}
		for i := live * p.shape.Row; i < len(rows); i++ {
			rows[i] = 1e3
		}
		b, w := p.Forward(y, 1)
		if math.Abs(float64(w[0]-value)) > 1e-5 {
			t.Fatalf("the value became %v, was %v", w[0], value)
		}
		for i, k := range order {
			for c := range p.shape.Choices {
				if math.Abs(float64(b[i*p.shape.Choices+c]-a[k*p.shape.Choices+c])) > 1e-5 {
					t.Fatal("preferences depend on the order of the rows")
				}
			}
		}
	}
}

func BenchmarkSetDecision(b *testing.B) {
	r := rng(3)
	p := NewSetPolicy(SetShape{Capacity: 14, Globals: 40, Row: 17, Choices: 13}, 64, Portable(), r)
	var x []float32
	for x == nil || x[0] != 14 {
		x = setObservations(r, p, 1)
	}
	for b.Loop() {
		p.Forward(x, 1)
	}
}
