package reports

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/stats"
)

// LeaderboardTable lists standings of the same track, GPU and reconfiguration model in
// the columns of the leaderboard CSV. The notes say what they mean.
func LeaderboardTable(standings []Standing) Table {
	t := Table{Columns: []Column{
		{Name: "track"},
		{Name: "dataset"},
		{Name: "rank", Right: true},
		{Name: "algorithm"},
		{Name: "version", Right: true},
		{Name: "instances", Right: true},
		{Name: "metric"},
		{Name: "mean", Right: true},
		{Name: "ci_low", Right: true},
		{Name: "ci_high", Right: true},
		{Name: "median", Right: true},
		{Name: "wins", Right: true},
		{Name: "gap_percent", Right: true},
		{Name: "gap_low", Right: true},
		{Name: "gap_high", Right: true},
		{Name: "p_opt_percent", Right: true},
		{Name: "friedman_rank", Right: true},
		{Name: "p_holm", Right: true},
		{Name: "budget"},
		{Name: "decision_us", Right: true},
	}}
	if len(standings) > 0 {
		t.Title = leaderboardTitle(standings[0])
	}
	const decimals, percent = 5, 3
	for _, s := range standings {
		budget := s.Budget
		mean, low, high, median := Missing, Missing, Missing, Missing
		if s.Failed == 0 {
			mean, low, high, median = Fixed(s.Value.Mean, decimals), Fixed(s.Value.Low, decimals), Fixed(s.Value.High, decimals), Fixed(s.Value.Median, decimals)
		}
		if budget == "" {
			budget = Missing
		}
		t.Rows = append(t.Rows, []string{
			s.Track, s.Dataset, strconv.Itoa(s.Rank), s.Algorithm, strconv.Itoa(s.Version), strconv.Itoa(s.Instances), s.Metric,
			mean, low, high, median, strconv.Itoa(s.Wins), Fixed(s.Gap, percent), Fixed(s.GapLow, percent), Fixed(s.GapHigh, percent), Fixed(s.POpt, percent),
			Fixed(s.FriedmanRank, 2), probability(s.PHolm), budget, Fixed(s.Micros, 1),
		})
	}
	t.Notes = leaderboardNotes(standings)
	return t
}

func leaderboardTitle(s Standing) string {
	return fmt.Sprintf("Leaderboard of the %s track: %s", s.Track, conditions(s.GPU, s.Model))
}

// LeaderboardText writes the [LeaderboardTable] for a terminal: a table for each
// dataset, without the columns that its heading speaks for and those that are empty. The
// error is the writer's.
func LeaderboardText(w io.Writer, standings []Standing) error {
	if len(standings) == 0 {
		return nil
	}
	p := printer{w: w}
	p.line(leaderboardTitle(standings[0]))
	for from := 0; from < len(standings); {
		to := from + 1
		for to < len(standings) && standings[to].Dataset == standings[from].Dataset {
			to++
		}
		t := LeaderboardTable(standings[from:to])
		t.Title, t.Notes = standings[from].Dataset+": "+standings[from].Metric, nil
		t = t.WithoutEmpty("track", "dataset", "metric")
		p.line("")
		if p.err == nil {
			p.err = t.Text(w)
		}
		from = to
	}
	p.line("")
	for _, note := range leaderboardNotes(standings) {
		p.line(note)
	}
	return p.err
}

// probability formats a probability, which may be very small.
func probability(p float64) string {
	if math.IsNaN(p) {
		return Missing
	}
	return strconv.FormatFloat(p, 'g', 3, 64)
}

// fewInstances is below how many a bootstrap interval is too narrow to be taken at its
// word ([stats.Resampled.Interval]).
const fewInstances = 10

// leaderboardNotes say what the columns mean and what to beware of.
func leaderboardNotes(standings []Standing) []string {
	notes := []string{
		"mean: of metric, with ci_low to ci_high its 95 % bootstrap interval; gap_percent: mean above the certified lower bound (corun: the exact optimum), where there is one, with gap_low to gap_high",
		"rank: by gap, or mean where there is none; equal where the 95 % bootstrap interval of the paired difference to the first of the rank holds zero",
		"friedman_rank: mean rank on an instance; p_holm: Wilcoxon's signed-rank test against the first of the dataset, by Holm's adjustment",
		"budget: what the algorithm may compute; decision_us: wall time of an instance on the machine that ran it",
	}
	var failed, leftOut, few, single, alike []string
	published := false
	for i, s := range standings {
		published = published || !math.IsNaN(s.POpt)
		if s.Failed > 0 {
			failed = append(failed, fmt.Sprintf("%s on %s (%d of %d)", s.Algorithm, s.Dataset, s.Failed, s.Instances))
		}
		if i > 0 && standings[i-1].Dataset == s.Dataset {
			continue
		}
		if s.LeftOut > 0 {
			leftOut = append(leftOut, fmt.Sprintf("%d of %s", s.LeftOut, s.Dataset))
		}
		switch alone := i+1 == len(standings) || standings[i+1].Dataset != s.Dataset; {
		case s.Instances == 1:
			single = append(single, s.Dataset)
		case s.Instances < fewInstances:
			few = append(few, s.Dataset)
		case !alone && s.FriedmanP >= 1-stats.Confidence:
			alike = append(alike, fmt.Sprintf("%s (%s)", s.Dataset, probability(s.FriedmanP)))
		}
	}
	if published {
		notes = append(notes, "p_opt_percent: mean above l_bound as published (DRL 5.2), which is no proven bound")
	}
	for _, n := range []struct {
		says string
		of   []string
	}{
		{"without a valid answer in time, so without a mean and behind all others", failed},
		{"instances left out because not every algorithm was run on them or their bound is not known", leftOut},
		{"a single instance, which ranks nobody", single},
		{fmt.Sprintf("fewer than %d instances, so that the intervals are too narrow", fewInstances), few},
		{"mean ranks that chance may explain, with the p of Friedman's test", alike},
	} {
		if len(n.of) > 0 {
			notes = append(notes, n.says+": "+enumerate(n.of))
		}
	}
	for _, s := range standings {
		if s.Assumes != "" {
			assumed := "assumed: " + s.Assumes
			if !slices.Contains(notes, assumed) {
				notes = append(notes, assumed)
			}
		}
	}
	return notes
}

// enumerate lists names, of many the first only.
func enumerate(names []string) string {
	const most = 8
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}
