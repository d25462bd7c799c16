package run

import (
	"context"
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
	if w := before.Stored(before.Version).Weights; w != "one" {
		t.Errorf("the stored weights are %q", w)
	}
	if fifo := cells("test-fifo"); fifo.Weights != "" {
		t.Errorf("%v has weights", fifo)
	}
	weights = "two"
	after := cells("test-trained")
	if before.Stored(before.Version) == after.Stored(after.Version) {
		t.Error("cells of other weights are stored under the same name")
	}
	if _, err := resolveCell(before); err == nil {
		t.Error("a cell of old weights can be computed")
	}
	if _, err := resolveCell(after); err != nil {
		t.Error(err)
	}
}
