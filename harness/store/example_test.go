package store_test

import (
	"fmt"
	"os"
	"path/filepath"

	"miglab/harness/store"
)

// A result is written once and found by its series.
func Example() {
	dir, err := os.MkdirTemp("", "miglab")
	check(err)
	defer os.RemoveAll(dir)
	db, err := store.Open(dir)
	check(err)
	defer db.Close()

	w, err := db.Writer(filepath.Join(dir, store.FileName(0, 1)))
	check(err)
	series := store.Series{Track: "batch", Dataset: "rodinia", GPU: "A100", Count: 1, Algorithm: "far", Version: 2, Model: "sequential"}
	err = w.Append(series, store.Row{Instance: 0, Metrics: store.NewMetrics(map[string]float64{"makespan_s": 12.609})})
	if err == nil {
		err = w.Close()
	}
	check(err)

	found, err := db.Series(store.Filter{Algorithm: "far"})
	for _, s := range found {
		fmt.Println(s.Track, s.Dataset, s.GPU, s.Algorithm)
	}
	fmt.Println(err)
	// Output:
	// batch rodinia A100 far
	// <nil>
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
