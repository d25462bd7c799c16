package store

import (
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"
	"time"
)

// Format is the version of the schema that this program writes and reads. It is the database's user_version.
const Format = 6

// schema makes the tables, unless another process has just done so. Cells of one series are stored side by side.
//
//go:embed schema.sql
var schema string

// seriesColumns are the columns that name a series, in the order of [Series].
const (
	seriesColumns     = "track, dataset, content, gpu, count, algorithm, version, weights, model"
	seriesColumnCount = 9
)

// patience is how long a process waits for another one that uses the same database.
const patience = time.Minute

// A file is one database. It has one connection, on which statements wait for each other.
// Its journal is SQLite's default, which works on every file system, survives kill -9 and power
// failures, and is gone after each commit. Readers wait while a writer commits.
type file struct {
	path string
	db   *sql.DB
	// statements holds the prepared statements of query, by their text. Preparing one takes as long as a short query.
	statements sync.Map
	lists      sync.Map // the lists of names that were read, by their id

	mu sync.Mutex
	// series is the last result of present, nil before the first, and version is the data version from which it
	// was read.
	series  map[Series]*entry
	version int64
}

// openFile opens a database. It makes the file and its tables if they do not exist.
func openFile(path string) (*file, error) {
	const options = "_txlock=immediate&_pragma=page_size(16384)&_pragma=cache_size(-16000)&_pragma=busy_timeout"
	name := url.PathEscape(filepath.ToSlash(path))
	db, err := sql.Open("sqlite", fmt.Sprintf("file:%s?%s(%d)", name, options, patience.Milliseconds()))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	var version, tables int
	row := db.QueryRow("SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version")
	err = row.Scan(&version, &tables)
	switch {
	case err != nil || version == Format:
	case version == 0 && tables == 0:
		_, err = db.Exec(schema)
	default:
		err = &FormatError{path, version}
	}
	if err != nil {
		return nil, errors.Join(explainError(path, err), db.Close())
	}
	return &file{path: path, db: db}, nil
}

// query calls use with the columns of each row. Integers are int64 and missing values nil. The columns are valid during
// the call only. use must not query the same file, whose one connection is busy.
func (f *file) query(query string, args []any, use func(columns []any) error) error {
	prepared, ok := f.statements.Load(query)
	if !ok {
		statement, err := f.db.Prepare(query)
		if err != nil {
			return explainError(f.path, err)
		}
		prepared, _ = f.statements.LoadOrStore(query, statement) // closing the database closes both
	}
	rows, err := prepared.(*sql.Stmt).Query(args...)
	if err != nil {
		return explainError(f.path, err)
	}
	defer rows.Close()
	names, _ := rows.Columns() // It fails only for closed rows.
	columns := make([]any, len(names))
	pointers := make([]any, len(names))
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
	return explainError(f.path, rows.Err())
}

// columnOr returns a column of a type, or the zero value if it has another type. The checksums then do not match.
func columnOr[T any](column any) T {
	v, _ := column.(T)
	return v
}
