package store

import (
	"cmp"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	lib "modernc.org/sqlite/lib"
)

// How much work may be lost when the process is killed: what was appended in the last
// second, or, where committing is slow, in ten times as long as it took last. As many rows
// as fullBuffer are committed at once.
const (
	commitEvery = time.Second
	fullBuffer  = 50_000
)

// A Writer appends to one database. Other processes may write to it at the same
// time. It is safe for concurrent use.
type Writer struct {
	file *file

	mu      sync.Mutex
	pending []Record
	// timer runs while there are pending records.
	timer *time.Timer
	// every is how long records may wait, and wait how long they do at present.
	every, wait time.Duration
	// failed is the first error of writing; nothing is written after it.
	failed error
}

// Writer opens a database of the DB for appending. It is made, with its folder, if
// it does not exist. Queries of the DB see what was committed.
func (db *DB) Writer(path string) (*Writer, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	at := slices.IndexFunc(db.files, func(f *file) bool { return f.path == path })
	if at < 0 {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		f, err := openFile(path, true)
		if err != nil {
			return nil, err
		}
		at = len(db.files)
		db.files = append(db.files, f)
	}
	w := &Writer{file: db.files[at], every: commitEvery, wait: commitEvery}
	return w, w.file.useWAL()
}

// Append takes records, which are committed within a second or by [Writer.Close]. A row
// that the database has is not written again; one that contradicts it is a
// [*ConflictError], with which writing ends. An error may be about earlier records;
// after it every call gives the same error.
func (w *Writer) Append(records ...Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range records {
		r := &records[i]
		if err := r.validate(); err != nil {
			return fmt.Errorf("%v, %w", r.Series, err)
		}
		w.pending = append(w.pending, *r)
	}
	if len(w.pending) >= fullBuffer {
		w.flush()
	}
	if len(w.pending) > 0 && w.timer == nil {
		w.timer = time.AfterFunc(w.wait, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.flush()
		})
	}
	return w.failed
}

// Close commits everything. The database can still be read.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
	settled := w.file.settle()
	return cmp.Or(w.failed, settled) // what failed first says more
}

// flush commits what is pending.
func (w *Writer) flush() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	if w.failed != nil || len(w.pending) == 0 {
		w.pending = w.pending[:0]
		return
	}
	began := time.Now()
	w.failed = w.file.write(w.pending)
	w.pending = w.pending[:0]
	w.wait = max(w.every, 10*time.Since(began))
}

// transact runs do in a transaction.
func (f *file) transact(do func(tx *sql.Tx) error) error {
	tx, err := f.db.Begin()
	if err != nil {
		return explain(f.path, err)
	}
	if err = do(tx); err == nil {
		err = tx.Commit()
	}
	if err != nil {
		_ = tx.Rollback() // SQLite may have done so; the first error says more
	}
	return explain(f.path, err)
}

// replaceTimeout lets a new cell take the place of one that ran out of time. Any other cell
// with a result of its own is an error: the kind must not be NULL.
const replaceTimeout = " ON CONFLICT DO UPDATE SET error = excluded.error, metrics = excluded.metrics, crc = excluded.crc," +
	" kind = iif(cell.kind = '" + KindTimeout + "', excluded.kind, NULL)" +
	" WHERE cell.crc <> excluded.crc AND excluded.kind <> '" + KindTimeout + "'"

const leastTime = " ON CONFLICT DO UPDATE SET microseconds = excluded.microseconds WHERE excluded.microseconds < timing.microseconds"

// write commits records. Those of one series are written together, which is faster.
func (f *file) write(records []Record) error {
	bySeries := map[Series][]*Record{}
	for i := range records {
		s := records[i].Series
		bySeries[s] = append(bySeries[s], &records[i])
	}
	var refused []*Record
	if err := f.transact(func(tx *sql.Tx) error {
		for s, own := range bySeries {
			different, err := f.writeSeries(tx, s, own)
			if err != nil {
				return err
			}
			refused = append(refused, different...)
		}
		return nil
	}); err != nil || refused == nil {
		return err
	}
	r := refused[0]
	have, err := f.appendCells(nil, r.Series, r.Instance, r.Instance+1)
	if err != nil {
		return err
	}
	c := newCell(r, r.Series.checksum(), new([]byte))
	return conflict(r.Series, &have[0], &c)
}

// writeSeries writes records of one series and returns those that contradict what the file has.
func (f *file) writeSeries(tx *sql.Tx, s Series, records []*Record) (refused []*Record, err error) {
	id, err := addSeries(tx, s)
	if err != nil {
		return nil, err
	}
	insert, err := tx.Prepare("INSERT INTO cell (series, instance, kind, error, metrics, crc) VALUES (?, ?, ?, ?, nullif(?, ''), ?)" + replaceTimeout)
	if err != nil {
		return nil, err
	}
	defer insert.Close()
	insertTime, err := tx.Prepare("INSERT INTO timing (series, instance, microseconds) VALUES (?, ?, ?)" + leastTime)
	if err != nil {
		return nil, err
	}
	defer insertTime.Close()
	var buffer []byte
	crc := s.checksum()
	for _, r := range records {
		c := newCell(r, crc, &buffer)
		_, err := insert.Exec(id, c.instance, c.kind, c.error, c.metrics, c.crc)
		if code(err) == lib.SQLITE_CONSTRAINT {
			refused = append(refused, r)
			continue
		}
		if err != nil {
			return nil, err
		}
		if r.Kind == "" && r.Took > 0 {
			if _, err := insertTime.Exec(id, c.instance, float64(r.Took)/float64(time.Microsecond)); err != nil {
				return nil, ofTiming(explain(f.path, err))
			}
		}
	}
	return refused, nil
}

// addSeries returns what the file calls a series, which it adds if it does not have it.
func addSeries(tx *sql.Tx, s Series) (id int64, err error) {
	_, err = tx.Exec("INSERT INTO series ("+seriesColumns+", crc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", s.values(s.checksum())...)
	if err == nil {
		err = tx.QueryRow("SELECT id FROM series WHERE ("+seriesColumns+") = (?, ?, ?, ?, ?, ?, ?, ?, ?)", s.values()...).Scan(&id)
	}
	return id, err
}

// Merge adds the results and wall times of a DB's databases to the writer's, one
// database after the other.
func (w *Writer) Merge(from *DB) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
	for _, f := range from.all() {
		if w.failed != nil {
			break
		}
		w.failed = w.file.merge(f)
	}
	return w.failed
}

// pairs has each series of an attached file beside the same series of its own. CROSS JOIN keeps
// the order, in which each cell is looked up once.
const pairs = " FROM task.series AS theirs CROSS JOIN main.series AS own USING (" + seriesColumns + ")"

// merge adds another file's results and wall times. Damaged wall times are left out.
func (f *file) merge(other *file) error {
	steps := []string{
		"INSERT INTO main.series (" + seriesColumns + ", crc) SELECT " + seriesColumns + ", crc FROM task.series WHERE true ON CONFLICT DO NOTHING",
		"INSERT INTO main.cell SELECT own.id, instance, kind, error, metrics, cell.crc" + pairs +
			" CROSS JOIN task.cell ON cell.series = theirs.id WHERE true" + replaceTimeout,
	}
	if other.query("SELECT total(microseconds) FROM timing", nil, func([]any) error { return nil }) == nil {
		steps = append(steps, "INSERT INTO main.timing SELECT own.id, instance, microseconds"+pairs+
			" CROSS JOIN task.timing ON timing.series = theirs.id WHERE true"+leastTime)
	}
	if _, err := f.db.Exec("ATTACH ? AS task", other.uri); err != nil {
		return explain(other.path, err)
	}
	contradicts := false
	err := f.transact(func(tx *sql.Tx) error {
		for i, step := range steps {
			_, err := tx.Exec(step)
			if contradicts = code(err) == lib.SQLITE_CONSTRAINT; contradicts {
				return err
			}
			if err = explain(f.path, err); i == 2 {
				err = ofTiming(err)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	_, detached := f.db.Exec("DETACH task")
	if contradicts {
		if _, conflict := (&DB{files: []*file{f, other}}).Tally(); conflict != nil {
			return conflict
		}
	}
	return cmp.Or(err, explain(f.path, detached))
}
