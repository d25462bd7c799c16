package drl

import (
	"fmt"
	"slices"
	"testing"
)

// TestExampleState follows Fig. 6 and Fig. 14 as the text tells them.
func TestExampleState(t *testing.T) {
	s, to := exampleState(), partitionOf("4-3")
	placed := s.execute(0, s.partition[2])
	later := placed.advance()
	changed := s.reconfigure(to)
	put := changed.execute(0, to[0])
	for _, c := range []struct {
		name        string
		state       state
		left, batch string
		actions     []string
	}{
		{"t", s, "[2 2 4 0 9 9 9]", "1 × C1, 4 × C2", []string{"Advance", "C1 on I3", "C2 on I3"}},
		{"t + 1", placed, "[2 2 4 12 9 9 9]", "4 × C2", []string{"Advance"}},
		{"t + 2", later, "[0 0 2 10 7 7 7]", "4 × C2", []string{"Advance", "to 1-1-1-1-3", "C2 on I1"}},
		{"t + 1 of Fig. 14", changed, "[0 0 0 0 5 5 5]", "1 × C1, 4 × C2", []string{"Advance", "to 2-2-3", "to 2-1-1-3", "to 1-1-1-1-3", "C1 on I1", "C2 on I1"}},
		{"t + 2 of Fig. 14", put, "[3 3 3 3 5 5 5]", "4 × C2", []string{"Advance"}},
	} {
		if left := fmt.Sprint(c.state.busySlices()); left != c.left || c.state.batch() != c.batch {
			t.Errorf("%s: free in %s, batch %s", c.name, left, c.state.batch())
		}
		if got := c.state.actions(false); !slices.Equal(got, c.actions) {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	// With direct reconfiguration each of the 12 other partitions is possible, but not
	// after one already.
	if n := len(s.actions(true)); n != 3+12 {
		t.Errorf("%d actions at t with direct reconfiguration", n)
	}
	if got := changed.actions(true); !slices.Equal(got, []string{"Advance", "C1 on I1", "C2 on I1"}) {
		t.Errorf("after a direct reconfiguration %v", got)
	}
	if n := len(put.actions(true)); n != 1+12 {
		t.Errorf("%d actions when all is busy, with direct reconfiguration", n)
	}
	// The states before are as they were.
	if fmt.Sprint(s.busySlices()) != "[2 2 4 0 9 9 9]" || s.classes[0].count != 1 {
		t.Errorf("the first state has become %s, %s", fmt.Sprint(s.busySlices()), s.batch())
	}
}
