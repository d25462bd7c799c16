package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"

	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/work"
)

func TestUnits(t *testing.T) {
	names := []string{"a 1", "a 2", "b 1", "b 2", "c 1"} // a 1, b 1 and c 1 are of task 0
	var did []string
	do := func(unit string) error {
		did = append(did, unit)
		return nil
	}
	units := func(do func(unit string) error) (j Job) {
		for _, name := range names {
			j.Units = append(j.Units, work.Unit{Key: name, Holds: func(json.RawMessage) bool { return false }, Do: func(context.Context) (any, error) { return name, do(name) }})
		}
		return j
	}
	j := units(do)
	p := New([]string{"train"}, "", "", j, 2)
	folder := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	stopped := units(func(unit string) error {
		cancel()
		return do(unit)
	})
	if err := Work(ctx, folder, p, 0, "x", stopped, run.Engine{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled after the first: %v", err)
	}
	broken := errors.New("broken")
	failing := units(func(string) error { return broken })
	if err := Work(t.Context(), folder, p, 1, "x", failing, run.Engine{}); !errors.Is(err, broken) {
		t.Errorf("a unit that fails: %v", err)
	}
	s, err := ReadStatus(folder, p, j)
	if err != nil || s.Total != 5 || s.Done != 1 || !slices.Equal(s.Unfinished, []int{0, 1}) {
		t.Errorf("%+v, %v", s, err)
	}
	for task := range p.Tasks {
		if err := Work(t.Context(), folder, p, task, "y", j, run.Engine{}); err != nil {
			t.Fatal(err)
		}
	}
	if slices.Sort(did); !slices.Equal(did, names) {
		t.Errorf("did %q, want each once", did)
	}
	into, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer into.Close()
	if s, err := Merge(folder, p, j, into); err != nil || s.Unfinished != nil {
		t.Errorf("%+v, %v", s, err)
	}
	if all, err := into.Units(""); err != nil || len(all) != len(names) {
		t.Errorf("merged units %+v, %v", all, err)
	}
	path := databaseFiles(t, folder)[0]
	if err := os.Truncate(path, 10_000); err != nil {
		t.Fatal(err)
	}
	if s, err := ReadStatus(folder, p, j); err != nil || s.Done != 4 || len(s.Damaged) != 1 || s.Damaged[0].File != path {
		t.Errorf("with a damaged database: %+v, %v", s, err)
	}
}
