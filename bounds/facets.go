package bounds

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"miglab/harness/mig"
	"miglab/harness/portable"
	"miglab/harness/task"
)

// facets returns the facets of the convex combinations of a GPU's partitions, each as a weight for each profile, in the
// order of [task.RequestProfiles]. A combination can hold given numbers of instances if and only if every facet weighs
// them at most 1. The weights are the vertices of the polytope
//
//	w >= 0 and sum over p of h_p w_p <= 1 for each partition that holds h_p instances of p
//
// that no other vertex dominates. Models whose partitions hold the same instances share them, since finding them takes
// longer than most bounds.
var facets = mig.Derived(func(g *mig.GPU) [][]float64 {
	held := heldByPartitions(g, task.RequestProfiles(g))
	find := sync.OnceValue(func() [][]float64 { return findFacets(held) })
	once, _ := foundFacets.LoadOrStore(fmt.Sprint(held), find)
	return once.(func() [][]float64)()
})

// foundFacets keeps the results of [findFacets] by its argument, as text.
var foundFacets sync.Map // string to func() [][]float64

// findFacets returns the facets of partitions by how many instances of each profile each holds.
func findFacets(held [][]int) [][]float64 {
	n := len(held[0])
	v := vertices{n: n}
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
	return slices.DeleteFunc(slices.Clone(v.found), func(w []float64) bool {
		return slices.ContainsFunc(v.found, func(o []float64) bool { return !slices.Equal(w, o) && dominates(o, w) })
	})
}

// heldByPartitions returns how many instances of each profile each maximal partition holds, without repetition.
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

// dominates reports whether a[i] >= b[i] for every i.
func dominates[T cmp.Ordered](a, b []T) bool {
	for i := range a {
		if a[i] < b[i] {
			return false
		}
	}
	return true
}

// vertices finds the points that satisfy n rows with equality and all others as inequalities.
type vertices struct {
	n, partitions int
	// rows have n coefficients and the right side each, partitions first; found are the vertices so far.
	rows, found [][]float64
	// chosen has room for n rows. The rows before a row are eliminated from it, and its coefficient at its pivot is 1.
	chosen [][]float64
	pivots []int
}

// tiny separates 0 from a coefficient or an excess: rounding is far smaller, and other numbers are far larger.
const tiny = 1e-9

// choose extends the first done chosen rows with every combination of the rows from index next on.
func (v *vertices) choose(next, done int) {
	if done == v.n {
		v.add()
		return
	}
	row := v.chosen[done]
	for i := next; i <= len(v.rows)-(v.n-done); i++ {
		copy(row, v.rows[i])
		for k, c := range v.chosen[:done] {
			portable.AddScaled(row, -row[v.pivots[k]], c) // c is 1 at its pivot, so row becomes 0 there
		}
		p := pivot(row)
		if p < v.n {
			floats.Scale(1/row[p], row)
			v.pivots[done] = p
			v.choose(i+1, done+1)
		}
	}
}

// pivot returns the index of the first coefficient that is not 0; len(row) if all are 0.
func pivot(row []float64) int {
	i := slices.IndexFunc(row[:len(row)-1], func(x float64) bool { return math.Abs(x) > tiny })
	if i < 0 {
		return len(row)
	}
	return i
}

// add solves the chosen rows from the last to the first and keeps the point if it is a vertex.
func (v *vertices) add() {
	w := make([]float64, v.n)
	for k, row := range slices.Backward(v.chosen) {
		w[v.pivots[k]] = row[v.n] - floats.Dot(row[:v.n], w)
	}
	for i, row := range v.rows {
		excess := floats.Dot(row[:v.n], w) - row[v.n]
		if i < v.partitions && excess > tiny || i >= v.partitions && excess < -tiny {
			return
		}
	}
	for p, x := range w {
		rounded := math.Round(x*denominator) / denominator
		if math.Abs(rounded-x) <= tiny {
			w[p] = rounded // else x has another denominator, and the rounded weight could be too large
		}
	}
	if !slices.ContainsFunc(v.found, func(o []float64) bool { return slices.Equal(o, w) }) {
		v.found = append(v.found, w)
	}
}

// denominator is a common multiple of the numbers up to 12. The weights of all models of package mig are whole
// multiples of its reciprocal.
const denominator = 27720
