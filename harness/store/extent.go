package store

import (
	"fmt"
	"hash/crc32"
	"math"
	"strconv"
	"strings"
)

// An extent is what a database says it has of a series. Cells are never deleted, so that it has no
// less when it is read later.
type extent struct {
	Series
	id int64
	// written orders the series by when a cell of theirs was last written.
	written int64
	sum
	// whole says that the instances of the series were compared with the sum. They are from low to high,
	// and dense says that none is missing there.
	whole, dense bool
	low, high    int64
}

// A sum is the number of cells and the sum of their instances. It shows whether cells are missing or
// have another instance.
type sum struct{ cells, instances int64 }

// lacks reports whether cells are missing, if there should be at least those of another sum.
func (s sum) lacks(want sum) bool {
	return s.cells < want.cells || s.cells == want.cells && s.instances != want.instances
}

// readTwice reads a table in two ways, which are clauses of SQL: as it is, and by an index. It compares
// the two, because SQLite does not notice damage that hides or changes rows in one of them.
func readTwice[T comparable](f *file, table, columns string, ways [2]string, read func(v []any) T) ([]T, error) {
	var out []T
	surplus := map[T]int64{}
	query := fmt.Sprintf("SELECT 1, %s FROM %s %s UNION ALL SELECT -1, %[1]s FROM %[2]s %[4]s", columns, table,
		ways[0], ways[1])
	err := f.query(query, nil, func(v []any) error {
		row, n := read(v[1:]), columnOr[int64](v[0])
		if surplus[row] += n; n > 0 {
			out = append(out, row)
		}
		return nil
	})
	for _, n := range surplus {
		if err == nil && n != 0 {
			err = &Damage{File: f.path, Reason: "the table " + table + " and its index differ"}
		}
	}
	return out, err
}

// readExtents reads what the database has of its series. The lock must be held.
func (f *file) readExtents() error {
	// Every series has a row in tally. One more may be added between the two queries.
	var count int64
	err := f.query("SELECT count(*) FROM series", nil, func(v []any) error {
		count = columnOr[int64](v[0])
		return nil
	})
	if err != nil {
		return err
	}
	extents, last := make(map[Series]*extent, max(0, min(count, 1<<16))), int64(0)
	const query = "SELECT concat_ws(char(0), " + seriesColumns + "), crc, id, written, cells, instances" +
		" FROM tally NOT INDEXED LEFT JOIN series NOT INDEXED ON id = series ORDER BY written"
	err = f.query(query, nil, func(v []any) error {
		identity := columnOr[string](v[0]) // one column takes much less time than nine
		s, ok := parseIdentity(identity)
		x := &extent{
			Series: s, id: columnOr[int64](v[2]), written: columnOr[int64](v[3]),
			sum: sum{columnOr[int64](v[4]), columnOr[int64](v[5])},
		}
		switch {
		case v[2] == nil:
			return &Damage{File: f.path, Reason: "a series with results is missing"}
		case !ok || int64(crc32.Checksum([]byte(identity), castagnoli)) != columnOr[int64](v[1]):
			return &Damage{File: f.path, Reason: fmt.Sprintf("the checksum of %v is wrong", s)}
		case x.written <= last || extents[s] != nil:
			return &Damage{File: f.path, Reason: "the rows of the table tally are in disorder"}
		}
		extents[s], last = x, x.written
		return nil
	})
	if err == nil && int64(len(extents)) < count {
		err = &Damage{File: f.path, Reason: fmt.Sprintf("the numbers of cells of %d series are missing",
			count-int64(len(extents)))}
	}
	if err == nil {
		f.extents = extents
	}
	return err
}

// parseIdentity returns the series of an identity.
func parseIdentity(identity string) (s Series, ok bool) {
	c := strings.Split(identity, "\x00")
	if len(c) != 9 {
		return s, false
	}
	count, err := strconv.Atoi(c[4])
	version, failed := strconv.Atoi(c[6])
	return Series{c[0], c[1], c[2], c[3], count, c[5], version, c[7], c[8]}, err == nil && failed == nil
}

// present returns what the database has of its series at present.
func (f *file) present() (map[Series]*extent, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, known := f.version, f.extents != nil
	err := f.query("SELECT data_version, total_changes() FROM pragma_data_version", nil, func(v []any) error {
		f.version = columnOr[int64](v[0])<<32 + columnOr[int64](v[1])
		return nil
	})
	if err == nil && (!known || f.version != before) {
		err = f.readExtents()
	}
	return f.extents, err
}

// extent returns what the database has of a series; nil for nothing.
func (f *file) extent(s Series) (*extent, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if x := f.extents[s]; x != nil {
		return x, nil
	}
	there := f.extents == nil
	const find = "SELECT 1 FROM series WHERE (" + seriesColumns + ") = (?, ?, ?, ?, ?, ?, ?, ?, ?)"
	if err := f.query(find, s.values(), func([]any) error {
		there = true
		return nil
	}); err != nil || !there {
		return nil, err
	}
	err := f.readExtents()
	return f.extents[s], err
}

// eachCell hands over the instance and other columns of the cells of a series with the instances
// first to end-1, by instance. Missing cells are a [*Damage].
func (f *file) eachCell(s Series, columns string, first, end int, use func(columns []any) error) error {
	x, err := f.extent(s)
	if x == nil {
		return err
	}
	var read sum
	last := int64(math.MinInt64)
	query := "SELECT instance" + columns +
		" FROM cell WHERE series = ? AND instance >= ? AND instance < ? ORDER BY instance"
	err = f.query(query, []any{x.id, first, end}, func(v []any) error {
		instance := columnOr[int64](v[0])
		if instance < int64(first) || instance >= int64(end) {
			return &Damage{
				File: f.path,
				Reason: fmt.Sprintf("a search for the instances %d to %d of %v finds %d", first, end-1,
					s, instance),
			}
		}
		if instance <= last {
			return disorderError(f, s, int(instance), int(last))
		}
		last = instance
		read.cells, read.instances = read.cells+1, read.instances+instance
		return use(v)
	})
	if err != nil || !read.lacks(x.sum) {
		return err
	}
	want := x.sum
	if first > 0 || end < math.MaxInt {
		if want, err = f.expect(s, x, int64(first), int64(end)); err != nil {
			return err
		}
	}
	if read.lacks(want) {
		return lackingError(f, s, read, want)
	}
	return nil
}

// lackingError says how many cells of a series are found, and how many there should be.
func lackingError(f *file, s Series, read, want sum) error {
	return &Damage{
		File: f.path,
		Reason: fmt.Sprintf("of the %d cells of %v, %d are found, or other instances", want.cells,
			s, read.cells),
	}
}

// disorderError says that an instance of a series does not come after the one before it.
func disorderError(f *file, s Series, instance, before int) error {
	return &Damage{File: f.path, Reason: fmt.Sprintf("instance %d of %v comes after instance %d", instance, s, before)}
}

// expect returns which cells with the instances first to end-1 a series has. It reads the whole series,
// because a damaged page may make a search for a part miss some; once is enough if no instance between
// the first and the last is missing. It returns a [*Damage] if cells of the series are missing.
func (f *file) expect(s Series, x *extent, first, end int64) (want sum, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !x.whole {
		var all sum
		if err := f.query("SELECT count(*), sum(instance), min(instance), max(instance) FROM cell WHERE series = ?",
			[]any{x.id}, func(v []any) error {
				all, x.low, x.high = sum{
					columnOr[int64](v[0]),
					columnOr[int64](v[1]),
				}, columnOr[int64](v[2]), columnOr[int64](v[3])
				return nil
			}); err != nil {
			return sum{}, err
		}
		if all.lacks(x.sum) {
			return sum{}, lackingError(f, s, all, x.sum)
		}
		x.whole, x.dense = true, x.high-x.low+1 == all.cells
	}
	if x.dense {
		low, high := max(first, x.low), min(end-1, x.high)
		n := max(high-low+1, 0)
		return sum{n, n * (low + high) / 2}, nil
	}
	// The sign keeps SQLite from a search for the instances.
	const count = "SELECT count(*), sum(instance) FROM cell WHERE series = ? AND +instance >= ? AND +instance < ?"
	return want, f.query(count, []any{x.id, first, end}, func(v []any) error {
		want = sum{columnOr[int64](v[0]), columnOr[int64](v[1])}
		return nil
	})
}
