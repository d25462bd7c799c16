package reports

import (
	"cmp"
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
		{Name: "bound", Right: true},
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
		rank, wins := strconv.Itoa(s.Rank), strconv.Itoa(s.Wins)
		switch {
		case s.Rank == 0:
			rank, wins = Missing, Missing
		case s.Failed == 0:
			mean, low, high, median = Fixed(s.Value.Mean, decimals), Fixed(s.Value.Low, decimals), Fixed(s.Value.High, decimals), Fixed(s.Value.Median, decimals)
		}
		if s.Instances == 1 {
			rank = Missing // a single instance ranks nobody
		}
		if budget == "" {
			budget = Missing
		}
		t.Rows = append(t.Rows, []string{
			s.Track, s.Dataset, rank, s.Algorithm, strconv.Itoa(s.Version), strconv.Itoa(s.Instances), s.Metric,
			mean, low, high, median, Fixed(s.Bound, decimals), wins, Fixed(s.Gap, percent), Fixed(s.GapLow, percent), Fixed(s.GapHigh, percent), Fixed(s.POpt, percent),
			Fixed(s.FriedmanRank, 2), probability(s.PHolm), budget, Fixed(s.Micros, 1),
		})
	}
	if named(standings) {
		const behindAlgorithm = 4
		t.Columns = slices.Insert(t.Columns, behindAlgorithm, Column{Name: "name"})
		for i, s := range standings {
			t.Rows[i] = slices.Insert(t.Rows[i], behindAlgorithm, cmp.Or(s.Name, Missing))
		}
	}
	if aside := asideName(standings); aside != "" {
		t.Columns = t.Columns.Right(aside)
		for i, s := range standings {
			t.Rows[i] = append(t.Rows[i], Fixed(s.Aside, decimals))
		}
	}
	t.Notes = leaderboardNotes(standings)
	return t
}

// named reports whether a program outside miglab has a name of its own.
func named(standings []Standing) bool {
	return slices.ContainsFunc(standings, func(s Standing) bool { return s.Name != "" })
}

// asideName returns the name of the metric that is shown beside the ranked one; "" if there is
// none.
func asideName(standings []Standing) string {
	for _, s := range standings {
		if s.AsideName != "" {
			return s.AsideName
		}
	}
	return ""
}

// boardHeading names a dataset's board and says if nobody can be told from the first; ranked reports
// whether ranks then mean something.
func boardHeading(standings []Standing) (text string, ranked bool) {
	first := standings[0]
	text, last := first.Dataset+": "+first.Metric, 0
	if bounded := BoundedInstances(first); bounded != "" {
		text += ", " + bounded
	}
	for i, s := range standings {
		if s.Rank > 0 {
			last = i
		}
	}
	if last == 0 || first.Instances == 1 || standings[last].Rank > 1 {
		return text, true
	}
	return fmt.Sprintf("%s; its %d instances do not tell the first of %d algorithms from the last", text, first.Instances, last+1), false
}

// BoundedInstances says of how many instances a bound is known; "" if it is known of all that the
// algorithms were run on. The others do not count.
func BoundedInstances(s Standing) string {
	if s.NoBound == 0 {
		return ""
	}
	all := s.Instances + s.LeftOut
	return fmt.Sprintf("bound of %d of %d instances", all-s.NoBound, all)
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
		title, ranked := boardHeading(standings[from:to])
		t.Title, t.Notes = title, nil
		without := []string{"track", "dataset", "metric"}
		if !ranked {
			without = append(without, "rank")
		}
		t = t.WithoutEmpty(without...)
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
		"mean: of metric, with ci_low to ci_high its 95 % bootstrap interval; bound: mean certified bound (corun: exact optimum), where there is one, from above if a higher metric is better; gap_percent: mean distance from it in percent, with gap_low to gap_high",
		"rank: by gap, or mean where there is none; equal where the 95 % bootstrap interval of the paired difference to the first of the rank holds zero",
		"friedman_rank: mean rank on an instance; p_holm: Wilcoxon's signed-rank test against the first of the dataset, by Holm's adjustment",
		"budget: what the algorithm may compute; decision_us: wall time of an instance on the machine that ran it",
	}
	if named(standings) {
		notes = append(notes, "name: what a program outside miglab calls itself; its version is its own, too")
	}
	var programs, failed, partial, leftOut, few, single, alike []string
	published, needed := false, 0
	for i, s := range standings {
		published = published || !math.IsNaN(s.POpt)
		programs = append(programs, several(s.Algorithm+" on "+s.Dataset, s.Programs)...)
		if s.Failed > 0 {
			failed = append(failed, fmt.Sprintf("%s on %s (%d of %d)", s.Algorithm, s.Dataset, s.Failed, s.Instances))
		}
		if i == 0 || standings[i-1].Dataset != s.Dataset {
			needed = s.Instances
		} else {
			if s.Rank == 0 {
				partial = append(partial, fmt.Sprintf("%s on %s (%d of %d)", s.Algorithm, s.Dataset, s.Instances, needed))
			}
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
		{severalPrograms, programs},
		{"without a valid answer in time, so without a mean and behind all others", failed},
		{"not run on all instances that count, so that they cannot have a rank and stand below all others", partial},
		{"instances left out because no more than half of the algorithms were run on them or their bound is not known", leftOut},
		{"a single instance, which ranks nobody", single},
		{fmt.Sprintf("fewer than %d instances, so that the intervals are too narrow", fewInstances), few},
		{"mean ranks that chance may explain, with the p of Friedman's test", alike},
	} {
		if len(n.of) > 0 {
			notes = append(notes, n.says+": "+enumerate(n.of))
		}
	}
	return append(notes, assumptions(standings)...)
}

const severalPrograms = "programs with the same name and version; the results of the present one count, or else of the one that ran last"

// several names a result and how many programs it may be of; nothing for one.
func several(name string, programs int) []string {
	if programs < 2 {
		return nil
	}
	return []string{fmt.Sprintf("%s (%d)", name, programs)}
}

// assumptions says what the datasets assume, each assumption once.
func assumptions(standings []Standing) []string {
	var notes []string
	for _, s := range standings {
		if assumed := "assumed: " + s.Assumes; s.Assumes != "" && !slices.Contains(notes, assumed) {
			notes = append(notes, assumed)
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
