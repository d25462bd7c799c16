package store

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
)

// Formats are those that [DB.Export] writes.
var Formats = []string{"csv", "jsonl"}

// Export writes the rows of the series that the filter selects, in the format "csv" or "jsonl",
// ordered by the columns of the series and the instance. The same results give the same
// bytes, however they came about; the wall times, which no two runs agree on, are
// written only if timing is set.
func (db *DB) Export(w io.Writer, filter Filter, format string, timing bool) error {
	if format == "jsonl" {
		return db.exportLines(w, filter, timing)
	}
	return db.exportCSV(w, filter, timing)
}

// each calls use for every row to export, with its wall time in microseconds; 0 where it is not known
// or timing is not set.
func (db *DB) each(filter Filter, timing bool, use func(s Series, r *Row, micros float64) error) error {
	all, err := db.Series(filter)
	if err != nil {
		return err
	}
	for _, s := range all {
		micros := map[int]float64{}
		if timing {
			times, err := db.Column(s, "")
			if err != nil {
				return err
			}
			for _, t := range times {
				if t.Micros > 0 { // not NaN
					micros[t.Instance] = t.Micros
				}
			}
		}
		for r, err := range db.Rows(s) {
			if err != nil {
				return err
			}
			if err := use(s, &r, micros[r.Instance]); err != nil {
				return err
			}
		}
	}
	return nil
}

// exportCSV writes a column for each metric that a row has, by name. What a row lacks is empty.
func (db *DB) exportCSV(w io.Writer, filter Filter, timing bool) error {
	names := map[string]int{}
	if err := db.each(filter, false, func(_ Series, r *Row, _ float64) error {
		for _, m := range r.Metrics {
			names[m.Name] = 0
		}
		return nil
	}); err != nil {
		return err
	}
	header := []string{"track", "dataset", "content", "gpu", "count", "algorithm", "version", "weights", "model", "instance"}
	first := len(header)
	for _, name := range slices.Sorted(maps.Keys(names)) {
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
	if err := db.each(filter, timing, func(s Series, r *Row, micros float64) error {
		copy(record, []string{
			s.Track, s.Dataset, s.Content, s.GPU, strconv.Itoa(s.Count), s.Algorithm, strconv.Itoa(s.Version), s.Weights, s.Model,
			strconv.Itoa(r.Instance),
		})
		clear(record[first:])
		for _, m := range r.Metrics {
			record[names[m.Name]] = formatNumber(m.Value)
		}
		end := first + len(names)
		record[end], record[end+1] = r.Kind, r.Error
		if micros > 0 {
			record[end+2] = formatNumber(micros)
		}
		return out.Write(record)
	}); err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func (db *DB) exportLines(w io.Writer, filter Filter, timing bool) error {
	type line struct {
		Series
		Instance int             `json:"instance"`
		Metrics  json.RawMessage `json:"metrics,omitempty"`
		Kind     string          `json:"kind,omitempty"`
		Error    string          `json:"error,omitempty"`
		Micros   float64         `json:"microseconds,omitempty"`
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // so that n=1&seed=2 reads as it is typed
	return db.each(filter, timing, func(s Series, r *Row, micros float64) error {
		l := line{Series: s, Instance: r.Instance, Kind: r.Kind, Error: r.Error, Micros: micros}
		if r.Kind == "" {
			l.Metrics = appendMetrics(nil, r.Metrics)
		}
		return e.Encode(&l)
	})
}
