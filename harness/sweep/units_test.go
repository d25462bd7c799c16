package sweep

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"
)

func TestUnits(t *testing.T) {
	units := []string{"a 1", "a 2", "b 1", "b 2", "c 1"} // a 1, b 1 and c 1 are of task 0
	p := New([]string{"train"}, "", "", nil, units, 2)
	folder := t.TempDir()
	var did []string
	do := func(_ context.Context, unit string) error {
		did = append(did, unit)
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := WorkUnits(ctx, folder, p, 0, "x", func(_ context.Context, unit string) error {
		cancel()
		return do(ctx, unit)
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled after the first: %v", err)
	}
	broken := errors.New("broken")
	if err := WorkUnits(t.Context(), folder, p, 1, "x", func(context.Context, string) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("a unit that fails: %v", err)
	}
	s, err := ReadStatus(folder, p, nil, time.Now())
	if err != nil || s.Cells != 5 || s.Done != 1 || s.Missing != 4 || !slices.Equal(s.Unfinished(), []int{0, 1}) {
		t.Errorf("%+v, %v", s, err)
	}
	if s.Tasks[0].Attempts[0].State != Stopped || s.Tasks[1].Attempts[0].State != Failed || s.Tasks[1].Attempts[0].Error != "broken" {
		t.Errorf("attempts %+v and %+v", s.Tasks[0].Attempts, s.Tasks[1].Attempts)
	}
	for task := range p.Tasks {
		if err := WorkUnits(t.Context(), folder, p, task, "y", do); err != nil {
			t.Fatal(err)
		}
	}
	if slices.Sort(did); !slices.Equal(did, units) {
		t.Errorf("did %q, want each once", did)
	}
	if s, err := ReadStatus(folder, p, nil, time.Now()); err != nil || s.Missing != 0 || s.Tasks[0].Attempts[1].Done != s.Tasks[0].Total {
		t.Errorf("%+v, %v", s, err)
	}
	path := databaseFiles(t, folder)[0]
	if err := os.Truncate(path, 10_000); err != nil {
		t.Fatal(err)
	}
	if s, err := ReadStatus(folder, p, nil, time.Now()); err != nil || s.Missing != 1 || len(s.Damaged) != 1 || s.Damaged[0].File != path {
		t.Errorf("with a damaged database: %+v, %v", s, err)
	}
}
