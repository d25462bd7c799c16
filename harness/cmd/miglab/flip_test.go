package main

import (
	"bytes"
	"database/sql"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"miglab/harness/deep"
)

// A flipped bit in the results changes the output of no command that reads them, unless the command
// fails with an error that names the file and says what to do.
func TestFlippedBitsInResults(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "results.db")
	if _, err := inProcess(t, "run", "--algorithms", "far,miso,nomig", "--datasets", "WIDETIMES", "--instances", "12", "--results", dir); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	_, err = db.Exec("PRAGMA page_size=512; VACUUM") // so that little of the file is empty
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	intact, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	commands := [][]string{
		{"export", "--timing"},
		{"leaderboard", "--format", "csv"},
		{"compare", "far", "miso", "--format", "csv"},
		{"audit"},
		{"verify", "--instances", "1", "--seed", "1"},
	}
	want := make([]string, len(commands))
	for i, c := range commands {
		if want[i], err = inProcess(t, append(c, "--results", dir)...); err != nil || want[i] == "" {
			t.Fatalf("%q: %q, %v", c, want[i], err)
		}
	}
	r, refused := rand.New(rand.NewPCG(3, 4)), 0
	for n := range deep.N(3*len(commands), 300) {
		at, bit, c := r.IntN(len(intact)), r.IntN(8), n%len(commands)
		flipped := bytes.Clone(intact)
		flipped[at] ^= 1 << bit
		write(t, path, string(flipped))
		got, err := inProcess(t, append(commands[c], "--results", dir)...)
		switch {
		case err == nil && got != want[c]:
			t.Errorf("byte %d, bit %d: %q prints other things without an error:\n%s", at, bit, commands[c], got)
		case err == nil:
		case !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "move it out of the folder") && !strings.Contains(err.Error(), "use the program that wrote it"):
			t.Errorf("byte %d, bit %d: %q: %v; want an error that names %s and says what to do", at, bit, commands[c], err, path)
		default:
			refused++
		}
	}
	if refused == 0 {
		t.Error("no flip was noticed")
	}
}
