package leaderboard

import (
	"fmt"
	"strings"
	"testing"

	"miglab/harness/algo"
	"miglab/harness/track"
	"miglab/reports"
)

// TestTradeoffs: gains are paired over the instances that both have, by budget. An algorithm that
// never moves and a dataset without the baseline are left out.
func TestTradeoffs(t *testing.T) {
	const plain, half, other = "mfi/uniform?lifespan=steady", "mfi/uniform?lifespan=steady&moves=0.5", "mfi/bimodal?lifespan=steady&moves=1"
	var cells []cell
	add := func(dataset, algorithm string, instance int, acceptance, moves float64) {
		cells = append(cells, cell{
			track: "placement", dataset: dataset, algorithm: algorithm, instance: instance,
			content: contentOf(t, algo.TrackPlacement, dataset),
			metrics: fmt.Sprintf(`{"acceptance_steady":%v,"moves_gpu_window":%v}`, acceptance, moves),
		})
	}
	for i, base := range []float64{0.5, 0.625, 0.75} {
		add(plain, "mfi", i, base, 0)
		add(half, "mfi", i, base, 0)
		add(half, "ff", i, base, 0)
		add(plain, "repack", i, base, 0)
		add(other, "repack", i, base, 1)
	}
	add(half, "repack", 0, 0.5625, 0.25)
	add(half, "repack", 2, 0.875, 0.75)
	add(half, "repack", 7, 0.0, 1000) // mfi has no such instance
	got, err := Tradeoffs(database(t, cells...), Conditions{Track: track.Of(algo.TrackPlacement), GPU: "A100"}, "mfi")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Budget != 0 || got[0].Moves != 0 || got[0].Gain.Mean != 0 || got[0].Gain.N != 3 {
		t.Fatalf("%+v; want repack with budgets 0 and 0.5", got)
	}
	x := got[1]
	if x.Dataset != plain || x.Algorithm != "repack" || x.Budget != 0.5 || x.Moves != 0.5 || x.Value != 71.875 || x.Gain.Mean != 9.375 || x.Gain.N != 2 {
		t.Errorf("%+v", x)
	}
	var text strings.Builder
	if err := TradeoffTable(got, "mfi").CSV(&text); err != nil || !strings.Contains(text.String(), plain+",repack,0.5,0.500,71.88,9.38,") {
		t.Errorf("%v\n%s", err, text.String())
	}
	text.Reset()
	if err := reports.Encode(&text, "svg", TradeoffFigure(got, "mfi")); err != nil || !strings.Contains(text.String(), "repack") {
		t.Errorf("%v; want a figure with repack", err)
	}
}
