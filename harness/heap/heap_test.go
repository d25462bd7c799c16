package heap

import (
	stdheap "container/heap"
	"math/rand/v2"
	"slices"
	"testing"
)

// ordered is the standard library's heap over the same elements.
type ordered []Item[float64]

func (h ordered) Len() int           { return len(h) }
func (h ordered) Less(i, j int) bool { return h[i].Before(h[j]) }
func (h ordered) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *ordered) Push(x any)        { *h = append(*h, x.(Item[float64])) }
func (h *ordered) Pop() any {
	e := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return e
}

func TestPopsInOrder(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 7))
		var h Heap[float64]
		var want ordered
		for i := range int32(200) {
			e := Item[float64]{Key: float64(rng.IntN(20)), Tie: int32(rng.IntN(3)), ID: i}
			switch rng.IntN(4) {
			case 0:
				if len(h) == 0 {
					continue
				}
				got, w := h.Pop(), stdheap.Pop(&want).(Item[float64])
				if got.Key != w.Key || got.Tie != w.Tie {
					t.Fatalf("seed %d: popped %v, want %v", seed, got, w)
				}
			case 1:
				if len(h) == 0 {
					continue
				}
				h.ReplaceFirst(e)
				want[0] = e
				stdheap.Fix(&want, 0)
			default:
				h.Push(e)
				stdheap.Push(&want, e)
			}
			if len(h) != len(want) || len(h) > 0 && (h[0].Key != want[0].Key || h[0].Tie != want[0].Tie) {
				t.Fatalf("seed %d: %v, want %v", seed, h, want)
			}
		}
	}
}

// TestBreaksTiesAsHeapq holds the order in which equal elements come out: Python's
// heapq gives 0, 2, 3, 1 for four of them when each popped one returns later with a
// larger key.
func TestBreaksTiesAsHeapq(t *testing.T) {
	var h Heap[float64]
	for i := range int32(4) {
		h.Push(Item[float64]{ID: i})
	}
	var got []int32
	for i := range 4 {
		e := h.Pop()
		got = append(got, e.ID)
		e.Key = float64(10 + i)
		h.Push(e)
	}
	if want := []int32{0, 2, 3, 1}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}
