package claim

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"miglab/harness/strictcsv"
	"miglab/paper-figures/verdict"
)

// Kind says how a paper makes a claim.
type Kind string

// The kinds of claims, which summaries count apart.
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
	// Unpublished claims depend on unpublished data. They are NOT RUNNABLE.
	Unpublished Basis = "unpublished"
	// StandIn claims are Unpublished ones that are measured with a stand-in for the data. They are NOT RUNNABLE, too.
	StandIn Basis = "stand-in"
)

// A Claim is a number or a sentence of a paper.
type Claim struct {
	Key
	Paper string // the name of its package, such as far
	Kind  Kind
	Basis Basis
	verdict.Claim
	Unit         string // "s", "%" or empty for a ratio or count
	Source       string // the place in the paper
	MarginReason string // says why the margin is not the default one
	OfMakespans  bool   // marks a number that compares makespans
	Missing      string // says why the claim cannot be judged; empty if it can
	// Home is where the claim is counted. It is the claim's own key, except in an artefact that repeats the number.
	Home Key
}

// Repeats reports whether the claim repeats a number that another artefact counts.
func (c *Claim) Repeats() bool { return c.Home != c.Key }

// ByMakespan returns the claim with a margin of 2 % of the makespan, if it compares makespans and its own margin is
// less. A number in percent says how much longer a makespan is than another or than a bound.
func (c *Claim) ByMakespan() verdict.Claim {
	out := c.Claim
	margin := verdict.MarginShare * c.Published
	if c.Unit == "%" {
		margin = verdict.MarginShare * (100 + c.Published)
	}
	if c.OfMakespans && c.Relation == verdict.Equal {
		out.Margin = max(margin, c.OwnMargin())
	}
	return out
}

// A row is a line of claims.csv. [verdict.Claim] explains the numbers.
type row struct {
	Key
	Kind      Kind             `csv:"kind"`
	Basis     Basis            `csv:"basis"`
	Relation  verdict.Relation `csv:"relation"`
	Published float64          `csv:"published"`
	To        float64          `csv:"to"`
	Decimals  int              `csv:"decimals"`
	Neutral   string           `csv:"neutral"`
	Unit      string           `csv:"unit"`
	Margin    string           `csv:"margin"`
	// MarginReason may use no measured value.
	MarginReason string `csv:"margin_reason"`
	Makespans    bool   `csv:"makespans"`
	Missing      string `csv:"missing"`
	// Also says where else the paper prints the number. No program reads it.
	Also   string `csv:"also"`
	Source string `csv:"source"`
	// The home columns are the key of the number that this line repeats. Such a line has only its own key and these.
	HomeArtefact string `csv:"home_artefact"`
	HomeRow      string `csv:"home_row"`
	HomeColumn   string `csv:"home_column"`
	HomeQuantity string `csv:"home_quantity"`
}

// add adds the claim of a line. If the line is wrong, it returns an error and the column that it is about.
func (s *Set) add(r *row) (column string, err error) {
	if s.Find(r.Key) != nil {
		return "quantity", fmt.Errorf("%q of %s is listed twice", r.Cell, r.Artefact)
	}
	if r.HomeArtefact == "" {
		c, column, err := r.claim(s.Paper)
		s.All = append(s.All, c)
		return column, err
	}
	home := s.Find(Key{r.HomeArtefact, Cell{r.HomeRow, r.HomeColumn, r.HomeQuantity}})
	if home == nil {
		return "home_artefact", errors.New("the number that is repeated is not listed above")
	}
	again := *home
	again.Key = r.Key
	s.All = append(s.All, again)
	return "", nil
}

// claim returns the claim of a line, or an error and the column that it is about.
func (r *row) claim(paper string) (c Claim, column string, err error) {
	c = Claim{
		Key: r.Key, Home: r.Key, Paper: paper, Kind: r.Kind, Basis: r.Basis, Unit: r.Unit, Source: r.Source,
		OfMakespans: r.Makespans, Missing: r.Missing,
		Claim: verdict.Claim{
			Relation: r.Relation, Published: r.Published, To: r.To, Decimals: r.Decimals, Margin: verdict.UseDefault,
			Derived: r.Basis == Derived, Stated: r.Kind == Stated,
		},
	}
	steps := []func(*row) (string, error){c.checkWords, c.setNumbers, c.checkDigits}
	for _, step := range steps {
		if column, err = step(r); err != nil {
			return c, column, err
		}
	}
	return c, "", nil
}

func (c *Claim) checkWords(r *row) (column string, err error) {
	if err := OneOf(r.Kind, Printed, Stated, Arithmetic); err != nil {
		return "kind", err
	}
	if err := OneOf(r.Basis, Measured, Derived, Input, Hardware, Unpublished, StandIn); err != nil {
		return "basis", err
	}
	return "relation", OneOf(r.Relation, verdict.Equal, verdict.AtMost, verdict.AtLeast, verdict.Between)
}

// setNumbers sets the upper end, the neutral number and the margin.
func (c *Claim) setNumbers(r *row) (column string, err error) {
	isRange := r.Relation == verdict.Between
	c.Compares, c.MarginReason = r.Neutral != "", r.MarginReason
	column, err = parse(field{"neutral", r.Neutral, &c.Neutral}, field{"margin", r.Margin, &c.Margin})
	switch {
	case err != nil:
		return column, err
	case !isRange && r.To != 0:
		return "to", errors.New("only a range has an upper end")
	case isRange && !(r.To > r.Published):
		return "to", fmt.Errorf("%v is not above the lower end, %v", r.To, r.Published)
	case r.Margin == "":
		return "", nil
	case r.MarginReason == "":
		return "margin_reason", errors.New("a margin needs a reason")
	case c.Margin < 0:
		err = fmt.Errorf("%v is negative", c.Margin)
	case r.Relation != verdict.Equal:
		err = errors.New("a limit or a range has no margin")
	}
	return "margin", err
}

// A field is a number in a column of a data file, as text, and the variable that it sets.
type field struct {
	column, text string
	to           *float64
}

// parse sets the numbers of the fields that are not empty. It returns the first error and the column that it is about.
func parse(fields ...field) (column string, err error) {
	for _, f := range fields {
		if f.text == "" {
			continue
		}
		if *f.to, err = strictcsv.Float(f.text); err != nil {
			return f.column, err
		}
	}
	return "", nil
}

func (c *Claim) checkDigits(r *row) (column string, err error) {
	if r.Decimals < 0 || r.Decimals > 9 {
		return "decimals", fmt.Errorf("%d is no number of digits from 0 to 9", r.Decimals)
	}
	exact := strconv.FormatFloat(r.Published, 'f', -1, 64)
	printed := strconv.FormatFloat(r.Published, 'f', r.Decimals, 64)
	isLimit := r.Relation == verdict.AtMost || r.Relation == verdict.AtLeast
	switch {
	case r.Basis != Input && len(exact) > len(printed):
		return "decimals", fmt.Errorf("%v has more digits than %d after the point", r.Published, r.Decimals)
	case isLimit && r.Published == 0 && !c.IsOrder():
		return "neutral", errors.New("a limit of 0 compares; say that 0 is the neutral number")
	}
	return "", nil
}

// OneOf returns an error unless the value is among the known ones.
func OneOf[T ~string](value T, known ...T) error {
	if slices.Contains(known, value) {
		return nil
	}
	return fmt.Errorf("unknown value %q; use one of %q", value, known)
}
