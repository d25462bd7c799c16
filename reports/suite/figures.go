package suite

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"miglab/datasets/suite"
	"miglab/reports"
)

// nearestGap is the smallest gap, in percent, on the logarithmic axis of profiles. Smaller gaps are drawn there.
const nearestGap = 0.01

// Profile draws for each algorithm the share of instances by the largest distance from the best known result: a
// performance profile (Dolan and Moré, Mathematical Programming 91, 2002) against the best known results.
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

// targets are distances from the best known result, in percent or percentage points.
var targets = []float64{0, 0.1, 0.3, 1, 3, 10}

// Times draws the share of pairs of an instance and a target that an algorithm reaches within a time, as the COCO
// platform does. An algorithm with several budgets, such as lns?iterations=100 and lns?iterations=1000, is one line:
// the quickest run that reaches a target counts. A program has a line for each of its command lines. A run with an
// unknown time reaches no target.
func Times(names []string, results [][]suite.Result) reports.Figure {
	shortest := math.Inf(1)
	var lines []reports.Sample
	for i, name := range names {
		line := lineName(name, results[i][0].Track)
		at := slices.IndexFunc(lines, func(s reports.Sample) bool { return s.Name == line })
		if at < 0 {
			at = len(lines)
			never := slices.Repeat([]float64{math.Inf(1)}, len(results[i])*len(targets))
			lines = append(lines, reports.Sample{Name: line, Values: never})
		}
		for k := range results[i] {
			r := &results[i][k]
			if r.Seconds == 0 {
				continue
			}
			shortest = min(shortest, r.Seconds)
			reached := lines[at].Values[k*len(targets):]
			for n, target := range targets {
				if r.FromBest() <= target {
					reached[n] = min(reached[n], r.Seconds)
				}
			}
		}
	}
	return chart("Share of instances and targets", reports.Axis{Label: "Time [s]", Log: true},
		reports.Shares(lines, shortest))
}

// lineName returns the name of an algorithm's line in [Times]. A program may do several tracks.
func lineName(algorithm, track string) string {
	name, _, _ := strings.Cut(algorithm, "?")
	if strings.HasPrefix(algorithm, "exec:") {
		name += " (" + track + ")"
	}
	return name
}

func chart(share string, x reports.Axis, lines []reports.Series) reports.Lines {
	return reports.Lines{
		Title: "Suite " + suite.Version, X: x, Y: reports.Axis{Label: share, From: 0, To: 1}, Series: lines,
	}
}
