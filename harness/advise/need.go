package advise

import (
	"fmt"
	"math"
	"slices"

	"miglab/harness/stats"
)

// A Need is a number of GPUs that is enough.
type Need struct {
	Policy string
	GPUs   int
	// Least says that every number from [Advice.Below] to GPUs was tried. Otherwise GPUs was found by halving.
	Least bool
	// Gap says that one GPU more is not enough.
	Gap     bool
	Outcome Outcome
	Mean    stats.BlockEstimate
}

// below returns the least number of GPUs that the bounds allow. Every policy needs at least as many.
func (a *adviser) below() int {
	in, n := a.in, len(a.in.Requests)
	// late is the largest number of requests that may wait longer than the 95th percentile; see [stats.Quantile].
	late := n - 1 - int(0.95*float64(n-1))
	possible := func(gpus int) (bool, error) {
		in.GPUs = gpus
		if a.q.Wait >= 0 && a.seconds(a.q.Bounds.Wait(a.q.GPU, in))/float64(n) > a.q.Wait {
			return false, nil
		}
		slots := int(math.Floor(a.q.P95 / in.Seconds()))
		return a.q.P95 < 0 || a.q.Bounds.Late(a.q.GPU, in, slots) <= late, nil
	}
	least, _ := bisect(a.gang(), possible)
	return least
}

// bisect returns a number for which enough holds, at least least. If it is above least, enough does not hold for the
// number before it.
func bisect(least int, enough func(int) (bool, error)) (int, error) {
	most := least
	for {
		ok, err := enough(most)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		least, most = most+1, most+max(most/2, 1)
	}
	for least < most {
		middle := (least + most) / 2
		ok, err := enough(middle)
		if err != nil {
			return 0, err
		}
		if ok {
			most = middle
		} else {
			least = middle + 1
		}
	}
	return most, nil
}

// mostTried is the largest number of smaller clusters that are all tried once some number of GPUs is enough. More GPUs
// do not always help a policy, so that a search by halves alone may miss the least number.
const mostTried = 40

// A trial tries numbers of GPUs.
type trial struct {
	a *adviser
	// run simulates clusters of these numbers of GPUs.
	run func(numbers []int) ([]Outcome, error)
	// tried has the outcome for each number that was tried.
	tried map[int]Outcome
}

// enough returns the index of the first number of GPUs that is enough; -1 if all are too few.
func (t *trial) enough(numbers ...int) (int, error) {
	outcomes, err := t.run(numbers)
	for i, o := range outcomes {
		t.tried[numbers[i]] = o
	}
	return slices.IndexFunc(outcomes, t.a.meets), err
}

// halve searches for a number of GPUs that is enough, from least on.
func (t *trial) halve(least int) (int, error) {
	return bisect(least, func(gpus int) (bool, error) {
		i, err := t.enough(gpus)
		return i == 0, err
	})
}

// least searches for the least number of GPUs that is enough under a policy, from below on.
func (a *adviser) least(policy string, below int) (Need, error) {
	t := &trial{a: a, tried: map[int]Outcome{}, run: func(numbers []int) ([]Outcome, error) {
		var all []Simulation
		for _, n := range numbers {
			all = append(all, Simulation{Policy: policy, GPUs: n})
		}
		outcomes, err := a.run(all)
		for _, o := range outcomes {
			if o.Error != "" {
				return nil, fmt.Errorf("%s on %d GPUs: %s", policy, o.GPUs, o.Error)
			}
		}
		return outcomes, err
	}}
	most, err := t.halve(below)
	if err != nil {
		return Need{}, err
	}
	need := Need{Policy: policy, GPUs: most, Least: most-below <= mostTried}
	if need.Least && most > below {
		var numbers []int
		for n := below; n < most; n++ {
			numbers = append(numbers, n)
		}
		i, err := t.enough(numbers...)
		if err != nil {
			return Need{}, err
		}
		if i >= 0 {
			need.GPUs = numbers[i]
		}
	}
	more, err := t.enough(need.GPUs + 1)
	if err != nil {
		return Need{}, err
	}
	need.Gap, need.Outcome = more < 0, t.tried[need.GPUs]
	need.Mean = a.wait(need.Outcome.Bins)
	return need, nil
}

// meets reports whether the waits of a simulation are accepted.
func (a *adviser) meets(o Outcome) bool {
	return o.Error == "" && (a.q.Wait < 0 || o.Wait <= a.q.Wait) && (a.q.P95 < 0 || o.P95 <= a.q.P95)
}
