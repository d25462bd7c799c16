package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"miglab/harness/stats"
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

// SetGains fills in Gain. An error is that of [stats.Summarize].
func (t *Tradeoff) SetGains(gains []float64) (err error) {
	t.Gain, err = stats.Summarize(gains)
	return err
}

// TradeoffTable lists what moves gain.
func TradeoffTable(all []Tradeoff, baseline string) *Table {
	t := &Table{
		Title: "Acceptance against moves",
		Columns: Left("dataset", "algorithm").
			Right("budget", "moves made", "acceptance [%]", "gain over "+baseline+" [points]", "low", "high", "instances"),
		Notes: []string{"Budget and moves: a GPU, per mean lifespan. Low and high bound the 95 % interval of the mean paired difference."},
	}
	for _, x := range all {
		t.Rows = append(t.Rows, []string{
			x.Dataset, x.Algorithm, strconv.FormatFloat(x.Budget, 'g', -1, 64), Fixed(x.Moves, 3), Fixed(x.Value, 2),
			Fixed(x.Gain.Mean, 2), Fixed(x.Gain.Low, 2), Fixed(x.Gain.High, 2), strconv.Itoa(x.Gain.N),
		})
	}
	return t
}

// TradeoffFigure draws the gain against the moves that were made, a chart for each dataset and a
// line for each algorithm, with a sign for each budget and the 95 % interval as a band. Of points with as many moves, the one with
// the least budget is drawn.
func TradeoffFigure(all []Tradeoff, baseline string) Figure {
	var charts []Chart
	for len(all) > 0 {
		chart := Lines{
			Title: all[0].Dataset,
			X:     Axis{Label: "Moves a GPU per mean lifespan"}, Y: Axis{Label: fmt.Sprintf("Acceptance over %s [points]", baseline)},
		}
		for len(all) > 0 && all[0].Dataset == chart.Title {
			s := Series{Name: all[0].Algorithm, Markers: true}
			n := 0
			for n < len(all) && all[n].Dataset == chart.Title && all[n].Algorithm == s.Name {
				n++
			}
			own := slices.SortedStableFunc(slices.Values(all[:n]), func(a, b Tradeoff) int { return cmp.Compare(a.Moves, b.Moves) })
			for _, x := range own {
				if k := len(s.X) - 1; k < 0 || x.Moves > s.X[k] {
					s.Add(x.Moves, x.Gain.Mean, x.Gain.Low, x.Gain.High)
				}
			}
			chart.Series = append(chart.Series, s)
			all = all[n:]
		}
		charts = append(charts, chart)
	}
	return Panels{Title: "Acceptance against moves", Columns: 1, Charts: charts}
}
