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
		f.ids.Clear()
		_ = tx.Rollback() // SQLite may have done so; the first error says more
	}
	return err
}

// addSeries returns what the file calls a series, which it adds if it does not have it.
func (f *file) addSeries(tx *sql.Tx, s Series) (seriesID, error) {
	if id, ok := f.ids.Load(s); ok {
		return id.(seriesID), nil
	}
	id := seriesID{crc: s.checksum()}
	if _, err := tx.Exec("INSERT INTO series ("+seriesColumns+", crc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
		append(s.values(), id.crc)...); err != nil {
		return id, err
	}
	err := tx.QueryRow(findSeries, s.values()...).Scan(&id.id, &id.crc)
	if err == nil {
		f.ids.Store(s, id)
	}
	return id, err
}

// replaceTimeout lets a new row take the place of one that ran out of time.
const replaceTimeout = " ON CONFLICT DO UPDATE SET kind = excluded.kind, error = excluded.error, metrics = excluded.metrics, crc = excluded.crc" +
	" WHERE cell.kind = '" + KindTimeout + "' AND excluded.kind <> '" + KindTimeout + "'"

const leastTime = " ON CONFLICT DO UPDATE SET microseconds = excluded.microseconds WHERE excluded.microseconds < timing.microseconds"

// write commits records. Those of one series are written together, which is faster.
func (f *file) write(records []Record) error {
	var old []*Record // what the file has already
	if err := f.transact(func(tx *sql.Tx) error {
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
		insert, err := tx.Prepare("INSERT INTO cell (series, instance, kind, error, metrics, crc) VALUES (?, ?, ?, ?, nullif(?, ''), ?)" + replaceTimeout)
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
			id := ids[r]
			c := cellFor(r, id.crc)
			done, err := insert.Exec(id.id, c.instance, c.kind, c.error, c.metrics, c.crc)
			if err != nil {
				return err
			}
			if n, _ := done.RowsAffected(); n == 0 { // SQLite always knows
				old = append(old, r)
			}
			if r.Kind == "" && r.Took > 0 {
				if _, err := insertTime.Exec(id.id, c.instance, float64(r.Took)/float64(time.Microsecond)); err != nil {
					return f.explainTiming(err)
				}
			}
		}
		return nil
	}); err != nil {
		return err
	}
	for _, r := range old {
		if err := f.compare(r); err != nil {
			return err
		}
	}
	return nil
}

// compare accepts a record that the file has with the same content, or a timeout of a cell that
// it has at all.
func (f *file) compare(r *Record) error {
	have, err := f.row(r.Series, r.Instance)
	if err != nil || r.Kind == KindTimeout || have.Kind == text(r.Kind) && have.Error == text(r.Error) && slices.Equal(have.Metrics, r.Metrics) {
		return err
	}
	return &ConflictError{r.Series, r.Instance, f.path, "the one being written", have.outcome(), r.outcome()}
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

// A clash is a cell about which two files disagree.
type clash struct {
	series   int64 // as the attached file calls it
	instance int
}

func (c *clash) Error() string { return "two results" }

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
	if c, ok := errors.AsType[*clash](err); ok {
		for s, id := range known {
			if id.id == c.series {
				return conflict(s, c.instance, f, other)
			}
		}
	}
	return explain(f.path, cmp.Or(err, detached))
}

// mergeAttached adds what the attached file has. It is checked already.
func (f *file) mergeAttached(tx *sql.Tx, other *file, known map[Series]seriesID) error {
	if _, err := tx.Exec("CREATE TEMP TABLE IF NOT EXISTS same (own INTEGER, other INTEGER PRIMARY KEY); DELETE FROM temp.same"); err != nil {
		return err
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
	cells := int64(0)
	if err := tx.QueryRow("SELECT count(*) FROM task.cell").Scan(&cells); err != nil {
		return explain(other.path, err)
	}
	if n, _ := done.RowsAffected(); n < cells { // the file has some of them
		var c clash
		err := tx.QueryRow(`SELECT same.other, theirs.instance FROM task.cell AS theirs CROSS JOIN temp.same ON same.other = theirs.series
			CROSS JOIN main.cell AS own ON own.series = same.own AND own.instance = theirs.instance
			WHERE own.crc <> theirs.crc AND theirs.kind <> '`+KindTimeout+`' LIMIT 1`).Scan(&c.series, &c.instance)
		if !errors.Is(err, sql.ErrNoRows) {
			return cmp.Or[error](err, &c)
		}
	}
	if other.timingLost {
		return nil
	}
	_, err = tx.Exec("INSERT INTO main.timing SELECT own, instance, microseconds FROM task.timing CROSS JOIN temp.same ON other = series WHERE true" + leastTime)
	return f.explainTiming(err)
}
