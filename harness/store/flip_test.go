package store

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"miglab/harness/deep"
)

// manySeries makes a database whose tables and indexes have several pages each, which are small.
func manySeries(t testing.TB, dir string) string {
	t.Helper()
	var all []record
	for i := range 40 {
		r := result(0, float64(i))
		r.Series.Algorithm = fmt.Sprintf("far?budget=%d", i)
		r.Series.Track = []string{"batch", "stream"}[i%2]
		for n := range 5 + 12*(i%3) {
			r.Instance, r.Micros = n, float64(n+1)*1.5
			r.Metrics = NewMetrics(map[string]float64{"makespan_s": float64(n*i) / 3, fmt.Sprint("moves", i): 3})
			all = append(all, r)
		}
	}
	write(t, dir, "results.db", append(all, failure(1000, "infeasible", "no place"))...)
	path := filepath.Join(dir, "results.db")
	f, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.db.Exec("PRAGMA page_size=512; VACUUM")
	if err := errors.Join(err, f.db.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// allThatIsRead is what each of the queries of the databases of a folder answers.
func allThatIsRead(dir string) (string, error) {
	db, err := Open(dir)
	if err != nil {
		return "", err
	}
	defer db.Close()
	var out strings.Builder
	series, err := db.Series(Filter{Track: "stream"})
	if err != nil {
		return "", err
	}
	fmt.Fprintln(&out, series)
	for _, s := range series {
		var finished []int
		rows, err1 := db.Rows(s, 0, 4)
		others, err2 := db.Instances(s, 10)
		err3 := db.Finished(s, func(n int) { finished = append(finished, n) })
		if err := errors.Join(err1, err2, err3); err != nil {
			return "", err
		}
		fmt.Fprintln(&out, rows, others, finished)
	}
	metrics, err := db.metricNames(Filter{Track: "batch"})
	if err != nil {
		return "", err
	}
	fmt.Fprintln(&out, metrics)
	rows, err := dump(db, true)
	return out.String() + rows, err
}

// A flipped bit anywhere in a database changes no answer without an error that names the file.
func TestFlippedBits(t *testing.T) {
	dir := memory(t)
	path := manySeries(t, dir)
	intact, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := allThatIsRead(dir)
	if err != nil || strings.Count(want, "makespan_s") < 500 {
		t.Fatalf("%v; intact, it has %d bytes", err, len(want))
	}
	r, noticed := rand.New(rand.NewPCG(1, 2)), 0
	for range deep.N(25, 400) {
		at, bit := r.IntN(len(intact)), r.IntN(8)
		flipped := slices.Clone(intact)
		flipped[at] ^= 1 << bit
		if err := os.WriteFile(path, flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := allThatIsRead(dir)
		switch {
		case err != nil && !strings.Contains(err.Error(), path):
			t.Errorf("byte %d, bit %d: %v; want an error that names %s", at, bit, err, path)
		case err != nil:
			noticed++
		case got != want:
			t.Errorf("byte %d of page %d, bit %d: other answers without an error", at%512, at/512+1, bit)
		}
	}
	if noticed == 0 {
		t.Error("no flip was noticed")
	}
}

// change runs statements on a database.
func change(t *testing.T, path string, statements ...string) {
	t.Helper()
	f, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := f.db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.db.Close(); err != nil {
		t.Fatal(err)
	}
}

// Series come in the order in which they were last written, whatever the order of their names.
func TestByAge(t *testing.T) {
	dir := t.TempDir()
	var all []Series
	for _, weights := range []string{"c", "a", "b"} {
		r := result(0, 1)
		r.Series.Weights = weights
		write(t, dir, "results.db", r)
		all = append(all, r.Series)
	}
	r := result(1, 1)
	r.Series = all[1]
	write(t, dir, "results.db", r, record{all[2], result(0, 1).Row}) // the second is there
	want := []Series{all[0], all[2], all[1]}
	if got, err := mustOpen(t, dir).ByAge(all); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

// A list of names that is no list is damage where its cells are read, and ends the reading of names.
func TestBrokenListOfNames(t *testing.T) {
	dir := t.TempDir()
	path := manySeries(t, dir)
	change(t, path, `UPDATE names SET list = '["a' WHERE id = 1`)
	db, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.metricNames(Filter{}); err != nil {
		t.Error(err)
	}
	damaged := 0
	all, err := db.Series(Filter{})
	for _, s := range all {
		_, failed := db.Rows(s, 0, math.MaxInt)
		if _, ok := errors.AsType[*Damage](failed); ok {
			damaged++
		} else if failed != nil {
			t.Error(failed)
		}
	}
	if err != nil || damaged == 0 {
		t.Errorf("%d series are damaged, %v", damaged, err)
	}
}
