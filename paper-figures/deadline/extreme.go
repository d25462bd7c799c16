package deadline

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	figures "miglab/paper-figures"
)

// end is an end of a range.
type end bool

const (
	lowest  end = false
	highest end = true
)

// extreme returns the scheduler with the lowest or highest mean over the first n episodes,
// and its values. Of several it returns the first.
func extreme(d *figures.Data, q quantity, dataset string, among []scheduler, which end, n int) (scheduler, []float64) {
	var best scheduler
	var values []float64
	var bestMean float64
	for i, s := range among {
		v := q.first(d, s.on(dataset), n)
		mean := d.Summarize(v).Mean
		if i == 0 || (which == lowest && mean < bestMean) || (which == highest && mean > bestMean) {
			best, values, bestMean = s, v, mean
		}
	}
	return best, values
}

// lead finds the lowest or highest of the other schedulers. It returns that scheduler and,
// by episode, the difference to it.
func lead(d *figures.Data, q quantity, dataset string, s scheduler, among []scheduler, which end, n int) (scheduler, []float64) {
	others := slices.DeleteFunc(slices.Clone(among), func(o scheduler) bool { return o == s })
	rival, theirs := extreme(d, q, dataset, others, which, n)
	own := q.first(d, s.on(dataset), len(theirs))
	return rival, floats.SubTo(make([]float64, len(own)), own, theirs)
}
