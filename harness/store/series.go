package store

import (
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"math"
	"strconv"
	"strings"
)

// An entry is the row of a series in one database.
type entry struct {
	Series
	id int64
	// identity is the hash of the series' columns. It tells series apart.
	identity int64
	// written orders the series by when a cell of theirs was last written.
	written int64
	// checksums has a checksum for each chunk of the instances, as encode writes it.
	checksums string
}

// sums are sums of hashes of cells, for each chunk of a series' instances. The checksum of a part of the series is that
// of its chunks.
type sums []int64

// A chunk has chunkSize instances. The last one, which a series of few instances does not have, has all that follow.
const (
	chunkSize = 128
	lastChunk = 1 << 13
	digits    = 16 // of a sum
)

func chunkOf(instance int) int { return min(max(instance, 0)/chunkSize, lastChunk) }

func (s *sums) add(instance int, hash int64) {
	for len(*s) <= chunkOf(instance) {
		*s = append(*s, 0)
	}
	(*s)[chunkOf(instance)] += hash
}

// encode writes the sums as hexadecimal digits. The first has the number of the last write added.
func (s sums) encode(written int64) string {
	var out []byte
	for _, sum := range s {
		out = fmt.Appendf(out, "%0*x", digits, uint64(sum+written))
		written = 0
	}
	return string(out)
}

// sum returns the sum of a chunk; 0 if there is none.
func (e *entry) sum(chunk int) int64 {
	if len(e.checksums) < (chunk+1)*digits {
		return 0
	}
	sum, _ := strconv.ParseUint(e.checksums[chunk*digits:(chunk+1)*digits], 16, 64) // what is no number will differ
	if chunk == 0 {
		return int64(sum) - e.written
	}
	return int64(sum)
}

// sums returns all sums.
func (e *entry) sums() (out sums) {
	for k := range len(e.checksums) / digits {
		out = append(out, e.sum(k))
	}
	return out
}

// has reports whether the cells with the instances first to end-1 have these sums.
func (e *entry) has(got sums, first, end int) bool {
	chunks := max(len(got), len(e.checksums)/digits)
	for k := chunkOf(first); k < chunks && k <= chunkOf(end-1); k++ {
		sum := int64(0)
		if k < len(got) {
			sum = got[k]
		}
		if sum != e.sum(k) {
			return false
		}
	}
	return e.checksums != "" // a series without cells is not written
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksumOf returns the column crc of a row of the tables program, model and unit.
func checksumOf(columns ...string) int64 {
	return int64(crc32.Checksum([]byte(strings.Join(columns, "\x00")), castagnoli))
}

// columns joins the columns of a series by NUL, as concat_ws does in SQL.
func (s *Series) columns() string {
	return strings.Join([]string{
		s.Track, s.Dataset, s.Content, s.GPU, strconv.Itoa(s.Count), s.Algorithm, strconv.Itoa(s.Version), s.Weights,
		s.Model,
	}, "\x00")
}

// hashColumns returns the identity of the series with these columns, FNV-1a of 64 bits.
func hashColumns(columns string) int64 {
	h := fnv.New64a()
	h.Write([]byte(columns)) // which never fails
	return int64(h.Sum64())
}

// appendColumns appends the columns of a cell, joined by NUL as cellColumns does it. names is the id of the list.
func (r *Row) appendColumns(b []byte, names int64) []byte {
	b = append(strconv.AppendInt(b, int64(r.Instance), 10), 0)
	b = append(strconv.AppendInt(b, names, 10), 0)
	for _, text := range []string{r.Metrics.numbers, r.Kind, r.Error} {
		b = append(append(b, text...), 0)
	}
	return strconv.AppendInt(b, r.nanoseconds(), 10)
}

// nanoseconds returns the wall time as the database has it.
func (r *Row) nanoseconds() int64 { return int64(math.Round(r.Micros * 1000)) }

// hashCell returns the share of a cell in the checksum of its series: CRC-32C of its columns and of its list of names.
func hashCell(columns []byte, list string) int64 {
	return int64(crc32.Checksum(columns, castagnoli)) + checksumOf(list)
}

// newEntry reads an entry from its columns, joined by NUL, and checks that they belong together.
func (f *file) newEntry(columns string) (*entry, error) {
	var numbers [3]int64
	for i := range numbers {
		number, rest, _ := strings.Cut(columns, "\x00")
		numbers[i], _ = strconv.ParseInt(number, 10, 64) // the table has integers
		columns = rest
	}
	e := &entry{id: numbers[0], identity: numbers[1], written: numbers[2]}
	e.checksums, columns, _ = strings.Cut(columns, "\x00")
	c := strings.Split(columns, "\x00")
	if len(c) != 9 || hashColumns(columns) != e.identity {
		return nil, f.damage("the columns of the series %q are wrong", columns)
	}
	count, _ := strconv.Atoi(c[4])
	version, _ := strconv.Atoi(c[6])
	e.Series = Series{
		Track: c[0], Dataset: c[1], Content: c[2], GPU: c[3], Count: count, Algorithm: c[5], Version: version,
		Weights: c[7], Model: c[8],
	}
	return e, nil
}

// present returns what the database has of each series at present. The map must not be changed.
func (f *file) present() (map[Series]*entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	version := int64(0)
	err := f.query("SELECT data_version, total_changes() FROM pragma_data_version", nil, func(v []any) error {
		version = columnOr[int64](v[0])<<32 + columnOr[int64](v[1])
		return nil
	})
	if err != nil || f.series != nil && version == f.version {
		return f.series, err
	}
	// One column takes much less time than fourteen. A database without series has a row, too.
	const query = "SELECT state.series, iif(series.id IS NULL, NULL, concat_ws(char(0), series.id, identity," +
		" series.written, checksums, " + seriesColumns + ")) FROM state LEFT JOIN series"
	series := make(map[Series]*entry, len(f.series))
	want, last := int64(-1), int64(math.MinInt64)
	err = f.query(query, nil, func(v []any) error {
		want = columnOr[int64](v[0])
		columns, ok := v[1].(string)
		if !ok {
			return nil
		}
		e, err := f.newEntry(columns)
		switch {
		case err != nil:
			return err
		case e.id <= last:
			return f.damage("the rows of the table series are in disorder")
		}
		last = e.id
		series[e.Series] = e
		return nil
	})
	if err == nil && int64(len(series)) != want {
		err = f.damage("it has %d series and the table state says %d", len(series), want)
	}
	if err == nil {
		f.series, f.version = series, version
	}
	return series, err
}

// cellColumns joins the columns of a cell by NUL. cellsOfSeries joins the cells of a series by NUL: to read one text
// takes much less time than to read many cells.
const (
	cellColumns   = "concat_ws(char(0), instance, names, numbers, kind, error, nanoseconds)"
	cellsOfSeries = "SELECT group_concat(" + cellColumns + ", char(0)) FROM cell" +
		" WHERE series = ? AND instance >= ? AND instance < ?"
)

// read returns the cells of a series with the instances first to end-1. It compares them with the checksums, which
// another process may change at any time.
func (f *file) read(e *entry, first, end int) ([]cell, error) {
	for {
		cells, got, err := f.readOnce(e, first, end)
		if err != nil || e.has(got, first, end) {
			return cells, err
		}
		present, err := f.present()
		if err != nil {
			return nil, err
		}
		now := present[e.Series]
		if now == nil || *now == *e {
			return nil, f.damage("the checksum of %v is wrong", e.Series)
		}
		e = now
	}
}

// readOnce returns cells as read does, and the sums of the chunks that have them.
func (f *file) readOnce(e *entry, first, end int) (cells []cell, got sums, err error) {
	from, to := first, end
	if from > 0 {
		from = chunkOf(from) * chunkSize
	}
	if to = (chunkOf(to-1) + 1) * chunkSize; chunkOf(end-1) == lastChunk {
		to = math.MaxInt
	}
	text := ""
	err = f.query(cellsOfSeries, []any{e.id, from, to}, func(v []any) error {
		text = columnOr[string](v[0])
		return nil
	})
	if err != nil {
		return nil, got, err
	}
	return f.splitCells(text, first, end)
}

// splitCells returns the cells of a text of cellsOfSeries with the instances first to end-1, and the sums of all.
func (f *file) splitCells(text string, first, end int) (cells []cell, got sums, err error) {
	const columns = 6
	room := (strings.Count(text, "\x00") + 1) / columns
	if n := end - first; n >= 0 { // unless it overflows
		room = min(room, n)
	}
	cells = make([]cell, 0, room)
	var list string
	lastNames, listHash := int64(-1), int64(0)
	var b []byte
	for text != "" {
		var c [columns]string
		row := text
		for i := range c {
			c[i], text, _ = strings.Cut(text, "\x00")
		}
		instance, _ := strconv.Atoi(c[0]) // the checksum shows what is no number
		names, _ := strconv.ParseInt(c[1], 10, 64)
		nanoseconds, _ := strconv.ParseInt(c[5], 10, 64)
		if names != lastNames {
			if list, err = f.list(names); err != nil {
				return nil, got, err
			}
			lastNames, listHash = names, checksumOf(list)
		}
		b = append(b[:0], strings.TrimSuffix(row[:len(row)-len(text)], "\x00")...)
		got.add(instance, int64(crc32.Checksum(b, castagnoli))+listHash)
		if instance < first || instance >= end {
			continue
		}
		r := Row{Instance: instance, Metrics: Metrics{list, c[2]}, Kind: c[3], Error: c[4]}
		r.Micros = float64(nanoseconds) / 1000
		cells = append(cells, cell{r, f.path})
	}
	return cells, got, nil
}

// list returns the list of names with an id. It reads all lists again when one is new.
func (f *file) list(id int64) (string, error) {
	list, ok := f.lists.Load(id)
	if !ok {
		err := f.query("SELECT id, list FROM names", nil, func(v []any) error {
			f.lists.Store(columnOr[int64](v[0]), columnOr[string](v[1]))
			return nil
		})
		if err != nil {
			return "", err
		}
		if list, ok = f.lists.Load(id); !ok {
			return "", f.damage("the names of metrics with the number %d are missing", id)
		}
	}
	return list.(string), nil
}
