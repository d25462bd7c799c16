package measure_test

import (
	"reflect"
	"testing"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/task"
	"miglab/profiling/measure"
	"miglab/reports"
)

// onSizes returns a task with its times on all sizes of an A100, ascending.
func onSizes(name string, times ...mig.Seconds) task.Task {
	t := task.New(name, nil)
	for i, size := range a100.Sizes() {
		t.Set(size, times[i])
	}
	return t
}

func TestMonotonicity(t *testing.T) {
	b := task.Batch{
		onSizes("linear", 84, 42, 28, 21, 12),
		onSizes("super", 100, 40, 30, 22.5, 20), // works 100, 80, 90, 90, 140
		onSizes("slower", 10, 12, 12, 15, 6),    // longer by 20 % and 25 %
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
	in, err := datasets.InstanceOf[task.Batches](spec, a100, 0)
	if err != nil {
		t.Fatal(err)
	}
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
	if broken[[3]string{"2", "Backprop", "1"}] != "" || len(in.Tasks) != 16 {
		t.Errorf("%v", got.Rows)
	}
}
