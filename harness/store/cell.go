package store

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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
const pageSize = 4096

// cells yields the cells first to end-1 of a series by instance. A cell that several files
// have comes once. After an error it ends.
func (db *DB) cells(s Series, first, end int) iter.Seq2[*cell, error] {
	return func(yield func(*cell, error) bool) {
		for first := first; first < end; {
			page, next, err := db.page(s, first, end)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page {
				if !yield(&page[i], nil) {
					return
				}
			}
			first = next
		}
	}
}

// page returns the first cells of a part of a series, and the instance after them.
func (db *DB) page(s Series, first, end int) ([]cell, int, error) {
	var all []cell
	for _, f := range db.all() {
		own, err := f.cells(s, first, end)
		if err != nil {
			return nil, 0, err
		}
		if len(own) == pageSize { // this file may have more, and no file may go beyond it
			end = own[pageSize-1].instance + 1
		}
		all = append(all, own...)
	}
	all = slices.DeleteFunc(all, func(c cell) bool { return c.instance >= end })
	all, err := unite(s, all)
	return all, end, err
}

// cells reads a page of one file and checks it.
func (f *file) cells(s Series, first, end int) ([]cell, error) {
	var out []cell
	var buffer []byte
	crc := s.checksum()
	const query = "SELECT instance, nullif(kind, ''), nullif(error, ''), metrics, crc FROM cell WHERE series = ? AND instance >= ? AND instance < ? ORDER BY instance LIMIT ?"
	err := f.queryOf(s, query, []any{first, end, pageSize}, func(columns []any) error {
		c := cell{int(as[int64](columns[0])), as[string](columns[1]), as[string](columns[2]), as[string](columns[3]), uint32(as[int64](columns[4])), f.path}
		if c.checksum(crc, &buffer) != c.crc {
			return &Damage{File: f.path, Reason: fmt.Sprintf("the checksum of instance %d of %v is wrong", c.instance, s)}
		}
		out = append(out, c)
		return nil
	})
	return out, err
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
