package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"miglab/harness/store"
)

func TestResultsGoToTheFileThatIsNamed(t *testing.T) {
	dir := t.TempDir()
	st := open(t, dir)
	cells := everything(t, 4)
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
	e := Engine{Store: open(t, t.TempDir()), Timeout: time.Hour}
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

// A database that is damaged in the middle is named. Moved away, its cells are computed again, and
// the table is that of an undisturbed run; those of other databases stay.
func TestDamagedShard(t *testing.T) {
	dir := t.TempDir()
	cells := everything(t, 12)
	for i := range 2 {
		st := open(t, dir)
		mustRun(t, Engine{Store: st, Shard: Shard{i, 2}}, cells...)
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want := export(t, dir)
	path := filepath.Join(dir, "results-1of2.db")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(data) / 4; i < 3*len(data)/4; i++ {
		data[i] ^= 0x5a
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(dir)
	if err == nil {
		err = st.Export(io.Discard, store.Filter{}, "csv", false, nil)
		st.Close()
	}
	var damage *store.Damage
	if !errors.As(err, &damage) || damage.File != path {
		t.Fatalf("damaged in the middle: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	kept := count(t, open(t, dir))
	before := calls.Load()
	mustRun(t, Engine{Store: open(t, dir), Workers: 8}, cells...)
	if n := int(calls.Load() - before); kept == 0 || n != size(cells)-kept {
		t.Errorf("%d cells computed again, with %d of %d kept", n, kept, size(cells))
	}
	if export(t, dir) != want {
		t.Error("other bytes than undisturbed")
	}
}
