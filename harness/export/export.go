// Package export writes the results of a database as a table for other programs.
package export

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"strconv"

	"miglab/harness/store"
)

// Formats are those that [Write] knows.
var Formats = []string{"csv", "jsonl"}

// Write writes the rows of the series that the filter selects, in the format "csv" or "jsonl",
// ordered by the columns of the series and the instance. The same results give the same
// bytes, however they came about; the wall times, which no two runs agree on, are
// written only if timing is set. progress is told how many series are written; it may be nil.
// Errors are those of [store.DB.Rows] and of w.
func Write(w io.Writer, db *store.DB, filter store.Filter, format string, timing bool, progress func(done, total int)) error {
	if progress == nil {
		progress = func(int, int) {}
	}
	if format == "jsonl" {
		return writeLines(w, db, filter, timing, progress)
	}
	return writeCSV(w, db, filter, timing, progress)
}

// each calls use for every row to export.
func each(db *store.DB, filter store.Filter, progress func(done, total int), use func(s store.Series, r *store.Row) error) error {
	all, err := db.Series(filter)
	if err != nil {
		return err
	}
	for done, s := range all {
		progress(done, len(all))
		rows, err := db.Rows(s, 0, math.MaxInt)
		if err != nil {
			return err
		}
		for i := range rows {
			if err := use(s, &rows[i]); err != nil {
				return err
			}
		}
	}
	progress(len(all), len(all))
	return nil
}

// writeCSV writes a column for each metric that a row has, by name. What a row lacks is empty.
func writeCSV(w io.Writer, db *store.DB, filter store.Filter, timing bool, progress func(done, total int)) error {
	metrics, err := db.MetricNames(filter)
	if err != nil {
		return err
	}
	names := map[string]int{}
	header := []string{"track", "dataset", "content", "gpu", "count", "algorithm", "version", "weights", "model", "instance"}
	first := len(header)
	for _, name := range metrics {
		names[name] = len(header)
		header = append(header, name)
	}
	header = append(header, "kind", "error")
	if timing {
		header = append(header, "microseconds")
	}
	out := csv.NewWriter(w)
	if err := out.Write(header); err != nil {
		return err
	}
	record := make([]string, len(header))
	if err := each(db, filter, progress, func(s store.Series, r *store.Row) error {
		copy(record, []string{
			s.Track, s.Dataset, s.Content, s.GPU, strconv.Itoa(s.Count), s.Algorithm, strconv.Itoa(s.Version), s.Weights, s.Model,
			strconv.Itoa(r.Instance),
		})
		clear(record[first:])
		for name, number := range r.Metrics.All() {
			record[names[name]] = string(number)
		}
		end := first + len(names)
		record[end], record[end+1] = r.Kind, r.Error
		if timing && r.Micros > 0 {
			record[end+2] = strconv.FormatFloat(r.Micros, 'g', -1, 64)
		}
		return out.Write(record)
	}); err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

func writeLines(w io.Writer, db *store.DB, filter store.Filter, timing bool, progress func(done, total int)) error {
	type line struct {
		store.Series
		Instance int             `json:"instance"`
		Metrics  json.RawMessage `json:"metrics,omitempty"`
		Kind     string          `json:"kind,omitempty"`
		Error    string          `json:"error,omitempty"`
		Micros   float64         `json:"microseconds,omitempty"`
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // so that n=1&seed=2 reads as it is typed
	return each(db, filter, progress, func(s store.Series, r *store.Row) error {
		l := line{s, r.Instance, json.RawMessage(r.Metrics.String()), r.Kind, r.Error, 0}
		if timing {
			l.Micros = r.Micros
		}
		return e.Encode(&l)
	})
}
