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
		all := []Span{{Trial: new(Trial), From: from, To: from + n}}
		var have []int
		for _, s := range []Split{Tune, Test} {
			p := &backlog{spans: []plannedSpan{}}
			for _, span := range s.Of(all) {
				p.spans = append(p.spans, plannedSpan{Span: span})
			}
			before := len(have)
			p.each(0, func(_ *planned, instance int) {
				have = append(have, instance)
				if !s.Holds(instance) {
					t.Fatalf("%s has %v", s, instance)
				}
			})
			if len(have) == before && len(p.spans) > 0 {
				t.Fatalf("%s has no instance of %v", s, all)
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
	if many, err := Expand([]string{"far", "a?x=1..1000", "b?x=1..1000"}); err != nil || len(many) != 2001 {
		t.Errorf("%d algorithms, %v: the limit is for the ranges of one", len(many), err)
	}
	for _, wrong := range []string{"a?x=5..1", "a?x=1..1001", "a?x=1..99999999999999999999", "a?x=1..100&y=1..100"} {
		if got, err := Expand([]string{wrong}); err == nil {
			t.Errorf("%s is %d algorithms", wrong, len(got))
		}
	}
}
