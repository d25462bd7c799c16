package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// A Test is a value under a reading, judged against a row of conclusions.csv.
type Test struct {
	// Row is the row's number, from 0.
	Row int `json:"row"`
	// Measure is the text of the cell.
	Measure string `json:"measure"`
	Reading string `json:"reading"`
	// Default marks the default reading or one that equals it, and PostHoc one that decides nothing.
	Default bool `json:"default,omitempty"`
	PostHoc bool `json:"post_hoc,omitempty"`
	// Verdict is REPRODUCED if the whole interval is on the side of the sentence, DEVIATES if it is on the other one.
	Verdict verdict.Verdict `json:"verdict"`
	// AtHalf and AtTwice are the verdicts if a threshold that is ours were half and twice as far.
	AtHalf  verdict.Verdict `json:"at_half,omitempty"`
	AtTwice verdict.Verdict `json:"at_twice,omitempty"`
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
	for line, row := range d.Claims.Tests {
		for i, r := range o.Readings {
			if row.Artefact != artefact || row.Status == claim.Impossible || r.from.Weight == claim.OfPart {
				continue
			}
			for _, cell := range sorted(r.Values) {
				if !row.Has(cell) {
					continue
				}
				m := r.Values[cell]
				m.PrintSE = 0 // what is judged is the sentence, not the paper's own sample
				j := judgeTest(&row, m, 1)
				t := Test{
					Row: line, Measure: cell.String(), Reading: cmp.Or(r.Name, DefaultReading),
					Default: i == 0 || r.from.Weight == claim.AnotherDefault,
					PostHoc: !r.from.Weight.Counts() || row.Status == claim.Later,
					Verdict: j.Verdict, Value: m.Value, Low: number(j.Low), High: number(j.High),
					Enough: j.Enough, Unit: m.Unit, Runs: Map(m.Runs, func(v float64) float64 { return *number(v) }),
				}
				if row.IsOurs() {
					t.AtHalf, t.AtTwice = judgeTest(&row, m, 0.5).Verdict, judgeTest(&row, m, 2).Verdict
				}
				t.Sign = !math.IsNaN(row.Neutral) && row.Judge(m, row.Neutral).Verdict == verdict.Reproduced
				out = append(out, t)
			}
		}
	}
	return out
}

// judgeTest judges a value against a row whose threshold, if it is ours, is so many times as far.
func judgeTest(row *claim.Test, m Measurement, factor float64) verdict.Judgement {
	j := row.Judge(m, row.Scaled(factor))
	if j.Verdict == verdict.Inconclusive && j.Low == j.High {
		j.Verdict = verdict.Deviates // a tie in all replicates: more of them would not make it larger
	}
	return j
}

// A Dot is a conclusion under a reading of an artefact. Its distance is that of the least favourable value from its
// threshold, in the value's unit if the threshold is 0.
type Dot struct {
	Artefact string        `json:"artefact"`
	Reading  string        `json:"reading"`
	State    verdict.State `json:"state"`
	// Default marks the default reading, and Aside one that decides nothing.
	Default  bool    `json:"default,omitempty"`
	Aside    bool    `json:"post_hoc,omitempty"`
	Distance float64 `json:"distance"`
	// Values is how many values there are, and Right how many of them are on the side of the sentence.
	Values int `json:"values"`
	Right  int `json:"right"`
	// least are the least favourable values, one for each row, open are those that are open, sign says that all have
	// the sign of the sentence.
	least []tested
	open  []Test
	sign  bool
	// states are those of the values by name. A value that several rows test has the worst.
	states map[string]verdict.State
}

// add adds a test to the dot.
func (d *Dot) add(t Test, row *claim.Test) {
	this := tested{t, row, row.Distance(t.Value)}
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
	if t.state() == verdict.Open {
		d.open = append(d.open, t)
	}
	d.states[t.Measure], d.State = d.states[t.Measure].Worse(t.state()), d.State.Worse(t.state())
	d.Values, d.Right = len(d.states), len(d.named(verdict.Met))
}

// state is what the value says of the conclusion under its reading.
func (t *Test) state() verdict.State { return t.Verdict.State() }

// named lists the values in a state, with the reading if it is not the first.
func (d *Dot) named(s verdict.State) (out []string) {
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
	Short string `json:"short,omitempty"`
	verdict.Conclusion
	// AtHalf and AtTwice are the answers if the thresholds that are ours were half and twice as far.
	AtHalf  verdict.Answer `json:"at_half,omitempty"`
	AtTwice verdict.Answer `json:"at_twice,omitempty"`
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
	rows   []claim.Test
	values reports.Table
	// halved and doubled are the conclusion with other thresholds.
	halved, doubled *Conclusion
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
	for line := range claims.Tests {
		row := &claims.Tests[line]
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
		for _, t := range a.Tests {
			if t.Row == line {
				c.add(a.Artefact, t, row)
			}
		}
	}
	for _, c := range all {
		if !c.incomplete {
			c.answer()
			c.Because, _ = claims.partOf(c.ID, because+string(c.Answer))
			p.Conclusions = append(p.Conclusions, c)
		}
	}
}

// add adds a test of a row.
func (c *Conclusion) add(artefact string, t Test, row *claim.Test) {
	c.addDot(artefact, t, row)
	c.addValue(artefact, t, row)
	if c.halved == nil {
		c.halved, c.doubled = &Conclusion{}, &Conclusion{}
	}
	half, twice := t, t
	half.Verdict, twice.Verdict = cmp.Or(t.AtHalf, t.Verdict), cmp.Or(t.AtTwice, t.Verdict)
	c.halved.addDot(artefact, half, row)
	c.doubled.addDot(artefact, twice, row)
}

// addDot adds a test to the dot of its reading.
func (c *Conclusion) addDot(artefact string, t Test, row *claim.Test) {
	same := func(d Dot) bool { return d.Artefact == artefact && d.Reading == t.Reading && d.Aside == t.PostHoc }
	i := slices.IndexFunc(c.Dots, same)
	if i < 0 {
		i = len(c.Dots)
		c.Dots = append(c.Dots, Dot{
			Artefact: artefact, Reading: t.Reading, states: map[string]verdict.State{},
			Default: t.Default && !t.PostHoc, Aside: t.PostHoc,
		})
	}
	c.Dots[i].add(t, row)
}

// judge answers a conclusion by its dots.
func (c *Conclusion) judge(status claim.Status) verdict.Conclusion {
	outcomes := Map(c.Dots, func(d Dot) verdict.Outcome {
		return verdict.Outcome{
			State: d.State, Default: d.Default, Aside: d.Aside, Right: d.Right, Values: d.Values, Sign: d.sign,
		}
	})
	return verdict.Sentence(outcomes, status == claim.OfModel, status == claim.OfBudget)
}

// answer answers a conclusion by its dots, and describes the answer.
func (c *Conclusion) answer() {
	status := c.rows[0].Status
	c.Conclusion = c.judge(status)
	if slices.ContainsFunc(c.rows, func(r claim.Test) bool { return r.IsOurs() }) && c.halved != nil {
		c.AtHalf, c.AtTwice = c.halved.judge(status).Answer, c.doubled.judge(status).Answer
	}
	var deciding, defaults []Dot
	for _, d := range c.Dots {
		if d.Default {
			defaults = append(defaults, d)
		}
		all := c.Answer == verdict.Aside || c.Answer == verdict.InTheModel && !d.Aside
		if d.Default || all {
			deciding = append(deciding, d)
		}
	}
	c.Numbers = strings.Join(Map(deciding, Dot.deciding), "; ")
	c.describe(defaults, c.Sign)
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
	case verdict.CannotRun:
		c.Plain, c.Varied = cmp.Or(c.Varied, "Nothing here can measure it")+".", ""
		return
	case verdict.Aside:
		c.Plain = fmt.Sprintf("It is %s, and decides nothing.", c.byState())
		return
	case verdict.InTheModel:
		where = "In the model it"
	}
	c.Plain = fmt.Sprintf("%s is %s", where, c.byState())
	if c.Values > 1 {
		c.Plain += fmt.Sprintf(", and by %d of %d values under the default", c.Right, c.Values)
	}
	c.Plain += "."
	if c.Answer == verdict.HoldsInPart && c.Met == 0 {
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
	if c.Answer == verdict.Undecided {
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
	budget := c.rows[0].Status == claim.OfBudget
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

var states = []verdict.State{verdict.Met, verdict.Missed, verdict.Open}

// byState says under how many of the readings the conclusion is met, missed or open, and names the readings if they
// differ.
func (c *Conclusion) byState() string {
	var out []string
	for _, s := range states {
		names := c.under(s)
		if names == nil && s != verdict.Met {
			continue
		}
		text := fmt.Sprintf("%s under %d", s, len(names))
		if s == verdict.Met {
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
func (c *Conclusion) under(s verdict.State) (out []string) {
	several := slices.ContainsFunc(c.Dots, func(d Dot) bool { return d.Artefact != c.Dots[0].Artefact })
	for _, d := range c.Dots {
		name := d.Reading
		if several {
			name = d.Artefact + ": " + name
		}
		if d.State == s && d.Aside == (c.Answer == verdict.Aside) {
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
	if len(least) > 1 && least[1].state() != verdict.Met {
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
	row      *claim.Test
	distance float64
}

// String is the value with its interval, its training runs and its threshold.
func (t *tested) String() string {
	text := fmt.Sprintf("%s: %s", t.Measure, figuresOf(t.Value))
	if t.Low != nil && t.High != nil && *t.Low < *t.High {
		text += fmt.Sprintf(" [%s, %s]", figuresOf(*t.Low), figuresOf(*t.High))
	}
	return text + t.ofRuns() + ", which must be " + demand(t.row)
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
func demand(r *claim.Test) string {
	switch {
	case r.Limit == r.Neutral:
		return fmt.Sprintf("%s %s", r.Relation[:1], r.Threshold)
	case r.Rounding != "":
		return fmt.Sprintf("%s %s (%s as printed)", r.Relation, plain(&r.Limit, -1), r.Threshold)
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
		testColumns...).Left("ours_from", "at_half", "at_twice")}}
	for _, p := range m.Papers {
		for _, c := range p.Conclusions {
			tests := make([]string, len(testColumns))
			for i := range tests {
				tests[i] = strings.Join(Map(c.rows, func(r claim.Test) string { return testCells(&r)[i] }), "; ")
			}
			t.Row(c.Paper, c.ID, c.Answer, c.Part, c.Met, c.Readings, c.Numbers, c.inWords(), c.Sentence, c.Section,
				c.Varied, tests, strings.Join(Map(c.rows, func(r claim.Test) string { return r.OursFrom }), "; "),
				c.AtHalf, c.AtTwice)
		}
	}
	return t.encoded("csv")
}

// testColumns are the columns of a test in the files of results, and testCells are its cells there.
var testColumns = []string{"artefact", "measure", "relation", "threshold", "neutral", "rounding"}

func testCells(r *claim.Test) []string {
	return []string{r.Artefact, r.Selection.String(), string(r.Relation), r.Threshold, r.TestLine.Neutral, r.Rounding}
}

// valuesFile has a line for each value that a conclusion tests under a reading.
const valuesFile = "conclusion-values.csv"

// addValue adds a line of [valuesFile].
func (c *Conclusion) addValue(artefact string, t Test, row *claim.Test) {
	weight := "another"
	switch {
	case t.PostHoc:
		weight = string(claim.PostHoc)
	case t.Default:
		weight = DefaultReading
	}
	c.values.Row(
		c.Paper, c.ID, artefact, t.Reading, weight, t.Measure, plain(&t.Value, -1), plain(t.Low, -1), plain(t.High, -1),
		testCells(row)[2:], t.state(), strings.Join(Map(t.Runs, func(v float64) string { return plain(&v, -1) }), "; "),
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
