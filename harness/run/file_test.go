package run

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestResultsGoToTheFileThatIsNamed(t *testing.T) {
	dir := t.TempDir()
	st := open(t, dir)
	cells := settled(t, 4)
	path := filepath.Join(dir, "new", "results-a.db")
	mustRun(t, Engine{Store: st, File: path}, cells...)
	if n := count(t, open(t, filepath.Dir(path))); n != size(cells) || count(t, st) != size(cells) {
		t.Errorf("%d rows in the file, want %d", n, size(cells))
	}
	if n := count(t, open(t, dir)); n != 0 {
		t.Errorf("%d rows in the folder itself", n)
	}
	// What is there is not computed again.
	before := calls.Load()
	mustRun(t, Engine{Store: open(t, filepath.Dir(path)), File: path}, cells...)
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
	if err := e.Run(context.Background(), []Span{cellsOf(t, series("test-fifo"), 1)}); err == nil {
		t.Error("results went nowhere")
	}
}

func TestFailures(t *testing.T) {
	cells := everything(t, 3)
	e := Engine{Store: open(t, t.TempDir())}
	mustRun(t, e, cells...)
	got, err := e.Failures(cells)
	if err != nil {
		t.Fatal(err)
	}
	var counts []string
	for _, f := range got {
		counts = append(counts, fmt.Sprint(f.Kind, " ", f.Cells))
		row := get(t, e.Store, cells[slices.IndexFunc(cells, func(s Span) bool { return strings.HasPrefix(f.Errors[0], s.Series.String()+", instance 0: ") })], 0)
		if row.Kind != f.Kind || !strings.HasSuffix(f.Errors[0], ": "+row.Error) || len(f.Errors) > 3 {
			t.Errorf("errors %q of kind %s; the first row %+v", f.Errors, f.Kind, row)
		}
	}
	if want := []string{"failed 3", "infeasible 3", "invalid 9", "panic 3"}; !slices.Equal(counts, want) {
		t.Errorf("%q, want %q", counts, want)
	}
}
