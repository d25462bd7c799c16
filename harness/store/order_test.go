package store

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestCompareCells(t *testing.T) {
	ascending := []string{
		`{"a":"far","i":9,"j":1}`,
		`{"a":"far","i":10,"j":0}`,
		`{"a":"far","i":100,"j":0}`,
		`{"a":"far?n=9","i":0}`,
		`{"a":"far?n=10","i":0}`,
		`{"a":"far?x=0.09","i":0}`,
		`{"a":"far?x=0.85","i":0}`,
		`{"a":"far?x=0.9","i":0}`,
		`{"a":"miso","i":0}`,
	}
	shuffled := slices.Clone(ascending)
	slices.Reverse(shuffled)
	slices.SortFunc(shuffled, compareCells)
	if !slices.Equal(shuffled, ascending) {
		t.Errorf("order\n%q", shuffled)
	}
}

func TestCompareCellsIsATotalOrder(t *testing.T) {
	text := rapid.StringMatching(`[a0-2.]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := text.Draw(t, "a"), text.Draw(t, "b"), text.Draw(t, "c")
		if (compareCells(a, b) == 0) != (a == b) || compareCells(a, b) != -compareCells(b, a) {
			t.Fatalf("%q, %q: %d and %d", a, b, compareCells(a, b), compareCells(b, a))
		}
		if compareCells(a, b) < 0 && compareCells(b, c) < 0 && compareCells(a, c) >= 0 {
			t.Fatalf("%q < %q < %q, but not the first below the last", a, b, c)
		}
	})
}
