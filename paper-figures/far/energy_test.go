package far

import (
	"slices"
	"testing"
)

// TestEnergiesOfOtherIdleBoards: by hand, the first scheduler ends later and draws less while busy. Which one is ahead
// depends on the idle board, and nothing else changes.
func TestEnergiesOfOtherIdleBoards(t *testing.T) {
	busy, makespans := [][]float64{{100, 200}, {130, 260}}, [][]float64{{10, 20}, {9, 18}}
	for idle, want := range map[float64][][]float64{
		0:  {{100, 200}, {130, 260}},
		30: {{400, 800}, {400, 800}},
		40: {{500, 1000}, {490, 980}},
	} {
		got := boardEnergies(busy, makespans, idle)
		if !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) {
			t.Errorf("%v W: %v, want %v", idle, got, want)
		}
		above := aboveLeast(got)
		if ahead := above[0][0] - above[1][0]; ahead < 0 != (idle < 30) || ahead > 0 != (idle > 30) {
			t.Errorf("%v W: the schedulers are %v %% above the least", idle, above)
		}
	}
	if busy[0][0] != 100 {
		t.Error("the energies that were given have changed")
	}
}
