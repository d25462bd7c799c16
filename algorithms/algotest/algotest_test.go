package algotest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"miglab/harness/algo"
	"miglab/harness/schedule"
)

var toy = algo.Register(algo.Spec{
	Name: "toy", Version: 3,
	Params: []algo.Param{{Name: "a", Default: "1", Values: []string{"1", "2", "3"}}, {Name: "b"}, {Name: "c", Default: "x", Values: []string{"x", "y"}}},
	New:    algo.NewBatch(func(algo.Args) (algo.Batch, error) { return toyBatch{}, nil }),
})

type toyBatch struct{}

func (toyBatch) Schedule(context.Context, algo.Problem) (schedule.Schedule, error) {
	return schedule.Schedule{}, nil
}

func TestVariants(t *testing.T) {
	want := []string{"toy", "toy?a=2", "toy?a=3", "toy?c=y"}
	if got := VariantsOf(toy); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := GoldenName("toy?a=2&c=y", toy), "toy-a-2-c-y-v3.txt"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestSuiteFindsFaults runs algorithms that are wrong in one way each. A problem is a
// list of numbers and the answer is to be its length.
func TestSuiteFindsFaults(t *testing.T) {
	var calls atomic.Int64
	infeasible := func(name string) error {
		return &algo.InfeasibleError{Algorithm: name, Task: "t", Reason: "is too long"}
	}
	for _, c := range []struct {
		name string
		run  func(p []int) (int, error)
		want string
	}{
		{"right", func(p []int) (int, error) { return len(p), nil }, ""},
		{"illegal", func(p []int) (int, error) { return len(p) + 1, nil }, "the referee says no"},
		{"changes the problem", func(p []int) (int, error) { p[0]++; return len(p), nil }, "has changed the problem"},
		{"fails", func([]int) (int, error) { return 0, errors.New("out of luck") }, "out of luck"},
		{"differs", func([]int) (int, error) { return int(10 + calls.Add(1)), nil }, "gives 11 and then 1"},
		{"infeasible", func([]int) (int, error) { return 0, infeasible("toy") }, ""},
		{"infeasible under another name", func([]int) (int, error) { return 0, infeasible("miso") }, `names "miso"`},
	} {
		s := Suite[[]int, int]{Track: Track[[]int, int]{
			Name: algo.TrackBatch,
			Run:  func(_ context.Context, _ algo.Algorithm, p []int) (int, error) { return c.run(p) },
			Check: func(p []int, answer int) error {
				if answer != len(p) && answer < 10 {
					return errors.New("the referee says no")
				}
				return nil
			},
		}}
		s.Infeasible = func(_ algo.Algorithm, p []int) bool { return len(p) == 3 }
		err := s.conform(algo.MustParse("toy"), []int{1, 2, 3}, true)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err := s.conform(algo.MustParse("toy"), []int{1}, false); c.name == "infeasible" && err == nil {
			t.Error("an algorithm that should have an answer may have none")
		}
	}
}

func TestCompare(t *testing.T) {
	want := map[string]string{"a-v1": "1\n2\n", "b-v1": "1", "c-v1": "1"}
	d := compare(want, []Answer{{"a-v1", "1\n3\n"}, {"b-v2", "2"}, {"c-v1", "1"}})
	if len(d.changed) != 1 || d.changed[0].Key != "a-v1" || d.first[0] != `first on line 2: got "3", want "2"` {
		t.Errorf("changed %v, %v", d.changed, d.first)
	}
	if len(d.missing) != 1 || d.missing[0].Key != "b-v2" || !slices.Equal(d.extra, []string{"b-v1"}) {
		t.Errorf("missing %v, extra %v", d.missing, d.extra)
	}
}

func TestUpdateAddsAndDeletesButDoesNotChange(t *testing.T) {
	dir := t.TempDir()
	defer func(before bool) { *update = before }(*update)
	*update = true
	Golden(t, dir, []Answer{{"a-v1", "one"}, {"b-v1", "two"}})
	Golden(t, dir, []Answer{{"a-v1", "one"}, {"b-v2", "three"}})
	*update = false
	Golden(t, dir, []Answer{{"a-v1", "one"}, {"b-v2", "three"}})
	if _, err := os.Stat(filepath.Join(dir, "b-v1")); err == nil {
		t.Error("the answer of an old version is still there")
	}

	file := filepath.Join(dir, "golden.csv")
	if err := os.WriteFile(file, []byte("name,version,answer\nold,1,9\na,1,8,7\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	lines := []Answer{{"a,1", "8,7"}, {"b,1", "6"}}
	*update = true
	GoldenLines(t, file, "name,version,answer", lines)
	*update = false
	GoldenLines(t, file, "name,version,answer", lines)
	if got, want := read(t, file), "name,version,answer\na,1,8,7\nb,1,6\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
