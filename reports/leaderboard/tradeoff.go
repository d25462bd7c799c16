package leaderboard

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/spec"
	"miglab/harness/stats"
	"miglab/harness/store"
	"miglab/reports"
)

// The parameter of datasets that gives the budget, and the metric of the moves made.
const (
	budgetParam = "moves"
	movesMetric = "moves_gpu_window"
)

// A Tradeoff is what an algorithm gains by moves, under one budget.
type Tradeoff struct {
	// Dataset is without the budget; Budget is in moves a GPU per mean lifespan.
	Dataset, Algorithm string
	Budget             float64
	// Moves is the mean number of moves that were made, in the budget's unit.
	Moves float64
	// Value is the mean of the board's metric, and Gain describes its differences to the
	// baseline on the same instances, both in percent points.
	Value float64
	Gain  stats.Summary
}

// Tradeoffs compares the algorithms that moved with a baseline, on every dataset that has results
// under some budget, by dataset, algorithm and budget. A budget of 0 is that of the dataset without
// moves. An instance counts if both have a result. Errors are those of the database.
func Tradeoffs(db *store.DB, c Conditions, baseline string) ([]Tradeoff, error) {
	boards, err := c.boards(db)
	if err != nil {
		return nil, err
	}
	var out []Tradeoff
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
	out = slices.DeleteFunc(out, func(t Tradeoff) bool { return !moving[[2]string{t.Dataset, t.Algorithm}] })
	slices.SortFunc(out, func(a, b Tradeoff) int {
		return cmp.Or(strings.Compare(a.Dataset, b.Dataset), strings.Compare(a.Algorithm, b.Algorithm),
			cmp.Compare(a.Budget, b.Budget))
	})
	return out, nil
}

// tradeoffs compares on one dataset. Algorithms without two instances that the baseline has too are
// left out.
func (b *board) tradeoffs(db *store.DB, baseline string) ([]Tradeoff, error) {
	i := slices.IndexFunc(b.algorithms, func(r results) bool { return r.series[0].Algorithm == baseline })
	if i < 0 {
		return nil, nil
	}
	base, err := values(db, b.algorithms[i].series, b.Metric)
	if err != nil {
		return nil, err
	}
	dataset, budget := withoutBudget(b.algorithms[i].series[0].Dataset)
	var out []Tradeoff
	for _, r := range b.algorithms {
		own, err := values(db, r.series, b.Metric)
		if err != nil {
			return nil, err
		}
		moves, err := values(db, r.series, movesMetric)
		if err != nil {
			return nil, err
		}
		t := Tradeoff{Dataset: dataset, Algorithm: r.series[0].Algorithm, Budget: budget}
		var gains []float64
		for _, at := range slices.SortedFunc(maps.Keys(own), instance.compare) {
			if from, ok := base[at]; ok {
				gains = append(gains, 100*(own[at]-from))
				t.Value += 100 * own[at]
				t.Moves += moves[at]
			}
		}
		if len(gains) < 2 {
			continue
		}
		t.Value, t.Moves = t.Value/float64(len(gains)), t.Moves/float64(len(gains))
		if t.Gain, err = stats.Summarize(gains); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
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

// TradeoffTable lists what moves gain.
func TradeoffTable(all []Tradeoff, baseline string) *reports.Table {
	t := &reports.Table{
		Title: "Acceptance against moves",
		Columns: reports.Left("dataset", "algorithm").
			Right("budget", "moves made", "acceptance [%]", "gain over "+baseline+" [points]", "low", "high", "instances"),
		Notes: []string{"Budget and moves: a GPU, per mean lifespan. " +
			"Low and high bound the 95 % interval of the mean paired difference."},
	}
	for _, x := range all {
		t.Rows = append(t.Rows, []string{
			x.Dataset, x.Algorithm, strconv.FormatFloat(x.Budget, 'g', -1, 64),
			reports.Fixed(x.Moves, 3), reports.Fixed(x.Value, 2), reports.Fixed(x.Gain.Mean, 2),
			reports.Fixed(x.Gain.Low, 2), reports.Fixed(x.Gain.High, 2), strconv.Itoa(x.Gain.N),
		})
	}
	return t
}

// TradeoffFigure draws the gain against the moves that were made: a chart for each dataset and a
// line for each algorithm, with a sign for each budget and the 95 % interval as a band. Of points
// with as many moves, the one with the least budget is drawn.
func TradeoffFigure(all []Tradeoff, baseline string) reports.Figure {
	var charts []reports.Chart
	for len(all) > 0 {
		chart := reports.Lines{
			Title: all[0].Dataset,
			X:     reports.Axis{Label: "Moves a GPU per mean lifespan"},
			Y:     reports.Axis{Label: fmt.Sprintf("Acceptance over %s [points]", baseline)},
		}
		for len(all) > 0 && all[0].Dataset == chart.Title {
			s := reports.Series{Name: all[0].Algorithm, Markers: true}
			n := 0
			for n < len(all) && all[n].Dataset == chart.Title && all[n].Algorithm == s.Name {
				n++
			}
			byMoves := func(a, b Tradeoff) int { return cmp.Compare(a.Moves, b.Moves) }
			for _, x := range slices.SortedStableFunc(slices.Values(all[:n]), byMoves) {
				if k := len(s.X) - 1; k < 0 || x.Moves > s.X[k] {
					s.Add(x.Moves, x.Gain.Mean, x.Gain.Low, x.Gain.High)
				}
			}
			chart.Series = append(chart.Series, s)
			all = all[n:]
		}
		charts = append(charts, chart)
	}
	return reports.Panels{Title: "Acceptance against moves", Columns: 1, Charts: charts}
}
