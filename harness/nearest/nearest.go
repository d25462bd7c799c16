// Package nearest makes errors for unknown names. They say what kind of thing was asked
// for and suggest the known name that is most alike.
package nearest

import (
	"fmt"
	"slices"
	"strings"
)

// UnknownError says that a name is not one of the known names.
type UnknownError struct {
	Kind string // the kind of the name, for example "algorithm"
	Name string // the name that was given
	// Nearest is the known name that takes the fewest edits; of several, the one with the longest common beginning; of
	// several, the first. A known name counts if the edits are at most a third of the name's bytes, or one; if it
	// contains the name, of three bytes or more; or if it has three bytes or more and the name begins with it. Case
	// does not count. Nearest is empty if no known name counts, or if the name is longer than maxLength.
	Nearest string
	Known   []string // all known names, sorted
}

// maxListed is the largest number of known names with which an error lists them.
const maxListed = 32

func (e *UnknownError) Error() string {
	name := e.Name
	if len(name) > maxLength {
		name = strings.ToValidUTF8(name[:maxLength], "") + "..."
	}
	s := fmt.Sprintf("unknown %s %q", e.Kind, name)
	if e.Nearest != "" {
		s += fmt.Sprintf("; did you mean %q?", e.Nearest)
	}
	if len(e.Known) > 0 && len(e.Known) <= maxListed {
		s += fmt.Sprintf(" (known: %s)", strings.Join(e.Known, ", "))
	}
	return s
}

// maxLength is the largest length in bytes of a name that is compared; a message cuts longer ones. The comparison takes
// time in proportion to the product of the lengths.
const maxLength = 200

// isPart reports whether a text is a part of a name and long enough to identify it.
func isPart(part, name string) bool { return len(part) >= 3 && strings.Contains(name, part) }

// Unknown returns the [*UnknownError] for a name.
func Unknown(kind, name string, known []string) error {
	e := &UnknownError{Kind: kind, Name: name, Known: slices.Sorted(slices.Values(known))}
	if len(name) > maxLength {
		return e
	}
	name = strings.ToLower(name)
	best, longest := -1, 0
	for _, k := range e.Known {
		low := strings.ToLower(k)
		d, p := distance(name, low), prefix(name, low)
		isNear := d <= max(1, len(name)/3)
		beginsName := p == len(low) && isPart(low, name)
		if !isNear && !isPart(name, low) && !beginsName {
			continue
		}
		if best < 0 || d < best || d == best && p > longest {
			best, longest, e.Nearest = d, p, k
		}
	}
	return e
}

// Find returns the value of a name. The error is an [*UnknownError].
func Find[T any](kind, name string, all []T, nameOf func(T) string) (T, error) {
	i := slices.IndexFunc(all, func(v T) bool { return nameOf(v) == name })
	if i >= 0 {
		return all[i], nil
	}
	var none T
	return none, Unknown(kind, name, Names(all, nameOf))
}

// Names returns the names of values, or another text of each.
func Names[T any](all []T, nameOf func(T) string) []string {
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = nameOf(v)
	}
	return names
}

// prefix returns the length in bytes of the common beginning of two names.
func prefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// distance returns the optimal string alignment distance in bytes: an insertion, a
// deletion, a substitution and a swap of neighbours cost one each.
func distance(a, b string) int {
	// Row i has the distances from the first i bytes of a to each beginning of b; last and before are rows i-1 and i-2.
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
