package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"miglab/harness/stats"
)

// A Compared is a policy on the trace, compared with first fit.
type Compared struct {
	Outcome
	// Mean is the mean wait. Less is the mean wait of first fit minus Mean.
	Mean, Less stats.BlockEstimate
	// Apart says that Less is certainly not 0. It allows for the number of compared policies (Bonferroni).
	Apart bool
}

// compare simulates the policies and returns them by their mean waits.
func (a *adviser) compare() ([]Compared, error) {
	var units []Simulation
	for _, p := range a.q.Policies {
		units = append(units, Simulation{Policy: p, GPUs: a.in.GPUs})
	}
	outcomes, err := a.run(units)
	if err != nil {
		return nil, err
	}
	first := outcomes[slices.Index(a.q.Policies, FirstFit)]
	var out []Compared
	for _, o := range outcomes {
		if o.Error != "" {
			return nil, fmt.Errorf("%s on %d GPUs: %s", o.Policy, o.GPUs, o.Error)
		}
		c := Compared{Outcome: o, Mean: a.wait(o.Bins), Less: a.mean(difference(first.Bins, o.Bins))}
		c.Apart = certain(c.Less, len(outcomes)-1)
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(x, y Compared) int {
		return cmp.Or(cmp.Compare(x.Mean.Mean, y.Mean.Mean), cmp.Compare(x.Wait, y.Wait))
	})
	return out, nil
}

// difference returns x minus y, element by element.
func difference(x, y []float64) (out []float64) {
	for i := range x {
		out = append(out, x[i]-y[i])
	}
	return out
}

// certain reports whether a difference is certainly not 0, as one of so many comparisons (Bonferroni).
func certain(e stats.BlockEstimate, comparisons int) bool {
	if e.Blocks == 0 || e.Short {
		return false
	}
	const alpha = (1 - stats.Confidence) / 2
	wider := stats.StudentQuantile(e.Blocks-1, 1-alpha/float64(max(comparisons, 1))) /
		stats.StudentQuantile(e.Blocks-1, 1-alpha)
	return math.Abs(e.Mean) > (e.High-e.Mean)*wider
}

// wait estimates the mean wait like mean. The interval begins at 0 or above, as every wait does.
func (a *adviser) wait(bins []float64) stats.BlockEstimate {
	e := a.mean(bins)
	e.Low = max(e.Low, 0)
	return e
}

// mean estimates the mean wait from the sums of the waits in all bins. Without enough blocks it has no interval.
func (a *adviser) mean(bins []float64) stats.BlockEstimate {
	return a.span.mean(bins, 0, len(bins))
}
