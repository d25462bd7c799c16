package leaderboard

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"miglab/reports"
)

// The decimals of metrics, of percentages and of microseconds.
const (
	ValueDecimals   = 5
	PercentDecimals = 3
	MicrosDecimals  = 1
)

// HasRank reports whether the rank is to be shown. A single instance gives no ranks, nor does low load.
func (s *Standing) HasRank() bool { return s.Rank > 0 && s.Instances != 1 && !s.Metric.Idle }

// HasValue reports whether the algorithm was run on all instances that count and failed on none.
func (s *Standing) HasValue() bool { return s.Rank > 0 && s.Failed == 0 }

// Table lists standings of the same track, GPU and reconfiguration model. [Metric.Aside] has a column only if there is
// one. The notes explain the columns.
func Table(standings []Standing) reports.Table {
	aside := "" // a column with an empty name is left out
	for _, s := range standings {
		aside = cmp.Or(aside, s.Metric.Aside)
	}
	t := reports.Table{
		Columns: reports.Left("track", "dataset").Right("rank").Left("algorithm").
			Right("version", "instances").Left("metric").Right("mean", "ci_low", "ci_high", "median", "bound", "wins",
			"gap_percent", "gap_low", "gap_high").
			Left("budget").Right("instance_us", aside),
	}
	for _, s := range standings {
		rank, wins, v := reports.Missing, reports.Missing, s.Value
		if s.HasRank() {
			rank = strconv.Itoa(s.Rank)
		}
		if s.Rank > 0 {
			wins = strconv.Itoa(s.Wins)
		}
		if !s.HasValue() {
			v.Mean, v.Low, v.High, v.Median = math.NaN(), math.NaN(), math.NaN(), math.NaN()
		}
		t.Row(s.Track, s.Dataset, rank, s.Algorithm, s.Version, s.Instances,
			s.Metric.Name, reports.Cells(ValueDecimals, v.Mean, v.Low, v.High, v.Median, s.Bound), wins,
			reports.Cells(PercentDecimals, s.Gap, s.GapLow, s.GapHigh), cmp.Or(s.Budget, reports.Missing),
			reports.Fixed(s.Micros, MicrosDecimals), reports.Fixed(s.Aside, ValueDecimals))
	}
	if len(standings) > 0 {
		t.Title = boardTitle(standings[0])
	}
	t = *t.Without("")
	t.Notes = tableNotes(t.Columns, standings)
	return t
}

// boardTitle returns the title of all boards: the track, the GPU and the reconfiguration model.
func boardTitle(s Standing) string {
	return fmt.Sprintf("Leaderboard of the %s track: %s", s.Track, ConditionText(s.GPU, s.Model))
}

// ByDataset yields the standings of each dataset. Standings of a dataset follow each other.
func ByDataset(standings []Standing) iter.Seq[[]Standing] {
	return reports.Grouped(standings, func(s *Standing) string { return s.Dataset })
}

// datasetHeading returns the heading of a dataset's board. ranked reports whether the ranks are worth a column: not
// under low load or with a single instance, nor if all algorithms share the first rank.
func datasetHeading(standings []Standing) (text string, ranked bool) {
	first := standings[0]
	text = first.Dataset + ": " + first.Metric.Name
	switch bounded := first.BoundedInstances(); {
	case bounded != "":
		text += ", " + bounded
	case first.Instances == 1:
		text += ", 1 instance"
	default:
		text += fmt.Sprintf(", %d instances", first.Instances)
	}
	if first.Metric.Idle {
		return text + "; low load: nobody is ranked", false
	}
	last := 0
	for i, s := range standings {
		if s.Rank > 0 {
			last = i
		}
	}
	if last == 0 || first.Instances == 1 || standings[last].Rank > 1 {
		return text, first.Instances != 1
	}
	return fmt.Sprintf("%s, which do not tell the first of %d algorithms from the last", text, last+1), false
}

// BoundedInstances says how many instances have a known bound; "" if all have one. The others do not count.
func (s *Standing) BoundedInstances() string {
	if s.NoBound == 0 {
		return ""
	}
	all := s.Instances + s.LeftOut
	return fmt.Sprintf("bound of %d of %d instances", all-s.NoBound, all)
}

// textColumns lists the columns of a table for people. The interval of the mean is shown if there is no gap.
var textColumns = []string{
	"rank", "algorithm", "name", "mean", "ci_low", "ci_high", "gap_percent", "gap_low", "gap_high", "wins", "instance_us",
}

// briefTable returns the table of a dataset for people: the named columns, or [textColumns] if columns is nil.
func briefTable(own []Standing, columns []string) (reports.Table, error) {
	t, err := datasetTable(own, columns)
	if err != nil || columns != nil {
		return t, err
	}
	columns = slices.DeleteFunc(slices.Clone(textColumns), func(name string) bool {
		return !isShown(t.Columns, name) || isShown(t.Columns, "gap_percent") && strings.HasPrefix(name, "ci_")
	})
	return t.Select(columns)
}

func isShown(columns []reports.Column, name string) bool {
	return slices.ContainsFunc(columns, func(c reports.Column) bool { return c.Name == name })
}

// selectColumns returns a table of standings with the named columns and the notes on them.
func selectColumns(t reports.Table, standings []Standing, columns []string) (reports.Table, error) {
	t, err := t.Select(columns)
	t.Notes = tableNotes(t.Columns, standings)
	return t, err
}

// datasetTable returns the table of a dataset: the named columns or, if columns is nil, all that are neither empty nor
// in the heading. Ranks are left out if they say nothing.
func datasetTable(own []Standing, columns []string) (reports.Table, error) {
	t := Table(own)
	var ranked bool
	t.Title, ranked = datasetHeading(own)
	if columns != nil {
		return selectColumns(t, own, columns)
	}
	without := []string{"track", "dataset", "metric"}
	if !ranked {
		without = append(without, "rank")
	}
	t = *t.Without(without...).WithoutEmpty()
	t.Notes = tableNotes(t.Columns, own)
	return t, nil
}

// WriteText writes a table for each dataset. It shows the named columns, or a few if columns is nil, and explains them.
func WriteText(w io.Writer, standings []Standing, columns []string) error {
	if len(standings) == 0 {
		return nil
	}
	var out bytes.Buffer
	var shown []reports.Column
	fmt.Fprintln(&out, boardTitle(standings[0]))
	for own := range ByDataset(standings) {
		t, err := briefTable(own, columns)
		if err != nil {
			return err
		}
		shown, t.Notes = append(shown, t.Columns...), nil
		fmt.Fprintln(&out)
		if err := t.Text(&out); err != nil {
			return err
		}
	}
	fmt.Fprintln(&out)
	for _, note := range tableNotes(shown, standings) {
		fmt.Fprintln(&out, strings.Join(reports.Folded(note), "\n"))
	}
	_, err := out.WriteTo(w)
	return err
}

// Encode writes standings in a format of tables: a table for each dataset in text and LaTeX, and one table in other
// formats. Tables have the named columns. If columns is nil, text has a few, LaTeX has
// those neither empty nor in the title, and others have all. Errors are from [reports.Table.Select] and the encoders.
func Encode(w io.Writer, format string, standings []Standing, columns []string) error {
	switch format {
	case "text":
		return WriteText(w, standings, columns)
	case "latex":
		for own := range ByDataset(standings) {
			t, err := datasetTable(own, columns)
			if err != nil {
				return err
			}
			t.Title = boardTitle(own[0]) + ", " + t.Title
			if err := t.Encode(w, format); err != nil {
				return err
			}
		}
		return nil
	}
	t := Table(standings)
	if columns != nil {
		var err error
		if t, err = selectColumns(t, standings, columns); err != nil {
			return err
		}
	}
	return t.Encode(w, format)
}

// Top returns the first n standings of each dataset.
func Top(standings []Standing, n int) (out []Standing) {
	for own := range ByDataset(standings) {
		out = append(out, own[:min(n, len(own))]...)
	}
	return out
}

// formatProbability formats a probability, which may be very small.
func formatProbability(p float64) string {
	if math.IsNaN(p) {
		return reports.Missing
	}
	return strconv.FormatFloat(p, 'g', 3, 64)
}

// fewInstances is the number of instances below which a note warns that bootstrap intervals are too narrow
// ([stats.Resampled.Interval]).
const fewInstances = 10

var fewNote = fmt.Sprintf("fewer than %d instances, so that the intervals are too narrow", fewInstances)

// columnText has the notes on columns. A note is shown with any of its columns.
var columnText = []struct {
	columns []string
	text    string
}{
	{[]string{"mean"}, "mean: of the metric"},
	{[]string{"ci_low", "ci_high"}, "ci_low, ci_high: 95 % bootstrap interval of the mean"},
	{[]string{"bound"}, "bound: mean certified bound, from above if a higher metric is better (corun: exact optimum)"},
	{
		[]string{"gap_percent", "gap_low", "gap_high"},
		"gap_percent: mean distance from the certified bound (corun: exact optimum), with its 95 % interval",
	},
	{
		[]string{"rank"},
		"rank: by gap, or mean where there is none; equal where the 95 % bootstrap interval of the paired difference " +
			"to the first of the rank holds zero; miglab compare also asks Wilcoxon's test",
	},
	{[]string{"wins"}, "wins: instances on which no other algorithm is better"},
	{[]string{"budget"}, "budget: what the algorithm may compute"},
	{
		[]string{"instance_us"},
		"instance_us, or time: median wall time of an instance on the machine that ran it",
	},
}

// tableNotes returns the notes on the shown columns, and the warnings.
func tableNotes(shown []reports.Column, standings []Standing) (all []string) {
	for _, c := range columnText {
		if slices.ContainsFunc(c.columns, func(name string) bool { return isShown(shown, name) }) {
			all = append(all, c.text)
		}
	}
	return append(all, boardNotes(standings)...)
}

// boardNotes returns the warnings: failures, incomplete runs, instances left out, too few instances and assumptions.
func boardNotes(standings []Standing) (notes []string) {
	var failed, partial, leftOut, few, single, assumed []string
	for own := range ByDataset(standings) {
		first := &own[0]
		for i, s := range own {
			if s.Failed > 0 {
				failed = append(failed,
					fmt.Sprintf("%s on %s (%d of %d)", s.Algorithm, s.Dataset, s.Failed, s.Instances))
			}
			if i > 0 && s.Rank == 0 {
				partial = append(partial,
					fmt.Sprintf("%s on %s (%d of %d)", s.Algorithm, s.Dataset, s.Instances, first.Instances))
			}
		}
		if first.LeftOut > 0 {
			leftOut = append(leftOut, fmt.Sprintf("%d of %s", first.LeftOut, first.Dataset))
		}
		switch {
		case first.Instances == 1:
			single = append(single, first.Dataset)
		case first.Instances < fewInstances:
			few = append(few, first.Dataset)
		}
		if a := "assumed: " + first.Assumes; first.Assumes != "" && !slices.Contains(assumed, a) {
			assumed = append(assumed, a)
		}
	}
	notes = appendNotes(notes, []note{
		{"without a valid answer in time, so without a mean and behind all others", failed},
		{"not run on all instances that count, so that they cannot have a rank and stand below all others", partial},
		{
			"instances left out because at most half of the algorithms were run on them or they have no known bound",
			leftOut,
		},
		{"a single instance, which ranks nobody", single},
		{fewNote, few},
	})
	return append(notes, assumed...)
}

// A note is a warning and the names of the datasets or algorithms that it is about.
type note struct {
	says  string
	names []string
}

// appendNotes appends the notes that have names; of many names it writes only the first.
func appendNotes(notes []string, more []note) []string {
	const most = 8
	for _, n := range more {
		if len(n.names) == 0 {
			continue
		}
		text := n.says + ": " + strings.Join(n.names[:min(most, len(n.names))], ", ")
		others := len(n.names) - most
		if others > 0 {
			text += fmt.Sprintf(" and %d more", others)
		}
		notes = append(notes, text)
	}
	return notes
}
