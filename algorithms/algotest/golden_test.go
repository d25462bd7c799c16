package algotest

import "testing"

func TestFirstDifference(t *testing.T) {
	for _, c := range []struct{ got, want, text string }{
		{"a\nb\n", "a\nc\n", `first on line 2: got "b\n", want "c\n"`},
		{"a\n", "a", `first on line 1: got "a\n", want "a"`},
		{"a\nb\n", "a\n", `first on line 2: got "b\n", want ""`},
		{"", "a\n", `first on line 1: got "", want "a\n"`},
	} {
		if text := firstDifference(c.got, c.want); text != c.text {
			t.Errorf("%q instead of %q: %s", c.got, c.want, text)
		}
	}
}
