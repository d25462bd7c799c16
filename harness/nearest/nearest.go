// Package nearest makes errors for names that nobody knows: they say what kind
// of thing was asked for and which known name comes nearest.
package nearest

import (
	"fmt"
	"slices"
	"strings"
)

// UnknownError says that a name is not one of those known.
type UnknownError struct {
	// Kind is what the name should have named, for example "algorithm".
	Kind string
	// Name is what was given.
	Name string
	// Nearest is the known name that takes the fewest edits, and of several the one that
	// begins most alike; empty when there is none.
	Nearest string
	// Known lists all known names, sorted.
	Known []string
}

func (e *UnknownError) Error() string {
	s := fmt.Sprintf("unknown %s %q", e.Kind, e.Name)
	if e.Nearest != "" {
		s += fmt.Sprintf("; did you mean %q?", e.Nearest)
	}
	if len(e.Known) > 0 && len(e.Known) <= 24 {
		s += fmt.Sprintf(" (known: %s)", strings.Join(e.Known, ", "))
	}
	return s
}

// Unknown returns the [*UnknownError] for a name.
func Unknown(kind, name string, known []string) error {
	e := &UnknownError{Kind: kind, Name: name, Known: slices.Sorted(slices.Values(known))}
	name = strings.ToLower(name)
	best, begun := -1, 0
	for _, k := range e.Known {
		low := strings.ToLower(k)
		d, p := distance(name, low), prefix(name, low)
		if best < 0 || d < best || d == best && p > begun {
			best, begun, e.Nearest = d, p, k
		}
	}
	return e
}

// prefix is how many bytes two names begin with in common.
func prefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// distance is the optimal string alignment distance in bytes: insertions,
// deletions, substitutions and transpositions of neighbours cost one each.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			substitute := last[j-1]
			if a[i-1] != b[j-1] {
				substitute++
			}
			row[j] = min(last[j]+1, row[j-1]+1, substitute)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
