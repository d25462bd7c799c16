package export_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"

	_ "miglab/algorithms"
	_ "miglab/bounds"
	"miglab/harness/algo"
	"miglab/harness/export"
	"miglab/harness/run"
	"miglab/harness/store"
)

// The results of a database as CSV.
func ExampleWrite() {
	dir, err := os.MkdirTemp("", "miglab")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	db, err := store.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	base := run.Series{Track: algo.TrackBatch, GPU: "A100", Count: 1}
	cells, err := run.Competition(base, []string{"far", "nomig"}, []string{"rodinia"}, 1)
	if err == nil {
		_, err = (&run.Engine{Store: db}).Run(context.Background(), cells)
	}
	if err != nil {
		fmt.Println(err)
		return
	}

	var out bytes.Buffer
	if err := export.Write(&out, db, store.Filter{Track: "batch"}, "csv", false, nil); err != nil {
		fmt.Println(err)
		return
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range rows {
		fmt.Println(row[0], row[1], row[3], row[5])
	}
	// Output:
	// track dataset gpu algorithm
	// batch rodinia A100 far
	// batch rodinia A100 nomig
}
