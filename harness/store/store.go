package store

import (
	"iter"
	"path/filepath"
	"sync"
)

// A Store holds the rows of a folder in memory. It is safe for concurrent use.
type Store struct {
	dir string

	mu sync.RWMutex
	// files are the names that entries refer to.
	files   []string
	entries []entry
	index   map[Key]int32
}

// entry is a row with its origin.
type entry struct {
	Row
	file, line int32
}

// Open loads a store; a folder that does not exist is an empty one, and is made by
// the first writer. Later changes that other processes make are not seen. Errors
// are [*LineError], [*FormatError], [*ConflictError] and those of the file system.
func Open(dir string) (*Store, error) {
	paths, err := results.shards(dir)
	if err != nil {
		return nil, err
	}
	blocks, err := read(results, paths, func() func(string) (keyed, error) {
		p := newRowParser()
		return func(line string) (keyed, error) {
			r, err := p.parse(line)
			return keyed{r.Key(), r}, err
		}
	})
	if err != nil {
		return nil, err
	}
	n := 0
	for _, b := range blocks {
		n += len(b.rows)
	}
	s := &Store{dir: dir, entries: make([]entry, 0, n), index: make(map[Key]int32, n)}
	for _, b := range blocks {
		file := s.file(b.path)
		for i := range b.rows {
			if _, err := s.merge(b.rows[i].key, entry{b.rows[i].row, file, int32(b.line + i)}); err != nil {
				return nil, err
			}
		}
		b.rows = nil // lets the collector have it
	}
	return s, nil
}

type keyed struct {
	key Key
	row Row
}

// Dir returns the store's folder.
func (s *Store) Dir() string { return s.dir }

// Len returns the number of cells with a row.
func (s *Store) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.entries)
}

// Get returns the row of a cell and whether there is one.
func (s *Store) Get(k Key) (Row, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	i, ok := s.index[k]
	if !ok {
		return Row{}, false
	}
	return s.entries[i].Row, true
}

// file returns the number of a file name; the last one used comes first to mind.
func (s *Store) file(path string) int32 {
	name := filepath.Base(path)
	for i := len(s.files) - 1; i >= 0; i-- {
		if s.files[i] == name {
			return int32(i)
		}
	}
	s.files = append(s.files, name)
	return int32(len(s.files) - 1)
}

// merge adds a row and reports whether it is news.
func (s *Store) merge(k Key, e entry) (bool, error) {
	i, ok := s.index[k]
	if !ok {
		s.index[k] = int32(len(s.entries))
		s.entries = append(s.entries, e)
		return true, nil
	}
	have := &s.entries[i]
	switch {
	case e.Kind == KindTimeout || have.same(&e.Row):
		return false, nil
	case have.Kind == KindTimeout:
		*have = e
		return true, nil
	}
	return false, &ConflictError{
		Cell:  e.Cell,
		First: Origin{s.files[have.file], int(have.line)}, FirstOutcome: have.outcome(),
		Second: Origin{s.files[e.file], int(e.line)}, SecondOutcome: e.outcome(),
	}
}

// Rows yields all rows in the order in which they were loaded or appended. The
// store must not be appended to meanwhile.
func (s *Store) Rows() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for i := range s.entries {
			if !yield(s.entries[i].Row) {
				return
			}
		}
	}
}
