package deadline

import (
	"miglab/harness/stats"
	figures "miglab/paper-figures"
)

// end is an end of a range.
type end bool

const (
	lowest  end = false
	highest end = true
)

// extreme returns which of the schedulers has the lowest or highest mean over the
// first n episodes, the first of several, and its values.
func extreme(d *figures.Data, q quantity, dataset string, among []scheduler, which end, n int) (scheduler, []float64, error) {
	var best scheduler
	var values []float64
	var bestMean float64
	for i, s := range among {
		v, err := q.of(d, s.on(dataset))
		if err != nil {
			return best, nil, err
		}
		v = v[:min(n, len(v))]
		summary, err := stats.Summarize(v)
		if err != nil {
			return best, nil, err
		}
		if i == 0 || (which == lowest && summary.Mean < bestMean) || (which == highest && summary.Mean > bestMean) {
			best, values, bestMean = s, v, summary.Mean
		}
	}
	return best, values, nil
}

// lead returns, by episode, a scheduler's quantity less that of the lowest or highest
// of the others, and which one that is.
func lead(d *figures.Data, q quantity, dataset string, s scheduler, among []scheduler, which end, n int) (scheduler, []float64, error) {
	var others []scheduler
	for _, o := range among {
		if o != s {
			others = append(others, o)
		}
	}
	rival, theirs, err := extreme(d, q, dataset, others, which, n)
	if err != nil {
		return rival, nil, err
	}
	own, err := q.of(d, s.on(dataset))
	if err != nil {
		return rival, nil, err
	}
	diff, err := stats.Differences(own[:len(theirs)], theirs)
	return rival, diff, err
}
