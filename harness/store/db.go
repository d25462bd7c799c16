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
	if old, _ := fs.Glob(os.DirFS(dir), "store/results-*.jsonl"); len(old) > 0 {
		return nil, fmt.Errorf("%s holds results in the format of an earlier version, which this program does not read; delete the folder, and what is needed is computed again", filepath.Join(dir, "store"))
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	db := &DB{dir: dir}
	for _, e := range entries {
		if ours, _ := filepath.Match("results*.db", e.Name()); !ours || e.IsDir() {
			continue
		}
		if err := db.open(filepath.Join(dir, e.Name()), false); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}

// OpenIntact opens databases wherever they are and checks all their rows. Those that are
// damaged are left out and returned.
func OpenIntact(paths ...string) (*DB, []*Damage, error) {
	db := &DB{}
	var damaged []*Damage
	for _, path := range paths {
		err := db.open(path, true)
		if format, ok := errors.AsType[*FormatError](err); ok {
			err = &Damage{File: path, Reason: format.Error()} // all are from the same program
		}
		if d, ok := errors.AsType[*Damage](err); ok {
			damaged = append(damaged, d)
		} else if err != nil {
			return nil, nil, errors.Join(err, db.Close())
		}
	}
	return db, damaged, nil
}

// open adds a database, unless it is empty. With check set all its rows must be as they were written.
func (db *DB) open(path string, check bool) error {
	f, err := openFile(path, false)
	if f == nil {
		return err
	}
	if check {
		if err := f.check(); err != nil {
			_ = f.close() // the first error says more
			return err
		}
	}
	db.files = append(db.files, f)
	return nil
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
			return nil, err
		}
		for _, s := range own {
			if filter.holds(&s) {
				out = append(out, s)
			}
		}
	}
	slices.SortFunc(out, Series.compare)
	return slices.Compact(out), nil
}

// Rows yields the rows of a series by instance. After an error it ends. The errors are a
// [*ConflictError], a [*Damage] and those of the file system.
func (db *DB) Rows(s Series) iter.Seq2[Row, error] { return db.rows(s, 0, math.MaxInt) }

// Row returns the row of an instance and whether there is one. Errors are as those of [DB.Rows].
func (db *DB) Row(s Series, instance int) (Row, bool, error) {
	for r, err := range db.rows(s, instance, instance+1) {
		return r, err == nil, err
	}
	return Row{}, false, nil
}

func (db *DB) rows(s Series, first, end int) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for c, err := range db.cells(s, first, end) {
			var r Row
			if err == nil {
				r, err = c.row()
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
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
	member := string(appendName(nil, metric))
	var out []Point
	for c, err := range db.cells(s, first, end) {
		if err != nil {
			return nil, err
		}
		v, err := c.value(member)
		if err != nil {
			return nil, err
		}
		out = append(out, Point{c.instance, v, math.NaN()})
	}
	if !timed {
		return out, nil
	}
	for _, f := range db.all() {
		if err := f.addTimes(s, first, end, out); err != nil {
			return nil, ofTiming(err)
		}
	}
	return out, nil
}

// addTimes enters wall times into points, which are by instance.
func (f *file) addTimes(s Series, first, end int, points []Point) error {
	i := 0
	const query = "SELECT instance, microseconds FROM timing" + ofSeries + " AND instance >= ? AND instance < ? ORDER BY instance"
	return f.query(query, s.values(first, end), func(columns []any) error {
		instance, micros := int(as[int64](columns[0])), as[float64](columns[1])
		for i < len(points) && points[i].Instance < instance {
			i++
		}
		if i < len(points) && points[i].Instance == instance && !(points[i].Micros < micros) {
			points[i].Micros = micros
		}
		return nil
	})
}

// Failures counts, by kind, the errors among the instances first to end-1 of a series.
func (db *DB) Failures(s Series, first, end int) (map[string]int, error) {
	out := map[string]int{}
	for c, err := range db.cells(s, first, end) {
		if err != nil {
			return nil, err
		}
		if c.kind != "" {
			out[c.kind]++
		}
	}
	return out, nil
}

// Finished calls add for the instances of a series that need no more work: that have a
// result other than [KindTimeout]. It may do so more than once.
func (db *DB) Finished(s Series, add func(instance int)) error {
	const from = " FROM cell" + ofSeries + " AND kind <> '" + KindTimeout + "'"
	for _, f := range db.all() {
		dense := 0 // how many there are, if they are the first ones; counting them is faster than reading them
		if err := f.query("SELECT iif(max(instance) = count(*) - 1, count(*), 0)"+from, s.values(), func(columns []any) error {
			dense = int(as[int64](columns[0]))
			return nil
		}); err != nil {
			return err
		}
		for i := range dense {
			add(i)
		}
		if err := f.query("SELECT instance"+from+" AND instance >= ? ORDER BY instance", s.values(dense), func(columns []any) error {
			add(int(as[int64](columns[0])))
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// MeanMicros returns the mean wall time of the cells of a series in microseconds; NaN if none is known.
func (db *DB) MeanMicros(s Series) (float64, error) {
	sum, n := 0.0, int64(0)
	for _, f := range db.all() {
		if err := f.query("SELECT total(microseconds), count(*) FROM timing"+ofSeries, s.values(), func(columns []any) error {
			sum += as[float64](columns[0])
			n += as[int64](columns[1])
			return nil
		}); err != nil {
			return 0, ofTiming(err)
		}
	}
	return sum / float64(n), nil
}

// Tally counts results.
type Tally struct {
	// Done counts all results and Failed those of them that are errors.
	Done, Failed int
}

// Tally checks all results and counts those of each series. Errors are as those of [DB.Rows].
func (db *DB) Tally() (map[Series]Tally, error) {
	if files := db.all(); len(files) == 1 && files[0].tally != nil {
		return files[0].tally, nil
	}
	series, err := db.Series(Filter{})
	if err != nil {
		return nil, err
	}
	out := map[Series]Tally{}
	for _, s := range series {
		var t Tally
		for c, err := range db.cells(s, 0, math.MaxInt) {
			if err != nil {
				return nil, err
			}
			t.Done++
			if c.kind != "" {
				t.Failed++
			}
		}
		out[s] = t
	}
	return out, nil
}
