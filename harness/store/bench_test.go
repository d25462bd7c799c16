package store

import (
	"errors"
	"fmt"
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
	w.every, w.wait = time.Hour, time.Hour
	for i := range instances { // an engine computes instance by instance
		for s := range benchmarkSeries {
			r := Record{Series: nth(s), Took: time.Duration(i%1000+1) * 1234 * time.Nanosecond, Row: Row{Instance: i, Metrics: Metrics{
				{"evaluations", float64(i % 100)},
				{"makespan_s", float64(i*s+1) / 3},
				{"moves", 7},
				{"reconfiguration_s", 1.7},
				{"reconfigurations", 9},
				{"utilisation", float64(s+1) / float64(i+s+1)},
			}}}
			if err := w.Append(r); err != nil {
				b.Fatal(err)
			}
		}
		if len(w.pending) > 5000 {
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

// One operation reads 300,000 points with times, in 30 series.
func BenchmarkColumn(b *testing.B) {
	dir := b.TempDir()
	fill(b, dir, 10_000)
	db := mustOpen(b, dir)
	b.ReportAllocs()
	for b.Loop() {
		for s := range 30 {
			if points, err := db.Column(nth(s), "makespan_s"); err != nil || len(points) != 10_000 {
				b.Fatal(len(points), err)
			}
		}
	}
}

// One operation reads 400,000 rows.
func BenchmarkRows(b *testing.B) {
	dir := b.TempDir()
	fill(b, dir, 10_000)
	db := mustOpen(b, dir)
	for b.Loop() {
		for s := range benchmarkSeries {
			n := 0
			for _, err := range db.Rows(nth(s)) {
				if n++; err != nil {
					b.Fatal(err)
				}
			}
			if n != 10_000 {
				b.Fatal(n)
			}
		}
	}
}
