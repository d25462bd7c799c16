package sim

import "miglab/harness/mig"

// A departure is an instance that will leave.
type departure struct {
	// slot is the slot at the beginning of which it leaves, and before is the first request that
	// arrives in that slot or later.
	slot    uint32
	before  int32
	request int32
	gpu     int32
	window  mig.Mask
	further bool  // the instance is not the first of its request
	media   bool  // it has the media extensions of the GPU
	next    int32 // the index in all, plus one, of the next departure in the list
}

// A calendar holds departures until they are due, in a list for each request that they come before.
type calendar struct {
	// first is the index in all, plus one, of each list's first departure, by request; 0 ends a list.
	first []int32
	all   []departure
	free  int32 // the index in all, plus one, of the first unused departure; next leads to the others
}

func newCalendar(requests int) calendar { return calendar{first: make([]int32, requests)} }

// add adds a departure before a request that has not been taken yet.
func (c *calendar) add(d departure) {
	at := c.free
	if at == 0 {
		c.all = append(c.all, d)
		at = int32(len(c.all))
	} else {
		c.free = c.all[at-1].next
	}
	first := &c.first[d.before]
	d.next = *first
	c.all[at-1] = d
	*first = at
}

// take appends the departures before a request to a list, and removes them from the calendar.
func (c *calendar) take(to []departure, request int) []departure {
	for at := c.first[request]; at != 0; {
		d := &c.all[at-1]
		to = append(to, *d)
		next := d.next
		d.next, c.free = c.free, at
		at = next
	}
	c.first[request] = 0
	return to
}
