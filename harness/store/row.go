package store

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A row of KindTimeout, whose work ran out of time, or of KindPanic, whose work panicked, is provisional: a later row
// for the same cell replaces it. The store gives no other kind a meaning.
const (
	KindTimeout = "timeout"
	KindPanic   = "panic"
)

// isProvisional reports whether the cell is computed again.
func (r *Row) isProvisional() bool { return r.Kind == KindTimeout || r.Kind == KindPanic }

// A Row is the outcome of one instance of a series: metrics, or an error of some kind.
type Row struct {
	Instance int // counts from 0
	Metrics  Metrics
	Kind     string // empty for a row with metrics; otherwise it classifies the error
	Error    string // says what went wrong
	// Micros is the wall time of the work in microseconds; 0 means that it is not known. The store rounds it to
	// nanoseconds. Rows that differ only in the wall time agree, and the first one is kept.
	Micros float64
}

// validate checks what a caller wants to append.
func (r *Row) validate() error {
	switch {
	case r.Instance < 0:
		return fmt.Errorf("instance %d: instances count from 0", r.Instance)
	case (r.Kind == "") == (r.Metrics == Metrics{}) || (r.Kind == "") != (r.Error == ""):
		return fmt.Errorf("instance %d: a row has either metrics or a kind and an error", r.Instance)
	case r.Kind == "" && !jsontext.Value(r.Metrics.numbers).IsValid():
		return fmt.Errorf("instance %d: the metrics %s are %s; they must be finite numbers under names in UTF-8",
			r.Instance, r.Metrics.names, r.Metrics.numbers)
	}
	return nil
}

// cleanText replaces NUL and invalid UTF-8, which SQLite's functions do not take as text.
func cleanText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// appendColumns appends the columns of a cell, joined by NUL, as the query cellColumns does. names is the id of the
// list of names.
func (r *Row) appendColumns(b []byte, names int64) []byte {
	b = append(strconv.AppendInt(b, int64(r.Instance), 10), 0)
	b = append(strconv.AppendInt(b, names, 10), 0)
	for _, text := range []string{r.Metrics.numbers, r.Kind, r.Error} {
		b = append(append(b, text...), 0)
	}
	return strconv.AppendInt(b, r.nanoseconds(), 10)
}

// nanoseconds returns the wall time in the unit of the database.
func (r *Row) nanoseconds() int64 { return int64(math.Round(r.Micros * 1000)) }

// Metrics are numbers by name. Names carry the unit, as in makespan_s. The zero value is empty.
type Metrics struct {
	names, numbers string // JSON arrays without white space, of one length
}

// NewMetrics orders numbers by ascending name. [Writer.Append] refuses names that are not UTF-8 and
// numbers that are not finite.
func NewMetrics(values map[string]float64) Metrics {
	var names, numbers []byte
	separator := byte('[')
	for _, name := range slices.Sorted(maps.Keys(values)) {
		var err error
		if names, err = jsontext.AppendQuote(append(names, separator), name); err != nil {
			return Metrics{names: fmt.Sprintf("[%q]", name)}
		}
		numbers = strconv.AppendFloat(append(numbers, separator), values[name], 'g', -1, 64)
		separator = ','
	}
	return Metrics{string(append(names, ']')), string(append(numbers, ']'))}
}

// All yields the metrics by name, each number as it was written. It returns no errors, because rows are checked when
// they are appended and have checksums.
func (m Metrics) All() iter.Seq2[string, json.Number] {
	return func(yield func(string, json.Number) bool) {
		names, numbers := strings.Trim(m.names, "[]"), strings.Trim(m.numbers, "[]")
		for names != "" {
			name, after := unquoteFirst(names)
			number, rest, _ := strings.Cut(numbers, ",")
			if !yield(name, json.Number(number)) {
				return
			}
			names, numbers = strings.TrimPrefix(after, ","), rest
		}
	}
}

// unquoteFirst returns the quoted name with which a list begins, and the text after it. after is "" if the list is
// damaged.
func unquoteFirst(names string) (name, after string) {
	end := 1 + strings.IndexByte(names[1:], '"')
	if end > 0 && strings.IndexByte(names[1:end], '\\') < 0 {
		return names[1:end], names[end+1:] // without escapes, which is much faster
	}
	quoted, err := strconv.QuotedPrefix(names) // the escapes of jsontext mean the same in Go
	if err != nil {
		return names, ""
	}
	name, _ = strconv.Unquote(quoted)
	return name, names[len(quoted):]
}

// Get returns the number of a name and whether there is one.
func (m Metrics) Get(name string) (float64, bool) {
	for n, number := range m.All() {
		if n == name {
			value, err := number.Float64()
			return value, err == nil
		}
	}
	return 0, false
}

// String returns a JSON object without white space, or "" for the zero value.
func (m Metrics) String() string {
	if m == (Metrics{}) {
		return ""
	}
	out := make([]byte, 0, 2*len(m.names)+len(m.numbers))
	for name, number := range m.All() {
		out, _ = jsontext.AppendQuote(append(out, ','), name)
		out = append(append(out, ':'), number...)
	}
	return "{" + strings.TrimPrefix(string(out), ",") + "}"
}
