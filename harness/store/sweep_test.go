package store

import (
	"errors"
	"path/filepath"
	"testing"
)

func TestStoreInAFolderWithBrackets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "n=[1]*?")
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Writer(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	row := Row{Cell: `{"a":1}`, Metrics: Metrics{{"x", 1}}}
	if err := errors.Join(w.Append(Record{Row: row}), w.Close()); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(dir); err != nil || s.Len() != 1 {
		t.Errorf("opened again it has %d rows, %v", s.Len(), err)
	}
}
