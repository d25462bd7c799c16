package work

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"miglab/harness/store"
)

// open opens a folder's log.
func open(t *testing.T, dir string) *Log {
	t.Helper()
	db, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return NewLog(db, "")
}

// A journal notes what is done, in order.
type journal struct {
	mu   sync.Mutex
	done []string
}

func (j *journal) unit(key string) Unit {
	return Unit{Key: key, Digest: "1", Do: func(context.Context) (any, error) {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.done = append(j.done, key)
		return map[string]string{"of": key}, nil
	}}
}

func (j *journal) units() (out []Unit) {
	for i := range 9 {
		out = append(out, j.unit(fmt.Sprint("unit ", i)))
	}
	return append(out, j.unit("vacant"), j.unit("void"))
}

// Every unit is done once, by whatever number of workers, and by one in their order.
func TestUnitsAreDoneOnce(t *testing.T) {
	for _, workers := range []int{0, 1, 3} {
		dir := t.TempDir()
		for call := range 2 {
			var j journal
			var told [][2]int
			r := Runner{Log: open(t, dir), Workers: workers, Progress: func(done, total int) { told = append(told, [2]int{done, total}) }}
			records, err := r.Run(t.Context(), j.units())
			if err != nil {
				t.Fatal(err)
			}
			for i, u := range j.units() {
				if want := fmt.Sprintf(`{"of":%q}`, u.Key); string(records[i]) != want {
					t.Errorf("the record of %s is %s, want %s", u.Key, records[i], want)
				}
			}
			if first, last := told[0], told[len(told)-1]; first != [2]int{0, 11} || last != [2]int{11, 11} {
				t.Errorf("progress from %v to %v", first, last)
			}
			if call == 1 && len(j.done) > 0 {
				t.Errorf("done again: %q", j.done)
			}
			if call == 0 && (len(j.done) != 11 || workers == 1 && !slices.IsSorted(j.done)) {
				t.Errorf("done: %q", j.done)
			}
		}
	}
}

// A record of other inputs, or one that no longer holds, is void, and the next one takes its place.
func TestVoidRecords(t *testing.T) {
	dir := t.TempDir()
	run := func(change func(*Unit)) (n int) {
		u := Unit{Key: "a", Digest: "1", Do: func(context.Context) (any, error) { n++; return n, nil }}
		change(&u)
		if _, err := (&Runner{Log: open(t, dir)}).Run(t.Context(), []Unit{u}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	same := func(*Unit) {}
	for i, step := range []struct {
		change func(*Unit)
		want   int
	}{
		{same, 1},
		{same, 0},
		{func(u *Unit) { u.Digest = "2" }, 1},
		{func(u *Unit) { u.Digest = "2" }, 0},
		{same, 1},
		{func(u *Unit) { u.Holds = func(raw json.RawMessage) bool { return string(raw) != "1" } }, 1},
		{func(u *Unit) { u.Holds = func(raw json.RawMessage) bool { return string(raw) == "1" } }, 0},
		{func(u *Unit) { u.Key = "ab" }, 1}, // a key that begins as another does
		{same, 0},
	} {
		if n := run(step.change); n != step.want {
			t.Errorf("step %d: done %d times, want %d", i, n, step.want)
		}
	}
}

// What was done before a unit failed is kept, and nothing is begun after it.
func TestFailuresAreNotKept(t *testing.T) {
	dir := t.TempDir()
	var j journal
	units := j.units()[:5:5]
	broken := errors.New("broken")
	units[2].Do = func(context.Context) (any, error) { return nil, broken }
	r := Runner{Log: open(t, dir), Workers: 1}
	if _, err := r.Run(t.Context(), units); !errors.Is(err, broken) || !slices.Equal(j.done, []string{"unit 0", "unit 1"}) {
		t.Errorf("%v after %q", err, j.done)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Run(ctx, j.units()); !errors.Is(err, context.Canceled) || len(j.done) != 2 {
		t.Errorf("%v after %q", err, j.done)
	}
	if _, err := r.Run(t.Context(), j.units()[:5]); err != nil || len(j.done) != 5 {
		t.Errorf("%v after %q", err, j.done)
	}
}

// A nil record is of a unit that failed: it is not kept, the others go on, and the next call tries it again.
func TestFailedUnitsAreTriedAgain(t *testing.T) {
	dir := t.TempDir()
	for _, want := range []string{"unit 0 unit 4", "unit 0 unit 2 unit 4", "unit 0 unit 2 unit 4"} {
		var j journal
		units := j.units()[:5:5]
		units = []Unit{units[0], units[2], units[4]}
		tries := 0
		if want == "unit 0 unit 4" {
			units[1].Do = func(context.Context) (any, error) { tries++; return nil, nil }
		}
		log := open(t, dir)
		records, err := (&Runner{Log: log}).Run(t.Context(), units)
		if err != nil || (records[1] == nil) != (tries == 1) || records[2] == nil {
			t.Errorf("%q, %v", records, err)
		}
		all, err := log.All("unit ")
		if err != nil || strings.Count(want, "unit") != len(all) {
			t.Errorf("%q are kept, want %s; %v", all, want, err)
		}
		for _, raw := range all {
			if of := string(raw[7:13]); !strings.Contains(want, of) {
				t.Errorf("the record of %s is kept, want %s", of, want)
			}
		}
	}
}

// A record that is damaged is an error that names the file, and never another record.
func TestDamagedRecord(t *testing.T) {
	dir := t.TempDir()
	var j journal
	if _, err := (&Runner{Log: open(t, dir)}).Run(t.Context(), j.units()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "results.db")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw = bytes.Replace(raw, []byte(`{"of":"unit 3"}`), []byte(`{"of":"unit 4"}`), 1)
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	var damage *store.Damage
	if _, err := open(t, dir).Find(&Unit{Key: "unit 3", Digest: "1"}); !errors.As(err, &damage) || damage.File != path {
		t.Errorf("%v", err)
	}
}
