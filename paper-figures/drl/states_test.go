package drl

import (
	"slices"
	"testing"

	"miglab/harness/mig"
)

// TestExampleState follows Fig. 6 and Fig. 14 as the text tells them.
func TestExampleState(t *testing.T) {
	s, to := exampleState(), partitionOf("4-3")
	placed := s.executeC1("", 2, 12)
	changed := state{partition: to, tasks: []string{"", "T3"}, left: []mig.Seconds{0, 5}, classes: 2}
	for _, c := range []struct {
		name    string
		state   state
		left    []mig.Seconds
		actions int
	}{
		{"t", s, []mig.Seconds{2, 4, 0, 9}, 3},                                    // Advance, both classes on I3
		{"t + 1", placed, []mig.Seconds{2, 4, 12, 9}, 1},                          // Advance
		{"t + 2", placed.pass("", 2), []mig.Seconds{0, 2, 10, 7}, 3},              // Advance, 1-1-1-1-3, C2 on I1
		{"t + 1 of Fig. 14", changed, []mig.Seconds{0, 5}, 6},                     // Advance, three partitions, both classes on I1
		{"t + 2 of Fig. 14", changed.executeC1("", 0, 3), []mig.Seconds{3, 5}, 1}, // Advance
	} {
		if got := c.state.actions(); got != c.actions || !slices.Equal(c.state.left, c.left) {
			t.Errorf("%s: %d actions, instances free in %v; want %d, %v", c.name, got, c.state.left, c.actions, c.left)
		}
	}
	if got := s.delay(to); got != 4 || s.classes != 2 {
		t.Errorf("at t the slices of 4 are free in %v levels and %d classes wait, want 4 and 2", got, s.classes)
	}
}
