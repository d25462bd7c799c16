package leaderboard

import (
	"slices"
	"strings"
	"testing"

	"miglab/harness/store"
)

// A negative instance is the only fault that is reported of its series.
func TestVerifyNamesANegativeInstance(t *testing.T) {
	found := &Verified{}
	s := storedSeries{Series: store.Series{Track: "batch", Algorithm: "far", Version: 1}, instances: []int{-1}}
	new(Verification).judge(&s, 3, found)
	if len(found.Lacking) > 0 || len(found.Unknown) != 1 || !strings.Contains(found.Unknown[0], "it has instance -1") {
		t.Errorf("lacking %q, unknown %q", found.Lacking, found.Unknown)
	}
	s.instances = []int{1}
	new(Verification).judge(&s, 3, found)
	if want := " lacks 2 of the instances 0 to 2 that the results have of this dataset: 0, 2; "; len(found.Lacking) != 1 ||
		!strings.Contains(found.Lacking[0], want) {
		t.Errorf("lacking %q, want %q", found.Lacking, want)
	}
	for _, c := range []struct {
		have []int
		end  int
		want string
	}{
		{[]int{0, 1}, 2, ""},
		{[]int{1, 2, 5, 6}, 9, "0, 3-4, 7-8"},
	} {
		if got := missingInstances(slices.Clone(c.have), c.end); got != c.want {
			t.Errorf("%v of %d lack %q, want %q", c.have, c.end, got, c.want)
		}
	}
}
