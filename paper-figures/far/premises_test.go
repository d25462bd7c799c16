package far

import (
	"math"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/stats"
	"miglab/harness/task"
	figures "miglab/paper-figures"
)

// scaled returns a task that takes 12 s on one slice and is so many times faster on 2, 3 and 7.
func scaled(two, three, seven mig.Seconds) task.Task {
	return task.New("t", map[mig.Slices]mig.Seconds{1: 12, 2: 12 / two, 3: 12 / three, 7: 12 / seven})
}

func TestDistanceOfSamples(t *testing.T) {
	linear, flat := scaled(2, 3, 7), scaled(1, 1, 1)
	between := func(a, b task.Batch) float64 {
		x := sample{tasks: a, groups: make([]string, len(a))}
		points := sample{tasks: b}.points()
		return x.distance("w", points, stats.Mean(meanTo(points, points))).value
	}
	for _, c := range []struct {
		a, b task.Batch
		want float64
	}{
		{task.Batch{linear}, task.Batch{linear, linear}, 0},
		{task.Batch{linear, flat}, task.Batch{flat, linear}, 0},
		{task.Batch{linear}, task.Batch{flat}, 1},
		// Between the samples the mean distance is half of that of the two points, as within the second.
		{task.Batch{flat}, task.Batch{flat, linear}, 0.5},
	} {
		if got := between(c.a, c.b); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v and %v are %v apart, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestMostSlowdown(t *testing.T) {
	// 4 slices take a quarter longer than 2. Nothing was measured on 3.
	tasks := task.Batch{
		scaled(2, 3, 7),
		task.New("u", map[mig.Slices]mig.Seconds{2: 4, 3: mig.Seconds(math.Inf(1)), 4: 5, 7: 1}),
	}
	if got := (sample{tasks: tasks}).mostSlowdown(); math.Abs(got-25) > 1e-12 {
		t.Errorf("%v %%, want 25", got)
	}
}

func TestKendall(t *testing.T) {
	for _, c := range []struct {
		x, y []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4}, []float64{10, 20, 30, 40}, 1},
		{[]float64{1, 2, 3, 4}, []float64{4, 3, 2, 1}, -1},
		{[]float64{1, 2, 3, 4}, []float64{1, 2, 4, 3}, 2. / 3}, // 5 pairs agree and one does not
		{[]float64{1, 1, 1}, []float64{1, 2, 3}, 0},
	} {
		if got := kendall(c.x, c.y); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("tau of %v and %v is %v, want %v", c.x, c.y, got, c.want)
		}
	}
}

// TestChangedPlaces: a pair changes places where both data sets tell it apart, in opposite directions.
func TestChangedPlaces(t *testing.T) {
	c := contest{track: "batch", schedulers: []string{"a", "b", "c"}}
	noisy := []float64{0, 10, 0, 10}
	x := [][]float64{{1, 1, 1, 1}, {2, 2, 2, 2}, noisy}
	y := [][]float64{{2, 2, 2, 2}, {1, 1, 1, 1}, figures.Map(noisy, func(v float64) float64 { return v + 1 })}
	got := c.compare(x, y, "")
	if len(got.swapped) != 1 || got.swapped[0] != "a and b" {
		t.Errorf("%q change places, want a and b: a is ahead on y", got.swapped)
	}
}
