package stats

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestHolm(t *testing.T) {
	for _, test := range []struct{ p, want []float64 }{
		{nil, []float64{}},
		{[]float64{0.3}, []float64{0.3}},
		// R: p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm")
		{[]float64{0.01, 0.02, 0.03, 0.04, 0.05}, []float64{0.05, 0.08, 0.09, 0.09, 0.09}},
		{[]float64{0.5, 0.001, 0.9, 0.02}, []float64{1, 0.004, 1, 0.06}},
		{[]float64{0.04, 0.04}, []float64{0.08, 0.08}},
	} {
		if got := Holm(test.p); !slices.EqualFunc(got, test.want, near) {
			t.Errorf("%v: %v, want %v", test.p, got, test.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 10).Draw(t, "p")
		got := Holm(p)
		for i := range p {
			if got[i] < p[i] || got[i] > 1 || got[i] > min(1, float64(len(p))*p[i]) {
				t.Fatalf("%v became %v", p, got)
			}
			for j := range p {
				if p[i] <= p[j] && got[i] > got[j] {
					t.Fatalf("%v became %v, in another order", p, got)
				}
			}
		}
	})
}
