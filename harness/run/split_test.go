package run

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever is run, no instance is in both halves and each is in one.
func TestSplitsShareNoInstance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, n := rapid.IntRange(0, 20).Draw(t, "from"), rapid.IntRange(0, 20).Draw(t, "n")
		all := []Span{{nil, from, from + n}}
		var have []int
		for _, s := range []Split{Tune, Test} {
			for _, span := range s.Of(all) {
				have = append(have, span.From)
				if span.To != span.From+1 || !s.Holds(span.From) {
					t.Fatalf("%s has %v", s, span)
				}
			}
		}
		slices.Sort(have)
		if len(have) != n || len(slices.Compact(have)) != n {
			t.Fatalf("%v", have)
		}
	})
}

func TestExpand(t *testing.T) {
	got, err := Expand([]string{"far", "lns?iterations=9..10&x=0..1", "exec:../a..b?timeout=1s", "x?y=1..2z"})
	want := "far lns?iterations=9&x=0 lns?iterations=10&x=0 lns?iterations=9&x=1 lns?iterations=10&x=1 exec:../a..b?timeout=1s x?y=1..2z"
	slices.Sort(got)
	all := strings.Fields(want)
	slices.Sort(all)
	if err != nil || !slices.Equal(got, all) {
		t.Errorf("%q, %v", got, err)
	}
	for _, wrong := range []string{"a?x=5..1", "a?x=1..1001", "a?x=1..99999999999999999999", "a?x=1..100&y=1..100"} {
		if got, err := Expand([]string{wrong}); err == nil {
			t.Errorf("%s is %d algorithms", wrong, len(got))
		}
	}
}
