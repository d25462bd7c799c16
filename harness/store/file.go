package store

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Format is the version of the schema that this program writes and reads. It is
// the database's user_version.
const Format = 1

// schema makes the tables, unless another process has just done so. Cells of one series are stored side by side.
const schema = `
CREATE TABLE IF NOT EXISTS series (
	id INTEGER PRIMARY KEY,
	track TEXT NOT NULL, dataset TEXT NOT NULL, content TEXT NOT NULL, gpu TEXT NOT NULL, count INTEGER NOT NULL,
	algorithm TEXT NOT NULL, version INTEGER NOT NULL, weights TEXT NOT NULL, model TEXT NOT NULL,
	crc INTEGER NOT NULL,
	UNIQUE (` + seriesColumns + `)
) STRICT;
CREATE TABLE IF NOT EXISTS cell (
	series INTEGER NOT NULL, instance INTEGER NOT NULL,
	kind TEXT NOT NULL, error TEXT NOT NULL, metrics TEXT,
	crc INTEGER NOT NULL,
	PRIMARY KEY (series, instance)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS timing (
	series INTEGER NOT NULL, instance INTEGER NOT NULL, microseconds REAL NOT NULL,
	PRIMARY KEY (series, instance)
) STRICT, WITHOUT ROWID;
CREATE VIEW IF NOT EXISTS results AS
	SELECT ` + seriesColumns + `, instance, kind, error, metrics
	FROM series JOIN cell ON cell.series = series.id;
PRAGMA user_version = 1;
`

// seriesColumns are the columns that name a series, in the order of [Series].
const seriesColumns = "track, dataset, content, gpu, count, algorithm, version, weights, model"

// patience is how long a process waits for another one that writes to the same database.
const patience = time.Minute

// A file is one database. It has one connection, on which statements wait for each
// other.
type file struct {
	path, uri  string
	db         *sql.DB
	statements sync.Map // of *sql.Stmt, by text
	ids        sync.Map // of seriesID, by Series
	checking   sync.Mutex
	// tally is nil until check sets it, and whether the wall times cannot be read.
	tally      map[Series]Tally
	timingLost bool
}

// A seriesID is what a file calls a series.
type seriesID struct {
	id  int64
	crc uint32
}

func init() {
	// miglab_crc(series.crc, instance, kind, error, metrics) is what cell.crc must be.
	sqlite.MustRegisterDeterministicScalarFunction("miglab_crc", 5, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		c := cell{instance: int(as[int64](args[1])), kind: as[string](args[2]), error: as[string](args[3]), metrics: as[string](args[4])}
		var buffer []byte
		return int64(c.checksum(uint32(as[int64](args[0])), &buffer)), nil
	})
}

// openFile opens a database; create makes it if it does not exist. A database in a
// folder that cannot be written to is opened as it is, without looking for other processes.
func openFile(path string, create bool) (*file, error) {
	mode := "mode=rw"
	if create {
		mode = "mode=rwc"
	}
	f, err := connect(path, mode)
	if c := code(err); !create && (c == lib.SQLITE_READONLY || c == lib.SQLITE_CANTOPEN || c == lib.SQLITE_IOERR) {
		if left := unfinishedChanges(path); left != "" {
			return nil, fmt.Errorf("%s was not closed and cannot be completed here, because %s cannot be processed (%w); copy the folder to where you can write", path, left, err)
		}
		f, err = connect(path, "mode=ro&immutable=1")
	}
	return f, explain(path, err)
}

// leftBehind are the endings of the files that a killed writer leaves beside its database.
var leftBehind = []string{"-wal", "-journal"}

// unfinishedChanges returns the file with changes that are not in the database yet; "" if none.
func unfinishedChanges(path string) string {
	for _, ending := range leftBehind {
		if info, err := os.Stat(path + ending); err == nil && info.Size() > 0 {
			return path + ending
		}
	}
	return ""
}

// connect opens a database in a mode of SQLite's URIs and checks its format.
func connect(path, mode string) (*file, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	uri := url.URL{Scheme: "file", Path: filepath.ToSlash(absolute), RawQuery: mode + "&_txlock=immediate" +
		fmt.Sprintf("&_pragma=busy_timeout(%d)", patience.Milliseconds()) + "&_pragma=cache_size(-16000)"}
	db, err := sql.Open("sqlite", uri.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	f := &file{path: path, uri: uri.String(), db: db}
	if err := f.checkFormat(strings.HasPrefix(mode, "mode=rwc")); err != nil {
		db.Close()
		return nil, err
	}
	return f, nil
}

// errEmpty says that a database has no tables yet.
var errEmpty = errors.New("the database is empty")

// checkFormat refuses databases of something else. An empty one gets its tables if
// it is to be written to; otherwise it is errEmpty.
func (f *file) checkFormat(create bool) error {
	var version, tables int
	// In this order: another process may make the tables in between.
	if err := f.db.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	if err := f.db.QueryRow("PRAGMA user_version").Scan(&version); err != nil || version == Format {
		return err
	}
	switch {
	case version != 0 || tables > 0:
		return &FormatError{f.path, version}
	case !create:
		return errEmpty
	}
	if _, err := f.db.Exec("PRAGMA synchronous=OFF"); err != nil { // there is nothing to lose yet
		return err
	}
	if err := f.useWAL(); err != nil {
		return err
	}
	return f.transact(func(tx *sql.Tx) error {
		_, err := tx.Exec(schema)
		return err
	})
}

// query hands over the columns of all rows. Integers are int64 and missing values nil.
func (f *file) query(query string, args []any, use func(columns []any) error) error {
	prepared, ok := f.statements.Load(query)
	if !ok {
		st, err := f.db.Prepare(query)
		if err != nil {
			return err
		}
		prepared, _ = f.statements.LoadOrStore(query, st)
	}
	rows, err := prepared.(*sql.Stmt).Query(args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	columns, pointers := make([]any, len(names)), make([]any, len(names)) // what is scanned into any is not converted
	for i := range columns {
		pointers[i] = &columns[i]
	}
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
			return err
		}
		if err := use(columns); err != nil {
			return err
		}
	}
	return rows.Err()
}

// as is a column of a type; its zero value for any other, which checksums show.
func as[T any](column any) T {
	v, _ := column.(T)
	return v
}

const findSeries = "SELECT id, crc FROM series WHERE track = ? AND dataset = ? AND content = ? AND gpu = ? AND count = ?" +
	" AND algorithm = ? AND version = ? AND weights = ? AND model = ?"

func (s *Series) values() []any {
	return []any{s.Track, s.Dataset, s.Content, s.GPU, s.Count, s.Algorithm, s.Version, s.Weights, s.Model}
}

// queryOf is query for a series, whose id is the first argument. A file that does not have the
// series has no rows.
func (f *file) queryOf(s Series, query string, args []any, use func(series seriesID, columns []any) error) error {
	id, ok := f.ids.Load(s)
	if !ok {
		if err := f.query(findSeries, s.values(), func(columns []any) error {
			id = seriesID{as[int64](columns[0]), uint32(as[int64](columns[1]))}
			f.ids.Store(s, id)
			return nil
		}); err != nil || id == nil {
			return err
		}
	}
	return f.query(query, append([]any{id.(seriesID).id}, args...), func(columns []any) error { return use(id.(seriesID), columns) })
}

// useWAL prepares for writing. With a write-ahead log readers and writers do not wait for each
// other; it needs memory that processes share, which file systems of several machines do not have.
func (f *file) useWAL() error {
	mode, synchronous := "delete", "FULL"
	if isLocal(filepath.Dir(f.path)) {
		mode, synchronous = "wal", "NORMAL" // survives kill -9 at any instant
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		_, err := f.db.Exec("PRAGMA journal_mode=" + mode)
		// SQLite does not wait by itself for others that change the mode, too.
		if code(err) == lib.SQLITE_BUSY && time.Now().Before(deadline) {
			continue
		}
		if err == nil {
			_, err = f.db.Exec("PRAGMA synchronous=" + synchronous)
		}
		return err
	}
}

// settle leaves one file where there may be three: it moves all changes into the
// database. Where other processes have it open, the last of them does so.
func (f *file) settle() error {
	var mode string
	if err := f.db.QueryRow("PRAGMA journal_mode").Scan(&mode); err != nil || mode != "wal" {
		return err
	}
	if _, err := f.db.Exec("PRAGMA busy_timeout=0"); err != nil {
		return err
	}
	_, err := f.db.Exec("PRAGMA journal_mode=DELETE")
	if c := code(err); c == lib.SQLITE_BUSY || c == lib.SQLITE_READONLY {
		err = nil
	}
	_, restored := f.db.Exec(fmt.Sprintf("PRAGMA busy_timeout=%d", patience.Milliseconds()))
	return errors.Join(err, restored)
}

func (f *file) close() error {
	err := f.settle()
	return explain(f.path, errors.Join(err, f.db.Close()))
}
