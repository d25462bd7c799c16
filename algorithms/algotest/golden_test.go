package algotest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A recorder keeps the errors of a test that is expected to fail.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

// Algorithms such as a?b and a=b have one golden name; -update must not write the second over the first.
func TestGoldenOfTwoAnswersWithOneName(t *testing.T) {
	defer func(before bool) { *update = before }(*update)
	answers := []Answer{{"a", "1"}, {"b", "2"}, {"a", "3"}, {"b", "2"}}
	dir := t.TempDir()
	for _, *update = range []bool{true, false} {
		r := &recorder{TB: t}
		Golden(r, dir, answers)
		if !slices.Equal(r.errors, []string{"two answers named a", "two answers named b"}) {
			t.Errorf("%q", r.errors)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(text) != "1" {
			t.Errorf("-update wrote %q over the first answer, %v", text, err)
		}
	}
}

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
