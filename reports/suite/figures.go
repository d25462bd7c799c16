package suite

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

// Profile draws on which share of the instances each algorithm is how near the best known result, at most: a
// profile as of Dolan and Moré (Mathematical Programming 91, 2002), against the best known results.
func Profile(names []string, results [][]suite.Result) reports.Figure {
	samples := make([]reports.Sample, len(names))
	for i := range names {
		samples[i].Name = names[i]
		for k := range results[i] {
			samples[i].Values = append(samples[i].Values, max(nearestGap, results[i][k].FromBest()))
		}
	}
	label := fmt.Sprintf("From the best known result [%%], %v for none", nearestGap)
	return chart("Share of instances", reports.Axis{Label: label, Log: true}, reports.Shares(samples, nearestGap))
}

// targets are how near the best known result an algorithm is to come, in percent or percentage points.
var targets = []float64{0, 0.1, 0.3, 1, 3, 10}

// Times draws which share of the pairs of an instance and a target is reached by a time, as the COCO platform
// does. An algorithm with several budgets, such as lns?iterations=100 and lns?iterations=1000, is one line: each run
// has a time, and the quickest that reaches a target counts. A program is a line for each of its command lines. A run
// whose time is unknown reaches no target.
func Times(names []string, results [][]suite.Result) reports.Figure {
	least := math.Inf(1)
	var samples []reports.Sample
	for i, name := range names {
		family, _, _ := strings.Cut(name, "?")
		if of := results[i][0].Track; strings.HasPrefix(name, "exec:") {
			family += " (" + of + ")" // the program may do several tracks
		}
		at := slices.IndexFunc(samples, func(s reports.Sample) bool { return s.Name == family })
		if at < 0 {
			at = len(samples)
			none := slices.Repeat([]float64{math.Inf(1)}, len(results[i])*len(targets))
			samples = append(samples, reports.Sample{Name: family, Values: none})
		}
		for k := range results[i] {
			r := &results[i][k]
			if r.Seconds == 0 {
				continue
			}
			least = min(least, r.Seconds)
			for n, target := range targets {
				if t := &samples[at].Values[k*len(targets)+n]; r.FromBest() <= target {
					*t = min(*t, r.Seconds)
				}
			}
		}
	}
	return chart("Share of instances and targets", reports.Axis{Label: "Time [s]", Log: true},
		reports.Shares(samples, least))
}

func chart(share string, x reports.Axis, lines []reports.Series) reports.Lines {
	return reports.Lines{
		Title: "Suite " + suite.Version, X: x, Y: reports.Axis{Label: share, From: 0, To: 1}, Series: lines,
	}
}
