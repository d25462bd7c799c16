package figures

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/strictcsv"
	"miglab/paper-figures/verdict"
)

// Kind says how a paper makes a claim.
type Kind string

// The kinds of claims. They are counted apart.
const (
	// Printed claims are numbers that the paper prints.
	Printed Kind = "printed"
	// Stated claims are sentences of the paper turned into a test.
	Stated Kind = "stated"
	// Arithmetic claims follow from other printed numbers of the paper, such as reductions in percent. They are
	// judged but not counted, because the measurement behind them is counted already.
	Arithmetic Kind = "arithmetic"
)

// Basis says what a verdict on a claim can rest on.
type Basis string

// The bases of claims.
const (
	// Measured claims are measured by this project's experiments.
	Measured Basis = "measured"
	// Derived claims follow from a theorem or a model, so that at best they are CONSISTENT.
	Derived Basis = "derived"
	// Input claims are numbers that the project's models are built from.
	Input Basis = "input"
	// Hardware claims need measurements on a GPU. Without them they are NOT RUNNABLE.
	Hardware Basis = "hardware"
	// Unpublished claims hang on unpublished data. They are NOT RUNNABLE, and are measured with a stand-in.
	Unpublished Basis = "unpublished"
)

// A Claim is a number or a sentence of a paper.
type Claim struct {
	// Paper is far, drl, mfi, deadline or hierarchical.
	Paper string
	// Artefact is the table, figure or group of numbers it belongs to, such as table4.
	Artefact string
	// Name is the claim's key: its coordinates in a table, for example "POORSCALING WIDETIMES n=10 rho".
	Name  string
	Kind  Kind
	Basis Basis
	verdict.Claim
	// Unit is "s", "%" or empty for a ratio or count.
	Unit string
	// Places are the other places where the paper prints the same number. "table6 Enhanced
	// late" is the key of an artefact that shows it; other places are free text.
	Places []string
	// Source is the place in the paper.
	Source string
	// MarginReason says why the margin is not the default one.
	MarginReason string
	// OfMakespans marks a number that compares makespans.
	OfMakespans bool
	// Repeats marks the claim in an artefact that only repeats it: it is shown there, under
	// another name, and counted where it belongs, under the name Home.
	Repeats bool
	Home    string
}

// Cause is a kind of explanation for a deviation, one of those that summary.md.tmpl explains.
type Cause string

var causes = []Cause{
	"script", "contradiction", "impossible", "error", "input", fromUnpublished, "budget", "model", "unknown",
}

// explains reports whether the cause says why a number differs. The other three say what is missing to know it.
func (c Cause) explains() bool { return c != fromUnpublished && c != "input" && c != "unknown" }

// An Explanation says why claims deviate.
type Explanation struct {
	// Artefact and Claim select the claims. Claim is a pattern in which * matches anything.
	Artefact string `csv:"artefact"`
	Claim    string `csv:"claim"`
	Cause    Cause  `csv:"cause"`
	// Evidence names the artefact that shows it as --only of miglab reproduce does, for example far/table5.
	Evidence string `csv:"evidence"`
	// Numbers names the table of the evidence in which the numbers stand that decide, and after a
	// colon the columns, separated by semicolons. It is empty where there is none.
	Numbers string `csv:"numbers"`
	// Reason is one plain sentence.
	Reason string `csv:"reason"`
}

// Claims are the published numbers of one paper, in the order of its data file.
type Claims struct {
	All          []Claim
	Explanations []Explanation
	// heads are the lines of tables.csv, see [Load].
	heads    []tablePart
	readings []readingRow
	missing  []missingRow
	scripts  []scriptRow
	// conclusions are the lines of conclusions.csv.
	conclusions []sentenceTest
}

type publishedRow struct {
	Artefact  string           `csv:"artefact"`
	Claim     string           `csv:"claim"`
	Kind      Kind             `csv:"kind"`
	Basis     Basis            `csv:"basis"`
	Relation  verdict.Relation `csv:"relation"`
	Published float64          `csv:"published"`
	To        string           `csv:"to"`
	Decimals  int              `csv:"decimals"`
	Neutral   string           `csv:"neutral"`
	Unit      string           `csv:"unit"`
	Places    string           `csv:"places"`
	Source    string           `csv:"source"`
}

type marginRow struct {
	Artefact string  `csv:"artefact"`
	Claim    string  `csv:"claim"`
	Margin   float64 `csv:"margin"`
	Reason   string  `csv:"reason"`
}

type makespanRow struct {
	Artefact string `csv:"artefact"`
	Claim    string `csv:"claim"`
}

// byMakespan is the claim with a margin of 2 % of the makespan, if it compares makespans and its own margin is less:
// 2 points of a number in percent, and 2 % of a ratio.
func (c *Claim) byMakespan() verdict.Claim {
	out, margin := c.Claim, 0.02*c.Published
	if c.Unit == "%" {
		margin = 2
	}
	if c.OfMakespans && c.Relation == verdict.Equal {
		out.Margin = max(margin, c.OwnMargin())
	}
	return out
}

// LoadClaims reads the published numbers of a paper from its data files:
//
//   - published.csv: the numbers. To is the upper end of a range. Neutral is the number for no difference
//     (0 or 1) if the claim compares. Places are separated by semicolons.
//   - margins.csv: margins that are not the default.
//   - makespans.csv: claims that compare makespans: a ratio, or how many percent one exceeds another.
//   - script.csv: what the authors' public code gave for claims, see [Script].
//   - causes.csv: why claims deviate, see [Explanation].
//   - readings.csv: where each reading comes from.
//   - conclusions.csv: the tests of the paper's conclusions.
//   - missing.csv: why claims cannot be judged. An empty reason is that of the row above. Claims that need
//     a GPU are listed one by one, so that a mistyped key is refused.
//
// A * in a claim matches anything, and the first row that matches a claim counts. A row that matches no
// claim is an error. All files but published.csv may be missing.
func LoadClaims(paper string, files fs.FS) (*Claims, error) {
	c := &Claims{}
	err := eachRow(paper, files, "published.csv", func(r *publishedRow) (column string, err error) {
		claim, column, err := r.claim(paper)
		if err == nil && c.find(r.Artefact, r.Claim) != nil {
			column, err = "claim", fmt.Errorf("%q of %s is listed twice", r.Claim, r.Artefact)
		}
		c.All = append(c.All, claim)
		return column, err
	})
	if err != nil {
		return nil, err
	}
	for _, err := range []error{
		eachRow(paper, files, "margins.csv", c.addMargin),
		eachRow(paper, files, "makespans.csv", func(r *makespanRow) (string, error) {
			claims, err := c.matching(r.Artefact, r.Claim)
			for _, a := range claims {
				a.OfMakespans = true
			}
			return "claim", err
		}),
		eachRow(paper, files, "script.csv", c.addScript),
		eachRow(paper, files, "causes.csv", c.addCause),
		eachRow(paper, files, "readings.csv", func(r *readingRow) (string, error) {
			c.readings = append(c.readings, *r)
			return "part", oneOf(r.Part, "", partReading, postHoc, anotherDefault)
		}),
		eachRow(paper, files, "conclusions.csv", c.addConclusion),
		eachRow(paper, files, "missing.csv", func(r *missingRow) (string, error) {
			if n := len(c.missing); r.Reason == "" && n > 0 {
				r.Reason = c.missing[n-1].Reason
			}
			c.missing = append(c.missing, *r)
			_, err := c.matching(r.Artefact, r.Claim)
			return "claim", err
		}),
	} {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return c, nil
}

// claim returns the claim of a line, or the column that is wrong.
func (r *publishedRow) claim(paper string) (c Claim, column string, err error) {
	c = Claim{
		Paper: paper, Artefact: r.Artefact, Name: r.Claim, Home: r.Claim, Kind: r.Kind, Basis: r.Basis, Unit: r.Unit,
		Source: r.Source,
		Claim: verdict.Claim{
			Relation: r.Relation, Published: r.Published, Decimals: r.Decimals, Margin: -1,
			Derived: r.Basis == Derived, Stated: r.Kind == Stated,
		},
	}
	if err := oneOf(r.Kind, Printed, Stated, Arithmetic); err != nil {
		return c, "kind", err
	}
	if err := oneOf(r.Basis, Measured, Derived, Input, Hardware, Unpublished); err != nil {
		return c, "basis", err
	}
	if err := oneOf(r.Relation, verdict.Equal, verdict.AtMost, verdict.AtLeast, verdict.Between); err != nil {
		return c, "relation", err
	}
	switch {
	case r.Relation != verdict.Between && r.To != "":
		return c, "to", errors.New("only a range has an upper end")
	case r.Relation == verdict.Between:
		if c.To, err = strictcsv.Float(r.To); err != nil {
			return c, "to", err
		}
		if !(c.To > c.Published) {
			return c, "to", fmt.Errorf("%v is not above the lower end, %v", c.To, c.Published)
		}
	}
	if r.Neutral != "" {
		c.Compares = true
		if c.Neutral, err = strictcsv.Float(r.Neutral); err != nil {
			return c, "neutral", err
		}
	}
	switch digits := strconv.FormatFloat(r.Published, 'f', -1, 64); {
	case r.Decimals < 0 || r.Decimals > 9:
		return c, "decimals", fmt.Errorf("%d is no number of digits from 0 to 9", r.Decimals)
	case r.Basis != Input && len(digits) > len(strconv.FormatFloat(r.Published, 'f', r.Decimals, 64)):
		return c, "decimals", fmt.Errorf("%v has more digits than %d after the point", r.Published, r.Decimals)
	case (r.Relation == verdict.AtMost || r.Relation == verdict.AtLeast) && r.Published == 0 && !c.IsOrder():
		return c, "neutral", errors.New("a limit of 0 compares; say that 0 is the neutral number")
	}
	for place := range strings.SplitSeq(r.Places, ";") {
		if place = strings.TrimSpace(place); place != "" {
			c.Places = append(c.Places, place)
		}
	}
	return c, "", nil
}

func oneOf[T ~string](value T, known ...T) error {
	if slices.Contains(known, value) {
		return nil
	}
	return fmt.Errorf("unknown value %q; use one of %q", value, known)
}

// addMargin sets the margins of a row of margins.csv, or returns the column that is wrong.
func (c *Claims) addMargin(r *marginRow) (column string, err error) {
	switch {
	case r.Reason == "":
		return "reason", errors.New("a margin needs a reason")
	case r.Margin < 0:
		return "margin", fmt.Errorf("%v is negative", r.Margin)
	}
	claims, err := c.matching(r.Artefact, r.Claim)
	for _, a := range claims {
		switch {
		case a.Relation != verdict.Equal:
			return "claim", fmt.Errorf("%q is a limit or a range, which has no margin", a.Name)
		case a.MarginReason == "": // the first row that matches counts
			a.Margin, a.MarginReason = r.Margin, r.Reason
		}
	}
	return "claim", err
}

// addCause adds a row of causes.csv, or returns the column that is wrong.
func (c *Claims) addCause(r *Explanation) (column string, err error) {
	if err := oneOf(r.Cause, causes...); err != nil {
		return "cause", err
	}
	if r.Reason == "" {
		return "reason", errors.New("a cause needs a reason")
	}
	c.Explanations = append(c.Explanations, *r)
	claims, err := c.matching(r.Artefact, r.Claim)
	isRun := func(a *Claim) bool { return c.script(a) != nil }
	if err == nil && r.Cause == fromUnpublished && !slices.ContainsFunc(claims, isRun) {
		err = errors.New("script.csv does not say what the authors' code gave")
	}
	return "claim", err
}

// matching returns the claims of an artefact that match a pattern. It is an error if there are none.
func (c *Claims) matching(artefact, pattern string) (out []*Claim, err error) {
	for i := range c.All {
		if a := &c.All[i]; a.Artefact == artefact && matches(pattern, a.Name) {
			out = append(out, a)
		}
	}
	if out == nil {
		err = fmt.Errorf("%s has no claim %q", artefact, pattern)
	}
	return out, err
}

// matches reports whether a name matches a pattern in which * is any text.
func matches(pattern, name string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, first)
	if !ok {
		return false
	}
	for i := range len(name) + 1 {
		if matches(rest, name[i:]) {
			return true
		}
	}
	return false
}

// ReadCSV reads a data file of a paper. An empty field is allowed everywhere.
func ReadCSV[Row any](paper string, files fs.FS, name string) (*strictcsv.Table[Row], error) {
	raw, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", paper, err)
	}
	return strictcsv.Read[Row](bytes.NewReader(raw), paper+"/"+name, name+" has no rows", strictcsv.Columns[Row]()...)
}

// eachRow passes each row of a data file to a function, which returns the column that is wrong.
func eachRow[Row any](paper string, files fs.FS, name string, use func(*Row) (column string, err error)) error {
	rows, err := ReadCSV[Row](paper, files, name)
	if err != nil {
		return err
	}
	for i := range rows.Rows {
		if column, err := use(&rows.Rows[i]); err != nil {
			return rows.Fail(i, column, err)
		}
	}
	return nil
}

// Of returns the claims of an artefact, and those that it repeats, under their names there.
func (c *Claims) Of(artefact string) []Claim {
	var out []Claim
	for _, cl := range c.All {
		if cl.Artefact == artefact {
			out = append(out, cl)
		}
		for _, place := range cl.Places {
			if name, ok := strings.CutPrefix(place, artefact+" "); ok {
				again := cl
				again.Name, again.Repeats = name, true
				out = append(out, again)
			}
		}
	}
	return out
}

// find returns a claim, or nil.
func (c *Claims) find(artefact, name string) *Claim {
	i := slices.IndexFunc(c.All, func(cl Claim) bool { return cl.Artefact == artefact && cl.Name == name })
	if i < 0 {
		return nil
	}
	return &c.All[i]
}

// Published returns a claim's number. It panics if there is none, which is a mistake in the program.
func (c *Claims) Published(artefact, name string) float64 {
	if claim := c.find(artefact, name); claim != nil {
		return claim.Published
	}
	panic(fmt.Sprintf("figures: no claim %q in %s", name, artefact))
}

// Missing returns what missing.csv says of a claim, or nothing.
func (c *Claims) Missing(artefact, name string) string {
	for _, r := range c.missing {
		if r.Artefact == artefact && matches(r.Claim, name) {
			return r.Reason
		}
	}
	return ""
}

// explain returns why a claim with a measured number deviates, if the data say so. The cause unpublished is passed
// over where the authors' code does not show it.
func (c *Claims) explain(claim *Claim, m Measurement) Explanation {
	return c.explanation(claim, func(cause Cause) bool {
		return cause != fromUnpublished || c.unpublished(claim, m)
	})
}

// explanation returns the first row of causes.csv that matches a claim and has a possible cause.
func (c *Claims) explanation(claim *Claim, possible func(Cause) bool) Explanation {
	for _, e := range c.Explanations {
		if e.Artefact == claim.Artefact && matches(e.Claim, claim.Home) && possible(e.Cause) {
			return e
		}
	}
	return Explanation{
		Cause: "unknown", Evidence: claim.Paper + "/" + claim.Artefact,
		Reason: "Nothing that was tried explains the difference.",
	}
}
