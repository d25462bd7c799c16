package sweep

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/track"
)

var sizes = []int{10_000, 100_000, 1_000_000}

// Rows with five metrics, in 500 databases, are looked at and merged into an empty store.
func BenchmarkMerge(b *testing.B) {
	for _, n := range sizes {
		cells := many(n, 1000)
		p, folder := planOf(b, cells, 500), b.TempDir()
		fill(b, folder, p, cells)
		b.Run(fmt.Sprintf("look/cells=%d", n), func(b *testing.B) {
			for b.Loop() {
				if s, err := ReadStatus(folder, p, Job{Spans: cells}); err != nil || s.Done != n {
					b.Fatal(s.Done, err)
				}
			}
		})
		b.Run(fmt.Sprintf("merge/cells=%d", n), func(b *testing.B) {
			for b.Loop() {
				st, err := store.Open(b.TempDir())
				if err != nil {
					b.Fatal(err)
				}
				if s, err := Merge(folder, p, Job{Spans: cells}, st); err != nil || s.Done != n {
					b.Fatal(s.Done, err)
				}
				if err := st.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// fill writes the databases of all tasks without computing anything.
func fill(b *testing.B, folder string, p *Plan, cells []run.Span) {
	b.Helper()
	rows := make([]map[store.Series][]store.Row, p.Tasks)
	for task := range rows {
		rows[task] = map[store.Series][]store.Row{}
	}
	for _, s := range cells {
		for i := s.From; i < s.To; i++ {
			task, v := run.ShardOf(s.Series, i, p.Tasks), float64(i)/3
			rows[task][s.Series] = append(rows[task][s.Series], store.Row{
				Instance: i, Micros: float64(i + 1), Metrics: store.NewMetrics(map[string]float64{
					track.MetricMakespan:         v,
					"moves":                      7,
					track.MetricReconfiguration:  1.7,
					track.MetricReconfigurations: 9,
					track.MetricUtilisation:      v / 7,
				}),
			})
		}
	}
	for task := range rows {
		writeDatabase(b, newFile(folder, task, "a"), rows[task])
	}
}

// writeDatabase writes a database as a run of a task does.
func writeDatabase(t testing.TB, path string, rows map[store.Series][]store.Row) {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "none"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := db.Writer(path)
	if err != nil {
		t.Fatal(err)
	}
	for s, of := range rows {
		if err := w.Append(s, of...); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
}
