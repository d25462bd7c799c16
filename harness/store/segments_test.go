package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// writeSegment writes the records as one segment.
func writeSegment(t testing.TB, dir, name string, records ...Record) {
	t.Helper()
	w, err := mustOpen(t, t.TempDir()).Segments(dir, name, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Append(records...), w.Close()); err != nil {
		t.Fatal(err)
	}
}

// names lists a folder.
func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func readSegments(t testing.TB, dir, begin string) ([]Record, []Damage) {
	t.Helper()
	var all []Record
	damaged, err := ReadSegments(dir, begin, func(_ string, records []Record) error {
		all = append(all, records...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, damaged
}

func TestSegmentsAreAsDocumented(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "when needed")
	writeSegment(t, dir, "0003-a",
		Record{Row: Row{Cell: `{"track":"batch","instance":0}`, Metrics: Metrics{{"makespan_s", 12.5}}}, Took: 12250 * time.Nanosecond},
		Record{Row: Row{Cell: `{"track":"batch","instance":1}`, Kind: "infeasible", Error: "task a"}})
	// The sums are those of sha256sum.
	for name, want := range map[string]string{
		"segment-0003-a-000001.jsonl": `{"miglab":"results","format":1}
{"cell":{"track":"batch","instance":0},"metrics":{"makespan_s":12.5}}
{"cell":{"track":"batch","instance":1},"kind":"infeasible","error":"task a"}
{"rows":2,"sha256":"d132e48209b541b2eeb8b26b0a9d42eef207321c30b0d1a324efb79f28e01256"}
`,
		"timing-0003-a-000001.jsonl": `{"miglab":"timing","format":1}
{"key":"` + KeyOf([]byte(`{"track":"batch","instance":0}`)).String() + `","us":12.25}
{"rows":1,"sha256":"3d2d528f8ac6ee2ddb95b083062edd464c2873a09fbf0a1dae21455aa65c13e6"}
`,
	} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\nwant:\n%s", name, err, got, want)
		}
	}
}

func TestSegmentsAreWrittenInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := mustOpen(t, t.TempDir())
		w, err := s.Segments(dir, "a", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		segments := func(want int) {
			t.Helper()
			synctest.Wait()
			all, damaged := readSegments(t, dir, "")
			if n := len(names(t, dir)); n != 2*want || len(damaged) > 0 {
				t.Errorf("after %d rows, %d files, %v; want %d segments and their times", len(all), n, damaged, want)
			}
		}
		time.Sleep(time.Hour) // where nothing comes, nothing is written
		for i := 1; i <= 3; i++ {
			if err := w.Append(result(i, 1)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(19 * time.Second)
		}
		segments(0)
		time.Sleep(4 * time.Second)
		segments(1)
		idle, err := s.Segments(dir, "idle", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(idle.Append(result(1, 1)), idle.Close()); err != nil {
			t.Fatal(err)
		}
		segments(1) // what is known is no news
		if err := w.Append(result(4, 1), result(1, 1)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		segments(2)
		time.Sleep(time.Hour)
		segments(2)
		if all, _ := readSegments(t, dir, ""); len(all) != 4 || s.Len() != 4 {
			t.Errorf("%d rows in files and %d in memory, want 4", len(all), s.Len())
		}
		writeSegment(t, dir, "a", result(5, 1))
		if got, want := names(t, dir)[2], "segment-a-000003.jsonl"; got != want {
			t.Errorf("the next writer of the name writes %s, want %s", got, want)
		}
	})
}

func TestSegmentsAreWrittenBySize(t *testing.T) {
	dir := t.TempDir()
	w, err := mustOpen(t, t.TempDir()).Segments(dir, "a", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", segmentSize/4)
	for i := range 6 {
		if err := w.Append(failure(i, "failed", long)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := names(t, dir), []string{"segment-a-000001.jsonl"}; !slices.Equal(got, want) {
		t.Errorf("before the end there are %q, want %q", got, want)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if all, damaged := readSegments(t, dir, ""); len(all) != 6 || damaged != nil {
		t.Errorf("%d rows, %v", len(all), damaged)
	}
}

// Whatever happens to a segment, its rows are read as they were written or not at all.
func TestDamagedSegments(t *testing.T) {
	dir := t.TempDir()
	writeSegment(t, dir, "a", result(1, 10), failure(2, "failed", "no"))
	path := filepath.Join(dir, "segment-a-000001.jsonl")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		all, damaged := readSegments(t, dir, "")
		if len(all) != 0 || len(damaged) != 1 || damaged[0].Path != path || damaged[0].Reason == "" {
			t.Fatalf("%s: %d rows, damaged %v", what, len(all), damaged)
		}
	}
	for n := range whole {
		check(fmt.Sprintf("cut to %d bytes", n), whole[:n])
		flipped := slices.Clone(whole)
		flipped[n] ^= 1
		check(fmt.Sprintf("byte %d flipped", n), flipped)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	check("a line lost", []byte(lines[0]+lines[1]+lines[3]))
	check("twice", append(slices.Clone(whole), whole...))
	sealed := func(text string, rows int) []byte { return []byte(text + seal([]byte(text), rows)) }
	check("of another format", sealed("{\"miglab\":\"results\",\"format\":2}\n", 0))
	check("of something else", sealed("{\"miglab\":\"timing\",\"format\":1}\n", 0))
	check("a line that is no row", sealed(lines[0]+"{}\n", 1))

	if err := os.WriteFile(path, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	if all, damaged := readSegments(t, dir, ""); len(all) != 2 || damaged != nil {
		t.Errorf("intact: %d rows, damaged %v", len(all), damaged)
	}
}

func TestSegmentsWithoutTheirTimes(t *testing.T) {
	dir := t.TempDir()
	writeSegment(t, dir, "a", result(7, 1))
	path := filepath.Join(dir, "timing-a-000001.jsonl")
	for _, spoil := range []func() error{
		func() error { return nil },
		func() error { return os.Truncate(path, 60) },
		func() error { return os.Remove(path) },
	} {
		want := 7 * time.Microsecond
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(path); err != nil || len(data) == 60 {
			want = 0
		}
		if all, damaged := readSegments(t, dir, ""); len(all) != 1 || all[0].Took != want || damaged != nil {
			t.Errorf("got %v, damaged %v; want one row that took %v", all, damaged, want)
		}
	}
	// A time that is not known is not written.
	into := t.TempDir()
	all, _ := readSegments(t, dir, "")
	write(t, into, 0, 1, all...)
	if times, err := mustOpen(t, into).Timings(); err != nil || len(times) != 0 {
		t.Errorf("the store has times %v, %v", times, err)
	}
}

func TestOpenSegments(t *testing.T) {
	dir := t.TempDir()
	writeSegment(t, dir, "0001-a", result(1, 1), result(2, 2))
	writeSegment(t, dir, "0001-b", result(2, 2), result(3, 3))
	writeSegment(t, dir, "00010-a", result(4, 4))
	if err := os.WriteFile(filepath.Join(dir, ".tmp-1"), []byte("half a li"), 0o600); err != nil {
		t.Fatal(err)
	}
	for begin, want := range map[string]int{"": 4, "0001-": 3, "0001-b": 2, "0002-": 0} {
		s, damaged, err := OpenSegments(dir, begin)
		if err != nil || s.Len() != want || damaged != nil {
			t.Errorf("%q: %d rows, %v, %v; want %d", begin, s.Len(), damaged, err, want)
		}
	}
	if s, _, err := OpenSegments(filepath.Join(dir, "nowhere"), ""); err != nil || s.Len() != 0 {
		t.Errorf("a folder that does not exist: %v", err)
	}
	writeSegment(t, dir, "0001-c", result(5, 5), result(1, 9))
	_, _, err := OpenSegments(dir, "")
	var conflict *ConflictError
	if !errors.As(err, &conflict) || conflict.First != (Origin{"segment-0001-a-000001.jsonl", 2}) || conflict.Second != (Origin{"segment-0001-c-000001.jsonl", 3}) {
		t.Errorf("segments that disagree: %v", err)
	}
}

func TestSegmentsConflict(t *testing.T) {
	dir := t.TempDir()
	w, err := mustOpen(t, t.TempDir()).Segments(dir, "a", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	var conflict *ConflictError
	if err := w.Append(result(1, 1), result(1, 2), result(2, 2)); !errors.As(err, &conflict) {
		t.Errorf("rows that disagree: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if all, _ := readSegments(t, dir, ""); len(all) != 1 {
		t.Errorf("%d rows, want the one before the conflict", len(all))
	}
}

func TestSegmentsThatCannotBeWritten(t *testing.T) {
	for what, record := range map[string]Record{"times": result(1, 1), "results": failure(1, "failed", "no")} {
		synctest.Test(t, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "file")
			w, err := mustOpen(t, t.TempDir()).Segments(dir, "a", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dir, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := w.Append(record); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			first := w.Append(result(2, 2))
			if first == nil || !strings.Contains(first.Error(), dir) {
				t.Errorf("after %s could not be written: %v", what, first)
			}
			if err := w.Close(); err != first {
				t.Errorf("at the end: %v, want the same error", err)
			}
		})
	}
}
