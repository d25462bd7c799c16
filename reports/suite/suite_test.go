package suite

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	_ "miglab/algorithms"
	"miglab/datasets/suite"
	"miglab/harness/store"
)

// oneInstance returns an archive that has the first batch of the suite alone.
func oneInstance() *suite.Archive {
	a := suite.Frozen()
	a.Instances, a.Best = a.Instances[:1], a.Best[:1]
	return a
}

// appendFAR writes a result of FAR into a database of the folder: on an instance of the dataset and GPU of oneInstance.
func appendFAR(t *testing.T, dir, file string, index int, makespan float64) {
	t.Helper()
	db, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	in := oneInstance().Instances[0]
	cell, err := in.Cell("far")
	if err != nil {
		t.Fatal(err)
	}
	w, err := db.Writer(filepath.Join(dir, file))
	if err == nil {
		metrics := store.NewMetrics(map[string]float64{"makespan_s": makespan})
		err = errors.Join(w.Append(cell.Series, store.Row{Instance: index, Metrics: metrics}), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func ran(t *testing.T, dir string) ([]string, error) {
	t.Helper()
	db, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	names, _, err := Ran(oneInstance(), db)
	return names, err
}

// An algorithm without a result on an instance has no place on the board; results that contradict each other are an
// error.
func TestRan(t *testing.T) {
	dir := t.TempDir()
	in := oneInstance().Instances[0]
	appendFAR(t, dir, "results.db", in.Index+1, 100)
	if names, err := ran(t, dir); err != nil || names != nil {
		t.Errorf("without a result on the instance: %v, %v", names, err)
	}
	appendFAR(t, dir, "results.db", in.Index, 100)
	if names, err := ran(t, dir); err != nil || !slices.Equal(names, []string{"far"}) {
		t.Errorf("with a result: %v, %v", names, err)
	}
	appendFAR(t, dir, "results-1of2.db", in.Index, 90)
	var conflict *store.ConflictError
	if names, err := ran(t, dir); !errors.As(err, &conflict) {
		t.Errorf("with another result in a second file: %v, %v", names, err)
	}
}

// A board says on which instances an algorithm is better than the best known result, and over how many instances the
// distance from the bound is a mean.
func TestTableShowsBetterResults(t *testing.T) {
	instance := func(id string) *suite.Instance {
		return &suite.Instance{ID: id, Track: "stream", Class: suite.Open, Objective: "min flow_mean_s"}
	}
	board := Table([]string{"far"}, [][]suite.Result{{
		{Instance: instance("one"), Known: &suite.Best{Value: 10, Bound: 8}, Value: 9, Solved: true},
		{Instance: instance("two"), Known: &suite.Best{Value: 10}, Value: 10, Solved: true},
		{Instance: instance("three"), Known: &suite.Best{Value: 10}, Value: 7, Solved: true},
		{Instance: instance("four"), Known: &suite.Best{Value: 10}},
	}})
	if want := []string{"far", "stream", "all", "4", "3", "1", "12.5000", "-13.3333", "1", "2"}; !slices.Equal(board.Rows[1], want) {
		t.Errorf("%q, want %q", board.Rows[1], want)
	}
	if want := "far is better than the best known result on one, three."; !slices.Contains(board.Notes, want) {
		t.Errorf("the notes %q lack %q", board.Notes, want)
	}
}
