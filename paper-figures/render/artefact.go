package render

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/nearest"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// An artefact is an artefact of the manifest as its page shows it.
type artefact struct {
	*manifest.Artefact
	Paper *paper
	// Measured and Inputs are the rows of the default reading.
	Measured, Inputs []*manifest.Row
	// Notes are the reasons of the rows, each once.
	Notes []note
	// Lettered is set if claims are too long for a table, which then has letters in their place.
	Lettered bool
}

// A note is a reason with the rows that have it. It names the details of each row, if there are several rows.
type note struct {
	Number int
	Reason string
	Rows   []*manifest.Row
	paper  *paper
}

func newArtefact(p *paper, a *manifest.Artefact) *artefact {
	out := &artefact{Artefact: a, Paper: p}
	for i := range a.Rows {
		r := &a.Rows[i]
		switch {
		case !r.Default:
			continue
		case r.Verdict == verdict.Input:
			out.Inputs = append(out.Inputs, r)
		default:
			out.Measured = append(out.Measured, r)
		}
		if text := onOneLine("why", why{r, p.TrainingRun, onPage}); text != "" && r.Verdict != verdict.None {
			out.addNote(r, text)
		}
	}
	slices.SortStableFunc(out.Notes, func(a, b note) int {
		return slices.Index(verdict.All, a.First().Verdict) - slices.Index(verdict.All, b.First().Verdict)
	})
	for i := range out.Notes {
		n := &out.Notes[i]
		n.Number = i + 1
		if len(n.Rows) == 1 {
			n.Reason = onOneLine("why", why{n.First(), p.TrainingRun, onPageWithDetail})
		}
	}
	pieces := out.numbers().Fit()
	out.Lettered = len(out.Measured) <= 26 && (len(pieces) > 1 || pieces[0].Notes != nil)
	return out
}

// Label names a row in tables.
func (a *artefact) Label(r *manifest.Row) string {
	if a.Lettered {
		return string(rune('a' + slices.Index(a.Measured, r)))
	}
	return r.Claim
}

// addNote adds a row to the note with its reason, verdict, cause and evidence.
func (a *artefact) addNote(r *manifest.Row, reason string) {
	i := slices.IndexFunc(a.Notes, func(n note) bool {
		f := n.First()
		return f.Verdict == r.Verdict && f.Cause == r.Cause && n.Reason == reason && f.Evidence == r.Evidence
	})
	if i < 0 {
		a.Notes = append(a.Notes, note{Reason: reason, Rows: []*manifest.Row{r}, paper: a.Paper})
		return
	}
	a.Notes[i].Rows = append(a.Notes[i].Rows, r)
}

// First is the first row of the note.
func (n note) First() *manifest.Row { return n.Rows[0] }

// Evidence names the artefact of the paper that shows the cause.
func (n note) Evidence() string { return strings.TrimPrefix(n.First().Evidence, n.paper.Name+"/") }

// Shown reports whether the evidence was written.
func (n note) Shown() bool { return n.paper.has(n.Evidence()) }

// Own reports whether the evidence is the page of the note.
func (n note) Own() bool { return n.Evidence() == n.First().Artefact }

// Numbered lists the claims of which the evidence has numbers, with these numbers, or which have details of their own.
func (n note) Numbered() (out []struct{ Claim, Numbers string }) {
	for _, r := range n.Rows {
		var all []string
		if r.Why.Detail != "" && len(n.Rows) > 1 {
			all = append(all, strings.TrimSuffix(r.Why.Detail, "."))
		}
		if r.Numbers != nil {
			all = append(all, words("evidence", r.Numbers))
		}
		if all != nil {
			out = append(out, struct{ Claim, Numbers string }{r.Claim, strings.Join(all, ". ")})
		}
	}
	return out
}

// mark returns a verdict with the number of its note.
func (a *artefact) mark(r *manifest.Row) string {
	for _, n := range a.Notes {
		if slices.Contains(n.Rows, r) {
			return fmt.Sprintf("%s (%d)", r.Verdict, n.Number)
		}
	}
	return string(r.Verdict)
}

// Tally counts the verdicts of the default reading.
func (a *artefact) Tally() manifest.Tally {
	t := manifest.Tally{}
	for i := range a.Rows {
		if r := &a.Rows[i]; r.Default && r.Verdict != verdict.None {
			t[r.Verdict]++
		}
	}
	return t
}

// Score lists the verdicts. It also says that no number is REPRODUCED, if some are judged.
func (a *artefact) Score() string {
	t := a.Tally()
	if t[verdict.Reproduced] == 0 && t[verdict.Deviates]+t[verdict.Hangs]+t[verdict.Inconclusive] > 0 {
		return "0 " + string(verdict.Reproduced) + ", " + t.String()
	}
	return t.String()
}

// OneSided counts the numbers that could only be refuted.
func (a *artefact) OneSided() int { return count(slices.Values(a.Measured), isOneSided) }

// Deviations counts the numbers that deviate, by cause.
func (a *artefact) Deviations() (out []causeCount) {
	for _, c := range claim.Causes {
		n := count(slices.Values(a.Measured), func(r *manifest.Row) bool { return r.Cause == c })
		if n > 0 {
			out = append(out, causeCount{c, n})
		}
	}
	return out
}

// Numbers is the table of measured and printed numbers.
func (a *artefact) Numbers() (string, error) { return markdown(a.numbers()) }

func (a *artefact) numbers() *reports.Table {
	t := &reports.Table{Columns: reports.Left("number").Right("printed", "allowed", "measured").
		Left("verdict", "95 % interval", "measured on").Right("enough")}
	for _, r := range a.Measured {
		allowed := manifest.Digits(r.Allowed, digits(r)+1)
		if allowed != "" {
			allowed = "±" + allowed
		}
		t.Row(a.Label(r), withUnit(r), allowed, numberText(r, r.Measured), a.mark(r), intervalText(r), measuredOn(r),
			enough(r))
	}
	if a.MeasuredOn() != "" {
		t = t.Without("measured on")
	}
	return t.WithoutEmpty()
}

// enough returns how many replicates would settle a number, or the sampling error of the paper's own number if none
// would; empty if the number is settled.
func enough(r *manifest.Row) string {
	o, w := r.Why.Open, why{Row: r}
	switch {
	case o == nil || o.Fewest > 0 || o.Tie:
		return ""
	case o.Enough > 0:
		return strconv.Itoa(w.enough())
	case o.PrintSE > 0:
		return "none, print ±" + w.PrintError()
	}
	return ""
}

// MeasuredOn says on what all measured numbers are measured; empty if that differs.
func (a *artefact) MeasuredOn() (all string) {
	seen := false
	for _, r := range a.Measured {
		on := measuredOn(r)
		switch {
		case r.Measured == nil:
		case seen && on != all:
			return ""
		default:
			seen, all = true, on
		}
	}
	return all
}

// measuredOn returns the number of replicates of a row; empty if it has none.
func measuredOn(r *manifest.Row) string {
	if r.Replicates == 0 {
		return ""
	}
	return countText(r.Replicates, r.Replicate)
}

// Given is the table of the numbers that are taken from the paper.
func (a *artefact) Given() (string, error) {
	t := &reports.Table{Columns: reports.Left("number").Right("printed")}
	for _, r := range a.Inputs {
		t.Row(r.Claim, withUnit(r))
	}
	return markdown(t)
}

// mostReadings is how many readings a page compares. The artefact's file of readings has all.
const mostReadings = 8

// shown lists the readings that the page compares: the default one, which is the first, and of the others those under
// which most numbers are REPRODUCED.
func (a *artefact) shown() []int {
	others := make([]int, 0, len(a.Readings))
	for i := 1; i < len(a.Readings); i++ {
		others = append(others, i)
	}
	slices.SortStableFunc(others, func(i, j int) int {
		return cmp.Compare(a.Readings[j].Reproduced, a.Readings[i].Reproduced)
	})
	others = others[:min(len(others), mostReadings-1)]
	slices.Sort(others)
	return append([]int{0}, others...)
}

// Compared is the table of the readings that the page compares.
func (a *artefact) Compared() (string, error) {
	if len(a.Readings) < 2 {
		return "", nil
	}
	t := &reports.Table{
		Columns: reports.Right("no.").Left("reading").Right("REPRODUCED", "DEVIATES", "of", "mean error"),
	}
	for _, i := range a.shown() {
		s := &a.Readings[i]
		t.Row(i+1, s.Name, s.Reproduced, s.Deviating, s.Judged, meanErrors(s))
	}
	return markdown(t.WithoutEmpty())
}

// meanErrors lists the mean errors of a reading with their units.
func meanErrors(s *manifest.ReadingSummary) string {
	return strings.Join(nearest.Names(s.Errors, func(e manifest.MeanError) string {
		return strings.TrimSpace(strconv.FormatFloat(e.Mean, 'g', 3, 64) + " " + e.Unit)
	}), "; ")
}

// digits returns how many digits after the point pages show of measured numbers: one more than print, at least two.
func digits(r *manifest.Row) int { return max(r.Decimals+1, 2) }

// numberText returns a measured number of a row as pages show it.
func numberText(r *manifest.Row, v *float64) string { return manifest.Digits(v, digits(r)) }

// publishedText returns the published number with its relation.
func publishedText(r *manifest.Row) string {
	text := manifest.Digits(&r.Published, r.Decimals)
	switch r.Relation {
	case verdict.AtMost, verdict.AtLeast:
		return string(r.Relation) + " " + text
	case verdict.Between:
		return text + " to " + manifest.Digits(r.To, r.Decimals)
	}
	return text
}

func withUnit(r *manifest.Row) string { return strings.TrimSpace(publishedText(r) + " " + r.Unit) }

// intervalText returns the 95 % interval; empty for a value that was not sampled.
func intervalText(r *manifest.Row) string {
	low, high := numberText(r, r.Low), numberText(r, r.High)
	if low == high {
		return ""
	}
	return low + " to " + high
}

// ReadingsFile names the file that has all readings with the numbers that deviate; empty for one reading.
func (a *artefact) ReadingsFile() string {
	if len(a.Readings) < 2 {
		return ""
	}
	return a.Name + "-readings.csv"
}

// Unshown counts the readings that the page does not compare.
func (a *artefact) Unshown() int { return len(a.Readings) - len(a.shown()) }

// byReading is a table of all readings. It has a column for each number that deviates by default.
func (a *artefact) byReading() *reports.Table {
	t := &reports.Table{Columns: reports.Right("no.").Left("reading", "basis").
		Right("REPRODUCED", "DEVIATES", "of", "mean error")}
	rows := slices.DeleteFunc(slices.Clone(a.Measured),
		func(r *manifest.Row) bool { return r.Verdict != verdict.Deviates })
	for _, r := range rows {
		t.Columns = t.Columns.Right(r.Claim + ", printed " + publishedText(r))
	}
	for i := range a.Readings {
		s := &a.Readings[i]
		t.Row(i+1, s.Name, s.Basis, s.Reproduced, s.Deviating, s.Judged, meanErrors(s),
			nearest.Names(rows, func(r *manifest.Row) string {
				if o := a.under(r, s.Name); o != nil {
					return numberText(o, o.Measured)
				}
				return ""
			}))
	}
	return t
}

// A basis is what readings rest on, with their numbers in [artefact.Compared], and the name of a single one.
type basis struct {
	numbers    []int
	Name, Text string
}

// Numbers lists the numbers of the readings.
func (b *basis) Numbers() string { return listed(b.numbers) }

// Bases lists what the readings that the page compares rest on.
func (a *artefact) Bases() (out []*basis) {
	for _, i := range a.shown() {
		r := &a.Readings[i]
		at := slices.IndexFunc(out, func(b *basis) bool { return b.Text == r.Basis })
		switch {
		case r.Basis == "":
		case at < 0:
			out = append(out, &basis{numbers: []int{i + 1}, Name: r.Name, Text: r.Basis})
		default:
			out[at].numbers, out[at].Name = append(out[at].numbers, i+1), ""
		}
	}
	return out
}

// listed returns ascending numbers as text, such as "2, 4 to 7".
func listed(numbers []int) string {
	var out []string
	for i := 0; i < len(numbers); i++ {
		first := numbers[i]
		for i+1 < len(numbers) && numbers[i+1] == numbers[i]+1 {
			i++
		}
		switch numbers[i] - first {
		case 0:
			out = append(out, strconv.Itoa(first))
		case 1:
			out = append(out, strconv.Itoa(first), strconv.Itoa(numbers[i]))
		default:
			out = append(out, fmt.Sprintf("%d to %d", first, numbers[i]))
		}
	}
	return strings.Join(out, ", ")
}

// A scan says which readings allow the cells of an artefact.
type scan struct {
	// Cells is a table of the cells with a number that deviates by default, and of the readings, by number, that allow
	// them: all numbers of the cell are measured under them and none deviates. It is empty if there are none.
	Cells string
	// Key names these readings.
	Key string
	// Best has the numbers of the readings that allow the Most of the All cells. None counts the cells that no reading
	// allows.
	Best            string
	Most, All, None int
}

// Scan looks at the numbers of each row and column together; nil if one of them has a single number, or if the default
// allows all.
func (a *artefact) Scan() (*scan, error) {
	type place struct{ row, column string }
	cells := map[place][]*manifest.Row{}
	var order []place
	for _, r := range a.Measured {
		at := place{r.Row, r.Column}
		if cells[at] == nil {
			order = append(order, at)
		}
		cells[at] = append(cells[at], r)
	}
	single := func(at place) bool { return len(cells[at]) < 2 }
	if len(a.Readings) < 2 || len(order) < 2 || slices.ContainsFunc(order, single) {
		return nil, nil
	}
	s := &scan{All: len(order)}
	t := &reports.Table{Columns: reports.Left("cell").Right("deviate by default").Left("readings that allow it")}
	open, named := make([]int, len(a.Readings)), map[int]bool{}
	for _, at := range order {
		var allow []int
		for i, reading := range a.Readings {
			if a.allows(cells[at], reading.Name) {
				open[i]++
				allow = append(allow, i+1)
			}
		}
		if allow == nil {
			s.None++
		} else if n := count(slices.Values(cells[at]), deviates); n > 0 {
			t.Row(strings.TrimSpace(at.row+" "+at.column), fmt.Sprintf("%d of %d", n, len(cells[at])), listed(allow))
			for _, i := range allow {
				named[i] = true
			}
		}
	}
	if open[0] == s.All {
		return nil, nil
	}
	var best []int
	s.Most = slices.Max(open)
	for i, n := range open {
		if n == s.Most {
			best = append(best, i+1)
		}
	}
	s.Best = listed(best)
	if len(t.Rows) == 0 {
		return s, nil
	}
	s.Key = strings.Join(nearest.Names(slices.Sorted(maps.Keys(named)), func(i int) string {
		return fmt.Sprintf("%d %s", i, a.Readings[i-1].Name)
	}), "; ")
	var err error
	s.Cells, err = markdown(t)
	return s, err
}

// allows reports whether all rows are measured under a reading and none deviates.
func (a *artefact) allows(rows []*manifest.Row, reading string) bool {
	for _, r := range rows {
		o := a.under(r, reading)
		if o == nil || o.Measured == nil || o.Verdict == verdict.Deviates {
			return false
		}
		of := func(d manifest.DefaultVerdict) bool { return d.Reading == reading && d.Verdict == verdict.Deviates }
		if slices.ContainsFunc(o.Why.Defaults, of) {
			return false
		}
	}
	return true
}

// under returns a row under another reading; nil if the reading does not measure it.
func (a *artefact) under(r *manifest.Row, reading string) *manifest.Row {
	for i := range a.Rows {
		if o := &a.Rows[i]; o.Cell == r.Cell && o.Reading == reading {
			return o
		}
	}
	return nil
}

func deviates(r *manifest.Row) bool { return r.Verdict == verdict.Deviates }

// Conclusions lists the conclusions that rest on the artefact.
func (a *artefact) Conclusions() []*conclusion {
	return slices.DeleteFunc(slices.Clone(a.Paper.Conclusions), func(c *conclusion) bool {
		return !slices.ContainsFunc(c.Limits, func(l manifest.Limit) bool { return l.Artefact == a.Name })
	})
}

// Shows lists the artefacts of the paper whose causes rest on this one or refer to it.
func (a *artefact) Shows() (out []string) {
	for _, o := range a.Paper.Artefacts {
		rests := func(r manifest.Row) bool {
			return r.Default && (r.Evidence == a.Paper.Name+"/"+a.Name || a.namedIn(r.Why.Text))
		}
		if o.Name != a.Name && slices.ContainsFunc(o.Rows, rests) {
			out = append(out, o.Name)
		}
	}
	return out
}

var inBrackets = regexp.MustCompile(`\(([^()]+)\)`)

// namedIn reports whether a text refers to the artefact or to one of its tables in brackets, as in "(floors, nomig)".
func (a *artefact) namedIn(text string) bool {
	names := append(nearest.Names(a.Tables, func(t manifest.Table) string { return t.File }), a.Name)
	return slices.ContainsFunc(inBrackets.FindAllStringSubmatch(text, -1), func(found []string) bool {
		named := func(n string) bool { return slices.Contains(names, n) }
		return slices.ContainsFunc(strings.Split(found[1], ", "), named)
	})
}

// A why has the values for the words about a row's verdict.
type why struct {
	*manifest.Row
	TrainingRun string
	place
}

// A place is where the words about a verdict stand.
type place int

const (
	inFile place = iota
	// On a page the column "enough" has what would settle a number.
	onPageWithDetail
	// onPage leaves out the row's detail as well.
	onPage
)

// OnPage reports whether the words stand on a page.
func (p place) OnPage() bool { return p != inFile }

// Detailed reports whether the words have the row's detail.
func (p place) Detailed() bool { return p != onPage }

// reason says why a row of a paper has its verdict; empty if the verdict needs no reason.
func reason(p *manifest.Paper, r *manifest.Row) string {
	return onOneLine("why", why{r, p.TrainingRun, inFile})
}

// words returns the text of a template that cannot fail, because all of its values are plain numbers and texts.
func words(name string, data any) string {
	text, err := show(name, data)
	if err != nil {
		panic("render: " + err.Error())
	}
	return text
}

// surely is the number of training runs whose spread tells the error of the paper's single run well enough to say that
// no further run settles a number.
const surely = 10

// Surely returns [surely] for the template.
func (w why) Surely() int { return surely }

// FewRuns reports whether the spread of the training runs is not known well.
func (w why) FewRuns() bool { return w.Replicate == verdict.TrainingRuns && w.Replicates < surely }

// NeedsRuns reports whether further or longer training runs could settle the number, and the detail does not say what
// they cost.
func (w why) NeedsRuns() bool {
	o := w.Why.Open
	return o != nil && w.Replicate == verdict.TrainingRuns &&
		(o.PaperSteps > 0 || w.Replicates < max(o.Enough, surely)) && !strings.Contains(w.Why.Detail, w.TrainingRun)
}

// Runs is the number of replicates, for example 3 training runs.
func (w why) Runs() string { return countText(w.Replicates, w.Replicate) }

// Enough is the number of replicates that would settle the number.
func (w why) Enough() string { return countText(w.enough(), w.Replicate) }

func (w why) enough() int { return verdict.TwoDigits(max(w.Why.Open.Enough, w.Replicates+1)) }

// PrintError is half of the 95 % interval of the printed number.
func (w why) PrintError() string { return fmt.Sprintf("%.2g", 1.96*w.Why.Open.PrintSE) }

// countText returns a number of replicates with their unit.
func countText(n int, unit verdict.Unit) string {
	if n == 1 {
		return "1 " + strings.TrimSuffix(string(unit), "s")
	}
	return fmt.Sprintf("%d %s", n, unit)
}
