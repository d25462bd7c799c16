package sim

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestCalendarAgainstList notes departures in the present and in later periods, some of them only
// when their period has begun, and compares what leaves with a plain list.
func TestCalendarAgainstList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requests := rapid.SampledFrom([]int{1, 100, periodSize, periodSize + 1, 3*periodSize + 7}).Draw(t, "requests")
		c := newCalendar(requests)
		noted := map[int][]departure{}
		note := func(d departure) {
			c.add(d)
			noted[int(d.before)] = append(noted[int(d.before)], d)
		}
		stride := rapid.IntRange(1, 5).Draw(t, "stride")
		furthest := rapid.SampledFrom([]int{3, 2 * periodSize, requests}).Draw(t, "furthest")
		left := []departure{}
		for i := range requests {
			left = c.take(left[:0], i)
			slices.SortFunc(left, func(a, b departure) int { return cmp.Compare(a.request, b.request) })
			same := func(a, b departure) bool { return a.before == b.before && a.request == b.request && a.gpu == b.gpu }
			if !slices.EqualFunc(left, noted[i], same) {
				t.Fatalf("before request %d leave %v, want %v", i, left, noted[i])
			}
			if before := i + 1 + i*i%furthest; i%stride == 0 && before < requests {
				note(departure{request: int32(i), before: int32(before), gpu: int32(i % 7)})
			}
		}
	})
}
