package run

import (
	"context"
	"strings"
	"testing"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// What a trained algorithm has learned is part of its cells: with other weights they
// are other cells, and old ones cannot be computed.
func TestCellsKnowTheWeights(t *testing.T) {
	weights := "one"
	algo.Register(algo.Spec{
		Name: "test-trained", Version: 1, Track: algo.TrackBatch,
		Weights: func(algo.Args) string { return weights },
		New: func(algo.Args) (algo.Batch, error) {
			return batchFunc(func(_ context.Context, p algo.Problem) (schedule.Schedule, error) { return fifo(p), nil }), nil
		},
	})
	cells := func(algorithm string) Cell {
		s := Series{Track: algo.TrackBatch, Dataset: "drl/WIDETIMES", GPU: "A100", Algorithm: algorithm, Model: mig.Sequential}
		c, err := s.Cells(1)
		if err != nil {
			t.Fatal(err)
		}
		return c[0]
	}
	before := cells("test-trained")
	if !strings.Contains(before.JSON(), `"weights":"one"`) {
		t.Errorf("%s does not name the weights", before.JSON())
	}
	if fifo := cells("test-fifo"); strings.Contains(fifo.JSON(), "weights") {
		t.Errorf("%s names weights", fifo.JSON())
	}
	weights = "two"
	after := cells("test-trained")
	if before.Key() == after.Key() {
		t.Error("cells of other weights have the same key")
	}
	if _, err := resolveCell(before); err == nil {
		t.Error("a cell of old weights can be computed")
	}
	if _, err := resolveCell(after); err != nil {
		t.Error(err)
	}
}
