package run

import (
	"path/filepath"
	"testing"

	"miglab/harness/store"
	"miglab/harness/track"
)

// A complete store of 400,000 cells is opened, planned against and looked up.
func BenchmarkCompleteStore400k(b *testing.B) {
	const instances, perInstance = 10_000, 40
	var cells []Span
	for i := range perInstance {
		s := series("test-fifo")
		s.Count = i + 1
		cells = append(cells, cellsOf(b, s, instances))
	}
	dir := b.TempDir()
	w, err := open(b, dir).Writer(filepath.Join(dir, "results.db"))
	if err != nil {
		b.Fatal(err)
	}
	for i := range instances * perInstance {
		if err := w.Append(cells[i/instances].Series, store.Row{Instance: i % instances, Micros: float64(i%1000 + 1), Metrics: store.NewMetrics(map[string]float64{
			track.MetricMakespan: float64(i) / 3, "moves": 7, track.MetricReconfiguration: 1.7, track.MetricReconfigurations: 9, track.MetricUtilisation: float64(i) / 7,
		})}); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			open(b, dir)
		}
	})
	st := open(b, dir)
	b.Run("plan", func(b *testing.B) {
		for b.Loop() {
			mustRun(b, Engine{Store: st}, cells...)
		}
	})
	b.Run("values", func(b *testing.B) {
		for b.Loop() {
			for _, s := range cells {
				if _, err := s.Values(st, track.MetricMakespan); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// One operation is one cell: test-fifo on six tasks, with referee, store and its
// share of the instance, which ten cells have in common.
func BenchmarkCell(b *testing.B) {
	var cells []Span
	n := max(b.N/10, 1)
	for i := range 10 {
		s := series("test-fifo")
		s.Count = i + 1
		cells = append(cells, cellsOf(b, s, n))
	}
	st := open(b, b.TempDir())
	b.ResetTimer()
	mustRun(b, Engine{Store: st, Workers: 1}, cells...)
}
