package leaderboard

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/spec"
	"miglab/harness/store"
	"miglab/reports"
)

// The parameter of datasets that gives the budget, and the metric of the moves made.
const (
	budgetParam = "moves"
	movesMetric = "moves_gpu_window"
)

// Tradeoffs compares the algorithms that moved with a baseline, on every dataset that has results
// under some budget, by dataset, algorithm and budget. A budget of 0 is that of the dataset without
// moves. An instance counts if both have a result. Errors are those of the database.
func Tradeoffs(db *store.DB, c Conditions, baseline string) ([]reports.Tradeoff, error) {
	all, err := db.Series(c.filter(c.Track.Name))
	if err != nil {
		return nil, err
	}
	boards, err := c.boards(db, all)
	if err != nil {
		return nil, err
	}
	var out []reports.Tradeoff
	moving := map[[2]string]bool{} // dataset and algorithm
	for _, b := range boards {
		found, err := b.tradeoffs(db, baseline)
		if err != nil {
			return nil, err
		}
		for _, t := range found {
			if t.Moves > 0 {
				moving[[2]string{t.Dataset, t.Algorithm}] = true
			}
		}
		out = append(out, found...)
	}
	out = slices.DeleteFunc(out, func(t reports.Tradeoff) bool { return !moving[[2]string{t.Dataset, t.Algorithm}] })
	slices.SortFunc(out, func(a, b reports.Tradeoff) int {
		return cmp.Or(cmp.Compare(a.Dataset, b.Dataset), cmp.Compare(a.Algorithm, b.Algorithm), cmp.Compare(a.Budget, b.Budget))
	})
	return out, nil
}

// tradeoffs compares on one dataset.
func (b *board) tradeoffs(db *store.DB, baseline string) ([]reports.Tradeoff, error) {
	i := slices.IndexFunc(b.series, func(s store.Series) bool { return s.Algorithm == baseline })
	if i < 0 {
		return nil, nil
	}
	base, err := values(db, b.series[i:i+1], b.Metric)
	if err != nil {
		return nil, err
	}
	dataset, budget := withoutBudget(b.series[i].Dataset)
	var out []reports.Tradeoff
	for _, s := range b.series {
		t, ok, err := b.tradeoff(db, s, base)
		if err != nil {
			return nil, err
		}
		if t.Dataset, t.Algorithm, t.Budget = dataset, s.Algorithm, budget; ok {
			out = append(out, t)
		}
	}
	return out, nil
}

// tradeoff compares one algorithm; false without two instances that the baseline has too.
func (b *board) tradeoff(db *store.DB, s store.Series, base map[instance]float64) (t reports.Tradeoff, ok bool, err error) {
	own, err := values(db, []store.Series{s}, b.Metric)
	if err != nil {
		return t, false, err
	}
	moves, err := values(db, []store.Series{s}, movesMetric)
	if err != nil {
		return t, false, err
	}
	var gains []float64
	for _, k := range slices.SortedFunc(maps.Keys(own), func(a, b instance) int { return cmp.Compare(a.number, b.number) }) {
		if from, ok := base[k]; ok {
			gains = append(gains, 100*(own[k]-from))
			t.Value += 100 * own[k]
			t.Moves += moves[k]
		}
	}
	if len(gains) < 2 {
		return t, false, nil
	}
	t.Value, t.Moves = t.Value/float64(len(gains)), t.Moves/float64(len(gains))
	err = t.SetGains(gains)
	return t, true, err
}

// withoutBudget takes the budget out of a dataset's ID.
func withoutBudget(dataset string) (string, float64) {
	name, pairs := spec.Split(dataset)
	budget := 0.0
	pairs = slices.DeleteFunc(pairs, func(pair string) bool {
		value, ok := strings.CutPrefix(pair, budgetParam+"=")
		if v, err := strconv.ParseFloat(value, 64); ok && err == nil {
			budget = v
		}
		return ok
	})
	if len(pairs) > 0 {
		name += "?" + strings.Join(pairs, "&")
	}
	return name, budget
}
