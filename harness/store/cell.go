package store

import (
	"cmp"
	"database/sql/driver"
	"fmt"
	"hash/crc32"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"modernc.org/sqlite"
)

// A cell is a row as the table has it.
type cell struct {
	instance    int
	kind, error string
	// metrics is a JSON object; empty for an error.
	metrics string
	crc     uint32
	// where is the file that has the cell.
	where string
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is what the column crc must have. SQLite does not notice when text within
// a page is damaged; the checksum does.
func (c *cell) checksum(series uint32, buffer *[]byte) uint32 {
	b := strconv.AppendUint((*buffer)[:0], uint64(series), 10)
	b = strconv.AppendInt(append(b, ' '), int64(c.instance), 10)
	b = append(append(b, 0), c.kind...)
	b = append(append(b, 0), c.error...)
	b = append(append(b, 0), c.metrics...)
	*buffer = b
	return crc32.Checksum(b, castagnoli)
}

func init() {
	// miglab_crc(series.crc, instance, kind, error, metrics) is what cell.crc must be.
	sqlite.MustRegisterDeterministicScalarFunction("miglab_crc", 5, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		c := cell{instance: int(as[int64](args[1])), kind: as[string](args[2]), error: as[string](args[3]), metrics: as[string](args[4])}
		return int64(c.checksum(uint32(as[int64](args[0])), new([]byte))), nil
	})
}

// newCell is a record as the table has it.
func newCell(r *Record, series uint32, buffer *[]byte) cell {
	c := cell{instance: r.Instance, kind: text(r.Kind), error: text(r.Error), where: "the one being written"}
	if r.Kind == "" {
		*buffer = r.Metrics.appendJSON((*buffer)[:0])
		c.metrics = string(*buffer)
	}
	c.crc = c.checksum(series, buffer)
	return c
}

// text replaces what SQLite's functions would not take as text.
func text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

func (c *cell) row() (Row, error) {
	r := Row{Instance: c.instance, Kind: c.kind, Error: c.error}
	if c.kind != "" {
		return r, nil
	}
	var values map[string]float64
	if err := json.Unmarshal([]byte(c.metrics), &values); err != nil {
		return r, &Damage{File: c.where, Reason: fmt.Sprintf("the metrics of instance %d are %q: %v", c.instance, c.metrics, err)}
	}
	for name, v := range values {
		r.Metrics = append(r.Metrics, Metric{name, v})
	}
	slices.SortFunc(r.Metrics, func(a, b Metric) int { return cmp.Compare(a.Name, b.Name) })
	return r, nil
}

// appendName appends a metric's name and a colon. Invalid UTF-8 becomes U+FFFD.
func appendName(dst []byte, name string) []byte {
	dst, _ = jsontext.AppendQuote(dst, name)
	return append(dst, ':')
}

// appendJSON appends an object without white space. The numbers read back as the same float64.
func (m Metrics) appendJSON(dst []byte) []byte {
	separator := byte('{')
	for _, metric := range m {
		dst = appendName(append(dst, separator), metric.Name)
		dst = strconv.AppendFloat(dst, metric.Value, 'g', -1, 64)
		separator = ','
	}
	return append(dst, '}')
}

// value returns one metric; NaN if the cell does not have it. member is what appendName
// returns. SQLite's json_extract is not used: it takes twice as long, and may round the
// last digit in another way than strconv does.
func (c *cell) value(member string) (float64, error) {
	for rest := c.metrics; ; {
		i := strings.Index(rest, member)
		if i < 0 {
			return math.NaN(), nil
		}
		// A quote within a name is escaped, so that a name begins after { or a comma.
		begins := i > 0 && (rest[i-1] == '{' || rest[i-1] == ',')
		rest = rest[i+len(member):]
		if !begins {
			continue
		}
		number, _, _ := strings.Cut(strings.TrimSuffix(rest, "}"), ",")
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return 0, &Damage{File: c.where, Reason: fmt.Sprintf("a metric of instance %d is %q, which is no number", c.instance, number)}
		}
		return v, nil
	}
}

// pageSize is how many cells of a file are in memory.
const pageSize = 1024

// cells yields the cells first to end-1 of a series by instance. A cell that several files
// have comes once. After an error it ends.
func (db *DB) cells(s Series, first, end int) iter.Seq2[*cell, error] {
	return func(yield func(*cell, error) bool) {
		var page []cell
		var err error
		for next := first; next < end; {
			if page, next, err = db.page(page[:0], s, next, end); err != nil {
				yield(nil, err)
				return
			}
			for i := range page {
				if !yield(&page[i], nil) {
					return
				}
			}
		}
	}
}

// page replaces all by the first cells of a part of a series. next is the instance after them.
func (db *DB) page(all []cell, s Series, first, end int) (page []cell, next int, err error) {
	sources := 0
	for _, f := range db.all() {
		before := len(all)
		if all, err = f.appendCells(all, s, first, end); err != nil {
			return nil, 0, err
		}
		if len(all)-before == pageSize { // this file may have more, and no file may go beyond it
			end = all[len(all)-1].instance + 1
		}
		if len(all) > before {
			sources++
		}
	}
	if sources > 1 {
		all = slices.DeleteFunc(all, func(c cell) bool { return c.instance >= end })
		all, err = unite(s, all)
	}
	return all, end, err
}

// appendCells appends a page of one file, which it checks.
func (f *file) appendCells(all []cell, s Series, first, end int) ([]cell, error) {
	var buffer []byte
	crc := s.checksum()
	const query = "SELECT instance, nullif(kind, ''), nullif(error, ''), metrics, crc FROM cell" + ofSeries + " AND instance >= ? AND instance < ? ORDER BY instance LIMIT ?"
	err := f.query(query, s.values(first, end, pageSize), func(columns []any) error {
		c := cell{int(as[int64](columns[0])), as[string](columns[1]), as[string](columns[2]), as[string](columns[3]), uint32(as[int64](columns[4])), f.path}
		if c.checksum(crc, &buffer) != c.crc {
			return &Damage{File: f.path, Reason: fmt.Sprintf("the checksum of instance %d of %v is wrong", c.instance, s)}
		}
		all = append(all, c)
		return nil
	})
	return all, err
}

// unite orders the cells of several files and keeps one for each instance.
func unite(s Series, all []cell) ([]cell, error) {
	slices.SortStableFunc(all, func(a, b cell) int { return cmp.Compare(a.instance, b.instance) })
	out := all[:0]
	for _, c := range all {
		n := len(out)
		switch {
		case n == 0 || out[n-1].instance != c.instance:
			out = append(out, c)
		case c.kind == KindTimeout || out[n-1].crc == c.crc:
		case out[n-1].kind == KindTimeout:
			out[n-1] = c
		default:
			return nil, conflict(s, &out[n-1], &c)
		}
	}
	return out, nil
}

// conflict is the error of two cells that disagree.
func conflict(s Series, a, b *cell) error {
	first, errA := a.row()
	second, errB := b.row()
	return cmp.Or[error](errA, errB, &ConflictError{s, a.instance, a.where, b.where, first.outcome(), second.outcome()})
}
