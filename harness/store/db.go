package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// A DB holds the results of a folder. Queries see what other processes have committed to the files that were there when
// it was opened. It is safe for concurrent use.
type DB struct {
	dir string

	mu    sync.Mutex
	files []*file
}

// FileName returns the name of the database of one of several processes that share the work, with index from 0.
func FileName(index, of int) string {
	if of <= 1 {
		return "results.db"
	}
	return fmt.Sprintf("results-%dof%d.db", index, of)
}

// Open opens the databases results*.db of a folder for results. A folder that does not
// exist is an empty DB. The error wraps a [*Damage] or a [*FormatError], or is one of the file system or of SQLite.
func Open(dir string) (*DB, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		if ours, _ := filepath.Match("results*.db", e.Name()); ours && !e.IsDir() {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return openFiles(dir, paths)
}

// openFiles opens databases of a folder. If one cannot be opened, it closes the others.
func openFiles(dir string, paths []string) (*DB, error) {
	db := &DB{dir: dir}
	for _, path := range paths {
		if _, err := db.file(path); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}

// file returns the database of a path, which it opens if need be.
func (db *DB) file(path string) (*file, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	i := slices.IndexFunc(db.files, func(f *file) bool { return f.path == path })
	if i >= 0 {
		return db.files[i], nil
	}
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	db.files = append(db.files, f)
	slices.SortFunc(db.files, func(a, b *file) int { return cmp.Compare(a.path, b.path) })
	return f, nil
}

// all returns the databases by name.
func (db *DB) all() []*file {
	db.mu.Lock()
	defer db.mu.Unlock()
	return slices.Clone(db.files)
}

// Dir returns the folder.
func (db *DB) Dir() string { return db.dir }

// Close closes the databases.
func (db *DB) Close() error {
	var failed error
	for _, f := range db.all() {
		failed = errors.Join(failed, f.db.Close())
	}
	return failed
}

// Check has SQLite check the databases, which finds damage that queries may not meet. Reading all series also
// checks their results. Check returns a [*Damage] or an error of the file system or of SQLite.
func (db *DB) Check() error {
	return db.query("PRAGMA integrity_check(1)", nil, func(f *file, v []any) error {
		found := columnOr[string](v[0])
		if found != "ok" {
			return f.damage("%s", found)
		}
		return nil
	})
}

// query calls use with the columns of each row of each database, as file.query does.
func (db *DB) query(query string, args []any, use func(f *file, columns []any) error) error {
	for _, f := range db.all() {
		if err := f.query(query, args, func(columns []any) error { return use(f, columns) }); err != nil {
			return err
		}
	}
	return nil
}
