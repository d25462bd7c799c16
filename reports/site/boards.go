package site

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/nearest"
	"miglab/reports"
	"miglab/reports/leaderboard"
)

// boardsView has the boards of a track.
type boardsView struct {
	GPUs, Models []string
	Boards       []boardView
	// Tabs are the pages of the tracks.
	Tabs []tab
}

type tab struct {
	Track, File string
	Here        bool
}

// boardPages splits the boards into a page for each track.
func boardPages(boards []boardView) (tabs []tab, out []page) {
	taken := map[string]bool{
		"index": true, "suite": true, "algorithms": true, "numbers": true, "instances": true,
		"clusters": true, "try": true,
	}
	for _, track := range distinct(boards, func(b boardView) string { return b.Track }) {
		tabs = append(tabs, tab{Track: track, File: slug(track, taken) + ".html"})
	}
	for i, here := range tabs {
		own := boardsView{Tabs: slices.Clone(tabs)}
		own.Tabs[i].Here = true
		own.Boards = matching(boards, func(b boardView) bool { return b.Track == here.Track })
		own.GPUs = distinct(own.Boards, func(b boardView) string { return b.GPU })
		own.Models = distinct(own.Boards, func(b boardView) string { return b.Model })
		if len(own.Models) == 0 {
			own.Models = []string{""} // the choice is hidden then
		}
		out = append(out, page{
			File: here.File, Title: "Leaderboards", Template: "boards.html", Under: tabs[0].File, Body: own,
		})
	}
	return tabs, out
}

type boardView struct {
	Track, GPU, Model string
	// Where words the GPU and the model of reconfiguration, where there is one.
	Where   string
	Answers []answerView
	Columns []columnView
	Rows    []rowView
	Notes   []string
}

// An answerView says who leads on a dataset. Axis is the label of the axis of values, and Scale has its ends in words.
type answerView struct {
	Dataset, Text, Axis, Scale string
	// About says what the dataset is; empty if that is not known.
	About string
}

// A columnView is a column of a leaderboard. More hides it until the reader asks for all columns.
type columnView struct {
	reports.Column
	More bool
}

// A rowView is a row of a leaderboard.
type rowView struct {
	standing           *leaderboard.Standing
	Dataset, Algorithm string
	// Page is where the algorithm is described; may be empty.
	Page string
	// First marks the best of a dataset.
	First bool
	// Head is the algorithm under whose row this row is folded; may be empty. Folded describes the rows that are folded
	// under this row.
	Head, Folded string
	Cells        []cellView
	// Value is the number that ranks the row, with its 95 % interval; NaN if it is missing.
	Value, Low, High float64
	// Gap says that the value is a gap in percent. Otherwise it is the mean of the metric.
	Gap bool
	// Rank and Micros are the rank and the median time of an instance as the table has them.
	Rank, Micros string
	// Left, Width and At place the interval and the value on the dataset's scale, in percent.
	Left, Width, At float64
}

// A cellView is a cell. Column is the name of the column if the look of the cell depends on it.
type cellView struct {
	Text, Column string
	Right, More  bool
	Link         string
	// Sort is the key by which the cell is sorted; "" means its text.
	Sort string
}

// Shown is the value with as many digits as people read.
func (r *rowView) Shown() string {
	if math.IsNaN(r.Value) {
		return reports.Missing
	}
	return strings.TrimSpace(threeDigits(r.Value) + " " + r.unit())
}

// unit returns the unit of the value.
func (r *rowView) unit() string {
	if r.Gap {
		return "%"
	}
	_, unit := r.metric().words()
	return unit
}

func (r *rowView) metric() metric { return metric(r.standing.Metric.Name) }

// InWords returns the value with its metric: "0.5 % above the bound" or "36.7 % late".
func (r *rowView) InWords() string { return r.words(r.Shown()) }

// words returns a value of the row's metric, or a range of values, with the metric.
func (r *rowView) words(shown string) string {
	what, unit := r.metric().words()
	switch {
	case math.IsNaN(r.Value):
		return reports.Missing
	case r.Gap:
		side := "above"
		if r.standing.Metric.Higher { // the bound is from above
			side = "below"
		}
		return shown + " " + side + " the bound"
	case unit == "%":
		return shown + " " + what
	default:
		return what + " " + shown
	}
}

// A metric is the name of a metric. It may end in its unit, as in late_percent.
type metric string

// words returns what is measured and its unit, which may be empty.
func (m metric) words() (what, unit string) {
	what = string(m)
	for ending, of := range map[string]string{"_percent": "%", "_s": "s", "_us": "µs"} {
		if name, ok := strings.CutSuffix(what, ending); ok {
			what, unit = name, of
			break
		}
	}
	if name, ok := strings.CutSuffix(what, "_mean"); ok {
		what = "mean " + name
	}
	return strings.ReplaceAll(what, "_", " "), unit
}

// axis returns the label of an axis of means of the metric over instances.
func (m metric) axis() string {
	what, unit := m.words()
	if !strings.HasPrefix(what, "mean ") {
		what = "mean " + what
	}
	if unit == "" {
		return what
	}
	return what + " [" + unit + "]"
}

// Interval returns the 95 % interval in words; empty if it is missing.
func (r *rowView) Interval() string {
	if math.IsNaN(r.Low) || math.IsNaN(r.High) {
		return ""
	}
	return threeDigits(r.Low) + " to " + threeDigits(r.High)
}

// threeDigits formats a number with three significant digits, at most three of them behind the point.
func threeDigits(v float64) string {
	decimals := 2
	if v != 0 {
		decimals = min(max(0, 2-int(math.Floor(math.Log10(math.Abs(v))))), 3)
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// duration words a number of microseconds.
func duration(micros float64) string {
	switch {
	case math.IsNaN(micros):
		return reports.Missing
	case micros < 1e3:
		return threeDigits(micros) + " µs"
	case micros < 1e6:
		return threeDigits(micros/1e3) + " ms"
	}
	return threeDigits(micros/1e6) + " s"
}

// mainColumns are always shown. The other columns are behind a switch.
var mainColumns = []string{"dataset", "rank", "algorithm", "instance_us"}

// viewBoard prepares a leaderboard without empty columns and the track. pages has the addresses of algorithms by name.
func viewBoard(b Board, pages map[string]string) boardView {
	all := leaderboard.Table(b.Standings)
	table := all.Without("track").WithoutEmpty()
	out := boardView{
		Track: b.Track, GPU: b.GPU, Model: b.Model, Notes: table.Notes,
		Where: leaderboard.ConditionText(b.GPU, b.Model),
	}
	for _, c := range table.Columns {
		out.Columns = append(out.Columns, columnView{c, !slices.Contains(mainColumns, c.Name)})
	}
	for i := range b.Standings {
		row := newRow(&b.Standings[i])
		row.Page = pages[algorithmName(row.Algorithm)]
		for j, c := range out.Columns {
			row.Cells = append(row.Cells, row.cell(c, table.Rows[i][j]))
		}
		out.Rows = append(out.Rows, row)
	}
	rest := out.Rows
	for own := range leaderboard.ByDataset(b.Standings) {
		out.Answers = append(out.Answers, viewAnswer(rest[:len(own)], b.About))
		rest = rest[len(own):]
	}
	return out
}

// algorithmName returns an algorithm's ID without its parameters.
func algorithmName(id string) string {
	name, _, _ := strings.Cut(id, "?")
	return name
}

// newRow takes the numbers with as many digits as the table has.
func newRow(s *leaderboard.Standing) rowView {
	r := rowView{
		standing: s, Dataset: s.Dataset, Algorithm: s.Algorithm, First: s.HasRank() && s.Rank == 1,
		Rank: reports.Missing, Micros: reports.Fixed(s.Micros, leaderboard.MicrosDecimals), Gap: !math.IsNaN(s.Gap),
	}
	if s.HasRank() {
		r.Rank = strconv.Itoa(s.Rank)
	}
	switch {
	case r.Gap:
		r.Value, r.Low, r.High = roundTo(s.Gap, 1e3), roundTo(s.GapLow, 1e3), roundTo(s.GapHigh, 1e3)
	case s.HasValue():
		r.Value, r.Low, r.High = roundTo(s.Value.Mean, 1e5), roundTo(s.Value.Low, 1e5), roundTo(s.Value.High, 1e5)
	default:
		r.Value, r.Low, r.High = math.NaN(), math.NaN(), math.NaN()
	}
	return r
}

// roundTo rounds to a fraction, with no minus before a zero.
func roundTo(v, fraction float64) float64 { return math.Round(v*fraction)/fraction + 0 }

// cell returns the row's cell in a column. text is its text in the table.
func (r *rowView) cell(c columnView, text string) cellView {
	cell := cellView{Text: text, Right: c.Right, More: c.More}
	switch c.Name {
	case "dataset":
		cell.Column = c.Name
	case "algorithm":
		cell.Column, cell.Link = c.Name, r.Page
	case "instance_us":
		cell.Column, cell.Text, cell.Sort = c.Name, duration(roundTo(r.standing.Micros, 10)), text
	}
	return cell
}

// viewAnswer places the rows of a dataset and says who leads on it.
func viewAnswer(rows []rowView, about map[string]string) answerView {
	scale := place(rows)
	fold(rows)
	first := &rows[0]
	out := answerView{
		Dataset: first.Dataset, Text: answer(rows), Axis: first.metric().axis(), Scale: scale,
		About: about[first.Dataset],
	}
	if first.Gap {
		out.Axis = "gap to the bound [%]"
	}
	if bounded := first.standing.BoundedInstances(); bounded != "" {
		out.Text += " There is a " + bounded + "; the others do not count."
	}
	return out
}

// fold folds the variants of an algorithm on a dataset under one row: the variant without parameters, or else the best.
// That row says from where to where their values reach, so that good and bad variants are not hidden.
func fold(rows []rowView) {
	groups := map[string][]*rowView{}
	for i := range rows {
		name := algorithmName(rows[i].Algorithm)
		groups[name] = append(groups[name], &rows[i])
	}
	for name, group := range groups {
		head := group[max(0, slices.IndexFunc(group, func(r *rowView) bool { return r.Algorithm == name }))]
		var members []*rowView
		for _, r := range group {
			if r != head {
				r.Head, members = head.Algorithm, append(members, r)
			}
		}
		byValue := func(a, b *rowView) int { return cmp.Compare(a.Value, b.Value) }
		switch n := len(members); n {
		case 0:
		case 1:
			head.Folded = "1 variant: " + members[0].Shown()
		default:
			head.Folded = fmt.Sprintf("%d variants: %s to %s", n, slices.MinFunc(members, byValue).Shown(),
				slices.MaxFunc(members, byValue).Shown())
		}
	}
}

// place puts a dataset's intervals on one scale, which is logarithmic if they differ by more than a factor of 20. It
// returns the ends of the scale in words.
func place(rows []rowView) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range rows {
		if !math.IsNaN(r.Value) {
			low, high = min(low, r.Low, r.Value), max(high, r.High, r.Value)
		}
	}
	least := high / 1e4 // a logarithmic scale has four decades at most
	logarithmic := high > 0 && low >= 0 && high > 20*max(low, least)
	scale := func(v float64) float64 {
		if logarithmic {
			return math.Log(max(v, least))
		}
		return v
	}
	kind := ""
	if logarithmic {
		low, kind = max(low, least), ", logarithmic"
	}
	from, to := scale(low), scale(high)
	for i := range rows {
		r := &rows[i]
		on := func(v float64) float64 {
			if !(to > from) || math.IsNaN(v) {
				return 0
			}
			return math.Round(1000*(scale(v)-from)/(to-from)) / 10
		}
		r.Left, r.At = on(r.Low), on(r.Value)
		r.Width = math.Round(10*(on(r.High)-r.Left)) / 10
	}
	if !(to > from) {
		return ""
	}
	return strings.TrimSpace(threeDigits(low)+" to "+threeDigits(high)+" "+rows[0].unit()) + kind
}

// answer says in one sentence who leads on a dataset, by how much, and how certain it is.
func answer(rows []rowView) string {
	var first, rest []*rowView
	for i := range rows {
		switch r := &rows[i]; {
		case math.IsNaN(r.Value):
		case r.First:
			first = append(first, r)
		default:
			rest = append(rest, r)
		}
	}
	instances := rows[0].standing.Instances
	switch {
	case instances == 1:
		return "A single instance ranks nobody."
	case len(first) == 0:
		return "Nobody has a valid answer to all instances."
	case len(rest) == 0 && len(first) > 1:
		return fmt.Sprintf("Its %d instances do not tell %d algorithms apart; the first in the table has %s.",
			instances, len(first), first[0].InWords())
	case len(rest) == 0:
		return fmt.Sprintf("%s is alone: %s (95 %% interval %s).", first[0].Algorithm, first[0].InWords(),
			first[0].Interval())
	case len(first) > 1:
		const most = 4
		names := nearest.Names(first[:min(len(first), most)], func(r *rowView) string { return r.Algorithm })
		if more := len(first) - most; more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		last := len(names) - 1
		shown, end := first[0].Shown(), first[len(first)-1].Shown()
		if shown != end {
			shown += " to " + end
		}
		return fmt.Sprintf("%s and %s share the first place, %s: %d instances do not tell them apart. Next is %s, %s.",
			strings.Join(names[:last], ", "), names[last], first[0].words(shown), instances, rest[0].Algorithm,
			rest[0].InWords())
	}
	return fmt.Sprintf("%s leads with %s (95 %% interval %s). Next is %s with %s; on %d instances the difference is "+
		"certain.", first[0].Algorithm, first[0].InWords(), first[0].Interval(), rest[0].Algorithm, rest[0].InWords(),
		instances)
}
