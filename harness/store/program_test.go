package store

import (
	"errors"
	"maps"
	"path/filepath"
	"testing"
)

// The names of programs are kept beside results, the last one counts, and merging takes them along.
// A database without names, as older programs write it, has none.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, FileName(0, 2), result(0, 10))
	db := mustOpen(t, dir)
	defer db.Close()
	if names, err := db.Names(); err != nil || len(names) != 0 {
		t.Fatalf("a database without names: %v, %v", names, err)
	}
	second, err := db.Writer(filepath.Join(dir, FileName(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	program := Program{Track: "batch", Algorithm: "exec:./mine", Version: 3, Weights: "0123"}
	other := program
	other.Track = "stream"
	if err := errors.Join(second.Name(program, "first"), second.Name(other, "like\x00water"), second.Name(program, "earliest")); err != nil {
		t.Fatal(err)
	}
	want := map[Program]string{program: "earliest", other: "like\uFFFDwater"}
	if names, err := db.Names(); err != nil || !maps.Equal(names, want) {
		t.Errorf("names %v, %v; want %v", names, err, want)
	}
}
