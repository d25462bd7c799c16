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
