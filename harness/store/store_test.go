package store

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/deep"
)

// rapid checks each property on few values unless the tests are deep.
func init() { flag.Set("rapid.checks", strconv.Itoa(deep.N(25, 100))) }

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

// A record is a row of a series.
type record struct {
	Series
	Row
}

// result is a row of far with a makespan.
func result(instance int, makespan float64) record {
	return record{far, Row{Instance: instance, Micros: 1, Metrics: NewMetrics(map[string]float64{"makespan_s": makespan, "moves": 3})}}
}

func failure(instance int, kind, text string) record {
	return record{far, Row{Instance: instance, Kind: kind, Error: text}}
}

// appendAll appends records one by one, as an engine does.
func appendAll(w *Writer, records ...record) error {
	for _, r := range records {
		if err := w.Append(r.Series, r.Row); err != nil {
			return err
		}
	}
	return nil
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
func write(t testing.TB, dir, name string, records ...record) {
	t.Helper()
	db, err := Open(filepath.Join(dir, "none"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := db.Writer(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(appendAll(w, records...), w.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// dump is all that a database has as text, with the wall times if timing is set.
func dump(db *DB, timing bool) (string, error) {
	var out strings.Builder
	all, err := db.Series(Filter{})
	for _, s := range all {
		rows, err := db.Rows(s, 0, math.MaxInt)
		if err != nil {
			return "", err
		}
		for _, r := range rows {
			if !timing {
				r.Micros = 0
			}
			fmt.Fprintf(&out, "%+v: %+v\n", s, r)
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
	out, err := db.Rows(s, 0, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// values are the numbers of metrics by name.
func values(t interface{ Fatal(...any) }, m Metrics) map[string]float64 {
	out := map[string]float64{}
	for name, number := range m.All() {
		value, err := number.Float64()
		if err != nil {
			t.Fatal(err)
		}
		out[name] = value
	}
	return out
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "n=[1]*? 100%#")
	odd := map[string]float64{"bound_s": 0.1 + 0.2, "odd \"name\", {é}\x01\n": -1e-300}
	b := record{bound, Row{Instance: 0, Metrics: NewMetrics(odd)}}
	write(t, dir, "results.db", result(10, 1e21), result(9, 1.0/3), failure(2, "infeasible", "task \"a\"\nfits\x00 nothing"), b)
	db := mustOpen(t, dir)
	all, err := db.Series(Filter{})
	if err != nil || !slices.Equal(all, []Series{far, bound}) {
		t.Errorf("series %v, %v", all, err)
	}
	if got := values(t, b.Metrics); !maps.Equal(got, odd) {
		t.Errorf("metrics %v, want %v", got, odd)
	}
	for filter, want := range map[Filter]Series{{Track: "bound"}: bound, {Version: 2}: far, {Algorithm: "far", Count: 1, GPU: "A100", Model: "sequential", Dataset: far.Dataset}: far} {
		if got, err := db.Series(filter); err != nil || !slices.Equal(got, []Series{want}) {
			t.Errorf("%+v: %v, %v", filter, got, err)
		}
	}
	if got, err := db.Series(Filter{Count: 2}); err != nil || got != nil {
		t.Errorf("two GPUs: %v, %v", got, err)
	}
	want := []Row{failure(2, "infeasible", "task \"a\"\nfits\uFFFD nothing").Row, result(9, 1.0/3).Row, result(10, 1e21).Row}
	if got := rowsOf(t, db, far); !slices.Equal(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
	if got := rowsOf(t, db, bound); !slices.Equal(got, []Row{b.Row}) {
		t.Errorf("rows %v, want %v", got, b.Row)
	}
	for name, want := range odd {
		if v, ok := b.Metrics.Get(name); !ok || v != want {
			t.Errorf("%q is %v, %v; want %v", name, v, ok, want)
		}
	}
	if v, ok := b.Metrics.Get("bound"); ok {
		t.Errorf("there is a metric that nobody wrote: %v", v)
	}
	for _, part := range []struct {
		first, end int
		want       []Row
	}{
		{9, 10, want[1:2]},
		{3, 10, want[1:2]},
		{9, 11, want[1:]},
		{3, 9, nil},
	} {
		if rows, err := db.Rows(far, part.first, part.end); err != nil || !slices.Equal(rows, part.want) {
			t.Errorf("instances %d to %d: %v, %v; want %v", part.first, part.end, rows, err, part.want)
		}
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
	if err := errors.Join(appendAll(w, result(1, 10), failure(1, KindTimeout, "1s")), appendAll(w, result(1, 11))); err != nil {
		t.Fatal(err)
	}
	var conflict *ConflictError
	if err := w.Close(); !errors.As(err, &conflict) || conflict.First != w.file.path+` has {"makespan_s":10,"moves":3}` || conflict.Second != `the one being written has {"makespan_s":11,"moves":3}` {
		t.Errorf("append: %v", err)
	}
	if err := appendAll(w, result(2, 1)); !errors.As(err, &conflict) {
		t.Errorf("append after an error: %v", err)
	}

	write(t, dir, "results-1of2.db", result(0, 1), result(1, 11))
	db = mustOpen(t, dir)
	_, err = db.Rows(far, 0, math.MaxInt)
	if !errors.As(err, &conflict) {
		t.Fatalf("rows: %v", err)
	}
	for _, part := range []string{far.Dataset, "instance 1", `results-0of2.db has {"makespan_s":10,`, `results-1of2.db has {"makespan_s":11,`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not name %q", err, part)
		}
	}
}

// finished are the instances of far that need no more work.
func finished(db *DB) (map[int]bool, error) {
	out := map[int]bool{}
	return out, db.Finished(far, func(instance int) { out[instance] = true })
}

func TestTimeoutGivesWay(t *testing.T) {
	timeout := failure(1, KindTimeout, "took longer than 1s")
	for name, records := range map[string][]record{
		"result last":  {timeout, result(1, 10)},
		"result first": {result(1, 10), timeout},
	} {
		dir := t.TempDir()
		write(t, dir, "results.db", records...)
		if got := dumpOf(t, dir); !strings.Contains(got, `"makespan_s":10,`) || strings.Contains(got, "timeout") {
			t.Errorf("%s: it has\n%s", name, got)
		}
		dir = t.TempDir()
		for i, r := range records {
			write(t, dir, FileName(i, 2), r)
		}
		if got := dumpOf(t, dir); !strings.Contains(got, `"makespan_s":10,`) || strings.Contains(got, "timeout") {
			t.Errorf("%s, in two files: it has\n%s", name, got)
		}
		db := mustOpen(t, dir)
		done, err := finished(db)
		if err != nil || !done[1] || done[0] {
			t.Errorf("%s: finished %v, %v", name, done, err)
		}
	}
	dir := t.TempDir()
	write(t, dir, "results.db", timeout)
	if done, err := finished(mustOpen(t, dir)); err != nil || done[1] {
		t.Errorf("a time-out is final: %v", err)
	}
}

// A later row replaces a panic: a result, or what the algorithm ends with now.
func TestPanicGivesWay(t *testing.T) {
	dir := t.TempDir()
	for _, r := range []record{failure(1, KindPanic, "first"), failure(1, KindPanic, "second"), failure(2, KindPanic, "third"), result(2, 10)} {
		write(t, dir, "results.db", r)
	}
	if got := dumpOf(t, dir); strings.Contains(got, "first") || !strings.Contains(got, "second") || strings.Contains(got, "third") {
		t.Errorf("it has\n%s", got)
	}
	if done, err := finished(mustOpen(t, dir)); err != nil || done[1] || !done[2] {
		t.Errorf("finished %v, %v", done, err)
	}
}

func TestAppendRefuses(t *testing.T) {
	nan, infinite, twice, both, negative := result(1, math.NaN()), result(1, math.Inf(-1)), result(1, 10), result(1, 10), result(-1, 10)
	twice.Metrics = NewMetrics(map[string]float64{"\xfe": 1, "\xff": 2}) // which JSON cannot tell apart
	both.Kind, both.Error = "panic", "?"
	for name, r := range map[string]record{
		"NaN": nan, "infinite": infinite, "twice": twice, "nothing": {Series: far}, "both": both, "negative": negative,
	} {
		dir := t.TempDir()
		db := mustOpen(t, dir)
		w, err := db.Writer(filepath.Join(dir, "results.db"))
		if err != nil {
			t.Fatal(err)
		}
		if err := appendAll(w, r); err == nil {
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
func records(t *rapid.T) []record {
	instances := rapid.SliceOfNDistinct(rapid.IntRange(0, 1000), 0, 30, rapid.ID[int]).Draw(t, "instances")
	var out []record
	for _, i := range instances {
		r := record{far, Row{Instance: i}}
		r.Series.Dataset = strings.Trim(rapid.StringN(0, 1, -1).Draw(t, "dataset"), "\x00")
		if rapid.Bool().Draw(t, "failed") {
			r.Kind, r.Error = rapid.StringN(1, 5, -1).Draw(t, "kind"), rapid.StringN(1, 20, -1).Draw(t, "error")
			r.Kind, r.Error = cleanText(r.Kind), cleanText(r.Error)
		} else {
			metrics := rapid.MapOfN(rapid.String(), rapid.Float64Range(-1e300, 1e300), 1, 5).Draw(t, "metrics")
			r.Metrics = NewMetrics(metrics)
			if got := values(t, r.Metrics); !maps.Equal(got, metrics) {
				t.Fatalf("%q is read as %v, want %v", r.Metrics, got, metrics)
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
			var part []record
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
		from := mustOpen(t, many)
		for _, want := range all {
			if got, err := from.Rows(want.Series, want.Instance, want.Instance+1); err != nil || !slices.Equal(got, []Row{want.Row}) {
				rt.Fatalf("got %v %v, want %v", got, err, want.Row)
			}
		}
		from.Close()
	})
}

// What another process adds while cells are read, lists of names too, is no damage. What readers would take for
// damage is not written: a series without rows and a NUL.
func TestReadingBesideAWriter(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "results.db", result(0, 1))
	db := mustOpen(t, dir)
	f := db.all()[0]
	for n := 1; n < 4; n++ {
		before, err := f.present()
		if err != nil {
			t.Fatal(err)
		}
		r := result(n, 1)
		r.Metrics = NewMetrics(map[string]float64{fmt.Sprint("moves", n): 1})
		write(t, dir, "results.db", r)
		if cells, err := f.read(before[far], 0, 9); err != nil || len(cells) != n+1 {
			t.Errorf("%d cells, %v; want %d", len(cells), err, n+1)
		}
	}
	w, err := db.Writer(filepath.Join(dir, "results.db"))
	if err := errors.Join(err, w.Append(nth(1)), w.Append(far, result(9, 1).Row), w.Close()); err != nil {
		t.Error(err)
	}
	if err := w.Append(Series{Model: "\x00"}, result(9, 1).Row); err == nil {
		t.Error("a NUL, which readers would call damage, is written")
	}
	if rows, err := db.Rows(far, 0, 10); err != nil || len(rows) != 5 {
		t.Error(len(rows), err)
	}
	if all, err := db.Series(Filter{}); err != nil || len(all) != 1 {
		t.Error(all, err)
	}
}
