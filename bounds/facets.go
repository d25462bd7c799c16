package bounds

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"miglab/harness/mig"
	"miglab/harness/portable"
	"miglab/harness/task"
)

// facets returns the weights of profiles, in the order of [task.RequestProfiles], with which no
// partition of a GPU weighs more than 1: the vertices of
//
//	w >= 0 and sum over p of h_p w_p <= 1 for each partition that holds h_p instances of p
//
// which no other vertex exceeds. A mean of partitions can hold a number of instances of each
// profile exactly if none of the vertices weighs them at more than 1.
var facets = mig.Derived(func(g *mig.GPU) [][]float64 {
	n := len(task.RequestProfiles(g))
	v := vertices{n: n}
	held := heldByPartitions(g, task.RequestProfiles(g))
	for _, h := range held {
		if slices.ContainsFunc(held, func(o []int) bool { return !slices.Equal(h, o) && dominates(o, h) }) {
			continue
		}
		row := make([]float64, n+1)
		for p, count := range h {
			row[p] = float64(count)
		}
		row[n] = 1
		v.rows = append(v.rows, row)
	}
	v.partitions = len(v.rows)
	for p := range n {
		row := make([]float64, n+1)
		row[p] = 1
		v.rows = append(v.rows, row)
	}
	for range n {
		v.chosen = append(v.chosen, make([]float64, n+1))
	}
	v.pivots = make([]int, n)
	v.choose(0, 0)
	return slices.DeleteFunc(v.found, func(w []float64) bool {
		return slices.ContainsFunc(v.found, func(o []float64) bool { return !slices.Equal(w, o) && dominates(o, w) })
	})
})

// heldByPartitions returns how many instances of each profile the maximal partitions hold, without repetition.
func heldByPartitions(g *mig.GPU, profiles []*mig.Profile) [][]int {
	var out [][]int
	for _, part := range g.PartitionsOf(func(p *mig.Profile) bool { return !p.MediaExtensions }) {
		held := make([]int, len(profiles))
		for _, in := range part {
			held[slices.Index(profiles, in.Profile)]++
		}
		out = append(out, held)
	}
	slices.SortFunc(out, slices.Compare)
	return slices.CompactFunc(out, slices.Equal)
}

// dominates reports whether no number of b exceeds that of a.
func dominates[T int | float64](a, b []T) bool {
	for i := range a {
		if a[i] < b[i] {
			return false
		}
	}
	return true
}

// vertices finds the points that satisfy n rows with equality and none of the partitions' rows is above.
type vertices struct {
	n, partitions int
	// rows are coefficients and the right side.
	rows, found [][]float64
	// chosen has room for n rows, each eliminated by those before it, and pivots where each of them is 1.
	chosen [][]float64
	pivots []int
}

const tinyPivot = 1e-9

// choose adds rows from an index on to the given number of chosen ones.
func (v *vertices) choose(from, number int) {
	if number == v.n {
		v.add()
		return
	}
	row := v.chosen[number]
	for i := from; i <= len(v.rows)-(v.n-number); i++ {
		copy(row, v.rows[i])
		for k, c := range v.chosen[:number] {
			portable.AddScaled(row, -row[v.pivots[k]], c) // makes the coefficient at the pivot zero; that of c is 1
		}
		if p := pivot(row); p < v.n {
			floats.Scale(1/row[p], row)
			v.pivots[number] = p
			v.choose(i+1, number+1)
		}
	}
}

// pivot returns the first coefficient that is not 0, or behind the last one.
func pivot(row []float64) int {
	i := slices.IndexFunc(row[:len(row)-1], func(x float64) bool { return math.Abs(x) > tinyPivot })
	if i < 0 {
		return len(row)
	}
	return i
}

// add solves the chosen rows and keeps the point if it is a vertex. A row has no pivot of the rows before it.
func (v *vertices) add() {
	w := make([]float64, v.n)
	for k, row := range slices.Backward(v.chosen) {
		w[v.pivots[k]] = row[v.n] - floats.Dot(row[:v.n], w)
	}
	for i, row := range v.rows {
		switch left := floats.Dot(row[:v.n], w) - row[v.n]; {
		case i < v.partitions && left > tinyPivot, i >= v.partitions && left < -tinyPivot:
			return
		}
	}
	for p := range w {
		w[p] = math.Round(w[p]*denominator) / denominator
	}
	if !slices.ContainsFunc(v.found, func(o []float64) bool { return slices.Equal(o, w) }) {
		v.found = append(v.found, w)
	}
}

// denominator is a multiple of those of all weights.
const denominator = 27720
