package figures

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/strictcsv"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// An Answer says whether a conclusion of a paper holds.
type Answer string

// The answers. [PaperRecord.conclude] has the rule.
const (
	Holds       Answer = "holds"
	HoldsInPart Answer = "holds in part"
	DoesNotHold Answer = "does not hold"
	Undecided   Answer = "undecided"
	InTheModel  Answer = "in the model"
	NotRunnable Answer = "not runnable"
	Aside       Answer = "post hoc"
)

// A Part says what of a conclusion holds that holds in part.
type Part string

// The parts. The first that applies is said.
const (
	SomeReadings Part = "under some readings"
	SomeValues   Part = "for some values"
	SignAlone    Part = "in sign alone"
)

// Answers lists the answers in the order of summaries, which leave out what decides nothing.
var Answers = []Answer{Holds, HoldsInPart, DoesNotHold, Undecided, InTheModel, NotRunnable}

// What readings.csv says in its column part. Readings of a part and those found after the run do not count; one that is
// called default counts as much as the first.
const (
	partReading    = "part"
	postHoc        = "post hoc"
	anotherDefault = DefaultReading
)

// counts reports whether a reading competes with the default one.
func (r *readingRow) counts() bool { return r.Part == "" || r.Part == anotherDefault }

// A conclusionRow is a line of conclusions.csv: a test of a sentence. A conclusion may have several.
type conclusionRow struct {
	ID string `csv:"id"`
	// Sentence is in the paper's words, and Section says where it stands. Further rows have neither.
	Sentence string `csv:"sentence"`
	Section  string `csv:"section"`
	// Artefact measures the values, and Measure is a pattern of their names.
	Artefact  string           `csv:"artefact"`
	Measure   string           `csv:"measure"`
	Relation  verdict.Relation `csv:"relation"`
	Threshold string           `csv:"threshold"`
	// Neutral is the number for no difference. A value on its right side has the sign of the sentence.
	Neutral string `csv:"neutral"`
	// Rounding is half the last digit of a threshold that the paper measured and printed; the test allows it. It is
	// empty for a limit that the paper sets, and for one that this project reads into the sentence.
	Rounding string `csv:"rounding"`
	// Varied says what the readings vary, or what is missing.
	Varied string `csv:"varied"`
	// Status is empty, model, budget, post hoc or missing.
	Status string `csv:"status"`
}

// A sentenceTest is a row with its numbers. A neutral number that is not given is NaN. The limit is the threshold with
// its rounding.
type sentenceTest struct {
	conclusionRow
	limit, neutral float64
}

const (
	statusModel = "model"
	// statusBudget marks a conclusion about agents that learned less than the paper's, which might turn a miss.
	statusBudget  = "budget"
	statusMissing = "missing"
)

// addConclusion adds a row of conclusions.csv, or returns the column that is wrong.
func (c *Claims) addConclusion(r *conclusionRow) (column string, err error) {
	known := slices.ContainsFunc(c.conclusions, func(o sentenceTest) bool { return o.ID == r.ID })
	follows := known && c.conclusions[len(c.conclusions)-1].ID == r.ID
	if err := oneOf(r.Status, "", statusModel, statusBudget, postHoc, statusMissing); err != nil {
		return "status", err
	}
	switch {
	case r.ID == "" || known && !follows:
		return "id", fmt.Errorf("%q is empty, or its rows do not follow one another", r.ID)
	case known == (r.Sentence != "") || known == (r.Section != ""):
		return "sentence", errors.New("the first row of a conclusion alone has its sentence and section")
	case r.Status == statusMissing && r.Artefact+r.Measure+string(r.Relation)+r.Threshold+r.Neutral+r.Rounding != "":
		return "status", errors.New("a conclusion that is missing has no artefact, measure, relation or threshold")
	}
	test := sentenceTest{*r, math.NaN(), math.NaN()}
	if r.Status != statusMissing {
		if column, err = test.readNumbers(); err != nil {
			return column, err
		}
	}
	c.conclusions = append(c.conclusions, test)
	return "", nil
}

// readNumbers sets the numbers of a test, or returns the column that is wrong.
func (r *sentenceTest) readNumbers() (column string, err error) {
	if err := oneOf(r.Relation, verdict.AtMost, verdict.AtLeast); err != nil {
		return "relation", err
	}
	if r.limit, err = strictcsv.Float(r.Threshold); err != nil {
		return "threshold", err
	}
	if r.Neutral != "" {
		if r.neutral, err = strictcsv.Float(r.Neutral); err != nil {
			return "neutral", err
		}
	}
	if r.Rounding == "" {
		return "", nil
	}
	half, err := strictcsv.Float(r.Rounding)
	if err == nil && (half <= 0 || r.limit == r.neutral) {
		err = errors.New("a rounding is above 0, and the number for no difference has none")
	}
	if r.Relation == verdict.AtLeast {
		half = -half
	}
	r.limit += half
	return "rounding", err
}

// concludes reports whether a conclusion needs a value of an artefact.
func (c *Claims) concludes(artefact, name string) bool {
	return slices.ContainsFunc(c.conclusions, func(r sentenceTest) bool {
		return r.Artefact == artefact && matches(r.Measure, name)
	})
}

// A Test is a value under a reading, judged against a row of conclusions.csv.
type Test struct {
	// Row is the row's number, from 0.
	Row     int    `json:"row"`
	Measure string `json:"measure"`
	Reading string `json:"reading"`
	// Default marks the default reading or one that equals it, and PostHoc one that decides nothing.
	Default bool `json:"default,omitempty"`
	PostHoc bool `json:"post_hoc,omitempty"`
	// Verdict is REPRODUCED if the whole interval is on the side of the sentence, DEVIATES if it is on the other one.
	Verdict verdict.Verdict `json:"verdict"`
	// Sign is set if the whole interval is on the right side of the neutral number.
	Sign  bool     `json:"sign,omitempty"`
	Value float64  `json:"value"`
	Low   *float64 `json:"ci_low,omitempty"`
	High  *float64 `json:"ci_high,omitempty"`
	// Enough is how many replicates would decide; 0 for none.
	Enough int          `json:"enough,omitempty"`
	Unit   verdict.Unit `json:"unit,omitempty"`
	// Runs are the values of the training runs of a value about an agent.
	Runs []float64 `json:"runs,omitempty"`
}

// tests judges the values of an artefact against conclusions.csv.
func (d *Data) tests(artefact string, o *Output) (out []Test) {
	if d.Scale.Quick {
		return nil
	}
	for line, row := range d.Claims.conclusions {
		for i, r := range o.Readings {
			if row.Artefact != artefact || row.Status == statusMissing || r.from.Part == partReading {
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(r.Values)) {
				if !matches(row.Measure, name) {
					continue
				}
				m := r.Values[name]
				m.PrintSE = 0 // what is judged is the sentence, not the paper's own sample
				j := row.judge(m, row.limit)
				if j.Verdict == verdict.Inconclusive && j.Low == j.High {
					j.Verdict = verdict.Deviates // a tie in all replicates: more of them would not make it larger
				}
				t := Test{
					Row: line, Measure: name, Reading: cmp.Or(r.Name, DefaultReading),
					Default: i == 0 || r.from.Part == anotherDefault,
					PostHoc: !r.from.counts() || row.Status == postHoc,
					Verdict: j.Verdict, Value: m.Value, Low: number(j.Low), High: number(j.High),
					Enough: j.Enough, Unit: m.Unit, Runs: Map(m.Runs, func(v float64) float64 { return *number(v) }),
				}
				t.Sign = !math.IsNaN(row.neutral) && row.judge(m, row.neutral).Verdict == verdict.Reproduced
				out = append(out, t)
			}
		}
	}
	return out
}

// judge compares a value with the row's threshold, or with another number. A tie is not less.
func (r *sentenceTest) judge(m Measurement, number float64) verdict.Judgement {
	return verdict.Judge(verdict.Claim{
		Relation: r.Relation, Published: number, Stated: true, Compares: number == r.neutral, Neutral: r.neutral,
	}, m)
}

// distance is how far a value is from the row's threshold, positive on the side of the sentence, as a share of
// the threshold if that is not 0.
func (r *sentenceTest) distance(value float64) float64 {
	d := value - r.limit
	if r.Relation == verdict.AtMost {
		d = -d
	}
	if r.limit != 0 {
		d /= math.Abs(r.limit)
	}
	return d
}

// A Dot is a conclusion under a reading of an artefact. Its distance is that of the least favourable value from its
// threshold, in the value's unit if the threshold is 0.
type Dot struct {
	Artefact string `json:"artefact"`
	Reading  string `json:"reading"`
	reports.CurveDot
	// Values is how many values there are, and Right how many of them are on the side of the sentence.
	Values int `json:"values"`
	Right  int `json:"right"`
	// least are the least favourable values, one for each row, open are those that are open, sign says that all have
	// the sign of the sentence.
	least []tested
	open  []Test
	sign  bool
	// states are those of the values by name. A value that several rows test has the worst.
	states map[string]reports.DotState
}

// add adds a test to the dot.
func (d *Dot) add(t Test, row *sentenceTest) {
	this := tested{t, row, row.distance(t.Value)}
	if d.Values == 0 || this.distance < d.Distance {
		d.Distance = this.distance
	}
	i := slices.IndexFunc(d.least, func(l tested) bool { return l.row == row })
	if i < 0 {
		d.least = append(d.least, this)
	} else if this.distance < d.least[i].distance {
		d.least[i] = this
	}
	d.sign = (d.sign || d.Values == 0) && t.Sign
	if t.state() == reports.DotOpen {
		d.open = append(d.open, t)
	}
	d.states[t.Measure], d.State = worse(d.states[t.Measure], t.state()), worse(d.State, t.state())
	d.Values, d.Right = len(d.states), len(d.named(reports.DotMet))
}

// state is what the value says of the conclusion under its reading.
func (t *Test) state() reports.DotState {
	switch t.Verdict {
	case verdict.Reproduced:
		return reports.DotMet
	case verdict.Deviates:
		return reports.DotMissed
	}
	return reports.DotOpen
}

// worse is the worse of two states. None is the best.
func worse(a, b reports.DotState) reports.DotState {
	order := []reports.DotState{"", reports.DotMet, reports.DotOpen, reports.DotMissed}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

// named lists the values in a state, with the reading if it is not the first.
func (d *Dot) named(s reports.DotState) (out []string) {
	for name, state := range d.states {
		switch {
		case state != s:
		case d.Reading == DefaultReading:
			out = append(out, name)
		default:
			out = append(out, fmt.Sprintf("%s (%s)", name, d.Reading))
		}
	}
	return out
}

// A Conclusion is a sentence of a paper with what came out.
type Conclusion struct {
	Paper    string `json:"paper"`
	ID       string `json:"id"`
	Sentence string `json:"sentence"`
	Section  string `json:"section"`
	// Short is the sentence in a few words, for lists; of tables.csv.
	Short  string `json:"short,omitempty"`
	Answer Answer `json:"answer"`
	// Part is set if the conclusion holds in part.
	Part Part `json:"part,omitempty"`
	// Met of the Readings that count are on the side of the sentence.
	Met      int `json:"met"`
	Readings int `json:"readings"`
	// Right of the Values under the defaults are.
	Right  int `json:"right"`
	Values int `json:"values"`
	// Numbers are those that decide, with their intervals.
	Numbers string `json:"numbers,omitempty"`
	// Plain says what came out, or what is missing, and Varied what the readings vary.
	Plain string `json:"plain"`
	// Because says why it came out so, in words of tables.csv; empty for most.
	Because string `json:"because,omitempty"`
	Varied  string `json:"varied,omitempty"`
	Dots    []Dot  `json:"dots,omitempty"`
	// perRun says what a training run costs.
	perRun string
	// rows are its lines of conclusions.csv, and values those of [valuesFile].
	rows   []sentenceTest
	values reports.Table
	// incomplete is set if it rests on an artefact that is not done.
	incomplete bool
}

// conclude answers the paper's conclusions. One that rests on an artefact that is not done is left out.
func (p *PaperRecord) conclude(claims *Claims) {
	done := map[string]*Record{"": {}}
	for i := range p.Artefacts {
		done[p.Artefacts[i].Artefact] = &p.Artefacts[i]
	}
	var all []Conclusion
	for line := range claims.conclusions {
		row := &claims.conclusions[line]
		if row.Sentence != "" {
			short, _ := claims.partOf(row.ID, "short")
			perRun, _ := claims.partOf("cost of a training run", "words")
			all = append(all, Conclusion{
				Paper: p.Name, ID: row.ID, Sentence: row.Sentence, Section: row.Section, Short: short,
				Varied: strings.TrimSuffix(row.Varied, "."), perRun: perRun,
			})
		}
		c, a := &all[len(all)-1], done[row.Artefact]
		c.rows = append(c.rows, *row)
		if a == nil {
			c.incomplete = true
			continue
		}
		c.addDots(a, line, row)
	}
	for _, c := range all {
		if !c.incomplete {
			c.answer()
			c.Because, _ = claims.partOf(c.ID, because+string(c.Answer))
			p.Conclusions = append(p.Conclusions, c)
		}
	}
}

// addDots adds the tests of a row to the dots of its artefact.
func (c *Conclusion) addDots(a *Record, line int, row *sentenceTest) {
	for _, t := range a.Tests {
		if t.Row != line {
			continue
		}
		same := func(d Dot) bool { return d.Artefact == a.Artefact && d.Reading == t.Reading && d.Aside == t.PostHoc }
		i := slices.IndexFunc(c.Dots, same)
		if i < 0 {
			i = len(c.Dots)
			c.Dots = append(c.Dots, Dot{
				Artefact: a.Artefact, Reading: t.Reading, states: map[string]reports.DotState{},
				CurveDot: reports.CurveDot{Default: t.Default && !t.PostHoc, Aside: t.PostHoc},
			})
		}
		c.Dots[i].add(t, row)
		c.addValue(a.Artefact, t, row)
	}
}

// answer answers a conclusion by the states of its dots:
//
//   - holds: at least 90 % of the readings meet it, all defaults among them
//   - undecided: it would hold if the open readings met it; or nothing meets it, and the default is open or its status
//     is budget
//   - holds in part: a reading meets it, or some values under the defaults, or all of those have its sign
//   - does not hold: otherwise
//   - in the model: it is about a model whose constants were chosen with the paper's result in view
//   - not runnable: nothing was measured
//   - post hoc: all of its rows are, so that it decides nothing
func (c *Conclusion) answer() {
	var counting, defaults []Dot
	aside := len(c.Dots) > 0 && Count(c.Dots, func(d Dot) bool { return d.Aside }) == len(c.Dots)
	sign := true
	for _, d := range c.Dots {
		if d.Aside == aside {
			counting = append(counting, d)
		}
		if d.Default {
			defaults = append(defaults, d)
			c.Right, c.Values, sign = c.Right+d.Right, c.Values+d.Values, sign && d.sign
		}
	}
	in := func(s reports.DotState, dots []Dot) int { return Count(dots, func(d Dot) bool { return d.State == s }) }
	c.Met, c.Readings = in(reports.DotMet, counting), len(counting)
	enough := func(k int) bool { return 10*k >= 9*c.Readings }
	deciding := defaults
	switch {
	case aside:
		c.Answer, deciding = Aside, counting
	case defaults == nil:
		c.Answer = NotRunnable
	case c.rows[0].Status == statusModel:
		c.Answer, deciding = InTheModel, counting
	case in(reports.DotMet, defaults) == len(defaults) && enough(c.Met):
		c.Answer = Holds
	case in(reports.DotMissed, defaults) == 0 && enough(c.Met+in(reports.DotOpen, counting)):
		c.Answer = Undecided
	case c.Met > 0:
		c.Answer, c.Part = HoldsInPart, SomeReadings
	case c.Right > 0:
		c.Answer, c.Part = HoldsInPart, SomeValues
	case sign:
		c.Answer, c.Part = HoldsInPart, SignAlone
	case in(reports.DotOpen, defaults) > 0 || c.rows[0].Status == statusBudget:
		c.Answer = Undecided
	default:
		c.Answer = DoesNotHold
	}
	c.Numbers = strings.Join(Map(deciding, Dot.deciding), "; ")
	c.describe(defaults, sign)
}

// describe sets the sentences about the readings and the values under the defaults.
func (c *Conclusion) describe(defaults []Dot, sign bool) {
	var named [3][]string // by state
	for _, d := range defaults {
		for i, s := range states {
			named[i] = append(named[i], d.named(s)...)
		}
	}
	where := "It"
	switch c.Answer {
	case NotRunnable:
		c.Plain, c.Varied = cmp.Or(c.Varied, "Nothing here can measure it")+".", ""
		return
	case Aside:
		c.Plain = fmt.Sprintf("It is %s, and decides nothing.", c.byState())
		return
	case InTheModel:
		where = "In the model it"
	}
	c.Plain = fmt.Sprintf("%s is %s", where, c.byState())
	if c.Values > 1 {
		c.Plain += fmt.Sprintf(", and by %d of %d values under the default", c.Right, c.Values)
	}
	c.Plain += "."
	if c.Answer == HoldsInPart && c.Met == 0 {
		c.Plain = "Parts of it hold, but no reading that counts meets the whole. " + c.Plain
	}
	missed := len(named[1])
	if max(c.Right, missed, len(named[2])) < c.Values {
		// The shorter list is complete unless it is long.
		most := max(shown, min(c.Right, c.Values-c.Right, 2*shown))
		for i, names := range named {
			if names != nil {
				c.Plain += fmt.Sprintf(" By default %s: %s.", states[i], someOf(names, most))
			}
		}
	}
	if sign && missed > 0 {
		c.Plain += " By default the sign is as the sentence says, the size is not."
	}
	if c.Answer == Undecided {
		c.Plain += c.settling()
	}
	c.addFound(defaults)
}

// addFound adds what readings that were found after the run give where no default gives the same.
func (c *Conclusion) addFound(defaults []Dot) {
	var usual []tested
	for _, d := range defaults {
		usual = append(usual, d.least...)
	}
	var texts []string
	for _, d := range c.Dots {
		for _, t := range d.least {
			ofRow := func(o tested) bool { return o.row == t.row }
			same := func(o tested) bool { return ofRow(o) && o.state() == t.state() }
			if d.Aside && slices.ContainsFunc(usual, ofRow) && !slices.ContainsFunc(usual, same) {
				texts = append(texts, fmt.Sprintf("%s (%s, %s)", t.String(), d.Reading, t.state()))
			}
		}
	}
	if texts != nil {
		c.Plain += " Found after the run, and not counted: " + strings.Join(texts, "; ") + "."
	}
}

// settling says what would decide a conclusion that is undecided, if means and deviations stay, and what it costs.
func (c *Conclusion) settling() (text string) {
	budget := c.rows[0].Status == statusBudget
	if budget {
		text = fmt.Sprintf(" The agents learned for fewer steps than the paper's, so that a miss does not count "+
			"against the sentence. A success would count for it, which is in the authors' favour. %s of each agent, "+
			"as long as the paper's, would decide.", count(verdict.TrainingRuns.Fewest(), verdict.TrainingRuns))
	}
	var most Test
	never := 0 // open values that no number of replicates decides
	for _, d := range c.Dots {
		for _, t := range d.open {
			switch {
			case d.Aside:
			case t.Enough == 0:
				never++
			case t.Enough > most.Enough:
				most = t
			}
		}
	}
	if most.Enough > 0 && !budget {
		of := map[bool]string{true: " of each agent"}[most.Unit == verdict.TrainingRuns]
		text += fmt.Sprintf(" About %s%s would decide the values that are open, the most for %s (%s).",
			count(roundUp(most.Enough), most.Unit), of, most.Measure, most.Reading)
	}
	if never > 0 && !budget {
		text += fmt.Sprintf(" %d of the open values need more instances as well.", never)
	}
	if c.perRun != "" && (budget || most.Unit == verdict.TrainingRuns) {
		text += " " + c.perRun
	}
	return text
}

var states = []reports.DotState{reports.DotMet, reports.DotMissed, reports.DotOpen}

// byState says under how many of the readings the conclusion is met, missed or open, and names the readings if they
// differ.
func (c *Conclusion) byState() string {
	var out []string
	for _, s := range states {
		names := c.under(s)
		if names == nil && s != reports.DotMet {
			continue
		}
		text := fmt.Sprintf("%s under %d", s, len(names))
		if s == reports.DotMet {
			text += fmt.Sprintf(" of %d readings", c.Readings)
		}
		if names != nil && len(names) < c.Readings {
			text += " (" + someOf(names, shown) + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// under names the readings with a state that count, with their artefacts if there are several.
func (c *Conclusion) under(s reports.DotState) (out []string) {
	several := slices.ContainsFunc(c.Dots, func(d Dot) bool { return d.Artefact != c.Dots[0].Artefact })
	for _, d := range c.Dots {
		name := d.Reading
		if several {
			name = d.Artefact + ": " + name
		}
		if d.State == s && d.Aside == (c.Answer == Aside) {
			out = append(out, name)
		}
	}
	return out
}

// shown is how many of a long list are named.
const shown = 3

// someOf names the first of a list, and how many others there are.
func someOf(names []string, most int) string {
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) <= most+1 {
		return strings.Join(names, "; ")
	}
	return fmt.Sprintf("%s; and %d others", strings.Join(names[:most], "; "), len(names)-most)
}

// deciding are the least favourable value of a dot and, if it is not met, that of another row, and the reading if that
// has a name.
func (d Dot) deciding() string {
	least := slices.SortedStableFunc(slices.Values(d.least), func(a, b tested) int {
		return cmp.Compare(a.distance, b.distance)
	})
	text := least[0].String()
	if len(least) > 1 && least[1].state() != reports.DotMet {
		text += " and " + least[1].String()
	}
	if d.Reading != DefaultReading {
		text += " (" + d.Reading + ")"
	}
	return text
}

// A tested value is at a distance from the threshold of a row.
type tested struct {
	Test
	row      *sentenceTest
	distance float64
}

// String is the value with its interval, its training runs and its threshold.
func (t *tested) String() string {
	text := fmt.Sprintf("%s: %s", t.Measure, figuresOf(t.Value))
	if t.Low != nil && t.High != nil && *t.Low < *t.High {
		text += fmt.Sprintf(" [%s, %s]", figuresOf(*t.Low), figuresOf(*t.High))
	}
	return text + t.ofRuns() + ", which must be " + t.row.demand()
}

// ofRuns are the values of the training runs, or the ends of many.
func (t *Test) ofRuns() string {
	const many = 10
	runs := slices.Sorted(slices.Values(t.Runs))
	switch n := len(runs); {
	case n == 0:
		return ""
	case n == 1:
		return " (one training run)"
	case n > many:
		return fmt.Sprintf(" (%d training runs: %s to %s)", n, figuresOf(runs[0]), figuresOf(runs[n-1]))
	}
	return fmt.Sprintf(" (training runs: %s)", strings.Join(Map(t.Runs, figuresOf), ", "))
}

// demand is the relation and the threshold of a test. A tie is not more.
func (r *sentenceTest) demand() string {
	switch {
	case r.limit == r.neutral:
		return fmt.Sprintf("%s %s", r.Relation[:1], r.Threshold)
	case r.Rounding != "":
		return fmt.Sprintf("%s %s (%s as printed)", r.Relation, plain(&r.limit, -1), r.Threshold)
	}
	return fmt.Sprintf("%s %s", r.Relation, r.Threshold)
}

// figuresOf formats a number with four significant digits.
func figuresOf(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// conclusionsCSV returns results/conclusions.csv: one line a conclusion. The columns of its tests have an entry for
// each, separated by semicolons.
func (m *Manifest) conclusionsCSV() (string, error) {
	t := Table{Table: reports.Table{Columns: reports.Left(
		"paper", "id", "answer", "part", "met", "readings", "numbers", "plain", "sentence", "section", "varied").Left(
		testColumns...)}}
	for _, p := range m.Papers {
		for _, c := range p.Conclusions {
			tests := make([]string, len(testColumns))
			for i := range tests {
				tests[i] = strings.Join(Map(c.rows, func(r sentenceTest) string { return r.cells()[i] }), "; ")
			}
			t.Row(c.Paper, c.ID, c.Answer, c.Part, c.Met, c.Readings, c.Numbers, c.inWords(), c.Sentence, c.Section,
				c.Varied, tests)
		}
	}
	return t.encoded("csv")
}

// testColumns are the columns of a test in the files of results, and cells are its cells there.
var testColumns = []string{"artefact", "measure", "relation", "threshold", "neutral", "rounding"}

func (r *sentenceTest) cells() []string {
	return []string{r.Artefact, r.Measure, string(r.Relation), r.Threshold, r.Neutral, r.Rounding}
}

// valuesFile has a line for each value that a conclusion tests under a reading.
const valuesFile = "conclusion-values.csv"

// addValue adds a line of [valuesFile].
func (c *Conclusion) addValue(artefact string, t Test, row *sentenceTest) {
	weight := "another"
	switch {
	case t.PostHoc:
		weight = postHoc
	case t.Default:
		weight = DefaultReading
	}
	c.values.Row(
		c.Paper, c.ID, artefact, t.Reading, weight, t.Measure, plain(&t.Value, -1), plain(t.Low, -1), plain(t.High, -1),
		row.cells()[2:], t.state(), strings.Join(Map(t.Runs, func(v float64) string { return plain(&v, -1) }), "; "),
		t.Enough,
	)
}

// valuesCSV returns what [valuesFile] has.
func (m *Manifest) valuesCSV() (string, error) {
	t := Table{Table: reports.Table{Columns: reports.Left(
		"paper", "id", "artefact", "reading", "weight", "measure", "value", "ci_low", "ci_high").Left(
		testColumns[2:]...).Left("state", "training_runs", "enough")}}
	for _, p := range m.Papers {
		for _, c := range p.Conclusions {
			t.Rows = append(t.Rows, c.values.Rows...)
		}
	}
	return t.encoded("csv")
}
