package store

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"
)

// ExportFormats lists the formats of [DB.Export].
var ExportFormats = []string{"csv", "jsonl"}

// Export writes the rows of the series that the filter selects as "csv" or "jsonl", ordered by the series' columns and
// the instance. Equal results give equal bytes. Wall times differ between runs and are written only if timing is set.
// Rows that other processes add meanwhile may be left out. Export calls progress, which may be nil, before each series
// and at the end. It passes on the errors of [DB.Rows] and of w.
func (db *DB) Export(w io.Writer, filter Filter, format string, timing bool, progress func(done, total int)) error {
	all, err := db.Series(filter)
	if err != nil {
		return err
	}
	write, flush := exportLines(w, timing), func() error { return nil }
	if format != "jsonl" {
		metrics, err := db.metricNames(filter)
		if err != nil {
			return err
		}
		write, flush = exportCSV(w, metrics, timing)
	}
	for done, s := range all {
		if progress != nil {
			progress(done, len(all))
		}
		rows, err := db.Rows(s, 0, math.MaxInt)
		if err != nil {
			return err
		}
		for i := range rows {
			if err := write(s, &rows[i]); err != nil {
				return err
			}
		}
	}
	if progress != nil {
		progress(len(all), len(all))
	}
	return flush()
}

// exportCSV writes a header and returns functions that write a row and flush the rows. Each metric has a column, and a
// missing metric is an empty field. A row with another metric is left out: a process has added it since the metrics
// were listed.
func exportCSV(w io.Writer, metrics []string, timing bool) (write func(Series, *Row) error, flush func() error) {
	header := append(strings.Split(seriesColumns, ", "), "instance")
	first := len(header) // the column of the first metric
	columns := map[string]int{}
	for _, name := range metrics {
		columns[name] = len(header)
		header = append(header, name)
	}
	header = append(header, "kind", "error")
	if timing {
		header = append(header, "microseconds")
	}
	out := csv.NewWriter(w)
	_ = out.Write(header) // flush returns the error
	record := make([]string, len(header))
	write = func(s Series, r *Row) error {
		copy(record, []string{
			s.Track, s.Dataset, s.Content, s.GPU, strconv.Itoa(s.Count),
			s.Algorithm, strconv.Itoa(s.Version), s.Weights, s.Model, strconv.Itoa(r.Instance),
		})
		clear(record[first:])
		for name, number := range r.Metrics.All() {
			column, ok := columns[name]
			if !ok {
				return nil
			}
			record[column] = string(number)
		}
		end := first + len(columns)
		record[end], record[end+1] = r.Kind, r.Error
		if timing && r.Micros > 0 {
			record[end+2] = strconv.FormatFloat(r.Micros, 'g', -1, 64)
		}
		return out.Write(record)
	}
	flush = func() error {
		out.Flush()
		return out.Error()
	}
	return write, flush
}

// exportLines returns a function that writes a row as a line of JSON.
func exportLines(w io.Writer, timing bool) (write func(Series, *Row) error) {
	type line struct {
		Series
		Instance int             `json:"instance"`
		Metrics  json.RawMessage `json:"metrics,omitempty"`
		Kind     string          `json:"kind,omitempty"`
		Error    string          `json:"error,omitempty"`
		Micros   float64         `json:"microseconds,omitempty"`
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // so that the & of n=1&seed=2 stays
	return func(s Series, r *Row) error {
		l := line{
			Series: s, Instance: r.Instance, Metrics: json.RawMessage(r.Metrics.String()), Kind: r.Kind, Error: r.Error,
		}
		if timing {
			l.Micros = r.Micros
		}
		return e.Encode(&l)
	}
}
