package store

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A cell is a row as the table has it.
type cell struct {
	Row
	crc uint32
	// where is the file that has the cell.
	where string
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// identity is what the checksums of the series' cells begin with, and room for the rest.
func (s Series) identity() []byte {
	return fmt.Appendf(make([]byte, 0, 1024), "%q %q %q %q %d %q %d %q %q ", s.values()...)
}

// checksum is what the column crc must have for a cell of a series with this identity. The wall
// time is not part of it.
func (c *cell) checksum(identity []byte) uint32 {
	b := strconv.AppendInt(identity, int64(c.Instance), 10)
	b = append(append(b, 0), c.Kind...)
	b = append(append(b, 0), c.Error...)
	b = append(append(b, 0), c.Metrics...)
	return crc32.Checksum(b, castagnoli)
}

// text replaces what SQLite's functions would not take as text.
func text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// outcome is the file and the content of the cell, for messages.
func (c *cell) outcome() string {
	return fmt.Sprintf("%s has %s", c.where, cmp.Or(string(c.Metrics), c.Kind+": "+c.Error))
}

// Series returns the series that the filter selects and that have results, ordered by their fields.
func (db *DB) Series(filter Filter) ([]Series, error) {
	var out []Series
	err := db.query("SELECT "+seriesColumns+" FROM series", nil, func(v []any) error {
		s := Series{
			as[string](v[0]), as[string](v[1]), as[string](v[2]), as[string](v[3]), int(as[int64](v[4])),
			as[string](v[5]), int(as[int64](v[6])), as[string](v[7]), as[string](v[8]),
		}
		if filter.selects(s) {
			out = append(out, s)
		}
		return nil
	})
	slices.SortFunc(out, Series.compare)
	return slices.Compact(out), err
}

// Rows returns the rows of the instances first to end-1 of a series, as many as there are, by
// instance. Errors are a [*ConflictError], a [*Damage] and those of the file system.
func (db *DB) Rows(s Series, first, end int) ([]Row, error) {
	cells, err := db.cells(s, first, end)
	if err != nil {
		return nil, err
	}
	out := make([]Row, len(cells))
	for i := range cells {
		out[i] = cells[i].Row
	}
	return out, nil
}

// cells returns cells of a series by instance. A cell that several files have comes once.
func (db *DB) cells(s Series, first, end int) (all []cell, err error) {
	for i, f := range db.all() {
		if all, err = f.appendCells(all, s, first, end); err == nil && i > 0 {
			all, err = unite(s, all)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// appendCells appends cells of a series in one file, which it checks.
func (f *file) appendCells(all []cell, s Series, first, end int) ([]cell, error) {
	identity := s.identity()
	// NULL is faster to read than an empty text.
	const query = "SELECT instance, metrics, nullif(kind, ''), nullif(error, ''), microseconds, crc FROM cell" + ofSeries +
		" AND instance >= ? AND instance < ? ORDER BY instance"
	err := f.query(query, s.values(first, end), func(v []any) error {
		r := Row{int(as[int64](v[0])), Metrics(as[string](v[1])), as[string](v[2]), as[string](v[3]), as[float64](v[4])}
		c := cell{r, uint32(as[int64](v[5])), f.path}
		if c.checksum(identity) != c.crc {
			return &Damage{File: f.path, Reason: fmt.Sprintf("the checksum of instance %d of %v is wrong", c.Instance, s)}
		}
		all = append(all, c)
		return nil
	})
	return all, err
}

// unite orders the cells of several files by instance and keeps one of each.
func unite(s Series, all []cell) ([]cell, error) {
	slices.SortStableFunc(all, func(a, b cell) int { return cmp.Compare(a.Instance, b.Instance) })
	out := all[:0]
	for _, c := range all {
		if n := len(out); n == 0 || out[n-1].Instance != c.Instance {
			out = append(out, c)
			continue
		}
		switch last := &out[len(out)-1]; {
		case c.Kind == KindTimeout || c.crc == last.crc:
		case last.Kind == KindTimeout:
			*last = c
		default:
			return nil, &ConflictError{s, c.Instance, last.outcome(), c.outcome()}
		}
	}
	return out, nil
}

// Finished calls add for the instances of a series that need no more work: that have a
// result other than [KindTimeout]. It may do so more than once.
func (db *DB) Finished(s Series, add func(instance int)) error {
	return db.query("SELECT instance FROM cell"+ofSeries+" AND kind <> '"+KindTimeout+"' ORDER BY instance", s.values(), func(v []any) error {
		add(int(as[int64](v[0])))
		return nil
	})
}

// MeanMicros returns the mean wall time of the cells of a series in microseconds; NaN if none is known.
func (db *DB) MeanMicros(s Series) (float64, error) {
	sum, n := 0.0, int64(0)
	err := db.query("SELECT total(microseconds), count(microseconds) FROM cell"+ofSeries, s.values(), func(v []any) error {
		sum += as[float64](v[0])
		n += as[int64](v[1])
		return nil
	})
	return sum / float64(n), err
}

// query is [file.query] on all files.
func (db *DB) query(query string, args []any, use func(columns []any) error) error {
	for _, f := range db.all() {
		if err := f.query(query, args, use); err != nil {
			return err
		}
	}
	return nil
}

// each hands over all cells, series by series.
func (db *DB) each(use func(s Series, cells []cell) error) error {
	all, err := db.Series(Filter{})
	if err != nil {
		return err
	}
	for _, s := range all {
		cells, err := db.cells(s, 0, math.MaxInt)
		if err == nil {
			err = use(s, cells)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tally counts the results of each series, all of which it reads.
func (db *DB) tally() (map[Series]Tally, error) {
	out := map[Series]Tally{}
	return out, db.each(func(s Series, cells []cell) error {
		t := Tally{Done: len(cells)}
		for i := range cells {
			if cells[i].Kind != "" {
				t.Failed++
			}
		}
		out[s] = t
		return nil
	})
}
