package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	lib "modernc.org/sqlite/lib"
)

// How much work may be lost when the process is killed: what was appended in the last
// second, or, where committing is slow, in ten times as long as it took. As many cells
// as fullBuffer are committed at once.
const (
	commitEvery = time.Second
	fullBuffer  = 200_000
)

// A Writer appends to one database. Other processes may write to it at the same
// time. It is safe for concurrent use.
type Writer struct {
	file *file

	mu      sync.Mutex
	pending map[Series][][]cell
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
	return &Writer{file: f, pending: map[Series][][]cell{}, wait: commitEvery}, nil
}

// Append takes rows of a series, which are committed within a second or by [Writer.Close]. A row
// that the database has is not written again; one that contradicts it is a
// [*ConflictError], with which writing ends. An error may be about earlier rows;
// after it every call gives the same error.
func (w *Writer) Append(s Series, rows ...Row) error {
	if bytes.Count(s.identity(make([]byte, 0, 1024)), []byte{0}) != 8 {
		return fmt.Errorf("%q has a NUL, which separates the columns of series", fmt.Sprint(s))
	}
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

// Merge appends all results of a DB, as [OpenIntact] read them, the GPU models that they are on and the names of their
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
	for _, of := range from.few {
		if err := w.add(of.Series, of.cells); err != nil {
			return err
		}
	}
	if from.few != nil {
		return nil
	}
	return from.each(w.add)
}

func (w *Writer) add(s Series, cells []cell) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if of := w.pending[s]; len(cells) > 0 { // a series without cells would look damaged
		if of == nil {
			w.order = append(w.order, s)
		}
		w.pending[s] = append(of, cells)
	}
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

// What has an id is found, or added, by the same values. Those of a series are its columns and its checksum.
const (
	findSeries = "SELECT id FROM series WHERE (" + seriesColumns + ", crc) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	addSeries  = "INSERT INTO series (" + seriesColumns + ", crc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	findNames  = "SELECT id FROM names WHERE list = ?"
	addNames   = "INSERT INTO names (list) VALUES (?)"
)

// insert adds a cell if the database does not have it; NULL, and parameters without numbers, are bound faster.
// Otherwise replace puts it in the place of one that ran out of time. If the cell has another result, this is an error:
// the kind must not be NULL. count adds cells to what the database has of a series, and makes it the one written last.
const (
	insert = "INSERT INTO cell (series, instance, names, numbers, microseconds, crc, kind, error)" +
		" VALUES (?, ?, ?, ?, ?, ?, ifnull(?, ''), ifnull(?, '')) ON CONFLICT DO NOTHING"
	replace = "UPDATE cell SET names = ?3, numbers = ?4, kind = iif(kind = '" + KindTimeout +
		"', ?5, NULL), error = ?6, microseconds = nullif(?7, 0), crc = ?8 WHERE (series, instance) = (?1, ?2) AND " +
		"(names, numbers, kind, error) <> (?3, ?4, ?5, ?6) AND ?5 <> '" +
		KindTimeout + "'"
	count = "REPLACE INTO tally (series, cells, instances)" +
		" SELECT ?1, ?2 + ifnull(sum(cells), 0), ?3 + ifnull(sum(instances), 0) FROM tally WHERE series = ?1"
)

// write commits cells, all or none.
func (f *file) write(order []Series, pending map[Series][][]cell) error {
	ctx := context.Background()
	conn, err := f.db.Conn(ctx)
	if err != nil {
		return explainError(f.path, err)
	}
	defer conn.Close() // a second time has no effect
	t := transaction{conn: conn, prepared: map[string]*sql.Stmt{}, names: map[string]int64{}}
	err = conn.Raw(func(c any) (err error) {
		t.insert, err = c.(driver.Conn).Prepare(insert)
		return err
	})
	if err != nil {
		return explainError(f.path, err)
	}
	if t.tx, err = conn.BeginTx(ctx, nil); err != nil {
		return explainError(f.path, errors.Join(err, t.insert.Close()))
	}
	for _, s := range order {
		cells := slices.Concat(pending[s]...)
		if err := t.insertCells(s, cells); err != nil {
			_ = errors.Join(t.insert.Close(), t.tx.Rollback(), conn.Close()) // SQLite may have done so; err says more
			if errorCode(err) == lib.SQLITE_CONSTRAINT {
				have, failed := f.appendCells(nil, s, 0, math.MaxInt)
				_, conflict := uniteCells(s, append(have, cells...))
				err = cmp.Or(failed, conflict, err)
			}
			return explainError(f.path, err)
		}
	}
	return explainError(f.path, errors.Join(t.insert.Close(), t.tx.Commit()))
}

// A transaction prepares each of its statements once.
type transaction struct {
	tx       *sql.Tx
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
	insert   driver.Stmt
	// names are the ids of the lists of names that were looked up.
	names map[string]int64
}

func (t *transaction) statement(query string) (*sql.Stmt, error) {
	if s := t.prepared[query]; s != nil {
		return s, nil
	}
	s, err := t.tx.Prepare(query) // which the end of the transaction closes
	t.prepared[query] = s
	return s, err
}

// exec returns how many rows a statement changed.
func (t *transaction) exec(query string, values ...any) (int64, error) {
	s, err := t.statement(query)
	if err != nil {
		return 0, err
	}
	done, err := s.Exec(values...)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

// insertCells adds cells of one series.
func (t *transaction) insertCells(s Series, cells []cell) error {
	identity := s.identity(make([]byte, 0, 1024))
	id, err := t.id(findSeries, addSeries, s.values(int64(crc32.Checksum(identity, castagnoli)))...)
	if err != nil {
		return err
	}
	for i := range cells {
		if list := cells[i].Metrics.names; t.names[list] == 0 {
			if t.names[list], err = t.id(findNames, addNames, list); err != nil {
				return err
			}
		}
	}
	var added sum
	var known []cell
	if err = t.conn.Raw(func(any) error {
		added, known, err = t.insertNew(id, cells, identity)
		return err
	}); err != nil {
		return err
	}
	changed := added.cells > 0
	for _, c := range known {
		n, err := t.exec(replace, id, c.Instance, t.names[c.Metrics.names], c.Metrics.numbers, c.Kind, c.Error,
			c.Micros, c.checksum(identity))
		if err != nil {
			return err
		}
		changed = changed || n > 0
	}
	if changed {
		_, err = t.exec(count, id, added.cells, added.instances)
	}
	return err
}

// insertNew adds the cells that the database does not have. It returns their sum, and the other cells. It calls the
// driver without package sql, which takes less time.
func (t *transaction) insertNew(id int64, cells []cell, identity []byte) (added sum, known []cell, err error) {
	var named [8]driver.NamedValue
	for i := range cells {
		c := &cells[i]
		for j, v := range [8]any{
			id, int64(c.Instance), t.names[c.Metrics.names], c.Metrics.numbers, orNull(c.Micros),
			int64(c.checksum(identity)), orNull(c.Kind), orNull(c.Error),
		} {
			named[j] = driver.NamedValue{Ordinal: j + 1, Value: v}
		}
		done, err := t.insert.(driver.StmtExecContext).ExecContext(context.Background(), named[:])
		if err != nil {
			return added, nil, err
		}
		if n, _ := done.RowsAffected(); n == 0 {
			known = append(known, *c)
			continue
		}
		added.cells, added.instances = added.cells+1, added.instances+int64(c.Instance)
	}
	return added, known, nil
}

// orNull returns NULL in the place of a zero value.
func orNull[T comparable](v T) any {
	if v == *new(T) {
		return nil
	}
	return v
}

// id returns the id of a row, which find finds. add adds the row if it does not exist.
func (t *transaction) id(find, add string, values ...any) (id int64, err error) {
	s, err := t.statement(find)
	if err != nil {
		return 0, err
	}
	err = s.QueryRow(values...).Scan(&id)
	if !errors.Is(err, sql.ErrNoRows) {
		return id, err
	}
	if _, err = t.exec(add, values...); err == nil {
		err = s.QueryRow(values...).Scan(&id)
	}
	return id, err
}
