package store

import (
	"cmp"
	"database/sql"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	lib "modernc.org/sqlite/lib"
)

// How much work may be lost when the process is killed: what was appended in the last
// second, or, where committing is slow, in ten times as long as it took. As many cells
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
	pending map[Series][]cell
	// order has the pending series as they came first, which is how they are committed.
	order []Series
	// size is how many cells are pending.
	size int
	// timer runs while there are pending cells.
	timer *time.Timer
	// wait is how long cells may be pending.
	wait time.Duration
	// failed is the first error of writing. After it, no more is written.
	failed error
}

// Writer opens a database of the DB for appending. It is made, with its folder, if
// it does not exist. Queries of the DB see what was committed.
func (db *DB) Writer(path string) (*Writer, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := db.file(path)
	if err != nil {
		return nil, err
	}
	return &Writer{file: f, pending: map[Series][]cell{}, wait: commitEvery}, nil
}

// Append takes rows of a series, which are committed within a second or by [Writer.Close]. A row
// that the database has is not written again; one that contradicts it is a
// [*ConflictError], with which writing ends. An error may be about earlier rows;
// after it every call gives the same error.
func (w *Writer) Append(s Series, rows ...Row) error {
	cells := make([]cell, len(rows))
	for i, r := range rows {
		if err := r.validate(); err != nil {
			return fmt.Errorf("%v, %w", s, err)
		}
		r.Kind, r.Error = cleanText(r.Kind), cleanText(r.Error)
		cells[i] = cell{Row: r, where: "the one being written"}
	}
	return w.add(s, cells)
}

// Merge appends all results of a DB, the GPU models that they are on and the names of their
// programs. Errors are those of [Writer.Append], [DB.Models] and [DB.Rows].
func (w *Writer) Merge(from *DB) error {
	models, err := from.Models()
	if err != nil {
		return err
	}
	for _, m := range models {
		if err := w.Keep(m); err != nil {
			return err
		}
	}
	names, err := from.Names()
	if err != nil {
		return err
	}
	for p, name := range names {
		if err := w.Name(p, name); err != nil {
			return err
		}
	}
	return from.each(w.add)
}

func (w *Writer) add(s Series, cells []cell) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pending[s]) == 0 {
		w.order = append(w.order, s)
	}
	w.pending[s] = append(w.pending[s], cells...)
	w.size += len(cells)
	if w.size >= fullBuffer {
		w.flush()
	}
	if w.size > 0 && w.timer == nil {
		w.timer = time.AfterFunc(w.wait, func() { _ = w.Close() }) // Append says what failed
	}
	return w.failed
}

// Close commits everything. The database can still be read and appended to.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
	return w.failed
}

// flush commits what is pending.
func (w *Writer) flush() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	if w.failed == nil && w.size > 0 {
		began := time.Now()
		w.failed = w.file.write(w.order, w.pending)
		w.wait = max(w.wait, 10*time.Since(began))
	}
	clear(w.pending)
	w.order, w.size = w.order[:0], 0
}

// insert adds a cell if the database does not have it. Otherwise replace puts it in the place of one
// that ran out of time. If the cell has another result, this is an error: the kind must not be NULL.
// count adds cells to what the database has of a series, and makes it the one written last.
const (
	insert = "INSERT INTO cell (series, instance, names, numbers, kind, error, microseconds, crc)" +
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, nullif(?7, 0), ?8) ON CONFLICT DO NOTHING"
	replace = "UPDATE cell SET names = ?3, numbers = ?4, kind = iif(kind = '" + KindTimeout + "', ?5, NULL), error = ?6," +
		" microseconds = nullif(?7, 0), crc = ?8" +
		" WHERE (series, instance) = (?1, ?2) AND (names, numbers, kind, error) <> (?3, ?4, ?5, ?6) AND ?5 <> '" +
		KindTimeout + "'"
	count = "REPLACE INTO tally (series, cells, instances)" +
		" SELECT ?1, ?2 + ifnull(sum(cells), 0), ?3 + ifnull(sum(instances), 0) FROM tally WHERE series = ?1"
)

// write commits cells, all or none.
func (f *file) write(order []Series, pending map[Series][]cell) error {
	tx, err := f.db.Begin()
	if err != nil {
		return explainError(f.path, err)
	}
	for _, s := range order {
		cells := pending[s]
		if err := insertCells(tx, s, cells); err != nil {
			_ = tx.Rollback() // SQLite may have done so; the first error says more
			if errorCode(err) == lib.SQLITE_CONSTRAINT {
				have, failed := f.appendCells(nil, s, 0, math.MaxInt)
				_, conflict := uniteCells(s, append(have, cells...))
				err = cmp.Or(failed, conflict, err)
			}
			return explainError(f.path, err)
		}
	}
	return explainError(f.path, tx.Commit())
}

// insertCells adds cells of one series.
func insertCells(tx *sql.Tx, s Series, cells []cell) error {
	id, err := idOf(tx, "series", seriesColumns, s.values()...)
	if err != nil {
		return err
	}
	statement, err := tx.Prepare(insert)
	if err != nil {
		return err
	}
	defer statement.Close()
	var added sum
	changed := false
	identity, names := s.identity(), int64(0)
	for i, c := range cells {
		if i == 0 || c.Metrics.names != cells[i-1].Metrics.names {
			if names, err = idOf(tx, "names", "list", c.Metrics.names); err != nil {
				return err
			}
		}
		values := []any{id, c.Instance, names, c.Metrics.numbers, c.Kind, c.Error, c.Micros, c.checksum(identity)}
		done, err := statement.Exec(values...)
		if err != nil {
			return err
		}
		n, _ := done.RowsAffected() // which this driver always knows
		if added.cells, added.instances = added.cells+n, added.instances+n*int64(c.Instance); n == 0 {
			if done, err = tx.Exec(replace, values...); err != nil {
				return err
			}
			n, _ = done.RowsAffected()
		}
		changed = changed || n > 0
	}
	if changed {
		_, err = tx.Exec(count, id, added.cells, added.instances)
	}
	return err
}

// idOf returns the id of a row of a table. It adds the row if it does not exist.
func idOf(tx *sql.Tx, table, columns string, values ...any) (id int64, err error) {
	marks := "(?" + strings.Repeat(", ?", len(values)-1) + ")"
	insert := "INSERT INTO " + table + " (" + columns + ") VALUES " + marks + " ON CONFLICT DO NOTHING"
	if _, err = tx.Exec(insert, values...); err == nil {
		err = tx.QueryRow("SELECT id FROM "+table+" WHERE ("+columns+") = "+marks, values...).Scan(&id)
	}
	return id, err
}
