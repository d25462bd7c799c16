package site

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/track"
	"miglab/reports"
)

// boardsView has the boards of all tracks, or of one.
type boardsView struct {
	Tracks, GPUs, Models []string
	Boards               []boardView
	// Tabs are the pages of the tracks.
	Tabs []tab
}

// A tab is the page of a track's boards.
type tab struct {
	Track, File string
	Here        bool
}

// pages splits the boards into a page for each track. The first one is the first page of the site.
func (v boardsView) pages() []page {
	taken := map[string]bool{"index": true, "algorithms": true, "claims": true, "figures": true, "instances": true, "provenance": true}
	for i, track := range v.Tracks {
		file := "index"
		if i > 0 {
			file = slug(track, taken)
		}
		v.Tabs = append(v.Tabs, tab{Track: track, File: file + ".html"})
	}
	out := []page{}
	for i, here := range v.Tabs {
		own := boardsView{Tabs: slices.Clone(v.Tabs)}
		own.Tabs[i].Here = true
		for _, b := range v.Boards {
			if b.Track == here.Track {
				own.Boards = append(own.Boards, b)
			}
		}
		own.GPUs = distinct(own.Boards, func(b boardView) string { return b.GPU })
		own.Models = distinct(own.Boards, func(b boardView) string { return b.Model })
		out = append(out, page{File: here.File, Title: "Leaderboards", Template: "index.html", Under: "index.html", Body: own})
	}
	if len(out) == 0 {
		out = append(out, page{File: "index.html", Title: "Leaderboards", Body: v})
	}
	return out
}

type boardView struct {
	Track, GPU, Model string
	// Where words the GPU and the model of reconfiguration, where there is one.
	Where   string
	Answers []answerView
	Columns []columnView
	Rows    []rowView
	Notes   []string
	Beside  []reports.Table

	about map[string]string
}

// An answerView says who leads on a dataset. Axis is the label of the axis of values.
type answerView struct {
	Dataset, Text, Axis string
	// About says what the dataset is; empty if that is not known.
	About string
}

// A columnView is a column of a leaderboard. More says that it is only seen where all are asked for.
type columnView struct {
	reports.Column
	More bool
}

// A rowView is a row of a leaderboard.
type rowView struct {
	Dataset, Algorithm string
	// Page is the page of the algorithm; empty if there is none.
	Page string
	// First marks the best of a dataset.
	First bool
	Cells []cellView
	// Value is what the row is ranked by, with its 95 % interval; NaN if it is missing.
	Value, Low, High float64
	// Gap says that the value is a gap in percent. Otherwise it is the mean of the metric.
	Gap    bool
	metric metric
	// Micros is the time of a decision as the table has it.
	Micros string
	// Left, Width and At place the interval and the value on the dataset's scale, in percent.
	Left, Width, At float64

	rank string
	// side is where the values lie, above or below the bound.
	side string
}

// A cellView is a cell. Column is set if the look depends on the column.
type cellView struct {
	Text, Column string
	Right, More  bool
	Link         string
	// Sort is what the cell is sorted by where that is not its text.
	Sort string
}

// Class is how the cell looks.
func (c cellView) Class() string {
	switch {
	case c.Right && c.More:
		return "num more"
	case c.Right:
		return "num"
	case c.More:
		return "more"
	}
	return ""
}

// Shown is the value with as many digits as people read.
func (r *rowView) Shown() string {
	if math.IsNaN(r.Value) {
		return reports.Missing
	}
	if r.Gap {
		return threeDigits(r.Value) + " %"
	}
	_, unit := r.metric.words()
	return strings.TrimSpace(threeDigits(r.Value) + " " + unit)
}

// What words the value with its metric: "0.5 % above the bound" or "36.7 % late".
func (r *rowView) What() string {
	switch what, unit := r.metric.words(); {
	case math.IsNaN(r.Value):
		return reports.Missing
	case r.Gap:
		return r.Shown() + " " + r.side + " the bound"
	case unit == "%":
		return r.Shown() + " " + what
	default:
		return what + " " + r.Shown()
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

// axis is the label of an axis of means of the metric over instances.
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

// Interval words the interval.
func (r *rowView) Interval() string {
	if math.IsNaN(r.Low) || math.IsNaN(r.High) {
		return ""
	}
	return threeDigits(r.Low) + " to " + threeDigits(r.High)
}

// threeDigits formats a number with three significant digits, those before the point in any case
// and at most three behind it.
func threeDigits(v float64) string {
	decimals := 2
	if v != 0 {
		decimals = min(max(0, 2-int(math.Floor(math.Log10(math.Abs(v))))), 3)
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// duration words a number of microseconds.
func duration(micros string) string {
	v, err := strconv.ParseFloat(micros, 64)
	switch {
	case err != nil:
		return micros
	case v < 1e3:
		return threeDigits(v) + " µs"
	case v < 1e6:
		return threeDigits(v/1e3) + " ms"
	}
	return threeDigits(v/1e6) + " s"
}

// mainColumns are those that everybody sees. The others are behind a switch.
var mainColumns = []string{"dataset", "rank", "algorithm", "name", "decision_us"}

// viewBoards prepares the leaderboards. It leaves out the column of the track, which is in the
// heading, and columns without a value. pages has the pages of algorithms by name.
func viewBoards(boards []Board, pages map[string]string) (boardsView, error) {
	v := boardsView{
		Tracks: distinct(boards, func(b Board) string { return b.Track }),
		GPUs:   distinct(boards, func(b Board) string { return b.GPU }),
		Models: distinct(boards, func(b Board) string { return b.Model }),
	}
	for _, b := range boards {
		out, err := viewBoard(b, pages)
		if err != nil {
			return v, err
		}
		v.Boards = append(v.Boards, out)
	}
	return v, nil
}

func viewBoard(b Board, pages map[string]string) (boardView, error) {
	out := boardView{about: b.About, Track: b.Track, GPU: b.GPU, Model: b.Model, Where: b.GPU, Notes: b.Table.Notes, Beside: b.Beside}
	part := "leaderboard of " + b.Track + " on " + b.GPU
	if b.Model != "" {
		out.Where += ", " + b.Model + " reconfiguration"
		part += ", " + b.Model
	}
	at := map[string]int{}
	for j, c := range b.Table.Columns {
		at[c.Name] = j + 1
	}
	if at["dataset"]*at["rank"]*at["algorithm"] == 0 {
		return out, refuse(part, "its columns lack dataset, rank or algorithm; use reports.LeaderboardTable")
	}
	var shown []int
	for j, c := range b.Table.Columns {
		empty := !slices.ContainsFunc(b.Table.Rows, func(row []string) bool { return j >= len(row) || row[j] != reports.Missing })
		if c.Name != "track" && !empty {
			shown = append(shown, j)
			out.Columns = append(out.Columns, columnView{c, !slices.Contains(mainColumns, c.Name)})
		}
	}
	for i, cells := range b.Table.Rows {
		if len(cells) != len(b.Table.Columns) {
			return out, refuse(part, "row %d has %d cells, and the table %d columns", i+1, len(cells), len(b.Table.Columns))
		}
		row := newRow(func(name string) string {
			if at[name] == 0 {
				return reports.Missing
			}
			return cells[at[name]-1]
		})
		row.side = side(b.Track, row.Dataset)
		name, _, _ := strings.Cut(row.Algorithm, "?")
		row.Page = pages[name]
		for _, j := range shown {
			c := b.Table.Columns[j]
			cell := cellView{Text: cells[j], Right: c.Right, More: !slices.Contains(mainColumns, c.Name)}
			if c.Name == "dataset" || c.Name == "algorithm" || c.Name == "decision_us" {
				cell.Column = c.Name
			}
			switch c.Name {
			case "rank":
				cell.Text = row.rank
			case "algorithm":
				cell.Link = row.Page
			case "decision_us":
				cell.Text, cell.Sort = duration(cell.Text), cell.Text
			}
			row.Cells = append(row.Cells, cell)
		}
		out.Rows = append(out.Rows, row)
	}
	out.answer(func(row int, name string) string {
		if at[name] == 0 {
			return ""
		}
		return b.Table.Rows[row][at[name]-1]
	})
	for i := range out.Answers {
		if remark := b.Remarks[out.Answers[i].Dataset]; remark != "" {
			out.Answers[i].Text += " " + remark
		}
	}
	return out, nil
}

// answer places the rows of each dataset and says who leads on it. cell is the cell of a row in a
// column.
func (v *boardView) answer(cell func(row int, column string) string) {
	for _, dataset := range distinct(v.Rows, func(r rowView) string { return r.Dataset }) {
		first := slices.IndexFunc(v.Rows, func(r rowView) bool { return r.Dataset == dataset })
		var own []*rowView
		for i := range v.Rows {
			if v.Rows[i].Dataset == dataset {
				own = append(own, &v.Rows[i])
			}
		}
		place(own)
		axis := own[0].metric.axis()
		if own[0].Gap {
			axis = "gap to the bound [%]"
		}
		v.Answers = append(v.Answers, answerView{dataset, answer(own, cell(first, "instances")), axis, v.about[dataset]})
	}
}

// side returns where the values of a dataset lie: below a bound from above, if a higher metric is
// better, or else above a bound.
func side(of, dataset string) string {
	if t, err := track.Parse(of); err == nil {
		if b, ok := t.BoardOf(dataset); ok && b.Higher {
			return "below"
		}
	}
	return "above"
}

// newRow reads what a row is ranked by out of its cells.
func newRow(cell func(name string) string) rowView {
	number := func(name string) float64 {
		v, err := strconv.ParseFloat(cell(name), 64)
		if err != nil {
			return math.NaN()
		}
		return v
	}
	rank := cell("rank")
	r := rowView{
		Dataset: cell("dataset"), Algorithm: cell("algorithm"), First: rank == "1", Micros: cell("decision_us"), rank: rank,
		Value: number("gap_percent"), Low: number("gap_low"), High: number("gap_high"), Gap: true, metric: metric(cell("metric")),
	}
	if math.IsNaN(r.Value) {
		r.Value, r.Low, r.High, r.Gap = number("mean"), number("ci_low"), number("ci_high"), false
	}
	return r
}

// place puts the intervals of a dataset's rows on one scale: a logarithmic one where they differ
// by more than a factor of twenty.
func place(rows []*rowView) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range rows {
		if !math.IsNaN(r.Value) {
			low, high = min(low, r.Low, r.Value), max(high, r.High, r.Value)
		}
	}
	scale := func(v float64) float64 { return v }
	if least := high / 1e4; high > 0 && low >= 0 && high > 20*max(low, least) {
		scale = func(v float64) float64 { return math.Log(max(v, least)) }
	}
	from, to := scale(low), scale(high)
	for _, r := range rows {
		on := func(v float64) float64 {
			if !(to > from) || math.IsNaN(v) {
				return 0
			}
			return math.Round(1000*(scale(v)-from)/(to-from)) / 10
		}
		r.Left, r.At = on(r.Low), on(r.Value)
		r.Width = math.Round(10*(on(r.High)-r.Left)) / 10
	}
}

// answer says in one sentence who leads on a dataset, by how much, and how certain it is.
func answer(rows []*rowView, instances string) string {
	var first, rest []*rowView
	for _, r := range rows {
		switch {
		case math.IsNaN(r.Value):
		case r.First:
			first = append(first, r)
		default:
			rest = append(rest, r)
		}
	}
	names := func(rows []*rowView) string {
		var out []string
		for _, r := range rows {
			out = append(out, r.Algorithm)
		}
		const most = 4
		if more := len(out) - most; more > 0 {
			out = append(out[:most], fmt.Sprintf("%d more", more))
		}
		if len(out) < 2 {
			return strings.Join(out, "")
		}
		return strings.Join(out[:len(out)-1], ", ") + " and " + out[len(out)-1]
	}
	switch {
	case instances == "1":
		return "A single instance ranks nobody."
	case len(first) == 0:
		return "Nobody has a valid answer to all instances."
	case len(rest) == 0 && len(first) > 1:
		return fmt.Sprintf("Its %s instances do not tell %d algorithms apart; the first in the table has %s.", instances, len(first), first[0].What())
	case len(rest) == 0:
		return fmt.Sprintf("%s is alone: %s (95 %% interval %s).", names(first), first[0].What(), first[0].Interval())
	case len(first) > 1:
		return fmt.Sprintf("%s share the first place, %s: %s instances do not tell them apart. Next is %s, %s.", names(first), first[0].What(), instances, rest[0].Algorithm, rest[0].What())
	}
	return fmt.Sprintf("%s leads with %s (95 %% interval %s). Next is %s with %s; on %s instances the difference is certain.",
		names(first), first[0].What(), first[0].Interval(), rest[0].Algorithm, rest[0].What(), instances)
}
