package figures

import "testing"

// A text that lacks any value is a mistake in tables.csv.
func TestFill(t *testing.T) {
	if got := fill("{2} of {1}, {2}", []any{"a{1}", 2}); got != "2 of a{1}, 2" {
		t.Errorf("%q", got)
	}
	for _, text := range []string{"{2}", "{3}", "{1} {12}", "{0}"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q has one value and does not panic", text)
				}
			}()
			fill(text, []any{1})
		}()
	}
}
