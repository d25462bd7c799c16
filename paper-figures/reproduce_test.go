package figures

import (
	"slices"
	"testing"

	"miglab/harness/run"
)

func TestMergedTakesTheLargestNumber(t *testing.T) {
	a, b := run.Series{Dataset: "a"}, run.Series{Dataset: "b"}
	got, err := merged([]Need{{Series: b, N: 2}, {Series: a, First: 5, N: 1}, {Series: b, N: 7}, {Series: b, N: 3}})
	if want := []Need{{Series: b, N: 7}, {Series: a, First: 5, N: 1}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if _, err := merged([]Need{{Series: a, N: 1}, {Series: a, First: 1, N: 1}}); err == nil {
		t.Error("a series that begins at two instances is accepted")
	}
}
