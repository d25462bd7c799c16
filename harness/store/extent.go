package store

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"slices"
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
			err = f.damage("the table %s and its index differ", table)
		}
	}
	return out, err
}

// selectExtents selects what extents are read from. One column takes much less time than fourteen.
const selectExtents = "SELECT concat_ws(char(0), id, written, cells, instances, crc, " + seriesColumns + ") FROM "

// newExtent makes an extent of its columns, and checks it.
func (f *file) newExtent(columns string) (*extent, error) {
	var numbers [5]int64
	var failed error
	identity := columns
	for i := range numbers {
		number, rest, _ := strings.Cut(identity, "\x00")
		n, err := strconv.ParseInt(number, 10, 64)
		numbers[i], identity, failed = n, rest, cmp.Or(failed, err)
	}
	s, ok := parseIdentity(identity)
	switch {
	case identity == "":
		return nil, f.damage("a series with results is missing")
	case !ok || failed != nil || int64(crc32.Checksum([]byte(identity), castagnoli)) != numbers[4]:
		return nil, f.damage("the checksum of %v is wrong", s)
	}
	return &extent{s, numbers[0], numbers[1], sum{numbers[2], numbers[3]}}, nil
}

// parseIdentity returns the series of an identity.
func parseIdentity(identity string) (s Series, ok bool) {
	var c [9]string
	more := true
	for i := range c {
		if !more {
			return s, false
		}
		c[i], identity, more = strings.Cut(identity, "\x00")
	}
	count, err := strconv.Atoi(c[4])
	version, failed := strconv.Atoi(c[6])
	return Series{c[0], c[1], c[2], c[3], count, c[5], version, c[7], c[8]}, !more && err == nil && failed == nil
}

// readExtents reads what the database has of the series of a track; those of all tracks if it is empty.
// The lock must be held.
func (f *file) readExtents(track string) error {
	// Every series has a row in tally. One more may be added between the two queries.
	const ofTrack = "track >= ?1 AND track <= iif(?1 = '', char(0x10FFFF), ?1)"
	var count, last int64
	err := f.query("SELECT count(*) FROM series WHERE "+ofTrack, []any{track}, func(v []any) error {
		count = columnOr[int64](v[0])
		return nil
	})
	if err != nil {
		return err
	}
	extents := make(map[Series]*extent, max(0, min(count, 1<<16)))
	const query = selectExtents + "tally NOT INDEXED LEFT JOIN series NOT INDEXED ON id = series" +
		" WHERE id IS NULL OR " + ofTrack + " ORDER BY written"
	err = f.query(query, []any{track}, func(v []any) error {
		x, err := f.newExtent(columnOr[string](v[0]))
		if err != nil {
			return err
		}
		known := len(extents)
		if extents[x.Series] = x; x.written <= last || len(extents) == known {
			return f.damage("the rows of the table tally are in disorder")
		}
		last = x.written
		return nil
	})
	switch missing := count - int64(len(extents)); {
	case err != nil:
	case missing > 0:
		err = f.damage("the numbers of cells of %d series are missing", missing)
	case len(f.extents) == 0:
		f.extents = extents
	default:
		maps.Copy(f.extents, extents)
	}
	if err == nil {
		f.complete[track] = true
	}
	return err
}

// present returns what the database has of the series of a track at present; of all tracks if it is empty.
func (f *file) present(track string) ([]*extent, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.query("SELECT data_version, total_changes() FROM pragma_data_version", nil, func(v []any) error {
		if version := columnOr[int64](v[0])<<32 + columnOr[int64](v[1]); version != f.version {
			f.version = version
			clear(f.complete)
		}
		return nil
	})
	if err == nil && !f.complete[track] && !f.complete[""] {
		err = f.readExtents(track)
	}
	all := slices.Collect(maps.Values(f.extents))
	return slices.DeleteFunc(all, func(x *extent) bool { return track != "" && track != x.Track }), err
}

// extent returns what the database has of a series; nil for nothing. A search in the index may be in vain
// because of damage, so that what it does not find is looked for once in the table.
func (f *file) extent(s Series) (x *extent, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	const many = 32 // series are read faster together
	known := f.complete[s.Track] || f.complete[""]
	if f.extents[s] == nil && (known || len(f.extents) < many) {
		const find = selectExtents + "series LEFT JOIN tally ON series = id" +
			" WHERE (" + seriesColumns + ") = (?, ?, ?, ?, ?, ?, ?, ?, ?)"
		err = f.query(find, s.values(), func(v []any) error {
			if x, err = f.newExtent(columnOr[string](v[0])); err == nil {
				f.extents[s] = x
			}
			return err
		})
	}
	if f.extents[s] == nil && !known && err == nil {
		err = f.readExtents(s.Track)
	}
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
			return f.damage("a search for the instances %d to %d of %v finds %d", first, end-1, s, instance)
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

// lackingError says how many cells of a series a search finds, and how many it should.
func lackingError(f *file, s Series, read, want sum) error {
	return f.damage("a search for %d cells of %v finds %d, or other instances", want.cells, s, read.cells)
}

// disorderError says that an instance of a series does not come after the one before it.
func disorderError(f *file, s Series, instance, before int) error {
	return f.damage("instance %d of %v comes after instance %d", instance, s, before)
}

// expect returns which cells with the instances first to end-1 a series has. It returns a [*Damage] if
// cells of the series are missing.
func (f *file) expect(s Series, x *extent, first, end int64) (want sum, err error) {
	if n := x.cells; x.instances == n*(n-1)/2 { // the least sum, which the instances 0 to n-1 alone have
		end = min(end, n)
		n = max(end-first, 0)
		return sum{n, n * (first + end - 1) / 2}, nil
	}
	// All cells are read, because a damaged page may make a search for a part miss some.
	const count = "SELECT count(*), sum(instance), count(*) FILTER (WHERE part), sum(instance) FILTER (WHERE part)" +
		" FROM (SELECT instance, instance >= ?2 AND instance < ?3 AS part FROM cell WHERE series = ?1)"
	err = f.query(count, []any{x.id, first, end}, func(v []any) error {
		all := sum{columnOr[int64](v[0]), columnOr[int64](v[1])}
		want = sum{columnOr[int64](v[2]), columnOr[int64](v[3])}
		if all.lacks(x.sum) {
			return lackingError(f, s, all, x.sum)
		}
		return nil
	})
	return want, err
}
