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
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Format is the version of the schema that this program writes and reads. It is
// the database's user_version.
const Format = 1

// schema makes an empty database. Cells of one series are stored side by side.
const schema = `
CREATE TABLE series (
	id INTEGER PRIMARY KEY,
	track TEXT NOT NULL, dataset TEXT NOT NULL, content TEXT NOT NULL, gpu TEXT NOT NULL, count INTEGER NOT NULL,
	algorithm TEXT NOT NULL, version INTEGER NOT NULL, weights TEXT NOT NULL, model TEXT NOT NULL,
	crc INTEGER NOT NULL,
	UNIQUE (` + seriesColumns + `)
) STRICT;
CREATE TABLE cell (
	series INTEGER NOT NULL, instance INTEGER NOT NULL,
	kind TEXT NOT NULL, error TEXT NOT NULL, metrics TEXT,
	crc INTEGER NOT NULL,
	PRIMARY KEY (series, instance)
) STRICT, WITHOUT ROWID;
CREATE TABLE timing (
	series INTEGER NOT NULL, instance INTEGER NOT NULL, microseconds REAL NOT NULL,
	PRIMARY KEY (series, instance)
) STRICT, WITHOUT ROWID;
CREATE VIEW results AS
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
	statements map[string]*sql.Stmt
	ids        map[Series]seriesID
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
		series, _ := args[0].(int64)
		instance, _ := args[1].(int64)
		c := cell{instance: int(instance)}
		c.kind, _ = args[2].(string)
		c.error, _ = args[3].(string)
		c.metrics, _ = args[4].(string)
		var buffer []byte
		return int64(c.checksum(uint32(series), &buffer)), nil
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
	f := &file{path: path, uri: uri.String(), db: db, statements: map[string]*sql.Stmt{}, ids: map[Series]seriesID{}}
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
	version, tables, err := f.format(f.db)
	if err != nil || version == Format {
		return err
	}
	if version != 0 || tables > 0 {
		return &FormatError{f.path, version}
	}
	if !create {
		return errEmpty
	}
	if _, err := f.db.Exec("PRAGMA synchronous=OFF"); err != nil { // there is nothing to lose yet
		return err
	}
	if err := f.useWAL(); err != nil {
		return err
	}
	tx, err := f.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	// Another process may have made the tables meanwhile.
	if version, _, err := f.format(tx); err != nil || version == Format {
		return err
	}
	if _, err := tx.Exec(schema); err != nil {
		return err
	}
	return tx.Commit()
}

// A querier is a database or a transaction.
type querier interface {
	QueryRow(query string, args ...any) *sql.Row
}

func (f *file) format(q querier) (version, tables int, err error) {
	if err := q.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return 0, 0, err
	}
	return version, tables, q.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&tables)
}

// prepared returns a statement, which is prepared once.
func (f *file) prepared(query string) (*sql.Stmt, error) {
	if s, ok := f.statements[query]; ok {
		return s, nil
	}
	s, err := f.db.Prepare(query)
	if err == nil {
		f.statements[query] = s
	}
	return s, err
}

const findSeries = "SELECT id, crc FROM series WHERE track = ? AND dataset = ? AND content = ? AND gpu = ? AND count = ?" +
	" AND algorithm = ? AND version = ? AND weights = ? AND model = ?"

func (s *Series) values() []any {
	return []any{s.Track, s.Dataset, s.Content, s.GPU, s.Count, s.Algorithm, s.Version, s.Weights, s.Model}
}

// find returns what the file calls a series, and whether it has it.
func (f *file) find(s Series) (seriesID, bool, error) {
	if id, ok := f.ids[s]; ok {
		return id, true, nil
	}
	st, err := f.prepared(findSeries)
	if err != nil {
		return seriesID{}, false, err
	}
	var id seriesID
	err = st.QueryRow(s.values()...).Scan(&id.id, &id.crc)
	if errors.Is(err, sql.ErrNoRows) {
		return id, false, nil
	}
	if err == nil {
		f.ids[s] = id
	}
	return id, err == nil, err
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
	for _, s := range f.statements {
		s.Close()
	}
	return explain(f.path, errors.Join(err, f.db.Close()))
}
