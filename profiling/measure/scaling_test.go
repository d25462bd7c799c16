package measure_test

import (
	"bytes"
	"reflect"
	"testing"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/task"
	"miglab/profiling/measure"
	"miglab/reports"
)

func TestMonotonicity(t *testing.T) {
	b := task.Batch{
		task.New("linear", seconds(a100, 84, 42, 28, 21, 12)),
		task.New("super", seconds(a100, 100, 40, 30, 22.5, 20)), // works 100, 80, 90, 90, 140
		task.New("slower", seconds(a100, 10, 12, 12, 15, 6)),    // longer by 20 % and 25 %
		task.New("gap", map[mig.Slices]mig.Seconds{1: 10, 3: 3, 4: 3}),
		task.New("large", map[mig.Slices]mig.Seconds{4: 2, 7: 1}),
	}
	got := measure.Monotonicity("On A100", a100, b)
	want := reports.Table{
		Title: "On A100",
		Columns: []reports.Column{
			{Name: "point", Right: true}, {Name: "kernel"}, {Name: "from size", Right: true}, {Name: "to size", Right: true}, {Name: "by [%]", Right: true},
		},
		Rows: [][]string{
			{"1", "slower", "1", "2", "20.00"},
			{"1", "slower", "3", "4", "25.00"},
			{"1", "gap", "1", "2", "inf"},
			{"1", "gap", "4", "7", "inf"},
			{"2", "super", "1", "2", "20.00"},
			{"2", "slower", "4", "7", "30.00"}, // from 60 to 42
			{"2", "gap", "1", "3", "10.00"},    // from 10 to 9
			{"2", "large", "4", "7", "12.50"},  // from 8 to 7
		},
		Notes: []string{
			"point 1 (more slices are never slower; FAR saw less than 2 %): 2 of 5 kernels break it, at most by inf % (gap from 1 to 2)",
			"point 2 (work never decreases): 4 of 5 kernels break it, at most by 30.00 % (slower from 4 to 7)",
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

// The public times of the FAR paper break its first point by more than the text says:
// Backprop takes 0.60726 s on two slices and 0.43844 s on one.
func TestMonotonicityOfRodinia(t *testing.T) {
	spec, err := datasets.Parse("rodinia")
	if err != nil {
		t.Fatal(err)
	}
	in, err := spec.Instance(a100, 0)
	if err != nil {
		t.Fatal(err)
	}
	rows := datasets.Measured(datasets.RodiniaA100)
	got := measure.Monotonicity("Rodinia", a100, in.Tasks)
	broken := map[[3]string]string{}
	for _, r := range got.Rows {
		broken[[3]string(r[:3])] = r[3] + " " + r[4]
	}
	for at, want := range map[[3]string]string{
		{"1", "Backprop", "1"}: "2 38.50",
		{"1", "BFS", "3"}:      "4 37.61", // 0.099204 over 0.07209
		{"2", "CFD", "1"}:      "2 31.64", // 2 x 2.4335 over 7.1197
	} {
		if broken[at] != want {
			t.Errorf("%v: %q, want %q", at, broken[at], want)
		}
	}
	if broken[[3]string{"2", "Backprop", "1"}] != "" || len(in.Tasks) != len(rows)/5 {
		t.Errorf("%v", got.Rows)
	}
}

func TestSpeedups(t *testing.T) {
	b := task.Batch{
		task.New("a", seconds(a100, 84, 42, 28, 21, 10.5)), task.New("b", seconds(a100, 5, 5, 5, 5, 5)), task.New("none", nil),
		task.New("c", map[mig.Slices]mig.Seconds{2: 9, 4: 3}), task.New("d", seconds(a100, 1, 1, 1, 1, 1)), task.New("e", seconds(a100, 2, 1, 1, 1, 1)),
	}
	got := measure.Speedups("Speedups on A100", a100, b)
	if len(got.Charts) != 2 {
		t.Fatalf("%d panels", len(got.Charts))
	}
	first, second := got.Charts[0].(reports.Lines), got.Charts[1].(reports.Lines)
	sizes := []float64{1, 2, 3, 4, 7}
	linear := reports.Series{Name: "linear", X: []float64{1, 7}, Y: []float64{1, 7}}
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
