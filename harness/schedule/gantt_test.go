package schedule_test

import (
	"slices"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

func TestBarsOfAWorkedExample(t *testing.T) {
	want := []schedule.Bar{
		{Kind: schedule.CreateBar, GPU: 0, Slice: 0, Width: 2, Start: 0, End: 0.17, Label: "2@0"},
		{Kind: schedule.RunBar, GPU: 0, Slice: 0, Width: 2, Start: 0.17, End: 1.17, Label: "a"},
		{Kind: schedule.CreateBar, GPU: 0, Slice: 4, Width: 3, Start: 0.17, End: 0.37, Label: "3@4"},
		{Kind: schedule.RunBar, GPU: 0, Slice: 4, Width: 3, Start: 0.37, End: 1.87, Label: "c"},
		{Kind: schedule.RunBar, GPU: 1, Slice: 0, Width: 7, Start: 0.5, End: 1, Label: "e"},
		{Kind: schedule.DestroyBar, GPU: 1, Slice: 0, Width: 7, Start: 1, End: 1.22, Label: "7@0"},
		{Kind: schedule.RunBar, GPU: 0, Slice: 0, Width: 2, Start: 1.17, End: 3.17, Label: "b"},
		{Kind: schedule.CreateBar, GPU: 1, Slice: 6, Width: 1, Start: 1.22, End: 1.38, Label: "1@6"},
		{Kind: schedule.RunBar, GPU: 1, Slice: 6, Width: 1, Start: 1.38, End: 2.38, Label: "f"},
		{Kind: schedule.DestroyBar, GPU: 0, Slice: 0, Width: 2, Start: 3.17, End: 3.37, Label: "2@0"},
		{Kind: schedule.CreateBar, GPU: 0, Slice: 0, Width: 4, Start: 3.37, End: 3.58, Label: "4@0"},
		{Kind: schedule.RunBar, GPU: 0, Slice: 0, Width: 4, Start: 3.58, End: 6.58, Label: "d"},
	}
	p, s := valid()
	if got := schedule.Bars(p, s); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	slices.Reverse(s.Placements)
	slices.Reverse(s.Operations)
	if got := schedule.Bars(p, s); !slices.Equal(got, want) {
		t.Errorf("in another order: %v", got)
	}
}

func TestThreeSlicesAtZeroAreDrawnOnThree(t *testing.T) {
	p := schedule.Problem{GPU: a100, Model: mig.Free, Tasks: task.Batch{task.New("t", map[mig.Slices]mig.Seconds{3: 1})}}
	s := schedule.Schedule{
		GPU: a100, Model: mig.Free,
		Placements: []schedule.Placement{{Instance: at(3, 0), End: 1}},
		Operations: []schedule.Operation{{Instance: at(3, 0)}},
	}
	want := []schedule.Bar{{Kind: schedule.RunBar, Width: 3, End: 1, Label: "t"}}
	if got := schedule.Bars(p, s); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v: the operation takes no time", got, want)
	}
}
