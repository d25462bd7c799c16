package store

import (
	"path/filepath"
	"testing"
)

const benchCells = 400_000

func fill(b *testing.B, dir string, n int) {
	b.Helper()
	w, err := mustOpen(b, dir).Writer(0, 1)
	if err != nil {
		b.Fatal(err)
	}
	batch := make([]Record, 0, 64)
	for i := range n {
		batch = append(batch, result(i*7919%n, float64(i)/3))
		if len(batch) == cap(batch) || i == n-1 {
			if err := w.Append(batch...); err != nil {
				b.Fatal(err)
			}
			batch = batch[:0]
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkOpen400k(b *testing.B) {
	dir := b.TempDir()
	fill(b, dir, benchCells)
	b.ReportAllocs()
	for b.Loop() {
		if n := mustOpen(b, dir).Len(); n != benchCells {
			b.Fatal(n)
		}
	}
}

func BenchmarkExport400k(b *testing.B) {
	dir := b.TempDir()
	fill(b, dir, benchCells)
	s := mustOpen(b, dir)
	for b.Loop() {
		if err := s.Export(filepath.Join(dir, "results.csv")); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTimings400k(b *testing.B) {
	dir := b.TempDir()
	fill(b, dir, benchCells)
	s := mustOpen(b, dir)
	for b.Loop() {
		if _, err := s.Timings(); err != nil {
			b.Fatal(err)
		}
	}
}

// One operation is one row.
func BenchmarkAppend(b *testing.B) {
	fill(b, b.TempDir(), b.N)
}
