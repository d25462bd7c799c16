package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	lib "modernc.org/sqlite/lib"
)

// child names the folder in which a process that a test starts works.
const child = "MIGLAB_TEST_STORE_CHILD"

// start starts this test's process again, to work in a folder.
func start(t *testing.T, dir string) (*exec.Cmd, io.Reader) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	c.Env = append(os.Environ(), child+"="+dir)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return c, out
}

// commit commits what was appended and reports how far that is.
func (w *Writer) commit(t *testing.T, last int) {
	w.mu.Lock()
	w.flush()
	err := w.failed
	w.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("committed", last)
}

// TestKill kills a process that writes at random moments. What it said that it has committed is
// there, and nothing else than a beginning of what it appended.
func TestKill(t *testing.T) {
	if dir := os.Getenv(child); dir != "" { // the process to be killed
		db := mustOpen(t, dir)
		done, err := finished(db)
		if err != nil {
			t.Fatal(err)
		}
		for i := len(done); ; {
			w, err := db.Writer(filepath.Join(dir, "results.db"))
			if err != nil {
				t.Fatal(err)
			}
			w.wait = time.Millisecond
			for range 300 { // then the database is closed, which may be interrupted, too
				if err := appendAll(w, result(i, float64(i))); err != nil {
					t.Fatal(err)
				}
				if i++; i%20 == 0 {
					w.commit(t, i-1)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	kills := 30
	if testing.Short() {
		kills = 5
	}
	dir := memory(t)
	total := 0
	for k := range kills {
		c, out := start(t, dir)
		lines := bufio.NewScanner(out)
		committed := -1
		read := func() bool {
			more := lines.Scan()
			if n := 0; more {
				if _, err := fmt.Sscanf(lines.Text(), "committed %d", &n); err == nil {
					committed = n
				}
			}
			return more
		}
		read()
		time.AfterFunc(time.Duration(rand.IntN(30_000))*time.Microsecond, func() { c.Process.Kill() })
		for read() {
		}
		if err := c.Wait(); err == nil {
			t.Fatal("the process ended by itself")
		}
		db := mustOpen(t, dir)
		rows := rowsOf(t, db, far)
		for i, r := range rows {
			if r.Instance != i || r.Metrics != result(i, float64(i)).Metrics {
				t.Fatalf("row %d is %v", i, r)
			}
		}
		if len(rows) <= committed || len(rows) < total {
			t.Fatalf("%d rows; %d were committed, and %d were there before", len(rows), committed+1, total)
		}
		total = len(rows)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		// An empty journal may be left. The next commit removes it.
		write(t, dir, "results.db", record{bound, Row{Instance: k, Kind: "failed", Error: "x"}})
		if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 1 {
			t.Fatalf("closed, the folder has %q, %v", left, err)
		}
	}
	if total < kills {
		t.Errorf("only %d rows in all", total)
	}
}

// Two processes write to one database at the same time, some results both, while a third one reads.
func TestTwoProcesses(t *testing.T) {
	const n = 3000
	if dir := os.Getenv(child); dir != "" {
		dir, part, _ := strings.Cut(dir, "|")
		db := mustOpen(t, dir)
		w, err := db.Writer(filepath.Join(dir, "results.db"))
		if err != nil {
			t.Fatal(err)
		}
		w.wait = time.Millisecond
		for i := range n {
			if fmt.Sprint(i%2) == part || i%10 == 0 {
				if err := appendAll(w, result(i, float64(i))); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := errors.Join(w.Close(), db.Close()); err != nil {
			t.Fatal(err)
		}
		return
	}
	dir := t.TempDir()
	var both []*exec.Cmd
	for part := range 2 {
		c, out := start(t, fmt.Sprint(dir, "|", part))
		go io.Copy(io.Discard, out)
		both = append(both, c)
	}
	for i := range 20 {
		db := mustOpen(t, dir)
		rowsOf(t, db, far)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i) * time.Millisecond)
	}
	for _, c := range both {
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	alone := t.TempDir()
	var all []record
	for i := range n {
		all = append(all, result(i, float64(i)))
	}
	write(t, alone, "results.db", all...)
	if dumpOf(t, dir) != dumpOf(t, alone) {
		t.Error("other bytes than from one process")
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 1 {
		t.Errorf("there are %q, %v", left, err)
	}
}

// fillDisk appends until an error, which must be that the disk is full, and checks that what was
// committed before is there.
func fillDisk(t *testing.T, db *DB, w *Writer) {
	t.Helper()
	w.wait = time.Hour
	committed := 0
	for i := 0; ; i++ {
		err := appendAll(w, failure(i, "failed", strings.Repeat("x", 1000)))
		if i%50 == 49 {
			w.mu.Lock()
			w.flush()
			err = w.failed
			w.mu.Unlock()
		}
		if err == nil {
			if i%50 == 49 {
				committed = i + 1
			}
			if i > 100_000 {
				t.Fatal("the disk does not fill")
			}
			continue
		}
		if !strings.Contains(err.Error(), "the disk is full, and what was committed before is kept: free some space and run the same command again") ||
			!strings.Contains(err.Error(), w.file.path) {
			t.Fatalf("with a full disk: %v", err)
		}
		if closed := w.Close(); closed == nil || closed.Error() != err.Error() {
			t.Errorf("closed with %v, want %v", closed, err)
		}
		break
	}
	if rows := rowsOf(t, db, far); len(rows) != committed || committed == 0 {
		t.Errorf("%d rows, and %d were committed", len(rows), committed)
	}
}

func TestDatabaseIsFull(t *testing.T) {
	db := mustOpen(t, t.TempDir())
	w, err := db.Writer(filepath.Join(db.Dir(), "results.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.file.db.Exec("PRAGMA max_page_count=100"); err != nil {
		t.Fatal(err)
	}
	fillDisk(t, db, w)
}

// damage overwrites the page at which a table or its index begins.
func damage(t *testing.T, path, table string) {
	t.Helper()
	f, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var page, size int64
	if err := errors.Join(f.db.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = ?", table).Scan(&page), f.db.QueryRow("PRAGMA page_size").Scan(&size), f.db.Close()); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt(bytes.Repeat([]byte{0x5a}, int(size)), (page-1)*size); err != nil {
		t.Fatal(err)
	}
}

// A damaged database is named with what to do, and others are not affected.
func TestDamagedDatabase(t *testing.T) {
	page := func(table string) func(string) { return func(path string) { damage(t, path, table) } }
	sql := func(statement string) func(string) { return func(path string) { change(t, path, statement) } }
	bytesOf := func(edit func([]byte) []byte) func(string) {
		return func(path string) {
			data, err := os.ReadFile(path)
			if err := errors.Join(err, os.WriteFile(path, edit(data), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	replace := func(old, new string) func(string) {
		return bytesOf(func(data []byte) []byte { return bytes.ReplaceAll(data, []byte(old), []byte(new)) })
	}
	for name, spoil := range map[string]func(path string){
		"cells":           page("cell"),
		"series":          page("series"),
		"names":           page("names"),
		"short":           bytesOf(func(data []byte) []byte { return data[:9000] }),
		"other":           bytesOf(func([]byte) []byte { return bytes.Repeat([]byte("not a database\n"), 100) }),
		"digit":           replace(`[2,3]`, `[2,4]`),
		"name":            replace(`"moves"`, `"moved"`),
		"dataset":         replace("WIDETIMES", "WIDETIMER"),
		"kind":            sql("UPDATE cell SET kind = 'timeout', error = '1s' WHERE instance = 1"),
		"wall time":       sql("UPDATE cell SET nanoseconds = 2 WHERE instance = 1"),
		"another cell":    sql("UPDATE cell SET instance = 3 WHERE instance = 2"),
		"missing cell":    sql("DELETE FROM cell WHERE instance = 1"),
		"order of series": sql("UPDATE series SET written = written + 1"),
		"missing series":  sql("DELETE FROM series"),
		"missing names":   sql("DELETE FROM names"),
		"missing state":   sql("DELETE FROM state"),
	} {
		dir := t.TempDir()
		write(t, dir, "results-0of2.db", result(0, 1))
		want := dumpOf(t, dir)
		path := filepath.Join(dir, "results-1of2.db")
		write(t, dir, filepath.Base(path), result(1, 2), result(2, 3))
		spoil(path)
		db, err := Open(dir)
		if err == nil {
			_, err = dump(db, false)
			_, part := db.Rows(far, 1, 2)
			if d := (*Damage)(nil); err == nil || !errors.As(part, &d) && name != "missing series" {
				t.Errorf("%s: all: %v; a part: %v", name, err, part)
			}
			db.Close()
		}
		var d *Damage
		if !errors.As(err, &d) || d.File != path || !strings.Contains(err.Error(), path+" is damaged (") || !strings.Contains(err.Error(), "move it out of the folder, and its results will be computed again") {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Rename(path, filepath.Join(t.TempDir(), "away")); err != nil {
			t.Fatal(err)
		}
		if got := dumpOf(t, dir); got != want {
			t.Errorf("%s: without it\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestWhatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(dir, "file")); err == nil {
		t.Error("opened a file as a folder")
	}
	write(t, dir, "results.db", result(0, 1))
	f, err := openFile(filepath.Join(dir, "results.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.db.Exec("PRAGMA user_version=9"); err != nil {
		t.Fatal(err)
	}
	f.db.Close()
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "results.db has format 9 and this program reads format 6; use the program that wrote it") {
		t.Errorf("another format: %v", err)
	}
	// A process that is killed at its very beginning leaves an empty file.
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "results.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err := mustOpen(t, dir).Series(Filter{}); err != nil || all != nil {
		t.Errorf("an empty file has %v, %v", all, err)
	}
	write(t, dir, "results.db", result(0, 1))
	if rows := rowsOf(t, mustOpen(t, dir), far); len(rows) != 1 {
		t.Errorf("rows %v", rows)
	}
}

// The codes are those of SQLite's header.
func TestCodes(t *testing.T) {
	got := []int{permCode, busyCode, lockedCode, noMemoryCode, readOnlyCode, interruptCode, ioCode, fullCode, cantOpenCode, protocolCode}
	want := []int{
		lib.SQLITE_PERM, lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_NOMEM, lib.SQLITE_READONLY, lib.SQLITE_INTERRUPT,
		lib.SQLITE_IOERR, lib.SQLITE_FULL, lib.SQLITE_CANTOPEN, lib.SQLITE_PROTOCOL,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d, want %d", got, want)
	}
}
