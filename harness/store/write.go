package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Cells are committed commitEvery after they were appended, or, where committing is slow, after ten times as long as a
// commit took. When fullBuffer cells are pending, they are committed at once. A killed process loses its pending cells.
const (
	commitEvery = time.Second
	fullBuffer  = 200_000
)

// A Writer appends to one database. Other processes may write to it at the same time. It is safe for concurrent use.
type Writer struct {
	file *file

	mu      sync.Mutex
	pending map[Series][][]cell
	// order lists the series of pending in the order in which they are committed, which is the order of their first
	// cells.
	order []Series
	size  int           // the number of pending cells
	timer *time.Timer   // runs while there are pending cells
	wait  time.Duration // the time for which cells may be pending
	// failed is the first error of writing. After it the writer drops all cells.
	failed error
}

// Writer opens a database of the DB for appending. It makes the database and its folder if they do not exist. Queries
// of the DB see committed cells.
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

// Append takes rows of a series, which are committed after about a second or by [Writer.Close]. A row that the database
// already has is not written again. A row that contradicts the database is a [*ConflictError]. An error may be about
// earlier rows. After an error of writing nothing more is written, and every call returns the same error.
func (w *Writer) Append(s Series, rows ...Row) error {
	if strings.Count(s.columns(), "\x00") != seriesColumnCount-1 {
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

// add makes cells pending and returns the first error of writing.
func (w *Writer) add(s Series, cells []cell) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(cells) > 0 { // a series without cells would look damaged
		if w.pending[s] == nil {
			w.order = append(w.order, s)
		}
		w.pending[s] = append(w.pending[s], cells)
		w.size += len(cells)
	}
	if w.size >= fullBuffer {
		w.flush()
	}
	if w.size > 0 && w.timer == nil {
		w.timer = time.AfterFunc(w.wait, func() { _ = w.Close() }) // The next call returns the error.
	}
	return w.failed
}

// Close commits the pending cells and returns the first error of writing. The writer can still be used.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
	return w.failed
}

// flush commits the pending cells.
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

// The statements that find a series or a list of names take the values that add it.
const (
	findSeries = "SELECT id, written, checksums FROM series WHERE identity = ?"
	addSeries  = "INSERT INTO series (identity, " + seriesColumns + ", written, checksums)" +
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '')"
	findNames = "SELECT id FROM names WHERE list = ?"
	addNames  = "INSERT INTO names (list) VALUES (?)"
)

// insertCell adds a cell if the database does not have it. SQLite binds NULL and parameters without numbers faster than
// "" and numbered parameters. findCell reads a cell, and replaceCell replaces it.
const (
	insertCell = "INSERT INTO cell (series, instance, names, numbers, nanoseconds, kind, error)" +
		" VALUES (?, ?, ?, ?, ?, ifnull(?, ''), ifnull(?, '')) ON CONFLICT DO NOTHING"
	findCell = "SELECT names, list, numbers, kind, error, nanoseconds FROM cell JOIN names ON id = names" +
		" WHERE (series, instance) = (?, ?)"
	replaceCell = "UPDATE cell SET (names, numbers, nanoseconds, kind, error) = (?3, ?4, ?5, ?6, ?7)" +
		" WHERE (series, instance) = (?1, ?2)"
)

// write commits cells in one transaction.
func (f *file) write(order []Series, pending map[Series][][]cell) error {
	ctx := context.Background()
	conn, err := f.db.Conn(ctx)
	if err != nil {
		return explainError(f.path, err)
	}
	defer conn.Close()
	t := transaction{conn: conn, prepared: map[string]*sql.Stmt{}, names: map[string]int64{}}
	err = conn.Raw(func(c any) (err error) {
		t.insert, err = c.(driver.Conn).Prepare(insertCell)
		return err
	})
	if err != nil {
		return explainError(f.path, err)
	}
	if t.tx, err = conn.BeginTx(ctx, nil); err != nil {
		return explainError(f.path, errors.Join(err, t.insert.Close()))
	}
	if err = t.tx.QueryRow("SELECT series, written FROM state").Scan(&t.series, &t.written); err == nil {
		err = t.insertAll(f.path, order, pending)
	}
	if err != nil {
		// SQLite may have rolled back already. err says more than the errors of these calls.
		_ = errors.Join(t.insert.Close(), t.tx.Rollback(), conn.Close())
		if conflict, ok := errors.AsType[*ConflictError](err); ok { // Perhaps the database is damaged.
			_, damage := (&DB{files: []*file{f}}).cells(conflict.Series, 0, 0)
			err = cmp.Or(damage, err)
		}
		return explainError(f.path, err)
	}
	return explainError(f.path, errors.Join(t.insert.Close(), t.tx.Commit()))
}

// A transaction writes pending cells. It prepares each of its statements once.
type transaction struct {
	tx              *sql.Tx
	conn            *sql.Conn
	prepared        map[string]*sql.Stmt
	insert          driver.Stmt      // the prepared insertCell
	series, written int64            // the numbers of series and of writes in the table state
	names           map[string]int64 // the ids of the lists of names of the cells
}

// statement prepares a query, or returns the prepared one.
func (t *transaction) statement(query string) (*sql.Stmt, error) {
	if s := t.prepared[query]; s != nil {
		return s, nil
	}
	s, err := t.tx.Prepare(query) // The end of the transaction closes it.
	t.prepared[query] = s
	return s, err
}

func (t *transaction) exec(query string, values ...any) error {
	s, err := t.statement(query)
	if err == nil {
		_, err = s.Exec(values...)
	}
	return err
}

// insertAll adds the pending cells of all series.
func (t *transaction) insertAll(path string, order []Series, pending map[Series][][]cell) error {
	for _, s := range order {
		if err := t.insertCells(path, s, slices.Concat(pending[s]...)); err != nil {
			return err
		}
	}
	return t.exec("UPDATE state SET series = ?, written = ?", t.series, t.written)
}

// insertCells adds cells of one series.
func (t *transaction) insertCells(path string, s Series, cells []cell) error {
	e := entry{Series: s, identity: hashColumns(s.columns())}
	added, err := t.findOrAdd(findSeries, []any{e.identity}, addSeries, s.values(e.identity), &e.id, &e.written,
		&e.checksums)
	if err != nil {
		return err
	}
	if added {
		t.series++
	}
	for i := range cells {
		list := cells[i].Metrics.names
		if t.names[list] != 0 {
			continue
		}
		id := int64(0)
		if _, err := t.findOrAdd(findNames, []any{list}, addNames, []any{list}, &id); err != nil {
			return err
		}
		t.names[list] = id
	}
	var known []cell // the cells that the database already has
	sums := e.chunkSums()
	if err = t.conn.Raw(func(any) error {
		known, err = t.insertNew(e.id, &sums, cells)
		return err
	}); err != nil {
		return err
	}
	changed := len(known) < len(cells)
	for i := range known {
		replaced, err := t.replaceKnown(path, &e, &sums, &known[i])
		if err != nil {
			return err
		}
		changed = changed || replaced
	}
	if !changed {
		return nil
	}
	t.written++
	return t.exec("UPDATE series SET written = ?, checksums = ? WHERE id = ?", t.written, sums.encode(t.written), e.id)
}

// insertNew adds the cells that the database does not have, and their hashes to the sums. It returns the other cells.
// It calls the driver without package sql, which is faster.
func (t *transaction) insertNew(id int64, to *chunkSums, cells []cell) (known []cell, err error) {
	var named [7]driver.NamedValue
	var b []byte
	for i := range cells {
		c := &cells[i]
		for j, v := range [7]any{
			id, int64(c.Instance), t.names[c.Metrics.names], c.Metrics.numbers, c.nanoseconds(), orNull(c.Kind),
			orNull(c.Error),
		} {
			named[j] = driver.NamedValue{Ordinal: j + 1, Value: v}
		}
		done, err := t.insert.(driver.StmtExecContext).ExecContext(context.Background(), named[:])
		if err != nil {
			return nil, err
		}
		if n, _ := done.RowsAffected(); n == 0 {
			known = append(known, *c)
		} else {
			b = c.appendColumns(b[:0], t.names[c.Metrics.names])
			to.add(c.Instance, hashCell(b, c.Metrics.names))
		}
	}
	return known, nil
}

// replaceKnown compares a cell with the one that the database has. It replaces a cell of [KindTimeout] or
// [KindPanic] and reports whether it did. Cells that disagree are a [*ConflictError].
func (t *transaction) replaceKnown(path string, e *entry, to *chunkSums, c *cell) (replaced bool, err error) {
	find, err := t.statement(findCell)
	if err != nil {
		return false, err
	}
	old := cell{Row: Row{Instance: c.Instance}, where: path}
	var names, nanoseconds int64
	err = find.QueryRow(e.id, c.Instance).Scan(&names, &old.Metrics.names, &old.Metrics.numbers, &old.Kind, &old.Error,
		&nanoseconds)
	if err != nil {
		return false, err
	}
	old.Micros = float64(nanoseconds) / 1000
	kept, err := uniteCells(e.Series, []cell{old, *c})
	if err != nil || kept[0] == old {
		return false, err
	}
	now := t.names[c.Metrics.names]
	to.add(c.Instance, hashCell(c.appendColumns(nil, now), c.Metrics.names))
	to.add(c.Instance, -hashCell(old.appendColumns(nil, names), old.Metrics.names))
	return true, t.exec(replaceCell, e.id, c.Instance, now, c.Metrics.numbers, c.nanoseconds(), c.Kind, c.Error)
}

// orNull returns NULL in the place of "".
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// findOrAdd reads the columns of the row that find selects by values. If there is no row, it adds one first.
func (t *transaction) findOrAdd(
	find string, by []any, add string, values []any, columns ...any,
) (added bool, err error) {
	s, err := t.statement(find)
	if err != nil {
		return false, err
	}
	err = s.QueryRow(by...).Scan(columns...)
	if !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	if err = t.exec(add, values...); err == nil {
		err = s.QueryRow(by...).Scan(columns...)
	}
	return true, err
}
