package datasets

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// batches returns an instance of tasks on A100.
func batches(t *testing.T, spec string, index int) task.Batches {
	t.Helper()
	in, err := InstanceOf[task.Batches](MustParse(spec), mig.MustLookup("A100"), index)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// durations returns the durations of tasks, in order, as text without names.
func durations(tasks task.Batch) []string {
	var out []string
	for i := range tasks {
		line := ""
		for _, s := range mig.MustLookup("A100").Sizes() {
			line += fmt.Sprint(tasks[i].On(s), " ")
		}
		out = append(out, line)
	}
	return out
}

// step is the r of create_dataset.py with which a task goes from one slice to two.
func step(k *task.Task) float64 { return float64(2*k.On(2)/k.On(1)) - 1 }

// TestClassOrder: create_dataset.py appends the tasks of the classes one after the other, in each
// the memory-bound ones first, and does not shuffle them. Of the 50 tasks of POORSCALING that
// scale to two slices, 50*25//100 = 12 are memory-bound.
func TestClassOrder(t *testing.T) {
	const classes = "drl/POORSCALING?total=100&gen=released&order=classes"
	for index := range 20 {
		in := batches(t, classes, index)
		for i := range in.Tasks {
			low, high := 0.5, 1.0 // sub-linear: scales to one slice
			switch {
			case i >= 62:
				low, high = 0, 0.1 // near-linear
			case i >= 50:
				low, high = -0.3, 0 // super-linear
			}
			const rounding = 1e-12
			if r := step(&in.Tasks[i]); r < low-rounding || r > high+rounding {
				t.Fatalf("instance %d, task %d: r = %v from 1 to 2 slices, want %v to %v", index, i, r, low, high)
			}
		}
		shuffled := durations(batches(t, strings.ReplaceAll(classes, "&order=classes", ""), index).Tasks)
		ordered := durations(in.Tasks)
		if slices.Equal(shuffled, ordered) {
			t.Errorf("instance %d is not shuffled by default", index)
		}
		slices.Sort(shuffled)
		slices.Sort(ordered)
		if !slices.Equal(shuffled, ordered) {
			t.Errorf("instance %d: the order changes the tasks", index)
		}
	}
}

// TestBusyStart compares start=busy with reset in env.py of the released code: a partition of 16,
// and for each of its instances random.randint(0, 14), which is 0 once in 15 times.
func TestBusyStart(t *testing.T) {
	g := mig.MustLookup("A100")
	const instances = 3000
	partitions, busy := map[string]int{}, map[mig.Seconds]int{}
	drawn := 0
	for i := range instances {
		in := batches(t, "drl/GOODSCALING?start=busy", i)
		var p mig.Partition
		for _, e := range in.Start {
			p = append(p, e.Instance)
			busy[e.BusyUntil]++
			drawn++
		}
		if !slices.ContainsFunc(g.Useful(), func(u mig.Partition) bool { return slices.Equal(u, p) }) {
			t.Fatalf("instance %d starts with %v, which is no useful partition", i, p)
		}
		partitions[p.String()]++
	}
	check := func(what string, count, of, one int) {
		if low, high := of/one*7/10, of/one*13/10; count < low || count > high {
			t.Errorf("%s: %d of %d, want about one in %d", what, count, of, one)
		}
	}
	for _, u := range g.Useful() {
		check(u.String(), partitions[u.String()], instances, 16)
	}
	for s := range 15 {
		check(fmt.Sprint(s, " s"), busy[mig.Seconds(s)], drawn, 15)
	}
	if len(g.Useful()) != 16 || len(busy) != 15 {
		t.Errorf("%d partitions and %d values of busy seconds, want 16 and 15", len(g.Useful()), len(busy))
	}
	idle, used := batches(t, "drl/GOODSCALING", 5), batches(t, "drl/GOODSCALING?start=busy", 5)
	if len(idle.Start) != 0 {
		t.Errorf("the GPU has %v by default", idle.Start)
	}
	if !slices.Equal(durations(idle.Tasks), durations(used.Tasks)) {
		t.Error("the start changes the tasks")
	}
	a, b := task.NewDigest(), task.NewDigest()
	idle.AddTo(a)
	used.AddTo(b)
	if a.String() == b.String() {
		t.Error("the start is not part of the digest")
	}
	if err := used.WriteCSV(nil, g); err == nil {
		t.Error("a tasks file is written without the start")
	}
}
