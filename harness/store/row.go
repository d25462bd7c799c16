package store

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"time"
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
func (s *Series) values(others ...any) []any {
	return append([]any{s.Track, s.Dataset, s.Content, s.GPU, s.Count, s.Algorithm, s.Version, s.Weights, s.Model}, others...)
}

// checksum is what the column crc of the table series has.
func (s Series) checksum() uint32 {
	return crc32.Checksum(fmt.Appendf(nil, "%q %q %q %q %d %q %d %q %q", s.values()...), castagnoli)
}

// A Metric is a number by name. The name carries the unit, as in makespan_s.
type Metric struct {
	Name  string
	Value float64
}

// Metrics are numbers by ascending name; every name occurs once.
type Metrics []Metric

// MarshalJSON writes an object.
func (m Metrics) MarshalJSON() ([]byte, error) { return m.appendJSON(nil), nil }

// Get returns the metric of a name and whether there is one.
func (m Metrics) Get(name string) (float64, bool) {
	i, ok := slices.BinarySearchFunc(m, name, func(x Metric, name string) int { return cmp.Compare(x.Name, name) })
	if !ok {
		return 0, false
	}
	return m[i].Value, true
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
}

// outcome is the row's content, for messages.
func (r *Row) outcome() string {
	if r.Kind != "" {
		return fmt.Sprintf("%s: %s", r.Kind, r.Error)
	}
	var out []string
	for _, m := range r.Metrics {
		out = append(out, fmt.Sprintf("%s = %v", m.Name, m.Value))
	}
	return strings.Join(out, ", ")
}

// validate checks what a caller wants to append.
func (r *Row) validate() error {
	if r.Instance < 0 {
		return fmt.Errorf("instance %d: instances count from 0", r.Instance)
	}
	if (r.Kind == "") != (len(r.Metrics) > 0) || (r.Kind == "") != (r.Error == "") {
		return fmt.Errorf("instance %d: a row has either metrics or a kind and an error", r.Instance)
	}
	for i, m := range r.Metrics {
		if math.IsNaN(m.Value) || math.IsInf(m.Value, 0) {
			return fmt.Errorf("instance %d: metric %q is %v; it must be finite", r.Instance, m.Name, m.Value)
		}
		if i > 0 && r.Metrics[i-1].Name >= m.Name {
			return fmt.Errorf("instance %d: metric %q must come before %q and once", r.Instance, m.Name, r.Metrics[i-1].Name)
		}
	}
	return nil
}

// A Record is a row of a series, with the wall time of the work.
type Record struct {
	Series Series
	Row
	// Took is the wall time; 0 means that it is not known. It is kept for rows with
	// metrics alone.
	Took time.Duration
}
