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
	// further says that the instance is not the first of its request.
	further bool
	// media says that it has the media extensions of the GPU.
	media bool
	// next is the index in soon, plus one, of the next departure in the list.
	next int32
}

// A calendar holds departures until they are due. Time is counted in requests and divided
// into periods. Departures of the present period are listed by the request that they come before.
// Departures of a later period are collected in bundles, in no particular order, until it begins.
//
// A departure thus touches little memory, which fits into a processor's cache however many workloads run: the end of
// its period's last bundle when it is added, and the lists of one period when it is due. The bundles of a period are
// read once, from beginning to end.
type calendar struct {
	period int
	// first is the index in soon, plus one, of each list's first departure, by request of the present
	// period; 0 ends a list.
	first []int32
	soon  []departure
	// last is the index in bundles, plus one, of each period's last bundle.
	last    []int32
	bundles []bundle
	// unused is the index in bundles, plus one, of the first unused bundle; 0 if there is none.
	unused int32
}

// A bundle has up to bundleSize departures of a period.
type bundle struct {
	departures [bundleSize]departure
	n          int32
	// previous is the index in bundles, plus one, of the period's bundle before this one, or of the next unused bundle.
	previous int32
}

// periodSize is the number of requests in a period. The lists of a period then take about 100 kB,
// and so do the ends of all bundles of 10 million requests.
const (
	periodSize = 4096
	bundleSize = 32
)

func newCalendar(requests int) calendar {
	listed, later := min(requests, periodSize), requests/periodSize
	return calendar{
		first: make([]int32, listed), soon: make([]departure, 0, listed),
		last: make([]int32, later+1), bundles: make([]bundle, 0, later),
	}
}

// add adds a departure before a request that has not been taken yet.
func (c *calendar) add(d departure) {
	period := int(d.before) / periodSize
	if period == c.period {
		c.list(d)
		return
	}
	last := &c.last[period]
	if *last == 0 || c.bundles[*last-1].n == bundleSize {
		*last = c.newBundle(*last)
	}
	b := &c.bundles[*last-1]
	b.departures[b.n] = d
	b.n++
}

// list adds a departure of the present period to the list of its request.
func (c *calendar) list(d departure) {
	first := &c.first[d.before%periodSize]
	d.next = *first
	c.soon = append(c.soon, d)
	*first = int32(len(c.soon))
}

// newBundle returns the index, plus one, of an empty bundle.
func (c *calendar) newBundle(previous int32) int32 {
	at := c.unused
	if at == 0 {
		c.bundles = append(c.bundles, bundle{})
		at = int32(len(c.bundles))
	} else {
		c.unused = c.bundles[at-1].previous
	}
	c.bundles[at-1].n, c.bundles[at-1].previous = 0, previous
	return at
}

// take appends the departures before a request to a list, in no particular order, and removes
// them from the calendar. Requests must be taken one after the other, from 0.
func (c *calendar) take(to []departure, request int) []departure {
	if request%periodSize == 0 {
		c.begin(request / periodSize)
	}
	first := &c.first[request%periodSize]
	for k := *first; k != 0; k = c.soon[k-1].next {
		to = append(to, c.soon[k-1])
	}
	*first = 0
	return to
}

// begin lists the departures of a period.
func (c *calendar) begin(period int) {
	c.period, c.soon = period, c.soon[:0]
	for at := c.last[period]; at != 0; {
		b := &c.bundles[at-1]
		for _, d := range b.departures[:b.n] {
			c.list(d)
		}
		at, b.previous, c.unused = b.previous, c.unused, at // The bundle becomes the first unused one.
	}
	c.last[period] = 0
}
