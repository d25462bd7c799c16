package store

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A disk that is full, with room again later.
func TestDiskIsFull(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("a small file system cannot be mounted here:", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	reserve := filepath.Join(dir, "reserve")
	if err := os.WriteFile(reserve, make([]byte, 500_000), 0o600); err != nil {
		t.Fatal(err)
	}
	db := mustOpen(t, dir)
	w, err := db.Writer(filepath.Join(dir, "results.db"))
	if err != nil {
		t.Fatal(err)
	}
	fillDisk(t, db, w)
	before := len(rowsOf(t, db, far))
	_ = db.Close() // says again that the disk is full
	if err := os.Remove(reserve); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "results.db", failure(1_000_000, "failed", "x"))
	if rows := rowsOf(t, mustOpen(t, dir), far); len(rows) != before+1 {
		t.Errorf("%d rows with room again, want %d", len(rows), before+1)
	}
}

// unprivileged runs a function as a user without any rights to root's files, if this is root.
func unprivileged(do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		const nobody = 65534
		if os.Geteuid() == 0 {
			_ = unix.Setfsuid(nobody)
		}
		do()
	}()
	<-done
}

func TestReadOnlyFolder(t *testing.T) {
	dir, killed := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "results.db")
	write(t, dir, "results.db", result(0, 1), result(1, 2))
	want := dumpOf(t, dir)
	f, err := mustOpen(t, dir).file(path)
	if err != nil {
		t.Fatal(err)
	}
	// What a process leaves that is killed while it writes; with so small a cache it does before it commits.
	_, err = f.db.Exec("PRAGMA cache_size = 1; BEGIN; UPDATE cell SET error = hex(zeroblob(1000000))")
	for _, name := range []string{"results.db", "results.db-journal"} {
		data, e := os.ReadFile(filepath.Join(dir, name))
		err = errors.Join(err, e, os.WriteFile(filepath.Join(killed, name), data, 0o444))
	}
	_, e := f.db.Exec("ROLLBACK")
	if err := errors.Join(err, e, os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(path, 0o444), os.Chmod(dir, 0o555), os.Chmod(killed, 0o555)); err != nil {
		t.Fatal(err)
	}
	unprivileged(func() {
		if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err == nil {
			t.Error("the folder can be written to")
		}
		if got := dumpOf(t, dir); got != want {
			t.Errorf("it has\n%s\nwant\n%s", got, want)
		}
		db := mustOpen(t, dir)
		w, err := db.Writer(path)
		if err == nil {
			err = errors.Join(appendAll(w, result(2, 3)), w.Close())
		}
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "check that the folder can be written to") {
			t.Errorf("writing: %v", err)
		}
		if db, err = Open(killed); err == nil {
			_, err = dump(db, false)
		}
		if err == nil || !strings.Contains(err.Error(), filepath.Join(killed, "results.db")) || !strings.Contains(err.Error(), "copy the folder to where you can write") {
			t.Errorf("with a journal: %v", err)
		}
	})
	if err := os.Chmod(killed, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := dumpOf(t, killed); got != want {
		t.Errorf("where the journal can be undone, it has\n%s\nwant\n%s", got, want)
	}
}
