package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func rng(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func normal(r *rand.Rand, n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(r.NormFloat64())
	}
	return s
}

// networks are small ones of every kind, of widths that no vector width divides.
func networks(k Kernel) []Policy {
	ac := NewActorCritic(5, []int{19, 7}, 3, k, rng(1))
	deep := setShape
	deep.Deep = true
	return []Policy{
		ac,
		ac.Actor(),
		NewActorCritic(5, nil, 3, k, rng(2)),
		NewQNetwork(6, []int{18, 9}, 5, false, k, rng(3)),
		NewQNetwork(6, []int{18, 9}, 5, true, k, rng(4)),
		NewQNetwork(6, nil, 5, true, k, rng(5)),
		NewSetPolicy(setShape, 9, k, rng(6)),
		NewSetPolicy(deep, 9, k, rng(7)),
	}
}

// reference computes a layer chain in double precision, written from the
// definition and apart from the code under test. It returns the parameters left.
func reference(x, parameters []float64, widths []int, hidden, last string) (y, rest []float64) {
	for l := 1; l < len(widths); l++ {
		in, out := widths[l-1], widths[l]
		w, b := parameters[:in*out], parameters[in*out:in*out+out]
		parameters = parameters[in*out+out:]
		y := make([]float64, out)
		for j := range y {
			y[j] = b[j]
			for k := range in {
				y[j] += x[k] * w[k*out+j]
			}
			f := hidden
			if l == len(widths)-1 {
				f = last
			}
			switch f {
			case "tanh":
				y[j] = math.Tanh(y[j])
			case "relu":
				y[j] = math.Max(0, y[j])
			}
		}
		x = y
	}
	return x, parameters
}

// answer is the whole network's in double precision: preferences, then the value
// where there is one.
func answer(p Policy, x, parameters []float64) []float64 {
	switch p := p.(type) {
	case *ActorCritic:
		y, rest := reference(x, parameters, append(append([]int{p.inputs}, p.hidden...), p.actions), "tanh", "")
		if p.alone {
			return y
		}
		v, _ := reference(x, rest, append(append([]int{p.inputs}, p.hidden...), 1), "tanh", "")
		return append(y, v...)
	case *QNetwork:
		h, rest := reference(x, parameters, append([]int{p.inputs}, p.hidden...), "relu", "relu")
		q, rest := reference(h, rest, []int{len(h), p.actions}, "", "")
		if !p.dueling {
			return q
		}
		v, _ := reference(h, rest, []int{len(h), 1}, "", "")
		mean := 0.0
		for _, a := range q {
			mean += a / float64(len(q))
		}
		for i := range q {
			q[i] += v[0] - mean
		}
		return q
	case *SetPolicy:
		preferences, v := setReference(p, x, parameters)
		return append(preferences, v)
	}
	panic("unknown network")
}

// drawn returns n random observations.
func drawn(r *rand.Rand, p Policy, n int) []float32 {
	if p, ok := p.(*SetPolicy); ok {
		return setObservations(r, p, n)
	}
	return normal(r, n*p.Inputs())
}

func float64s(s []float32) []float64 {
	d := make([]float64, len(s))
	for i, v := range s {
		d[i] = float64(v)
	}
	return d
}

// The loss is a random linear form of all results, so that its derivatives by
// them are known.
func TestGradientsAgreeWithDifferences(t *testing.T) {
	for _, k := range []Kernel{Portable(), Fast()} {
		for _, p := range networks(k) {
			t.Run(fmt.Sprintf("%T/%v", k, p), func(t *testing.T) {
				r := rng(7)
				const n = 6
				x := drawn(r, p, n)
				rounding := 1e-5
				if _, ok := p.(*SetPolicy); ok {
					rounding = 1e-4 // the sums over rows are longer
				}
				// A head of gain 0.01 would hide errors below it.
				for i := range p.Parameters() {
					p.Parameters()[i] += float32(r.NormFloat64() * 0.3)
				}
				preferences, values := p.Forward(x, n)
				dp := normal(r, len(preferences))
				var dv []float32
				if values != nil {
					dv = normal(r, n)
				}
				parameters := float64s(p.Parameters())
				row := func(i int) []float64 {
					return answer(p, float64s(x[i*p.Inputs():(i+1)*p.Inputs()]), parameters)
				}
				loss := func() float64 {
					sum := 0.0
					for i := range n {
						for j, v := range row(i) {
							if j < p.Actions() {
								sum += v * float64(dp[i*p.Actions()+j])
							} else {
								sum += v * float64(dv[i])
							}
						}
					}
					return sum
				}
				for i := range n {
					for j, want := range row(i) {
						var got float32
						if j < p.Actions() {
							got = preferences[i*p.Actions()+j]
						} else {
							got = values[i]
						}
						if math.Abs(float64(got)-want) > rounding*(1+math.Abs(want)) {
							t.Fatalf("row %d, result %d: %v, want %v", i, j, got, want)
						}
					}
				}
				p.Backward(dp, dv)
				p.Forward(x, n)
				p.Backward(dp, dv) // sets the gradients again
				for i := range parameters {
					const h = 1e-6
					keep := parameters[i]
					parameters[i] = keep + h
					up := loss()
					parameters[i] = keep - h
					down := loss()
					parameters[i] = keep
					want := (up - down) / (2 * h)
					if got := float64(p.Gradients()[i]); math.Abs(got-want) > 10*rounding*(1+math.Abs(want)) {
						t.Fatalf("parameter %d: gradient %v, want %v", i, got, want)
					}
				}
			})
		}
	}
}

// Adam's steps by its definition in double precision.
func TestAdam(t *testing.T) {
	const n = 37
	r := rng(5)
	p := normal(r, n)
	want, m, v := float64s(p), make([]float64, n), make([]float64, n)
	adam := NewAdam(n)
	for step := 1; step <= 5; step++ {
		g := normal(r, n)
		adam.Step(p, g, 1, 0.01)
		for i := range want {
			d := float64(g[i])
			m[i] = 0.9*m[i] + 0.1*d
			v[i] = 0.999*v[i] + 0.001*d*d
			mHat := m[i] / (1 - math.Pow(0.9, float64(step)))
			vHat := v[i] / (1 - math.Pow(0.999, float64(step)))
			want[i] -= 0.01 * mHat / (math.Sqrt(vHat) + 1e-5)
		}
	}
	for i := range want {
		if math.Abs(float64(p[i])-want[i]) > 1e-6 {
			t.Errorf("parameter %d: %v, want %v", i, p[i], want[i])
		}
	}
}

// Long slices, which vectors work on, and single elements, which they do not, come
// out the same to the last bit.
func TestElementwiseIsTheSameOneByOne(t *testing.T) {
	const n = 16*5 + 3
	r := rng(6)
	p, g, y := normal(r, n), normal(r, n), normal(r, n)
	long, single := slices.Clone(p), slices.Clone(p)
	dLong, dSingle := slices.Clone(g), slices.Clone(g)
	adam := NewAdam(n)
	ones := make([]*Adam, n)
	for i := range ones {
		ones[i] = NewAdam(1)
	}
	for range 3 {
		adam.Step(long, g, 0.75, 0.01)
		Tanh.Gradient(dLong, y)
		for i := range n {
			ones[i].Step(single[i:i+1], g[i:i+1], 0.75, 0.01)
			Tanh.Gradient(dSingle[i:i+1], y[i:i+1])
		}
	}
	if !slices.Equal(long, single) {
		t.Errorf("Adam: %v, one by one %v", long, single)
	}
	if !slices.Equal(dLong, dSingle) {
		t.Errorf("derivatives of tanh: %v, one by one %v", dLong, dSingle)
	}
}

func TestClipNorm(t *testing.T) {
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }
	g := []float32{3, 4}
	if norm, scale := ClipNorm(g, 10); !near(norm, 5) || scale != 1 {
		t.Errorf("below the limit: norm %v, scale %v", norm, scale)
	}
	if norm, scale := ClipNorm(g, 1); !near(norm, 5) || !near(float64(scale), 0.2) {
		t.Errorf("above the limit: norm %v, scale %v", norm, scale)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		for _, n := range []int{2, 100} {
			g := make([]float32, n)
			g[1] = float32(bad)
			if norm, scale := ClipNorm(g, 1); !(math.IsNaN(norm) || math.IsInf(norm, 1)) || scale != 1 {
				t.Errorf("%v: norm %v, scale %v", bad, norm, scale)
			}
		}
	}
}

// The scale has the bits of a sum in order, also where the norm is the limit up to rounding.
func TestClipNormBits(t *testing.T) {
	r := rng(8)
	for i := range 2000 {
		g := normal(r, i)
		exact := math.Sqrt(squares(g))
		for _, limit := range []float64{exact / 3, math.Nextafter(exact, 0), exact, math.Nextafter(exact, 1e9)} {
			want := float32(1)
			if exact > limit {
				want = float32(limit / exact)
			}
			if _, scale := ClipNorm(g, limit); scale != want {
				t.Fatalf("%d elements, norm %v, limit %v: scale %v, want %v", i, exact, limit, scale, want)
			}
		}
	}
}

func TestTanh(t *testing.T) { withFewerVectors(t, compareTanh) }

func compareTanh(t *testing.T) {
	var x []float32
	for v := -12.0; v < 12; v += 1e-3 {
		x = append(x, float32(v))
	}
	x = append(x, 1e-30, -1e-30, 0, float32(math.Inf(1)), float32(math.Inf(-1)))
	y := append([]float32(nil), x...)
	Tanh.Apply(y)
	for i, v := range x {
		if want := math.Tanh(float64(v)); math.Abs(float64(y[i])-want) > 1e-6 {
			t.Errorf("tanh(%v) = %v, want %v", v, y[i], want)
		}
		if y[i] != tanh(v) {
			t.Errorf("tanh(%v): vectors give %v, one by one %v", v, y[i], tanh(v))
		}
	}
	for _, n := range []int{1, 16} {
		y := make([]float32, n)
		y[0] = float32(math.NaN())
		if Tanh.Apply(y); y[0] == y[0] {
			t.Errorf("tanh(NaN) = %v among %d", y[0], n)
		}
	}
}

func TestInitialiseIsOrthogonal(t *testing.T) {
	for _, shape := range [][2]int{{20, 7}, {7, 20}, {12, 12}} {
		in, out := shape[0], shape[1]
		size := AffineSize(in, out)
		parameters := normal(rng(9), size)
		a := NewAffine(in, out, parameters, make([]float32, size))
		a.Initialise(math.Sqrt2, rng(1))
		count, length, at := in, out, func(i, j int) float32 { return a.weights[i*out+j] }
		if in > out {
			count, length, at = out, in, func(i, j int) float32 { return a.weights[j*out+i] }
		}
		for i := range count {
			for j := range i + 1 {
				dot := 0.0
				for k := range length {
					dot += float64(at(i, k)) * float64(at(j, k))
				}
				want := 0.0
				if i == j {
					want = 2
				}
				if math.Abs(dot-want) > 1e-5 {
					t.Errorf("%dx%d: product of %d and %d is %v, want %v", in, out, i, j, dot, want)
				}
			}
		}
		for _, b := range a.bias {
			if b != 0 {
				t.Errorf("%dx%d: bias %v, want 0", in, out, b)
			}
		}
	}
}

func TestActorIsThePrefix(t *testing.T) {
	ac := NewActorCritic(9, []int{16, 8}, 5, Portable(), rng(1))
	shipped := NewActor(9, []int{16, 8}, 5, Portable())
	copy(shipped.Parameters(), ac.Parameters())
	x := normal(rng(2), 3*9)
	want, _ := ac.Forward(x, 3)
	for _, a := range []Policy{shipped, ac.Actor()} {
		got, values := a.Forward(x, 3)
		if values != nil {
			t.Error("an actor has values")
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("preference %d: %v, want %v", i, got[i], want[i])
			}
		}
	}
}

func TestShareHasItsOwnGradients(t *testing.T) {
	for _, p := range networks(Portable()) {
		s := p.Share()
		if &s.Parameters()[0] != &p.Parameters()[0] {
			t.Errorf("%v: parameters are a copy", p)
		}
		if &s.Gradients()[0] == &p.Gradients()[0] {
			t.Errorf("%v: gradients are shared", p)
		}
		if s.String() != p.String() {
			t.Errorf("shared: %v, want %v", s, p)
		}
		x := drawn(rng(1), p, 2)
		a, _ := p.Forward(x, 2)
		keep := append([]float32(nil), a...)
		s.Forward(drawn(rng(2), p, 2), 2)
		for i := range keep {
			if a[i] != keep[i] {
				t.Fatalf("%v: the other's Forward changed the results", p)
			}
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	for _, k := range []Kernel{Portable(), Fast()} {
		for _, p := range networks(k) {
			const n = 33
			x, dp, dv := drawn(rng(1), p, n), make([]float32, n*p.Actions()), make([]float32, n)
			adam := NewAdam(len(p.Parameters()))
			step := func() {
				p.Forward(x, n)
				p.Backward(dp, dv)
				_, scale := ClipNorm(p.Gradients(), 1)
				adam.Step(p.Parameters(), p.Gradients(), scale, 1e-3)
			}
			step()
			if got := testing.AllocsPerRun(20, step); got != 0 {
				t.Errorf("%T, %v: %v allocations a step, want 0", k, p, got)
			}
		}
	}
}
