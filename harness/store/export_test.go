package store

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestExport(t *testing.T) {
	dir := t.TempDir()
	db, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	far := Series{
		Track: "batch", Dataset: "drl/WIDETIMES?n=1&seed=2", Content: "c0ffee", GPU: "A100", Count: 1,
		Algorithm: "far", Version: 2, Model: "sequential",
	}
	bound := far
	bound.Track, bound.Algorithm, bound.Version, bound.Weights = "bound", "certified", 1, "w"
	w, err := db.Writer(filepath.Join(dir, "results.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		w.Append(far, Row{Instance: 10, Micros: 1, Metrics: NewMetrics(map[string]float64{"makespan_s": 2, "moves": 3})}, Row{Instance: 9, Kind: "failed", Error: "no luck"}),
		w.Append(bound, Row{Instance: 0, Metrics: NewMetrics(map[string]float64{"bound_s": 1.5})}),
		w.Close(),
	); err != nil {
		t.Fatal(err)
	}
	export := func(format string, timing bool) string {
		t.Helper()
		var b strings.Builder
		if err := db.Export(&b, Filter{}, format, timing, nil); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	want := `track,dataset,content,gpu,count,algorithm,version,weights,model,instance,bound_s,makespan_s,moves,kind,error,microseconds
batch,drl/WIDETIMES?n=1&seed=2,c0ffee,A100,1,far,2,,sequential,9,,,,failed,no luck,
batch,drl/WIDETIMES?n=1&seed=2,c0ffee,A100,1,far,2,,sequential,10,,2,3,,,1
bound,drl/WIDETIMES?n=1&seed=2,c0ffee,A100,1,certified,1,w,sequential,0,1.5,,,,,
`
	if got := export("csv", true); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := export("csv", false); strings.Contains(got, "microseconds") {
		t.Errorf("times in\n%s", got)
	}
	want = `{"track":"batch","dataset":"drl/WIDETIMES?n=1&seed=2","content":"c0ffee","gpu":"A100","count":1,"algorithm":"far","version":2,"model":"sequential","instance":9,"kind":"failed","error":"no luck"}
{"track":"batch","dataset":"drl/WIDETIMES?n=1&seed=2","content":"c0ffee","gpu":"A100","count":1,"algorithm":"far","version":2,"model":"sequential","instance":10,"metrics":{"makespan_s":2,"moves":3}}
{"track":"bound","dataset":"drl/WIDETIMES?n=1&seed=2","content":"c0ffee","gpu":"A100","count":1,"algorithm":"certified","version":1,"weights":"w","model":"sequential","instance":0,"metrics":{"bound_s":1.5}}
`
	if got := export("jsonl", false); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A metric that another process begins to write during an export has no column. Its rows are left out, and no other
// column gets its numbers.
func TestExportBesideAWriter(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "results.db", result(0, 10))
	db, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	export := func(progress func(done, total int)) string {
		var b strings.Builder
		if err := db.Export(&b, Filter{}, "csv", false, progress); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	want := export(nil)
	got := export(func(done, _ int) {
		if done == 0 {
			more := result(1, 20)
			more.Metrics = NewMetrics(map[string]float64{"new": 7})
			write(t, dir, "results.db", more)
		}
	})
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if all := export(nil); !strings.Contains(all, ",new,") || strings.Count(all, "\n") != 3 {
		t.Errorf("later it has\n%s", all)
	}
}
