package store

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

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
