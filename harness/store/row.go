package store

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Series is an algorithm on a dataset under fixed conditions. Its results are
// told apart by the instance alone. The names are those of package run.
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

func (q Filter) selects(s Series) bool {
	have := s.values()
	for i, want := range Series(q).values() {
		if want != "" && want != 0 && want != have[i] {
			return false
		}
	}
	return true
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

// values are the series' columns, followed by others.
func (s Series) values(others ...any) []any {
	return append([]any{s.Track, s.Dataset, s.Content, s.GPU, s.Count, s.Algorithm, s.Version, s.Weights, s.Model}, others...)
}

// Metrics are numbers by name, as a JSON object without white space. Names carry the unit, as in
// makespan_s.
type Metrics string

// NewMetrics writes numbers by ascending name.
func NewMetrics(values map[string]float64) Metrics {
	var out []byte
	separator := byte('{')
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out, _ = jsontext.AppendQuote(append(out, separator), name) // invalid UTF-8 becomes U+FFFD
		out = strconv.AppendFloat(append(out, ':'), values[name], 'g', -1, 64)
		separator = ','
	}
	return Metrics(append(out, '}'))
}

// All yields what [NewMetrics] was given. There are no errors: rows are checked when they are
// appended, and have checksums.
func (m Metrics) All() iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for rest := strings.Trim(string(m), "{}"); rest != ""; {
			quoted, _ := strconv.QuotedPrefix(rest) // the escapes of jsontext mean the same in Go
			number, next, _ := strings.Cut(strings.TrimPrefix(rest[len(quoted):], ":"), ",")
			name, _ := strconv.Unquote(quoted)
			value, _ := strconv.ParseFloat(number, 64)
			if !yield(name, value) {
				return
			}
			rest = next
		}
	}
}

// Get returns the number of a name and whether there is one.
func (m Metrics) Get(name string) (float64, bool) {
	for n, value := range m.All() {
		if n == name {
			return value, true
		}
	}
	return 0, false
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
	// Micros is the wall time of the work in microseconds; 0 means that it is not known. Results
	// that differ in it alone are the same, and the first one's is kept.
	Micros float64
}

// validate checks what a caller wants to append.
func (r *Row) validate() error {
	switch {
	case r.Instance < 0:
		return fmt.Errorf("instance %d: instances count from 0", r.Instance)
	case (r.Kind == "") == (r.Metrics == "") || (r.Kind == "") != (r.Error == ""):
		return fmt.Errorf("instance %d: a row has either metrics or a kind and an error", r.Instance)
	case r.Kind == "" && !jsontext.Value(r.Metrics).IsValid():
		return fmt.Errorf("instance %d: the metrics are %s; they must be finite numbers, each under a name of its own", r.Instance, r.Metrics)
	}
	return nil
}
