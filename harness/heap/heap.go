// Package heap is the binary min-heap of this module.
//
// The order of elements that compare equal is part of the contract. It follows Python's heapq: [Heap.Pop] moves the
// last element down to a leaf, to the right child where both children are equal, and then up again. The FAR authors'
// numbers were made with heapq, and ties are the rule at time 0.
package heap

import "cmp"

// An Item is an element of a [Heap]. The least Key comes first, of equal keys the
// least Tie. A caller that wants heapq's order of equal keys leaves Tie at 0.
type Item[K cmp.Ordered] struct {
	Key K
	Tie int32
	// ID says what the item represents. The heap does not look at it.
	ID int32
}

// Before reports whether a comes before b.
func (a Item[K]) Before(b Item[K]) bool { return a.Key < b.Key || a.Key == b.Key && a.Tie < b.Tie }

// A Heap is a binary min-heap. The first element is the least one; the children of
// element i are elements 2i+1 and 2i+2. The zero value is empty.
type Heap[K cmp.Ordered] []Item[K]

// Push adds an item.
func (h *Heap[K]) Push(x Item[K]) {
	*h = append(*h, x)
	h.up(len(*h)-1, x)
}

// Pop removes and returns the first item. It panics if the heap is empty.
func (h *Heap[K]) Pop() Item[K] {
	s := *h
	first, last := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	if len(s) > 0 {
		s.sink(last)
	}
	return first
}

// ReplaceFirst removes the first item and adds x. It panics if the heap is empty.
func (h Heap[K]) ReplaceFirst(x Item[K]) { h.sink(x) }

// sink puts an item in place of the first one.
func (h Heap[K]) sink(x Item[K]) {
	i := 0
	for child := 1; child < len(h); child = 2*i + 1 {
		if right := child + 1; right < len(h) && !h[child].Before(h[right]) {
			child = right
		}
		h[i] = h[child]
		i = child
	}
	h.up(i, x)
}

// up puts an item at position i or above.
func (h Heap[K]) up(i int, x Item[K]) {
	for i > 0 {
		parent := (i - 1) / 2
		if !x.Before(h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = x
}
