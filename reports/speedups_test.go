package reports_test

import (
	"bytes"
	"reflect"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/task"
	"miglab/reports"
)

func TestSpeedups(t *testing.T) {
	a100 := mig.MustLookup("A100")
	seconds := func(g *mig.GPU, on ...mig.Seconds) map[mig.Slices]mig.Seconds {
		out := map[mig.Slices]mig.Seconds{}
		for i, s := range g.Sizes() {
			out[s] = on[i]
		}
		return out
	}
	b := task.Batch{
		task.New("a", seconds(a100, 84, 42, 28, 21, 10.5)), task.New("b", seconds(a100, 5, 5, 5, 5, 5)), task.New("none", nil),
		task.New("c", map[mig.Slices]mig.Seconds{2: 9, 4: 3}), task.New("d", seconds(a100, 1, 1, 1, 1, 1)), task.New("e", seconds(a100, 2, 1, 1, 1, 1)),
	}
	got := reports.Speedups("Speedups on A100", a100, b, 4, true)
	if len(got.Charts) != 2 {
		t.Fatalf("%d panels", len(got.Charts))
	}
	first, second := got.Charts[0].(reports.Lines), got.Charts[1].(reports.Lines)
	sizes := []float64{1, 2, 3, 4, 7}
	linear := reports.Series{Name: "linear", X: []float64{1, 7}, Y: []float64{1, 7}, Reference: true}
	want := []reports.Series{
		{Name: "a", X: sizes, Y: []float64{1, 2, 3, 4, 8}, Markers: true},
		{Name: "b", X: sizes, Y: []float64{1, 1, 1, 1, 1}, Markers: true},
		{Name: "c (over 2 slices)", X: []float64{2, 4}, Y: []float64{1, 3}, Markers: true},
		{Name: "d", X: sizes, Y: []float64{1, 1, 1, 1, 1}, Markers: true},
		linear,
	}
	if !reflect.DeepEqual(first.Series, want) || first.Y.To != 8 || second.Y.To != 8 {
		t.Errorf("%+v", first)
	}
	if len(second.Series) != 2 || second.Series[0].Name != "e" || !reflect.DeepEqual(second.Series[1], linear) {
		t.Errorf("%+v", second.Series)
	}
	if err := reports.Encode(&bytes.Buffer{}, "svg", got); err != nil {
		t.Error(err)
	}
}
