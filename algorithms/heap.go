package algorithms

// An endHeap is a binary min-heap of instances by the time at which they become
// free. It orders nothing but that time: which of several instances free at the
// same time comes first is decided by how elements travel through the heap. The
// FAR authors' published numbers were made with such a heap (Python's heapq), and
// ties are the rule at time 0, so the travelling rules here are heapq's: a pop
// sifts the last element all the way down, to the right child on a tie, and then
// up again.
type endHeap []endEntry

type endEntry struct {
	end float64
	// id says which instance it is; what it counts is up to the user of the heap.
	id int32
}

func (h *endHeap) push(e endEntry) {
	*h = append(*h, e)
	h.up(len(*h) - 1)
}

func (h *endHeap) pop() endEntry {
	s := *h
	top, last := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	if len(s) == 0 {
		return top
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= len(s) {
			break
		}
		if right := child + 1; right < len(s) && !(s[child].end < s[right].end) {
			child = right
		}
		s[i] = s[child]
		i = child
	}
	s[i] = last
	h.up(i)
	return top
}

func (h *endHeap) up(i int) {
	s := *h
	e := s[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !(e.end < s[parent].end) {
			break
		}
		s[i] = s[parent]
		i = parent
	}
	s[i] = e
}
