package store

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// far and bound are two series.
var (
	far = Series{
		Track: "batch", Dataset: "drl/WIDETIMES?n=1&seed=2", Content: "c0ffee", GPU: "A100", Count: 1,
		Algorithm: "far", Version: 2, Model: "sequential",
	}
	bound = Series{
		Track: "bound", Dataset: "drl/WIDETIMES?n=1&seed=2", Content: "c0ffee", GPU: "A100", Count: 1,
		Algorithm: "certified", Version: 1, Weights: "w", Model: "sequential",
	}
)

// result is a row of far with a makespan.
func result(instance int, makespan float64) Record {
	return Record{Series: far, Took: time.Microsecond, Row: Row{Instance: instance, Metrics: Metrics{{"makespan_s", makespan}, {"moves", 3}}}}
}

func failure(instance int, kind, text string) Record {
	return Record{Series: far, Row: Row{Instance: instance, Kind: kind, Error: text}}
}

func mustOpen(t testing.TB, dir string) *DB {
	t.Helper()
	db, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// write appends records to a database of a folder as a process of its own would.
func write(t testing.TB, dir, name string, records ...Record) {
	t.Helper()
	db, err := Open(filepath.Join(dir, "none"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := db.Writer(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Append(records...), w.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// dump is all that a database has as text, with the wall times if timing is set.
func dump(db *DB, timing bool) (string, error) {
	var out strings.Builder
	all, err := db.Series(Filter{})
	for _, s := range all {
		for r, err := range db.Rows(s) {
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&out, "%+v instance %d: %s\n", s, r.Instance, r.outcome())
		}
		if timing {
			points, err := db.Column(s, "")
			if err != nil {
				return "", err
			}
			fmt.Fprintln(&out, points)
		}
	}
	return out.String(), err
}

func dumped(t testing.TB, db *DB, timing bool) string {
	t.Helper()
	out, err := dump(db, timing)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// dumpOf is what the databases of a folder have.
func dumpOf(t testing.TB, dir string) string {
	t.Helper()
	db := mustOpen(t, dir)
	defer db.Close()
	return dumped(t, db, false)
}

func rowsOf(t testing.TB, db *DB, s Series) []Row {
	t.Helper()
	var out []Row
	for r, err := range db.Rows(s) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "n=[1]*? 100%#")
	b := Record{Series: bound, Row: Row{Instance: 0, Metrics: Metrics{{"bound_s", 0.1 + 0.2}, {`odd "name", {é}`, -1e-300}}}}
	write(t, dir, "results.db", result(10, 1e21), result(9, 1.0/3), failure(2, "infeasible", "task \"a\"\nfits\x00 nothing"), b)
	db := mustOpen(t, dir)
	all, err := db.Series(Filter{})
	if err != nil || !slices.Equal(all, []Series{far, bound}) {
		t.Errorf("series %v, %v", all, err)
	}
	for filter, want := range map[Filter]Series{{Track: "bound"}: bound, {Algorithm: "far", Count: 1, GPU: "A100", Model: "sequential", Dataset: far.Dataset}: far} {
		if got, err := db.Series(filter); err != nil || !slices.Equal(got, []Series{want}) {
			t.Errorf("%+v: %v, %v", filter, got, err)
		}
	}
	if got, err := db.Series(Filter{Count: 2}); err != nil || got != nil {
		t.Errorf("two GPUs: %v, %v", got, err)
	}
	want := []Row{failure(2, "infeasible", "task \"a\"\nfits\uFFFD nothing").Row, result(9, 1.0/3).Row, result(10, 1e21).Row}
	if got := rowsOf(t, db, far); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("rows %v, want %v", got, want)
	}
	if got := rowsOf(t, db, bound); fmt.Sprint(got) != fmt.Sprint([]Row{b.Row}) {
		t.Errorf("rows %v, want %v", got, b.Row)
	}
	points, err := db.Column(far, "makespan_s")
	if err != nil || len(points) != 3 || !math.IsNaN(points[0].Value) || !math.IsNaN(points[0].Micros) || points[1] != (Point{9, 1.0 / 3, 1}) || points[2] != (Point{10, 1e21, 1}) {
		t.Errorf("column %v, %v", points, err)
	}
	if points, err = db.Column(bound, `odd "name", {é}`); err != nil || points[0].Value != -1e-300 {
		t.Errorf("column %v, %v", points, err)
	}
	if points, err = db.Part(far, "moves", 9, 1, false); err != nil || len(points) != 1 || points[0].Value != 3 {
		t.Errorf("part %v, %v", points, err)
	}
	if r, ok, err := db.Row(far, 9); err != nil || !ok || r.outcome() != "makespan_s = 0.3333333333333333, moves = 3" {
		t.Errorf("row %v, %v, %v", r, ok, err)
	}
	if _, ok, err := db.Row(far, 3); err != nil || ok {
		t.Errorf("there is an instance 3: %v", err)
	}
	tally, err := db.Tally()
	if err != nil || tally[far] != (Tally{3, 1}) || tally[bound] != (Tally{1, 0}) || len(tally) != 2 {
		t.Errorf("tally %v, %v", tally, err)
	}
	if us, err := db.MeanMicros(bound); err != nil || !math.IsNaN(us) {
		t.Errorf("mean time of what was not timed %v, %v", us, err)
	}
	if us, err := db.MeanMicros(far); err != nil || us != 1 {
		t.Errorf("mean time %v, %v", us, err)
	}
}

// A folder's name is no pattern for the names of files.
func TestFolderLikeAPattern(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "n=1a"), "results.db", result(0, 1)) // which the pattern would match
	dir := filepath.Join(root, "n=[1]*?")
	for i := range 2 {
		write(t, dir, FileName(i, 2), result(i, 2))
	}
	want := []Row{result(0, 2).Row, result(1, 2).Row}
	if rows := rowsOf(t, mustOpen(t, dir), far); fmt.Sprint(rows) != fmt.Sprint(want) {
		t.Errorf("the folder has %v, want %v", rows, want)
	}
	old := filepath.Join(dir, "store", "results-0of1.jsonl")
	if err := errors.Join(os.Mkdir(filepath.Dir(old), 0o755), os.WriteFile(old, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "in the format of an earlier version") {
		t.Errorf("the old format: %v", err)
	}
}

func TestConflict(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "results-0of2.db", result(1, 10))
	db := mustOpen(t, dir)
	w, err := db.Writer(filepath.Join(dir, "results-0of2.db"))
	if err != nil {
		t.Fatal(err)
	}
	// The same row again, and a time-out, change nothing.
	if err := errors.Join(w.Append(result(1, 10), failure(1, KindTimeout, "1s")), w.Append(result(1, 11))); err != nil {
		t.Fatal(err)
	}
	var conflict *ConflictError
	if err := w.Close(); !errors.As(err, &conflict) || conflict.FirstOutcome != "makespan_s = 10, moves = 3" || conflict.SecondOutcome != "makespan_s = 11, moves = 3" {
		t.Errorf("append: %v", err)
	}
	if err := w.Append(result(2, 1)); !errors.As(err, &conflict) {
		t.Errorf("append after an error: %v", err)
	}

	write(t, dir, "results-1of2.db", result(0, 1), result(1, 11))
	db = mustOpen(t, dir)
	_, err = db.Column(far, "moves")
	if !errors.As(err, &conflict) {
		t.Fatalf("column: %v", err)
	}
	for _, part := range []string{far.Dataset, "instance 1", "results-0of2.db has makespan_s = 10,", "results-1of2.db has makespan_s = 11,"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not name %q", err, part)
		}
	}
	into := mustOpen(t, t.TempDir())
	if w, err = into.Writer(filepath.Join(into.Dir(), "results.db")); err != nil {
		t.Fatal(err)
	}
	if err := w.Merge(db); !errors.As(err, &conflict) || !strings.Contains(err.Error(), "results-1of2.db has makespan_s = 11,") {
		t.Errorf("merge: %v", err)
	}
	w.Close()
	if rows := rowsOf(t, into, far); len(rows) != 1 {
		t.Errorf("of the file that contradicts, rows were merged: %v", rows)
	}
}

// finished are the instances of far that need no more work.
func finished(db *DB) (map[int]bool, error) {
	out := map[int]bool{}
	return out, db.Finished(far, func(instance int) { out[instance] = true })
}

func TestTimeoutGivesWay(t *testing.T) {
	timeout := failure(1, KindTimeout, "took longer than 1s")
	for name, records := range map[string][]Record{
		"result last":  {timeout, result(1, 10)},
		"result first": {result(1, 10), timeout},
	} {
		dir := t.TempDir()
		write(t, dir, "results.db", records...)
		if got := dumpOf(t, dir); !strings.Contains(got, "makespan_s = 10,") || strings.Contains(got, "timeout") {
			t.Errorf("%s: it has\n%s", name, got)
		}
		dir = t.TempDir()
		for i, r := range records {
			write(t, dir, FileName(i, 2), r)
		}
		if got := dumpOf(t, dir); !strings.Contains(got, "makespan_s = 10,") || strings.Contains(got, "timeout") {
			t.Errorf("%s, in two files: it has\n%s", name, got)
		}
		db := mustOpen(t, dir)
		done, err := finished(db)
		if tally, failed := db.Tally(); err != nil || failed != nil || !done[1] || done[0] || tally[far] != (Tally{1, 0}) {
			t.Errorf("%s: finished %v, %v; tally %v, %v", name, done, err, tally, failed)
		}
		into := mustOpen(t, t.TempDir())
		w, err := into.Writer(filepath.Join(into.Dir(), "results.db"))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Merge(db), w.Close()); err != nil || dumped(t, into, true) != dumped(t, db, true) {
			t.Errorf("%s: merged, %v\n%s", name, err, dumped(t, into, true))
		}
	}
	dir := t.TempDir()
	write(t, dir, "results.db", timeout)
	if done, err := finished(mustOpen(t, dir)); err != nil || done[1] {
		t.Errorf("a time-out is final: %v", err)
	}
}

func TestAppendRefuses(t *testing.T) {
	nan, unsorted, both, negative := result(1, math.NaN()), result(1, 10), result(1, 10), result(-1, 10)
	slices.Reverse(unsorted.Metrics)
	both.Kind, both.Error = "panic", "?"
	for name, r := range map[string]Record{
		"NaN": nan, "unsorted": unsorted, "nothing": {Series: far}, "both": both, "negative": negative,
	} {
		dir := t.TempDir()
		db := mustOpen(t, dir)
		w, err := db.Writer(filepath.Join(dir, "results.db"))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Append(r); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if rows := rowsOf(t, db, far); len(rows) > 0 {
			t.Errorf("%s: %v on disk", name, rows)
		}
	}
}

// memory is a folder in memory, where there is one: many small databases wait for the disk.
func memory(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "miglab")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// records draws rows for distinct cells.
func records(t *rapid.T) []Record {
	instances := rapid.SliceOfNDistinct(rapid.IntRange(0, 1000), 0, 30, rapid.ID[int]).Draw(t, "instances")
	var out []Record
	for _, i := range instances {
		r := Record{Series: far, Row: Row{Instance: i}}
		r.Series.Dataset = rapid.StringN(0, 1, -1).Draw(t, "dataset")
		if rapid.Bool().Draw(t, "failed") {
			r.Kind, r.Error = rapid.StringN(1, 5, -1).Draw(t, "kind"), rapid.StringN(1, 20, -1).Draw(t, "error")
			r.Kind, r.Error = text(r.Kind), text(r.Error)
		} else {
			names := rapid.SliceOfNDistinct(rapid.String(), 1, 5, rapid.ID[string]).Draw(t, "names")
			slices.Sort(names)
			for _, n := range names {
				r.Metrics = append(r.Metrics, Metric{n, rapid.Float64Range(-1e300, 1e300).Draw(t, "value")})
			}
		}
		out = append(out, r)
	}
	return out
}

// However rows are spread over files, repeated, ordered and merged, they read the same.
func TestMergeProperty(t *testing.T) {
	root := memory(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		one, many := filepath.Join(root, fmt.Sprint(n, "one")), filepath.Join(root, fmt.Sprint(n, "many"))
		all := records(rt)
		write(t, one, "results.db", all...)
		for i := range 3 {
			var part []Record
			for _, r := range rapid.Permutation(all).Draw(rt, "order") {
				if rapid.Bool().Draw(rt, "here") || i == 2 {
					part = append(part, r)
				}
			}
			write(t, many, FileName(i, 3), part...)
		}
		want := dumpOf(t, one)
		if got := dumpOf(t, many); got != want {
			rt.Fatalf("one writer:\n%s\nthree writers:\n%s", want, got)
		}
		from, into := mustOpen(t, many), mustOpen(t, filepath.Join(root, fmt.Sprint(n, "merged")))
		w, err := into.Writer(filepath.Join(into.Dir(), "results.db"))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Merge(from), w.Close()); err != nil {
			rt.Fatal(err)
		}
		if got := dumped(t, into, false); got != want {
			rt.Fatalf("one writer:\n%s\nmerged:\n%s", want, got)
		}
		for _, want := range all {
			if got, ok, err := from.Row(want.Series, want.Instance); err != nil || !ok || fmt.Sprint(got) != fmt.Sprint(want.Row) {
				rt.Fatalf("got %v %v %v, want %v", got, ok, err, want.Row)
			}
		}
		from.Close()
		into.Close()
	})
}

// Rows come in parts; files of different length do not disturb the order.
func TestManyRows(t *testing.T) {
	dir := t.TempDir()
	var parts [2][]Record
	for i := range 2*pageSize + 10 {
		at := 0
		if i%3 == 0 || i > pageSize {
			at = 1
		}
		parts[at] = append(parts[at], result(i, float64(i)))
		if i%5 == 0 {
			parts[1-at] = append(parts[1-at], result(i, float64(i)))
		}
	}
	for i := range parts {
		write(t, dir, FileName(i, 2), parts[i]...)
	}
	db := mustOpen(t, dir)
	rows := rowsOf(t, db, far)
	for i, r := range rows {
		if r.Instance != i || r.Metrics[0].Value != float64(i) {
			t.Fatalf("row %d is %v", i, r)
		}
	}
	if len(rows) != 2*pageSize+10 {
		t.Errorf("%d rows", len(rows))
	}
	done, err := finished(db)
	if err != nil || !done[0] || !done[len(rows)-1] || len(done) != len(rows) {
		t.Errorf("finished: %v", err)
	}
	if tally, err := db.Tally(); err != nil || tally[far].Done != len(rows) {
		t.Errorf("tally %v, %v", tally, err)
	}
}
