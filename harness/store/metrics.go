package store

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Metrics are numbers by name. Names carry the unit, as in makespan_s. The zero value is empty.
type Metrics struct {
	// names and numbers are JSON arrays without white space, of one length.
	names, numbers string
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
