package plan

import (
	"math"

	"miglab/harness/mig"
)

// subsetLimits has the limits by which [subsets] leaves sets out of its tables. No set that is left out can be part of
// a solution that ends within limit and wastes no more than slack.
type subsetLimits struct {
	// limit is the latest end that is looked for, and firstLimit the limit that is tried first. If a solution ends
	// within a limit, a later limit gives the same solution, because no part of it ends later.
	limit, firstLimit ticks
	// tight means that the other tasks limit the tables further. until is, by node, the latest end in its table that
	// can be part of a solution within the limit, because the nodes above it take the rest. taken is, by node, the
	// slice-ticks that other tasks take on the nodes below it.
	tight bool
	until [maxNodes]ticks
	taken [maxNodes]int64
	slack int64 // the most slice-ticks that a solution within the limit, or any part of it, wastes
	// skip are the classes of nodes whose tables in after are not needed for any solution within the limit.
	skip   nodeSet
	fits   []int32 // the sets that are not too large for the node whose table is computed
	others []int64 // scratch of othersOnRoot
}

// A space is a time on a number of compute slices, of which other tasks take a part, in slice-ticks.
type space struct {
	ticks, taken int64
	width        int
	wasted       bool // whether slice-ticks that are left over are wasted
	// others is, by set, the time that the node above them needs for the tasks outside the set; nil if they may
	// run elsewhere.
	others []int64
}

// wastes reports whether too many slice-ticks are idle before the end of a set with the area.
func (in *space) wastes(end ticks, area, slack int64) bool {
	return int64(in.width)*int64(end)-in.taken-area > slack
}

// fitsIn reports whether the slice-ticks of a space suffice for a set, without too much waste.
func (s *subsets) fitsIn(set int, in *space) bool {
	room := in.ticks
	if in.others != nil {
		room -= in.others[set]
	}
	left := int64(in.width)*room - in.taken - s.leastArea(set)
	return left >= 0 && (!in.wasted || left <= s.slack)
}

// setFits sets fits to the sets that fit into a number of slice-ticks, in ascending order: the parts of a set come
// before it.
func (s *subsets) setFits(room int64) {
	s.fits = append(s.fits[:0], 0)
	for set := 1; set < 1<<s.tasks; set++ {
		if s.leastArea(set) <= room {
			s.fits = append(s.fits, int32(set))
		}
	}
}

// leastArea returns the least slice-ticks that a set's tasks can take. Tables that are not tight have so much room that
// the area without blur is safe.
func (s *subsets) leastArea(set int) int64 {
	if !s.tight || s.blurred == 0 {
		return s.area[set]
	}
	return int64(float64(s.area[set])*(1-s.blurred)) - roundings
}

// roundings is larger than the slice-ticks by which rounding changes the area of a set.
const roundings = MaxTasks * 2 * int64(mig.MaxSize)

// loadOn returns the sum of the durations of the other tasks on a node if the tables are tight, otherwise 0.
func (s *subsets) loadOn(l *load, v int) ticks {
	if !s.tight || !s.forces(l, v) {
		return 0
	}
	return min(s.ticks(l.seconds[v]), horizon)
}

// limitNodes sets until and taken for a GPU with these loads.
func (s *subsets) limitNodes(l *load) {
	s.until[0] = s.limit
	for v := range s.tree.Nodes {
		s.taken[v] = 0
		left := s.until[v]
		if s.tight && s.forces(l, v) {
			left -= min(s.loadOn(l, v)+min(s.destroy[v], horizon), left)
		}
		for _, c := range s.tree.Nodes[v].Children {
			s.until[c] = left
		}
	}
	// Nodes that share a table need the latest of their ends.
	var latest [maxNodes]ticks
	for v := range s.tree.Nodes {
		if s.unused(l, v) {
			latest[s.class[v]] = max(latest[s.class[v]], s.until[v])
		}
	}
	for v := range s.tree.Nodes {
		if s.unused(l, v) {
			s.until[v] = latest[s.class[v]]
		}
	}
	for v := len(s.tree.Nodes) - 1; v >= 0; v-- {
		for _, c := range s.tree.Nodes[v].Children {
			s.taken[v] += s.taken[c] + int64(s.tree.Nodes[c].Size())*int64(s.loadOn(l, c))
		}
	}
}

// othersOnRoot returns, by set, the time that the root of the only GPU needs for the tasks outside the set, because no
// other node can run them. It returns nil for other nodes and for several GPUs.
func (s *subsets) othersOnRoot(v int) []int64 {
	if v > 0 || s.gpus > 1 || s.slack < math.MaxInt64 {
		return nil
	}
	all := 1<<s.tasks - 1
	s.others = resized(s.others, 1<<s.tasks)
	s.others[all] = 0
	for set := all - 1; set >= 0; set-- {
		i := lowestBit(uint32(all &^ set))
		s.others[set] = s.others[set|1<<i] + int64(s.time[s.tree.Size[v]][i])
	}
	for set := range all {
		s.others[set] += int64(s.create[v]) + int64(s.destroy[v])
	}
	return s.others
}
