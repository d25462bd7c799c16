package store

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"
)

// A Series names an algorithm on a dataset under fixed conditions. It has one result for each instance of the dataset.
// Package run chooses the names.
type Series struct {
	Track     string `json:"track"`
	Dataset   string `json:"dataset"`
	Content   string `json:"content"`
	GPU       string `json:"gpu"`
	Count     int    `json:"count"` // the number of GPUs
	Algorithm string `json:"algorithm"`
	Version   int    `json:"version"` // the version of the algorithm
	// Weights identifies the weights of a trained algorithm; empty for all others.
	Weights string `json:"weights,omitempty"`
	Model   string `json:"model"` // the reconfiguration model
}

// A Filter selects the series with its values. A zero field selects all values.
type Filter Series

func (f Filter) selects(s Series) bool {
	one := func(want, have string) bool { return want == "" || want == have }
	number := func(want, have int) bool { return want == 0 || want == have }
	return one(f.Track, s.Track) && one(f.Dataset, s.Dataset) && one(f.Content, s.Content) && one(f.GPU, s.GPU) &&
		number(f.Count, s.Count) && one(f.Algorithm, s.Algorithm) && number(f.Version, s.Version) &&
		one(f.Weights, s.Weights) && one(f.Model, s.Model)
}

// compare orders series by their fields, in the order of an export.
func (s Series) compare(o Series) int {
	return cmp.Or(
		cmp.Compare(s.Track, o.Track), cmp.Compare(s.Dataset, o.Dataset), cmp.Compare(s.Content, o.Content),
		cmp.Compare(s.GPU, o.GPU), cmp.Compare(s.Count, o.Count), cmp.Compare(s.Algorithm, o.Algorithm),
		cmp.Compare(s.Version, o.Version), cmp.Compare(s.Weights, o.Weights), cmp.Compare(s.Model, o.Model),
	)
}

// String names the series in messages.
func (s Series) String() string {
	return fmt.Sprintf("%s (version %d) on %s, %d x %s, %s", s.Algorithm, s.Version, s.Dataset, s.Count, s.GPU, s.Model)
}

// values returns the identity and the columns of a series, for addSeries.
func (s Series) values(identity int64) []any {
	return []any{
		identity, s.Track, s.Dataset, s.Content, s.GPU, s.Count, s.Algorithm, s.Version, s.Weights, s.Model,
	}
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

// An entry is the row of a series in one database.
type entry struct {
	Series
	id        int64
	identity  int64  // hashColumns of the series
	written   int64  // the number of the last write to the series; the table state counts the writes
	checksums string // the column that chunkSums.encode returns
}

// newEntry reads an entry from its columns, joined by NUL: id, identity, written, checksums and seriesColumns. It
// checks the identity.
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
	if len(c) != seriesColumnCount || hashColumns(columns) != e.identity {
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

// present returns the entries of all series that the database has at present. It reads them again only if the database
// has changed. The map must not be changed.
func (f *file) present() (map[Series]*entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	version := int64(0) // data_version counts the commits of other connections, total_changes the changes by this one
	err := f.query("SELECT data_version, total_changes() FROM pragma_data_version", nil, func(v []any) error {
		version = columnOr[int64](v[0])<<32 + columnOr[int64](v[1])
		return nil
	})
	if err != nil || f.series != nil && version == f.version {
		return f.series, err
	}
	// One column is read much faster than fourteen. The join returns a row even without series.
	const query = "SELECT state.series, iif(series.id IS NULL, NULL, concat_ws(char(0), series.id, identity," +
		" series.written, checksums, " + seriesColumns + ")) FROM state LEFT JOIN series"
	series := make(map[Series]*entry, len(f.series))
	want := int64(-1) // the number of series by the table state
	last := int64(math.MinInt64)
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
