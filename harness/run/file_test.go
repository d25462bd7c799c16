package run

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestResultsGoToTheFileThatIsNamed(t *testing.T) {
	dir := t.TempDir()
	st := open(t, dir)
	cells := everything(t, 4)
	path := filepath.Join(dir, "new", "results-a.db")
	mustRun(t, Engine{Store: st, File: path}, cells)
	if n := count(t, open(t, filepath.Dir(path))); n != len(cells) || count(t, st) != len(cells) {
		t.Errorf("%d rows in the file, want %d", n, len(cells))
	}
	if n := count(t, open(t, dir)); n != 0 {
		t.Errorf("%d rows in the folder itself", n)
	}
	// What is there is not computed again.
	before := calls.Load()
	mustRun(t, Engine{Store: open(t, filepath.Dir(path)), File: path}, cells)
	if n := calls.Load() - before; n != 0 {
		t.Errorf("%d cells computed again", n)
	}
}

func TestFolderThatCannotBeMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := Engine{Store: open(t, t.TempDir()), File: filepath.Join(path, "results.db")}
	if _, err := e.Run(context.Background(), cellsOf(t, series("test-fifo"), 1)); err == nil {
		t.Error("results went nowhere")
	}
}

func TestFailures(t *testing.T) {
	cells := everything(t, 3)
	r := mustRun(t, Engine{Store: open(t, t.TempDir()), Timeout: time.Hour}, cells)
	got, err := r.Failures(cells)
	if err != nil || got[KindPanic] != 3 || got[KindInvalid] != 9 || got[KindInfeasible] != 3 || got[KindFailed] != 3 || len(got) != 4 {
		t.Errorf("%v, %v", got, err)
	}
}
