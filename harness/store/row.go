package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Series is an algorithm on a dataset under fixed conditions. Its results are
// told apart by the instance alone. Package run has the names.
type Series struct {
	Track   string `json:"track"`
	Dataset string `json:"dataset"`
	Content string `json:"content"`
	GPU     string `json:"gpu"`
	// Count is the number of GPUs.
	Count     int    `json:"count"`
	Algorithm string `json:"algorithm"`
	// Version is the algorithm's.
	Version int `json:"version"`
	// Weights names what a trained algorithm has learned; empty for all others.
	Weights string `json:"weights,omitempty"`
	// Model is the reconfiguration model.
	Model string `json:"model"`
}

// A Filter selects the series with its values. Fields that are zero select all.
type Filter Series

func (f Filter) selects(s Series) bool {
	one := func(want, have string) bool { return want == "" || want == have }
	number := func(want, have int) bool { return want == 0 || want == have }
	return one(f.Track, s.Track) && one(f.Dataset, s.Dataset) && one(f.Content, s.Content) && one(f.GPU, s.GPU) &&
		number(f.Count, s.Count) && one(f.Algorithm, s.Algorithm) && number(f.Version, s.Version) &&
		one(f.Weights, s.Weights) && one(f.Model, s.Model)
}

// compare orders series by their fields, in the order of an export.
func (s Series) compare(o Series) int {
	return cmp.Or(
		cmp.Compare(s.Track, o.Track), cmp.Compare(s.Dataset, o.Dataset), cmp.Compare(s.Content, o.Content),
		cmp.Compare(s.GPU, o.GPU), cmp.Compare(s.Count, o.Count), cmp.Compare(s.Algorithm, o.Algorithm),
		cmp.Compare(s.Version, o.Version), cmp.Compare(s.Weights, o.Weights), cmp.Compare(s.Model, o.Model),
	)
}

// String names the series in messages.
func (s Series) String() string {
	return fmt.Sprintf("%s (version %d) on %s, %d x %s, %s", s.Algorithm, s.Version, s.Dataset, s.Count, s.GPU, s.Model)
}

// values are the identity and the series' columns.
func (s Series) values(identity int64) []any {
	return []any{
		identity, s.Track, s.Dataset, s.Content, s.GPU, s.Count, s.Algorithm, s.Version, s.Weights, s.Model,
	}
}

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

// All yields the metrics by name; a number's text is exact. There are no errors:
// rows are checked when they are appended, and have checksums.
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

// unquoteFirst returns the quoted name with which a list begins, and what follows it: nothing if the
// list is damaged.
func unquoteFirst(names string) (name, after string) {
	if end := 1 + strings.IndexByte(names[1:], '"'); end > 0 && strings.IndexByte(names[1:end], '\\') < 0 {
		return names[1:end], names[end+1:] // the usual name, in much less time
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

// KindTimeout is the kind of a row whose work ran out of time. A row of any other
// kind for the same cell replaces it. The store gives no other kind a meaning.
const KindTimeout = "timeout"

// A Row is the outcome of one instance of a series: metrics, or an error of some kind.
type Row struct {
	// Instance counts from 0.
	Instance int
	Metrics  Metrics
	// Kind is empty for a row with metrics; otherwise it classifies the error.
	Kind string
	// Error says what went wrong.
	Error string
	// Micros is the wall time of the work in microseconds, of whole nanoseconds; 0 means that it is not known. Results
	// that differ in it alone are the same, and the first one's is kept.
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
