package store

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// benchmarkSeries are 40 series of so many instances each, with six metrics as a schedule has them.
const benchmarkSeries = 40

func fill(b *testing.B, dir string, instances int) {
	b.Helper()
	db := mustOpen(b, dir)
	w, err := db.Writer(filepath.Join(dir, "results.db"))
	if err != nil {
		b.Fatal(err)
	}
	w.wait = time.Hour
	for i := range instances { // an engine computes instance by instance
		for s := range benchmarkSeries {
			r := Row{Instance: i, Micros: float64(i%1000+1) * 1.234, Metrics: NewMetrics(map[string]float64{
				"evaluations":       float64(i % 100),
				"makespan_s":        float64(i*s+1) / 3,
				"moves":             7,
				"reconfiguration_s": 1.7,
				"reconfigurations":  9,
				"utilisation":       float64(s+1) / float64(i+s+1),
			})}
			if err := w.Append(nth(s), r); err != nil {
				b.Fatal(err)
			}
		}
		if w.size > 5000 {
			w.mu.Lock()
			w.flush()
			w.mu.Unlock()
		}
	}
	if err := errors.Join(w.Close(), db.Close()); err != nil {
		b.Fatal(err)
	}
}

func nth(s int) Series {
	series := far
	series.Algorithm = fmt.Sprint("far?budget=", s)
	return series
}

// One operation is a database of 1,000,000 cells.
func BenchmarkWrite(b *testing.B) {
	for b.Loop() {
		dir := b.TempDir()
		fill(b, dir, 1_000_000/benchmarkSeries)
		info, err := os.Stat(filepath.Join(dir, "results.db"))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size())/1e6, "MB")
	}
}

// One operation reads 400,000 rows and one of their metrics.
func BenchmarkRows(b *testing.B) {
	dir := b.TempDir()
	fill(b, dir, 10_000)
	db := mustOpen(b, dir)
	b.ReportAllocs()
	for b.Loop() {
		for s := range benchmarkSeries {
			rows, err := db.Rows(nth(s), 0, math.MaxInt)
			if err != nil || len(rows) != 10_000 {
				b.Fatal(len(rows), err)
			}
			for _, r := range rows {
				if _, ok := r.Metrics.Get("makespan_s"); !ok {
					b.Fatal(r)
				}
			}
		}
	}
}
