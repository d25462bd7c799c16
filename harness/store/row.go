package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Key addresses a cell: the SHA-256 of its canonical JSON.
type Key [sha256.Size]byte

// KeyOf returns the key of a cell given as canonical JSON.
func KeyOf(cell []byte) Key { return sha256.Sum256(cell) }

// String returns the key in hexadecimal.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// A Metric is a number by name. The name carries the unit, as in makespan_s.
type Metric struct {
	Name  string
	Value float64
}

// Metrics are numbers by ascending name; every name stands once.
type Metrics []Metric

// Get returns the metric of a name and whether there is one.
func (m Metrics) Get(name string) (float64, bool) {
	i, ok := slices.BinarySearchFunc(m, name, func(x Metric, name string) int { return cmp.Compare(x.Name, name) })
	if !ok {
		return 0, false
	}
	return m[i].Value, true
}

// KindTimeout is the kind of a row whose work ran out of time. It settles nothing:
// a row of another kind for the same cell takes its place, in one shard or across
// several. The store gives no other kind a meaning.
const KindTimeout = "timeout"

// A Row is what became of a cell: metrics, or an error of some kind.
type Row struct {
	// Cell is a flat JSON object of strings and numbers, spelled canonically: no
	// white space, the fields always in the same order, strings as [AppendString]
	// writes them.
	Cell    string
	Metrics Metrics
	// Kind is empty for a row with metrics; otherwise it classifies the error.
	Kind string
	// Error says what went wrong.
	Error string
}

// Key returns the key of the row's cell.
func (r *Row) Key() Key { return KeyOf([]byte(r.Cell)) }

// fields hands over the cell's fields; see [scanner.object].
func (r *Row) fields(use func(name, value string)) {
	s := scanner{line: r.Cell}
	s.object(use)
}

// same reports whether two rows for one cell agree.
func (r *Row) same(o *Row) bool {
	return r.Kind == o.Kind && r.Error == o.Error && slices.Equal(r.Metrics, o.Metrics)
}

// outcome is the row without its cell, for messages.
func (r *Row) outcome() string {
	if r.Kind != "" {
		return fmt.Sprintf("%s: %s", r.Kind, r.Error)
	}
	var b strings.Builder
	for i, m := range r.Metrics {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s = %v", m.Name, m.Value)
	}
	return b.String()
}

// validate checks what a caller wants to append.
func (r *Row) validate() error {
	s := scanner{line: r.Cell}
	s.object(func(string, string) {})
	s.end()
	if s.err != nil {
		return fmt.Errorf("cell %s: %w", r.Cell, s.err)
	}
	if (r.Kind == "") != (len(r.Metrics) > 0) || (r.Kind == "") != (r.Error == "") {
		return fmt.Errorf("cell %s: a row has either metrics or a kind and an error", r.Cell)
	}
	for i, m := range r.Metrics {
		if math.IsNaN(m.Value) || math.IsInf(m.Value, 0) {
			return fmt.Errorf("cell %s: metric %q is %v; it must be finite", r.Cell, m.Name, m.Value)
		}
		if i > 0 && r.Metrics[i-1].Name >= m.Name {
			return fmt.Errorf("cell %s: metric %q must come before %q and once", r.Cell, m.Name, r.Metrics[i-1].Name)
		}
	}
	return nil
}
