package store

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	lib "modernc.org/sqlite/lib"
)

// Format is the version of the schema that this program writes and reads. It is
// the database's user_version.
const Format = 1

// schema makes the tables, unless another process has just done so. Cells of one series are stored side by side.
const schema = `
BEGIN IMMEDIATE;
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
COMMIT;
`

// seriesColumns are the columns that name a series, in the order of [Series].
const seriesColumns = "track, dataset, content, gpu, count, algorithm, version, weights, model"

// patience is how long a process waits for another one that writes to the same database.
const patience = time.Minute

// A file is one database. It has one connection, on which statements wait for each
// other.
type file struct {
	path, uri string
	db        *sql.DB
	// tally is what the file had when all of it was checked; nil before.
	tally map[Series]Tally
}

// openFile opens a database. create makes it if it does not exist; otherwise one without
// tables is nil. A database in a folder that cannot be written to is opened as it is, without
// looking for other processes.
func openFile(path string, create bool) (*file, error) {
	if create {
		f, err := connect(path, "mode=rwc", true)
		return f, explain(path, err)
	}
	f, err := connect(path, "mode=rw", false)
	if c := code(err); c == lib.SQLITE_READONLY || c == lib.SQLITE_CANTOPEN || c == lib.SQLITE_IOERR {
		for _, ending := range []string{"-wal", "-journal"} { // a killed writer leaves them
			if info, failed := os.Stat(path + ending); failed == nil && info.Size() > 0 {
				return nil, fmt.Errorf("%s was not closed and cannot be completed here, because %s cannot be processed (%w); copy the folder to where you can write", path, path+ending, err)
			}
		}
		f, err = connect(path, "mode=ro&immutable=1", false)
	}
	return f, explain(path, err)
}

// connect opens a database in a mode of SQLite's URIs and checks its format.
func connect(path, mode string, create bool) (*file, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	uri := url.URL{Scheme: "file", Path: filepath.ToSlash(absolute), RawQuery: mode + "&_txlock=immediate&_pragma=cache_size(-16000)" +
		fmt.Sprintf("&_pragma=busy_timeout(%d)", patience.Milliseconds())}
	db, err := sql.Open("sqlite", uri.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	f := &file{path: path, uri: uri.String(), db: db}
	if ready, err := f.prepare(create); err != nil || !ready {
		db.Close()
		return nil, err
	}
	return f, nil
}

// prepare refuses databases of something else, makes the tables in an empty one if create is
// set, and reports whether there are tables.
func (f *file) prepare(create bool) (bool, error) {
	var version, tables int
	const query = "SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version"
	if err := f.db.QueryRow(query).Scan(&version, &tables); err != nil || version == Format {
		return true, err
	}
	if version != 0 || tables > 0 {
		return false, &FormatError{f.path, version}
	}
	if !create {
		return false, nil
	}
	_, err := f.db.Exec(schema)
	return true, err
}

// query hands over the columns of all rows. Integers are int64 and missing values nil.
func (f *file) query(query string, args []any, use func(columns []any) error) error {
	rows, err := f.db.Query(query, args...)
	if err != nil {
		return explain(f.path, err)
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
	return explain(f.path, rows.Err())
}

// as is a column of a type; its zero value for any other, which checksums show.
func as[T any](column any) T {
	v, _ := column.(T)
	return v
}

// ofSeries selects the rows of a series. Its parameters are the series' values.
const ofSeries = " WHERE series = (SELECT id FROM series WHERE (" + seriesColumns + ") = (?, ?, ?, ?, ?, ?, ?, ?, ?))"

// series returns the series of the file.
func (f *file) series() ([]Series, error) {
	var out []Series
	err := f.query("SELECT "+seriesColumns+", crc FROM series", nil, func(columns []any) error {
		s, err := f.seriesOf(columns)
		out = append(out, s)
		return err
	})
	return out, err
}

// seriesOf is the series in seriesColumns and its checksum.
func (f *file) seriesOf(c []any) (Series, error) {
	s := Series{
		as[string](c[0]), as[string](c[1]), as[string](c[2]), as[string](c[3]), int(as[int64](c[4])),
		as[string](c[5]), int(as[int64](c[6])), as[string](c[7]), as[string](c[8]),
	}
	if int64(s.checksum()) != as[int64](c[9]) {
		return s, &Damage{File: f.path, Reason: fmt.Sprintf("the checksum of the series %v is wrong", s)}
	}
	return s, nil
}

// check checks all of the file's results and counts them. Reading them one by one would take twice as long.
func (f *file) check() error {
	f.tally = map[Series]Tally{}
	return f.query("SELECT "+seriesColumns+`, series.crc, count(*), sum(kind <> ''), sum(cell.crc <> miglab_crc(series.crc, instance, kind, error, metrics))
		FROM cell LEFT JOIN series ON series.id = cell.series GROUP BY cell.series`, nil, func(columns []any) error {
		s, err := f.seriesOf(columns)
		if wrong := as[int64](columns[12]); err == nil && wrong > 0 {
			err = &Damage{File: f.path, Reason: fmt.Sprintf("the checksums of %d instances of %v are wrong", wrong, s)}
		}
		f.tally[s] = Tally{int(as[int64](columns[10])), int(as[int64](columns[11]))}
		return err
	})
}

// useWAL prepares for writing. With a write-ahead log readers and writers do not wait for each
// other; it needs memory that processes share, which file systems of several machines do not have.
func (f *file) useWAL() error {
	mode := "PRAGMA synchronous=FULL; PRAGMA journal_mode=DELETE"
	if isLocal(filepath.Dir(f.path)) {
		mode = "PRAGMA synchronous=NORMAL; PRAGMA journal_mode=WAL" // survives kill -9 at any instant
	}
	_, err := f.db.Exec(mode)
	// SQLite does not wait by itself for others that change the mode, too.
	for deadline := time.Now().Add(patience); code(err) == lib.SQLITE_BUSY && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
		_, err = f.db.Exec(mode)
	}
	return explain(f.path, err)
}

// settle leaves one file where there may be three: it moves all changes into the
// database. Where other processes have it open, the last of them does so.
func (f *file) settle() error {
	_, err := f.db.Exec("PRAGMA busy_timeout=0; PRAGMA journal_mode=DELETE")
	if c := code(err); c == lib.SQLITE_BUSY || c == lib.SQLITE_READONLY {
		err = nil
	}
	_, restored := f.db.Exec(fmt.Sprintf("PRAGMA busy_timeout=%d", patience.Milliseconds()))
	return explain(f.path, errors.Join(err, restored))
}

func (f *file) close() error {
	return errors.Join(f.settle(), f.db.Close())
}
