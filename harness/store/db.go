package store

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A DB is the results of a folder, or of some databases. Queries see what other
// processes have committed to the files that were there when it was opened.
// It is safe for concurrent use.
type DB struct {
	dir string

	mu    sync.Mutex
	files []*file
}

// all returns the files.
func (db *DB) all() []*file {
	db.mu.Lock()
	defer db.mu.Unlock()
	return slices.Clone(db.files)
}

// add adds a file, unless it is nil.
func (db *DB) add(f *file) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if f != nil {
		db.files = append(db.files, f)
	}
}

// FileName returns the name of the database of one of several processes that share the work,
// with index from 0.
func FileName(index, of int) string {
	if of <= 1 {
		return "results.db"
	}
	return fmt.Sprintf("results-%dof%d.db", index, of)
}

// Open opens the databases results*.db of a folder for results. A folder that does not
// exist has none. Errors are a [*FormatError], a [*Damage] and those of the file system.
func Open(dir string) (*DB, error) {
	old, err := listed(filepath.Join(dir, "store"), "results-", ".jsonl")
	if err == nil && len(old) > 0 {
		return nil, fmt.Errorf("%s holds results in the format of an earlier version, which this program does not read; delete the folder, and what is needed is computed again", filepath.Join(dir, "store"))
	}
	paths, err := listed(dir, "results", ".db")
	if err != nil {
		return nil, err
	}
	db := &DB{dir: dir}
	for _, path := range paths {
		f, err := openFile(path, false)
		if err != nil && !errors.Is(err, errEmpty) {
			return nil, errors.Join(err, db.Close())
		}
		db.add(f)
	}
	return db, nil
}

// OpenIntact opens databases wherever they are and checks all their rows. Those that are
// damaged are left out and returned.
func OpenIntact(paths ...string) (*DB, []*Damage, error) {
	db := &DB{}
	var damaged []*Damage
	for _, path := range paths {
		f, err := openFile(path, false)
		if errors.Is(err, errEmpty) {
			continue
		}
		if err == nil {
			err = f.check()
		}
		if format, ok := errors.AsType[*FormatError](err); ok {
			err = &Damage{File: path, Reason: format.Error()} // all are from the same program
		}
		if d, ok := errors.AsType[*Damage](err); ok {
			damaged = append(damaged, d)
			if f != nil {
				_ = f.close() // it is damaged, which is known
			}
			continue
		}
		if err != nil {
			return nil, nil, errors.Join(err, db.Close())
		}
		db.add(f)
	}
	return db, damaged, nil
}

// Dir returns the folder.
func (db *DB) Dir() string { return db.dir }

// Close closes the databases. What was written leaves one file each, if no other process
// has it open.
func (db *DB) Close() error {
	var failed error
	for _, f := range db.all() {
		failed = errors.Join(failed, f.close())
	}
	return failed
}

// A Filter selects series. The zero value selects all.
type Filter struct {
	// Empty fields select all.
	Track, Dataset, GPU, Model, Algorithm string
	// Count is the number of GPUs; 0 selects all.
	Count int
}

func (q Filter) holds(s *Series) bool {
	is := func(want, have string) bool { return want == "" || want == have }
	return is(q.Track, s.Track) && is(q.Dataset, s.Dataset) && is(q.GPU, s.GPU) && is(q.Model, s.Model) &&
		is(q.Algorithm, s.Algorithm) && (q.Count == 0 || q.Count == s.Count)
}

// Series returns the series that have results, ordered by their fields.
func (db *DB) Series(filter Filter) ([]Series, error) {
	var out []Series
	for _, f := range db.all() {
		own, err := f.series()
		if err != nil {
			return nil, explain(f.path, err)
		}
		for s := range own {
			if filter.holds(&s) {
				out = append(out, s)
			}
		}
	}
	slices.SortFunc(out, Series.compare)
	return slices.Compact(out), nil
}

// rowsAtOnce is how many rows of a file are in memory.
const rowsAtOnce = 4096

// Rows yields the rows of a series by instance. After an error it ends. The errors are a
// [*ConflictError], a [*Damage] and those of the file system.
func (db *DB) Rows(s Series) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		names := map[string]string{}
		for first := 0; first >= 0; {
			rows, next, err := scan(db, s, part{first, math.MaxInt, rowsAtOnce}, func(c *cell) (Row, error) { return c.row(names) })
			if err != nil {
				yield(Row{}, err)
				return
			}
			for i := range rows {
				if !yield(rows[i].value, nil) {
					return
				}
			}
			first = next
		}
	}
}

// Row returns the row of an instance and whether there is one. Errors are as those of [DB.Rows].
func (db *DB) Row(s Series, instance int) (Row, bool, error) {
	names := map[string]string{}
	rows, _, err := scan(db, s, part{instance, instance + 1, 1}, func(c *cell) (Row, error) { return c.row(names) })
	if err != nil || len(rows) == 0 {
		return Row{}, false, err
	}
	return rows[0].value, true, nil
}

func (c *cell) row(names map[string]string) (r Row, err error) {
	r = Row{Instance: c.instance, Kind: c.kind, Error: c.error}
	if c.metrics != "" {
		r.Metrics, err = parseMetrics(c.metrics, names)
	}
	return r, err
}

// A Point is one metric of an instance.
type Point struct {
	Instance int
	// Value is NaN where the instance failed or has no such metric.
	Value float64
	// Micros is the wall time in microseconds; NaN where it is not known. Of several
	// times it is the least.
	Micros float64
}

// Column returns a metric of all instances of a series that have a result, with the wall
// times. Errors are as those of [DB.Rows].
func (db *DB) Column(s Series, metric string) ([]Point, error) {
	return db.Part(s, metric, 0, math.MaxInt, true)
}

// Part is [DB.Column] for the n instances from first on, with the wall times if timed.
func (db *DB) Part(s Series, metric string, first, n int, timed bool) ([]Point, error) {
	end := math.MaxInt
	if n < end-first {
		end = first + n
	}
	member := string(append(appendName(nil, metric), ':'))
	values, _, err := scan(db, s, part{first, end, math.MaxInt}, func(c *cell) (float64, error) {
		v, ok, err := findMetric(c.metrics, member)
		if !ok {
			v = math.NaN()
		}
		return v, err
	})
	if err != nil {
		return nil, err
	}
	out := make([]Point, len(values))
	for i, v := range values {
		out[i] = Point{v.instance, v.value, math.NaN()}
	}
	if !timed {
		return out, nil
	}
	for _, f := range db.all() {
		if err := f.addTimes(s, first, end, out); err != nil {
			return nil, f.explainTiming(err)
		}
	}
	return out, nil
}

// Failures counts, by kind, the errors among the instances first to end-1 of a series.
func (db *DB) Failures(s Series, first, end int) (map[string]int, error) {
	all, _, err := scan(db, s, part{first, end, math.MaxInt}, func(c *cell) (string, error) { return c.kind, nil })
	out := map[string]int{}
	for _, kind := range all {
		if kind.value != "" {
			out[kind.value]++
		}
	}
	return out, err
}

// Finished returns the instances of a series that need no more work: that have a result
// other than [KindTimeout].
func (db *DB) Finished(s Series) (Instances, error) {
	var out Instances
	for _, f := range db.all() {
		if err := f.addFinished(s, &out); err != nil {
			return out, explain(f.path, err)
		}
	}
	return out, nil
}

// MeanMicros returns the mean wall time of the cells of a series in microseconds, and whether any is known.
func (db *DB) MeanMicros(s Series) (micros float64, known bool, err error) {
	sum, n := 0.0, int64(0)
	for _, f := range db.all() {
		if err := f.queryOf(s, "SELECT total(microseconds), count(*) FROM timing WHERE series = ?", nil, func(_ seriesID, columns []any) error {
			sum += as[float64](columns[0])
			n += as[int64](columns[1])
			return nil
		}); err != nil {
			return 0, false, f.explainTiming(err)
		}
	}
	return sum / float64(max(n, 1)), n > 0, nil
}

// Instances is a set of instances. The zero value is empty.
type Instances struct {
	// The instances 0 to dense-1 are in the set, and those of others.
	dense  int
	others map[int]bool
}

// Has reports whether an instance is in the set.
func (s *Instances) Has(instance int) bool {
	return instance >= 0 && instance < s.dense || s.others[instance]
}

// Add adds an instance.
func (s *Instances) Add(instance int) {
	if instance == s.dense {
		s.dense++
		return
	}
	if s.others == nil {
		s.others = map[int]bool{}
	}
	s.others[instance] = true
}

// Tally counts results.
type Tally struct {
	// Done counts all results and Failed those of them that are errors.
	Done, Failed int
}

// Tally counts the results of each series.
func (db *DB) Tally() (map[Series]Tally, error) {
	out := map[Series]Tally{}
	times := map[Series]int{} // how many files have the series
	for _, f := range db.all() {
		if err := f.check(); err != nil {
			return nil, err
		}
		for s, n := range f.tally {
			out[s] = n
			times[s]++
		}
	}
	for s, n := range times {
		if n == 1 {
			continue
		}
		// The files may have some results twice.
		all, _, err := scan(db, s, part{0, math.MaxInt, math.MaxInt}, func(c *cell) (bool, error) { return c.kind != "", nil })
		if err != nil {
			return nil, err
		}
		t := Tally{Done: len(all)}
		for _, failed := range all {
			if failed.value {
				t.Failed++
			}
		}
		out[s] = t
	}
	return out, nil
}

// listed returns the paths of a folder's files whose names begin and end as given, by name;
// none for a folder that does not exist.
func listed(dir, begin, end string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		if name := e.Name(); !e.IsDir() && strings.HasPrefix(name, begin) && strings.HasSuffix(name, end) {
			out = append(out, filepath.Join(dir, name))
		}
	}
	return out, err
}
