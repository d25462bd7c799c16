package schedule

import (
	"cmp"
	"slices"

	"miglab/harness/mig"
)

// BarKind says what a bar of a Gantt chart shows.
type BarKind string

// The bars of FAR's charts: tasks, and the creation and destruction of instances.
const (
	RunBar     BarKind = "run"
	CreateBar  BarKind = "create"
	DestroyBar BarKind = "destroy"
)

// A Bar is a rectangle of a Gantt chart: compute slices across, time along.
type Bar struct {
	Kind BarKind `json:"kind"`
	GPU  int     `json:"gpu"` // counts from 0
	// Slice is the first compute slice and Width the number of compute slices. Compute
	// slice i is drawn at memory slice i: 3 slices at 0 take 0-2 and leave 3 idle.
	Slice mig.Slices  `json:"slice"`
	Width mig.Slices  `json:"width"`
	Start mig.Seconds `json:"start"`
	End   mig.Seconds `json:"end"`
	Label string      `json:"label"` // the task's name, or for an operation the instance, for example 3@4
}

// Bars returns the bars of a schedule that [Check] accepts, sorted by start, GPU, slice,
// kind and end. Operations that take no time have no bar.
func Bars(p Problem, s Schedule) []Bar {
	bars := make([]Bar, 0, len(s.Placements)+len(s.Operations))
	add := func(k BarKind, gpu int, in mig.Instance, start, end mig.Seconds, label string) {
		if end > start {
			bars = append(bars, Bar{
				Kind: k, GPU: gpu, Slice: in.Start, Width: in.Size(), Start: start, End: end, Label: label,
			})
		}
	}
	for _, pl := range s.Placements {
		add(RunBar, pl.GPU, pl.Instance, pl.Start, pl.End, p.Tasks[pl.Task].Name)
	}
	for _, o := range s.Operations {
		kind := CreateBar
		if o.Op == Destroy {
			kind = DestroyBar
		}
		add(kind, o.GPU, o.Instance, o.Start, o.End, o.Instance.String())
	}
	slices.SortFunc(bars, func(a, b Bar) int {
		return cmp.Or(
			cmp.Compare(a.Start, b.Start),
			cmp.Compare(a.GPU, b.GPU),
			cmp.Compare(a.Slice, b.Slice),
			cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.End, b.End),
		)
	})
	return bars
}
