package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A cell is a row and the file that has it.
type cell struct {
	Row
	where string
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksumOf is what the column crc must have for a row of a table besides cell and series.
func checksumOf(columns ...string) int64 {
	return int64(crc32.Checksum([]byte(strings.Join(columns, "\x00")), castagnoli))
}

// identity appends the columns of a series, which its own checksum is of, and with which those of its cells begin.
// selectExtents makes the same in SQL.
func (s *Series) identity(b []byte) []byte {
	for _, text := range []string{s.Track, s.Dataset, s.Content, s.GPU} {
		b = append(append(b, text...), 0)
	}
	b = append(append(strconv.AppendInt(b, int64(s.Count), 10), 0), s.Algorithm...)
	b = append(strconv.AppendInt(append(b, 0), int64(s.Version), 10), 0)
	return append(append(append(b, s.Weights...), 0), s.Model...)
}

// checksum is what the column crc must have for a row of a series with this identity, as a signed
// number, which takes less room.
func (r *Row) checksum(identity []byte) int32 {
	b := strconv.AppendInt(append(identity, 0), int64(r.Instance), 10)
	for _, text := range []string{r.Kind, r.Error, r.Metrics.names, r.Metrics.numbers} {
		b = append(append(b, 0), text...)
	}
	if r.Micros != 0 {
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(r.Micros))
	}
	return int32(crc32.Checksum(b, castagnoli))
}

// cleanText replaces what SQLite's functions would not take as text.
func cleanText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// outcome is the file and the content of the cell, for messages.
func (c *cell) outcome() string {
	return fmt.Sprintf("%s has %s", c.where, cmp.Or(c.Metrics.String(), c.Kind+": "+c.Error))
}

// Series returns the series that the filter selects and that have results, ordered by their fields.
func (db *DB) Series(filter Filter) ([]Series, error) {
	var out []Series
	for _, f := range db.all() {
		extents, err := f.present(filter.Track)
		if err != nil {
			return nil, err
		}
		for _, x := range extents {
			if filter.selects(x.Series) {
				out = append(out, x.Series)
			}
		}
	}
	slices.SortFunc(out, Series.compare)
	return slices.Compact(out), nil
}

// Rows returns the rows of the instances first to end-1 of a series, as many as there are, by
// instance. Errors are a [*ConflictError], a [*Damage] and those of the file system.
func (db *DB) Rows(s Series, first, end int) ([]Row, error) {
	cells, err := db.cells(s, first, end)
	out := make([]Row, len(cells))
	for i := range cells {
		out[i] = cells[i].Row
	}
	return out, err
}

// cells returns cells of a series by instance. A cell that several files have comes once.
func (db *DB) cells(s Series, first, end int) (all []cell, err error) {
	for i, f := range db.all() {
		if all, err = f.appendCells(all, s, first, end); err == nil && i > 0 {
			all, err = uniteCells(s, all)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// An unreadList is the id of a list of names that was not read yet.
type unreadList int64

func (unreadList) Error() string { return "names of metrics are missing" }

// appendCells appends cells of a series in one file, which it checks.
func (f *file) appendCells(all []cell, s Series, first, end int) (more []cell, err error) {
	err = f.withLists(func() error {
		more, err = f.appendKnown(all, s, first, end)
		return err
	})
	return more, err
}

// withLists calls read, and again after it has read the lists of names as long as read meets an unread one: another
// process may add lists meanwhile.
func (f *file) withLists(read func() error) error {
	for {
		err := read()
		id, ok := errors.AsType[unreadList](err)
		if !ok {
			return err
		}
		if err := f.readLists(); err != nil {
			return err
		}
		if _, ok := f.lists.Load(int64(id)); !ok {
			return f.damage("%v", id)
		}
	}
}

// readLists reads the lists of names, which are few and shared by many cells.
func (f *file) readLists() error {
	type row struct {
		id   int64
		list string
	}
	ways := [2]string{"NOT INDEXED", "INDEXED BY sqlite_autoindex_names_1"}
	all, err := readTwice(f, "names", "id, list", ways, func(v []any) row {
		return row{columnOr[int64](v[0]), columnOr[string](v[1])}
	})
	for _, r := range all {
		if err == nil {
			f.lists.Store(r.id, r.list)
		}
	}
	return err
}

// cellColumns are the columns of cells after the instance, as cell reads them. NULL is faster to read than an
// empty text, a number than a text, and one column than two.
const cellColumns = ", names, numbers, iif(kind = '' AND error = '', NULL, kind || char(0) || error), microseconds, crc"

// appendKnown is appendCells if the lists of names have been read, and otherwise an unreadList.
func (f *file) appendKnown(all []cell, s Series, first, end int) ([]cell, error) {
	identity := s.identity(make([]byte, 0, 1024))
	err := f.eachCell(s, cellColumns, first, end, func(v []any) error {
		c, err := f.cell(s, identity, v)
		all = append(all, c)
		return err
	})
	return all, err
}

// cell makes a cell of a series with this identity of its columns, and checks it.
func (f *file) cell(s Series, identity []byte, v []any) (cell, error) {
	id := columnOr[int64](v[1])
	list, ok := f.lists.Load(id)
	if !ok {
		return cell{}, unreadList(id)
	}
	r := Row{
		Instance: int(columnOr[int64](v[0])),
		Metrics:  Metrics{list.(string), columnOr[string](v[2])},
		Micros:   columnOr[float64](v[4]),
	}
	r.Kind, r.Error, _ = strings.Cut(columnOr[string](v[3]), "\x00")
	if int64(r.checksum(identity)) != columnOr[int64](v[5]) {
		return cell{}, f.damage("the checksum of instance %d of %v is wrong", r.Instance, s)
	}
	return cell{r, f.path}, nil
}

// uniteCells orders the cells of several files by instance and keeps one of each.
func uniteCells(s Series, all []cell) ([]cell, error) {
	slices.SortStableFunc(all, func(a, b cell) int { return cmp.Compare(a.Instance, b.Instance) })
	out := all[:0]
	for _, c := range all {
		last := len(out) - 1
		switch {
		case last < 0 || out[last].Instance != c.Instance:
			out = append(out, c)
		case c.Kind == KindTimeout || c.Kind == out[last].Kind && c.Error == out[last].Error &&
			c.Metrics == out[last].Metrics:
		case out[last].Kind == KindTimeout:
			out[last] = c
		default:
			return nil, &ConflictError{s, c.Instance, out[last].outcome(), c.outcome()}
		}
	}
	return out, nil
}

// metricNames returns the names of the metrics that cells of the series that the filter selects
// have, in ascending order.
func (db *DB) metricNames(filter Filter) ([]string, error) {
	all, err := db.Series(filter)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range db.all() {
		lists := map[int64]bool{}
		for _, s := range all {
			if err := f.eachCell(s, ", names", 0, math.MaxInt, func(v []any) error {
				lists[columnOr[int64](v[1])] = true
				return nil
			}); err != nil {
				return nil, err
			}
		}
		if err := f.readLists(); err != nil {
			return nil, err
		}
		for id := range lists {
			list, _ := f.lists.Load(id)
			for names := strings.Trim(columnOr[string](list), "[]"); names != ""; {
				name, after := unquoteFirst(names)
				out, names = append(out, name), strings.TrimPrefix(after, ",")
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Finished calls add for the instances of a series that need no more work: that have a
// result other than [KindTimeout]. It may do so more than once.
func (db *DB) Finished(s Series, add func(instance int)) error {
	for _, f := range db.all() {
		if err := f.eachCell(s, ", kind = '"+KindTimeout+"'", 0, math.MaxInt, func(v []any) error {
			if columnOr[int64](v[1]) == 0 {
				add(int(columnOr[int64](v[0])))
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// Instances returns the instances of a series from first on that have a result of any kind, in
// ascending order. It reads no results, so that damage in them is not seen.
func (db *DB) Instances(s Series, first int) ([]int, error) {
	var out []int
	for _, f := range db.all() {
		if err := f.eachCell(s, "", first, math.MaxInt, func(v []any) error {
			out = append(out, int(columnOr[int64](v[0])))
			return nil
		}); err != nil {
			return nil, err
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// ByAge returns the series in the order in which a cell of theirs was last written. Of several
// databases, those whose files' names come later count as written later.
func (db *DB) ByAge(of []Series) ([]Series, error) {
	written := map[Series][]int64{}
	for i, f := range db.all() {
		for _, s := range of {
			x, err := f.extent(s)
			if err != nil {
				return nil, err
			}
			if x != nil {
				written[s] = []int64{int64(i), x.written}
			}
		}
	}
	return slices.SortedStableFunc(slices.Values(of), func(a, b Series) int {
		return slices.Compare(written[a], written[b])
	}), nil
}

// each hands over all cells, series by series, in the order of [DB.ByAge].
func (db *DB) each(use func(s Series, cells []cell) error) error {
	if files := db.all(); len(files) == 1 {
		return files[0].each(use)
	}
	all, err := db.Series(Filter{})
	if err == nil {
		all, err = db.ByAge(all)
	}
	for i := 0; err == nil && i < len(all); i++ {
		var cells []cell
		if cells, err = db.cells(all[i], 0, math.MaxInt); err == nil {
			err = use(all[i], cells)
		}
	}
	return err
}

// each is [DB.each] for one file. It reads many series at once, which takes less time where they are short.
func (f *file) each(use func(s Series, cells []cell) error) error {
	const batch = 20_000 // cells
	all, err := f.present("")
	slices.SortFunc(all, func(a, b *extent) int { return cmp.Compare(a.written, b.written) })
	for err == nil && len(all) > 0 {
		n := 0
		for cells := int64(0); n < len(all) && cells < batch; n++ {
			cells += all[n].cells
		}
		var cells []cell
		var ends []int
		err = f.withLists(func() error {
			cells, ends, err = f.cellsOf(all[:n])
			return err
		})
		for i, begin := 0, 0; err == nil && i < n; i++ {
			err = use(all[i].Series, cells[begin:ends[i]:ends[i]])
			begin = ends[i]
		}
		all = all[n:]
	}
	return err
}

// cellsOf returns the cells of several series, and where those of each end. The error is an unreadList
// if a list of names has not been read.
func (f *file) cellsOf(all []*extent) (cells []cell, ends []int, err error) {
	ids := []byte("[")
	n := int64(0)
	for _, x := range all {
		ids = append(strconv.AppendInt(ids, x.id, 10), ',')
		n += x.cells
	}
	cells, ends = make([]cell, 0, max(0, min(n, fullBuffer))), make([]int, 0, len(all))
	ids[len(ids)-1] = ']'
	identity := make([]byte, 0, 1024)
	var read sum
	endSeries := func() error {
		x := all[len(ends)]
		ends = append(ends, len(cells))
		if read.lacks(x.sum) {
			return lackingError(f, x.Series, read, x.sum)
		}
		read = sum{}
		return nil
	}
	const query = "SELECT instance" + cellColumns + ", key FROM json_each(?) CROSS JOIN cell ON series = value"
	err = f.query(query, []any{string(ids)}, func(v []any) error {
		for int64(len(ends)) < columnOr[int64](v[6]) {
			if err := endSeries(); err != nil {
				return err
			}
		}
		x := all[len(ends)]
		if read.cells == 0 {
			identity = x.identity(identity[:0])
		}
		c, err := f.cell(x.Series, identity, v)
		if err != nil {
			return err
		}
		if last := len(cells) - 1; read.cells > 0 && cells[last].Instance >= c.Instance {
			return disorderError(f, x.Series, c.Instance, cells[last].Instance)
		}
		cells = append(cells, c)
		read.cells, read.instances = read.cells+1, read.instances+int64(c.Instance)
		return nil
	})
	for err == nil && len(ends) < len(all) {
		err = endSeries()
	}
	return cells, ends, err
}

// tally counts the results of each series, all of which it reads. It keeps them if they are few.
func (db *DB) tally() (map[Series]Tally, error) {
	out, size := make(map[Series]Tally, 1<<10), 0 // growing takes longer
	err := db.each(func(s Series, cells []cell) error {
		if size += len(cells); size <= fullBuffer {
			db.few = append(db.few, seriesCells{s, cells})
		}
		t := Tally{Done: len(cells)}
		for i := range cells {
			if cells[i].Kind != "" {
				t.Failed++
			}
		}
		out[s] = t
		return nil
	})
	if size > fullBuffer {
		db.few = nil
	}
	return out, err
}
