package run

import (
	"slices"
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
