package site

import (
	"errors"
	"path/filepath"
	"testing"

	"miglab/harness/mig"

	_ "miglab/algorithms"
	_ "miglab/bounds"
	"miglab/harness/nearest"
	"miglab/harness/run"
	"miglab/harness/store"
)

// What papers and contests ask for is nobody's own; an algorithm or a dataset that they lack is.
func TestOwnDatasets(t *testing.T) {
	db, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	cells := func(algorithm, dataset string) []run.Span {
		base := store.Series{Track: "batch", GPU: "A100", Count: 2, Model: "parallel"}
		spans, err := run.Competition(new(mig.Catalog), base, []string{algorithm}, []string{dataset}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := (&run.Engine{Store: db, Workers: 1}).Run(t.Context(), spans); err != nil {
			t.Fatal(err)
		}
		return spans
	}
	asked := append(cells("nomig", "drl/WIDETIMES?n=3"), cells("nomig", "drl/POORSCALING?n=3")...)
	if own, err := ownDatasets(db, new(mig.Catalog), asked); err != nil || own != nil {
		t.Errorf("%v, %v", own, err)
	}
	cells("far", "drl/WIDETIMES?n=3")
	cells("far", "drl/WIDETIMES?n=4")
	own, err := ownDatasets(db, new(mig.Catalog), asked)
	if err != nil || len(own) != 1 || own[0].GPU != mig.MustLookup("A100") || own[0].Count != 2 || own[0].Model.String() != "parallel" ||
		len(own[0].Datasets) != 2 || own[0].Datasets[0] != "drl/WIDETIMES?n=3" || own[0].Datasets[1] != "drl/WIDETIMES?n=4" {
		t.Errorf("%v, %v", own, err)
	}
}

// A results database may be of a miglab with other tracks.
func TestOwnDatasetsOfAnUnknownTrack(t *testing.T) {
	dir := t.TempDir()
	db, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	w, err := db.Writer(filepath.Join(dir, store.FileName(0, 1)))
	if err != nil {
		t.Fatal(err)
	}
	s := store.Series{
		Track: "tomorrow", Dataset: "d", Content: "c", GPU: "A100", Count: 1, Model: "sequential",
		Algorithm: "far", Version: 1,
	}
	if err := errors.Join(w.Append(s, store.Row{Kind: store.KindTimeout, Error: "late"}), w.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = GatherOwn(db, new(mig.Catalog))
	var unknown *nearest.UnknownError
	if !errors.As(err, &unknown) || unknown.Kind != "track" || unknown.Name != "tomorrow" {
		t.Errorf("%v; want an unknown track", err)
	}
}
