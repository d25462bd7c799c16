package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"miglab/datasets/suite"
	"miglab/reports"
)

// nearestGap is the gap in percent that profiles draw for all that are smaller, since their axis is logarithmic.
const nearestGap = 0.01

// suiteProfile draws on which share of the instances each algorithm is how near the best known result, at most: a
// profile as of Dolan and Moré (Mathematical Programming 91, 2002), against the best known results.
func suiteProfile(names []string, results [][]suite.Result) reports.Figure {
	label := fmt.Sprintf("From the best known result [%%], %v for none", nearestGap)
	chart := suiteChart("Share of instances", reports.Axis{Label: label, Log: true})
	most := nearestGap
	all := make([][]float64, len(names))
	for i := range names {
		for k := range results[i] {
			all[i] = append(all[i], max(nearestGap, results[i][k].FromBest()))
		}
		slices.Sort(all[i])
		for _, gap := range all[i] {
			if !math.IsInf(gap, 1) {
				most = max(most, gap)
			}
		}
	}
	for i, name := range names {
		chart.Series = append(chart.Series, steps(name, all[i], nearestGap, most))
	}
	return chart
}

// suiteTargets are how near the best known result an algorithm is to come, in percent or percentage points.
var suiteTargets = []float64{0, 0.1, 0.3, 1, 3, 10}

// suiteTimes draws which share of the pairs of an instance and a target is reached by a time, as the COCO platform
// does. An algorithm with several budgets, such as lns?iterations=100 and lns?iterations=1000, is one line: each run
// has a time, and the quickest that reaches a target counts.
func suiteTimes(names []string, results [][]suite.Result) reports.Figure {
	chart := suiteChart("Share of instances and targets", reports.Axis{Label: "Time [s]", Log: true})
	least, most := math.Inf(1), 0.0
	var families []string
	times := map[string][]float64{}
	for i, name := range names {
		family, _, _ := strings.Cut(name, "?")
		if of := results[i][0].Track; strings.HasPrefix(name, "exec:") {
			family += " (" + of + ")" // the program may do several tracks
		}
		if times[family] == nil {
			families = append(families, family)
			times[family] = slices.Repeat([]float64{math.Inf(1)}, len(results[i])*len(suiteTargets))
		}
		for k := range results[i] {
			r := &results[i][k]
			took := max(r.Seconds, 1e-6)
			least, most = min(least, took), max(most, took)
			for n, target := range suiteTargets {
				if at := &times[family][k*len(suiteTargets)+n]; r.FromBest() <= target {
					*at = min(*at, took)
				}
			}
		}
	}
	for _, family := range families {
		slices.Sort(times[family])
		chart.Series = append(chart.Series, steps(family, times[family], least, most))
	}
	return chart
}

func suiteChart(share string, x reports.Axis) reports.Lines {
	return reports.Lines{Title: "Suite " + suite.Version, X: x, Y: reports.Axis{Label: share, From: 0, To: 1}}
}

// steps is the share of values, which ascend, that are at most x.
func steps(name string, values []float64, from, to float64) reports.Series {
	line := reports.Series{Name: name, X: []float64{from}, Y: []float64{0}}
	share := 0.0
	for i, v := range values {
		if math.IsInf(v, 1) || i+1 < len(values) && values[i+1] == v {
			continue
		}
		line.X, line.Y = append(line.X, v, v), append(line.Y, share, float64(i+1)/float64(len(values)))
		share = line.Y[len(line.Y)-1]
	}
	line.X, line.Y = append(line.X, to), append(line.Y, share)
	return line
}
