package run

import (
	"fmt"
	"iter"

	"miglab/harness/store"
)

// A Cell is one unit of work.
type Cell struct {
	Series
	// Version is the algorithm's.
	Version int
	// Instance counts from 0.
	Instance int
}

// Stored returns the name under which the store has the results of a version of the
// algorithm.
func (s Series) Stored(version int) store.Series {
	return store.Series{
		Track: string(s.Track), Dataset: s.Dataset, Content: s.Content, GPU: s.GPU, Count: s.Count,
		Algorithm: s.Algorithm, Version: version, Weights: s.Weights, Model: s.Model.String(),
	}
}

// A Span is cells of a series with consecutive instances.
type Span struct {
	Series  Series
	Version int
	// From is the first instance and To the one after the last.
	From, To int
}

// Cell returns a cell of the span.
func (s *Span) Cell(instance int) Cell { return Cell{s.Series, s.Version, instance} }

// Stored returns the name under which the store has the span's results.
func (s *Span) Stored() store.Series { return s.Series.Stored(s.Version) }

// Spans yields the cells, in their order, as spans that are as long as possible.
func Spans(cells []Cell) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for len(cells) > 0 {
			c := &cells[0]
			n := 1
			for n < len(cells) && cells[n].Instance == c.Instance+n && cells[n].Version == c.Version &&
				cells[n].Series == c.Series {
				n++
			}
			if !yield(Span{c.Series, c.Version, c.Instance, c.Instance + n}) {
				return
			}
			cells = cells[n:]
		}
	}
}

// String names the cell in messages.
func (c Cell) String() string {
	return fmt.Sprintf("%s (version %d) on %s, instance %d, %d x %s, %s", c.Algorithm, c.Version, c.Dataset, c.Instance,
		c.Count, c.GPU, c.Model)
}

// A Group is what instances are numbered in, whoever schedules them.
type Group struct{ Dataset, Content, GPU string }

// Group returns the group of the series' instances.
func (s *Series) Group() Group { return Group{s.Dataset, s.Content, s.GPU} }
