package leaderboard

import (
	"errors"
	"math"
	"slices"

	"miglab/reports"
)

// setRatios sets the ratio of each value to the best one on its instance; infinite without a valid answer.
func setRatios(contenders []*contender, metric Metric) {
	for _, c := range contenders {
		c.standing.Ratios = slices.Clone(c.values)
	}
	for i := range contenders[0].values {
		best := math.NaN()
		for _, c := range contenders {
			if v := c.values[i]; math.IsNaN(best) || metric.Higher && v > best || !metric.Higher && v < best {
				best = v
			}
		}
		for _, c := range contenders {
			ratio := c.values[i] / best
			switch {
			case c.values[i] == best: // also where both are 0
				ratio = 1
			case metric.Higher:
				ratio = best / c.values[i]
			}
			if math.IsNaN(ratio) {
				ratio = math.Inf(1)
			}
			c.standing.Ratios[i] = ratio
		}
	}
}

// Profile draws performance profiles (Dolan and Moré, Mathematical Programming 91, 2002) over the instances of all
// datasets together: on which share of them an algorithm is within a factor of the best one. Algorithms that are not
// ranked on all datasets are left out. If top is not 0, it draws so many of them, those with the least mean rank. The
// best one on an instance may be one that is not drawn. It returns an error if no algorithm is ranked on all datasets.
func Profile(standings []Standing, top int) (reports.Lines, error) {
	chart := reports.Lines{
		Title: "Performance profiles, " + boardTitle(standings[0]), X: reports.Axis{Label: "Factor of the best"},
		Y: reports.Axis{Label: "Share of instances", From: 0, To: 1},
	}
	ratios, boards, datasets := map[string][]float64{}, map[string]int{}, 0
	ranks := map[string]int{} // sums
	for own := range ByDataset(standings) {
		datasets++
		for _, s := range own {
			if s.Rank > 0 {
				ratios[s.Algorithm] = append(ratios[s.Algorithm], s.Ratios...)
				boards[s.Algorithm]++
				ranks[s.Algorithm] += s.Rank
			}
		}
	}
	var samples []reports.Sample
	for _, s := range standings {
		if all := ratios[s.Algorithm]; boards[s.Algorithm] == datasets {
			samples = append(samples, reports.Sample{Name: s.Algorithm, Values: all})
			delete(boards, s.Algorithm)
		}
	}
	if top > 0 {
		slices.SortStableFunc(samples, func(a, b reports.Sample) int { return ranks[a.Name] - ranks[b.Name] })
		samples = samples[:min(top, len(samples))]
	}
	if samples == nil {
		return chart, errors.New("no algorithm is ranked on all of these datasets; name fewer with --datasets")
	}
	chart.Series = reports.Shares(samples, 1)
	return chart, nil
}
