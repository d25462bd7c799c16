package store

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
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
	w := &Writer{every: commitEvery, wait: commitEvery}
	for _, f := range db.all() {
		if f.path == path {
			w.file = f
		}
	}
	if w.file == nil {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		f, err := openFile(path, true)
		if err != nil {
			return nil, err
		}
		db.add(f)
		w.file = f
	}
	return w, explain(path, w.file.useWAL())
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
	if w.failed != nil {
		_ = w.file.settle() // what failed says more
		return w.failed
	}
	return explain(w.file.path, w.file.settle())
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
	w.failed = explain(w.file.path, w.file.write(w.pending))
	w.pending = w.pending[:0]
	w.wait = max(w.every, 10*time.Since(began))
}

// transact runs do in a transaction. Series that it adds are forgotten if it fails.
func (f *file) transact(do func(tx *sql.Tx) error) error {
	tx, err := f.db.Begin()
	if err != nil {
		return err
	}
	if err = do(tx); err == nil {
		err = tx.Commit()
	}
	if err != nil {
		f.ids = map[Series]seriesID{}
		_ = tx.Rollback() // SQLite may have done so; the first error says more
	}
	return err
}

// add returns what the file calls a series, which it gets if it does not have it.
func (f *file) addSeries(tx *sql.Tx, s Series) (seriesID, error) {
	if id, ok := f.ids[s]; ok {
		return id, nil
	}
	id := seriesID{crc: s.checksum()}
	if _, err := tx.Exec("INSERT INTO series ("+seriesColumns+", crc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
		append(s.values(), id.crc)...); err != nil {
		return id, err
	}
	if err := tx.QueryRow(findSeries, s.values()...).Scan(&id.id, &id.crc); err != nil {
		return id, err
	}
	f.ids[s] = id
	return id, nil
}

// replaceTimeout lets a new row take the place of one that ran out of time.
const replaceTimeout = " ON CONFLICT DO UPDATE SET kind = excluded.kind, error = excluded.error, metrics = excluded.metrics, crc = excluded.crc" +
	" WHERE cell.kind = '" + KindTimeout + "' AND excluded.kind <> '" + KindTimeout + "'"

const leastTime = " ON CONFLICT DO UPDATE SET microseconds = excluded.microseconds WHERE excluded.microseconds < timing.microseconds"

// write commits records. Those of one series are written together, which is faster.
func (f *file) write(records []Record) error {
	return f.transact(func(tx *sql.Tx) error {
		ids := make(map[*Record]seriesID, len(records))
		order := make([]*Record, len(records))
		for i := range records {
			order[i] = &records[i]
			id, err := f.addSeries(tx, records[i].Series)
			if err != nil {
				return err
			}
			ids[order[i]] = id
		}
		slices.SortStableFunc(order, func(a, b *Record) int {
			return cmp.Or(cmp.Compare(ids[a].id, ids[b].id), cmp.Compare(a.Instance, b.Instance))
		})
		insert, err := tx.Prepare("INSERT INTO cell (series, instance, kind, error, metrics, crc) VALUES (?, ?, ?, ?, ?, ?)" + replaceTimeout)
		if err != nil {
			return err
		}
		defer insert.Close()
		insertTime, err := tx.Prepare("INSERT INTO timing (series, instance, microseconds) VALUES (?, ?, ?)" + leastTime)
		if err != nil {
			return err
		}
		defer insertTime.Close()
		for _, r := range order {
			if err := f.writeOne(tx, insert, insertTime, ids[r], r); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeOne executes the statements for a record.
func (f *file) writeOne(tx *sql.Tx, insert, insertTime *sql.Stmt, id seriesID, r *Record) error {
	c := cellFor(r, id.crc)
	var metrics any // NULL for an error
	if r.Kind == "" {
		metrics = c.metrics
	}
	done, err := insert.Exec(id.id, c.instance, c.kind, c.error, metrics, c.crc)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil {
		return err
	} else if n == 0 {
		if err := f.compare(tx, id, &c, r); err != nil {
			return err
		}
	}
	if r.Kind == "" && r.Took > 0 {
		if _, err := insertTime.Exec(id.id, c.instance, float64(r.Took)/float64(time.Microsecond)); err != nil {
			return f.explainTiming(err)
		}
	}
	return nil
}

// text replaces what SQLite's functions would not take as text.
func text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// cellFor is a record as the table has it.
func cellFor(r *Record, series uint32) cell {
	var buffer [512]byte
	scratch := buffer[:0]
	c := cell{instance: r.Instance, kind: text(r.Kind), error: text(r.Error)}
	if r.Kind == "" {
		c.metrics = string(appendMetrics(scratch, r.Metrics))
	}
	c.crc = c.checksum(series, &scratch)
	return c
}

// compare accepts a cell that the file has with the same content, or a timeout of
// one that it has at all.
func (f *file) compare(tx *sql.Tx, id seriesID, c *cell, r *Record) error {
	old, err := readCell(tx, id.id, c.instance)
	if err != nil {
		return err
	}
	if old == *c || c.kind == KindTimeout {
		return nil
	}
	var buffer []byte
	if old.checksum(id.crc, &buffer) != old.crc {
		return &Damage{File: f.path, Reason: fmt.Sprintf("the checksum of instance %d of %v is wrong", c.instance, r.Series)}
	}
	have, err := old.row(map[string]string{})
	if err != nil {
		return &Damage{File: f.path, Reason: err.Error()}
	}
	return &ConflictError{r.Series, c.instance, f.path, "the one being written", have.outcome(), r.outcome()}
}

// readCell reads a cell that exists.
func readCell(tx *sql.Tx, series int64, instance int) (cell, error) {
	var columns [5]any
	err := tx.QueryRow("SELECT instance, kind, error, metrics, crc FROM main.cell WHERE series = ? AND instance = ?", series, instance).
		Scan(&columns[0], &columns[1], &columns[2], &columns[3], &columns[4])
	return cellOf(&columns), err
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

// merge adds another file's results and wall times.
func (f *file) merge(other *file) error {
	known, err := other.series()
	if err != nil {
		return explain(other.path, err)
	}
	if _, err := f.db.Exec("ATTACH ? AS task", other.uri); err != nil {
		return explain(other.path, err)
	}
	err = f.transact(func(tx *sql.Tx) error { return f.mergeAttached(tx, other, known) })
	_, detached := f.db.Exec("DETACH task")
	return explain(f.path, cmp.Or(err, detached))
}

// mergeAttached adds what the attached file has. It is checked already.
func (f *file) mergeAttached(tx *sql.Tx, other *file, known map[Series]seriesID) error {
	if _, err := tx.Exec("CREATE TEMP TABLE IF NOT EXISTS same (own INTEGER, other INTEGER PRIMARY KEY); DELETE FROM temp.same"); err != nil {
		return err
	}
	cells := 0
	if err := tx.QueryRow("SELECT count(*) FROM task.cell").Scan(&cells); err != nil {
		return explain(other.path, err)
	}
	for s, id := range known {
		own, err := f.addSeries(tx, s)
		if err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO temp.same VALUES (?, ?)", own.id, id.id); err != nil {
			return err
		}
	}
	// CROSS JOIN keeps the order: each cell is looked up once.
	done, err := tx.Exec(`INSERT INTO main.cell SELECT own, instance, kind, error, metrics, crc
		FROM task.cell CROSS JOIN temp.same ON other = series WHERE true` + replaceTimeout)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil {
		return err
	} else if int(n) < cells { // the file has some of them
		if err := f.findConflict(tx, other, known); err != nil {
			return err
		}
	}
	if other.timingLost {
		return nil
	}
	_, err = tx.Exec("INSERT INTO main.timing SELECT own, instance, microseconds FROM task.timing CROSS JOIN temp.same ON other = series WHERE true" + leastTime)
	return f.explainTiming(err)
}

// findConflict is the error of the first cell about which the file and the attached one
// disagree; nil if there is none.
func (f *file) findConflict(tx *sql.Tx, other *file, known map[Series]seriesID) error {
	var id int64
	var instance int
	err := tx.QueryRow(`SELECT same.other, theirs.instance FROM task.cell AS theirs CROSS JOIN temp.same ON same.other = theirs.series
		CROSS JOIN main.cell AS own ON own.series = same.own AND own.instance = theirs.instance
		WHERE own.crc <> theirs.crc AND theirs.kind <> '`+KindTimeout+`' LIMIT 1`).Scan(&id, &instance)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	for s, called := range known {
		if called.id != id {
			continue
		}
		c, err := readCell(tx, f.ids[s].id, instance)
		if err != nil {
			return err
		}
		row, err := c.row(map[string]string{})
		if err != nil {
			return &Damage{File: f.path, Reason: err.Error()}
		}
		theirs, err := other.outcome(s, instance)
		return cmp.Or[error](err, &ConflictError{s, instance, f.path, other.path, row.outcome(), theirs})
	}
	return nil
}
