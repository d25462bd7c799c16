package figures

import (
	"fmt"
	"io/fs"
	"math"
	"strconv"

	"github.com/gocarina/gocsv"

	"miglab/harness/stats"
	"miglab/reports"
)

// A Claim is a number that a paper prints.
type Claim struct {
	// Paper is far, drl, mfi, deadline or hierarchical.
	Paper string
	// Artefact is the table, figure or group of numbers it belongs to, such as table4.
	Artefact string
	// Name says what the number is, for example "POORSCALING WIDETIMES n=10 rho".
	Name      string
	Published float64
	// Decimals is the number of digits printed after the point.
	Decimals int
	// Unit is "s", "%" or empty for a ratio or count.
	Unit     string
	Relation Relation
	// Tolerance replaces the default tolerance; nil means the default.
	Tolerance *Tolerance
	// Source is the place in the paper.
	Source string
}

// Relation says how a measured value must compare with the published one.
type Relation string

// The relations.
const (
	Equal   Relation = "="
	AtMost  Relation = "<="
	AtLeast Relation = ">="
	// Input marks numbers that the project's models are built from.
	Input Relation = "input"
)

// A Tolerance replaces the default one.
type Tolerance struct {
	Value  float64
	Reason string
}

// Verdict is the result of judging a claim.
type Verdict string

// The verdicts. In a quick run all are [Undecided].
const (
	Reproduced  Verdict = "REPRODUCED"
	Deviates    Verdict = "DEVIATES"
	NotRunnable Verdict = "NOT RUNNABLE"
	FromPaper   Verdict = "INPUT"
	Undecided   Verdict = ""
)

// A Measurement is the project's value for a claim.
type Measurement struct {
	Value float64
	// Low and High bound the 95 % confidence interval. Both equal Value if the value was
	// not sampled.
	Low, High float64
	// SE is the standard error at the paper's own number of replicates.
	SE float64
}

// Exactly is a measurement that was not sampled.
func Exactly(v float64) Measurement { return Measurement{Value: v, Low: v, High: v} }

// MeanOf is the mean of a sample with its confidence interval. Replicates is the paper's
// number of replicates.
func MeanOf(values []float64, replicates int) (Measurement, error) {
	s, err := stats.Summarize(values)
	if err != nil {
		return Measurement{}, err
	}
	return Measurement{Value: s.Mean, Low: s.Low, High: s.High, SE: s.StdDev / math.Sqrt(float64(replicates))}, nil
}

// Affine returns scale times the measurement plus a shift, for a positive scale.
func (m Measurement) Affine(scale, shift float64) Measurement {
	return Measurement{Value: scale*m.Value + shift, Low: scale*m.Low + shift, High: scale*m.High + shift, SE: scale * m.SE}
}

// PlusMinus writes the value with half its interval, for example 1.22 ± 0.03.
func (m Measurement) PlusMinus(decimals int) string {
	return reports.PlusMinus(m.Value, m.High-m.Value, decimals)
}

// A Finding is a claim with its verdict.
type Finding struct {
	Claim
	// Reading names the interpretation that was measured; empty for the default.
	Reading string
	// Measured is nil if the claim cannot be measured.
	Measured *Measurement
	// Allowed is the distance from the published value within which the verdict is
	// REPRODUCED, in the claim's unit.
	Allowed float64
	Verdict Verdict
	Reason  string
}

// Judge compares a measured value with a claim. It keeps the reason if the value
// deviates. The default tolerance is half the last printed digit plus three
// standard errors; the confidence interval never decides.
func Judge(c Claim, m Measurement, reading, reason string) Finding {
	f := Finding{Claim: c, Reading: reading, Measured: &m}
	f.Allowed = math.Pow10(-c.Decimals)/2 + 3*m.SE
	if c.Tolerance != nil {
		f.Allowed = c.Tolerance.Value
	}
	// The binary value of, for example, 1.22 - 0.005 may be slightly off.
	allowed := f.Allowed + 1e-9
	ok := false
	switch c.Relation {
	case AtMost:
		ok = m.Value <= c.Published+allowed
	case AtLeast:
		ok = m.Value >= c.Published-allowed
	default:
		ok = math.Abs(m.Value-c.Published) <= allowed
	}
	f.Verdict = Reproduced
	if !ok {
		f.Verdict, f.Reason = Deviates, reason
	}
	return f
}

// Missing is the finding for a claim that cannot be run here.
func Missing(c Claim, reason string) Finding {
	return Finding{Claim: c, Verdict: NotRunnable, Reason: reason}
}

// Taken is the finding for a number that the project takes from the paper.
func Taken(c Claim, where string) Finding {
	m := Exactly(c.Published)
	return Finding{Claim: c, Measured: &m, Verdict: FromPaper, Reason: where}
}

// TakenAll are the findings for numbers that the project takes from the paper.
func TakenAll(claims []Claim, where string) []Finding {
	out := make([]Finding, len(claims))
	for i, c := range claims {
		out[i] = Taken(c, where)
	}
	return out
}

// Claims are the published numbers of one paper, in the order of its data file.
type Claims struct {
	all   []Claim
	index map[[2]string]int
}

// LoadClaims reads a paper's published numbers and tolerances. published.csv has the columns
// artefact,claim,published,decimals,unit,relation,source; tolerances.csv has the columns
// artefact,claim,tolerance,reason, where the claim * means the whole artefact.
func LoadClaims(paper string, files fs.FS) (*Claims, error) {
	rows, err := ReadCSV[struct {
		Artefact  string   `csv:"artefact"`
		Claim     string   `csv:"claim"`
		Published float64  `csv:"published"`
		Decimals  int      `csv:"decimals"`
		Unit      string   `csv:"unit"`
		Relation  Relation `csv:"relation"`
		Source    string   `csv:"source"`
	}](paper, files, "published.csv")
	if err != nil {
		return nil, err
	}
	c := &Claims{index: map[[2]string]int{}}
	for i, r := range rows {
		switch r.Relation {
		case Equal, AtMost, AtLeast, Input:
		default:
			return nil, fmt.Errorf("%s/published.csv:%d: unknown relation %q; use =, <=, >= or input", paper, i+2, r.Relation)
		}
		key := [2]string{r.Artefact, r.Claim}
		if _, ok := c.index[key]; ok {
			return nil, fmt.Errorf("%s/published.csv:%d: the claim %q of %s is listed twice", paper, i+2, r.Claim, r.Artefact)
		}
		c.index[key] = len(c.all)
		c.all = append(c.all, Claim{
			Paper: paper, Artefact: r.Artefact, Name: r.Claim, Published: r.Published, Decimals: r.Decimals,
			Unit: r.Unit, Relation: r.Relation, Source: r.Source,
		})
	}
	return c, c.loadTolerances(paper, files)
}

func (c *Claims) loadTolerances(paper string, files fs.FS) error {
	rows, err := ReadCSV[struct {
		Artefact  string  `csv:"artefact"`
		Claim     string  `csv:"claim"`
		Tolerance float64 `csv:"tolerance"`
		Reason    string  `csv:"reason"`
	}](paper, files, "tolerances.csv")
	if err != nil {
		return err
	}
	for i, r := range rows {
		if r.Reason == "" {
			return fmt.Errorf("%s/tolerances.csv:%d: the tolerance of %q has no reason", paper, i+2, r.Claim)
		}
		found := false
		for j := range c.all {
			if c.all[j].Artefact == r.Artefact && (r.Claim == "*" || r.Claim == c.all[j].Name) {
				c.all[j].Tolerance = &Tolerance{r.Tolerance, r.Reason}
				found = true
			}
		}
		if !found {
			return fmt.Errorf("%s/tolerances.csv:%d: %s has no claim %q in published.csv", paper, i+2, r.Artefact, r.Claim)
		}
	}
	return nil
}

// ReadCSV reads a data file of a paper.
func ReadCSV[Row any](paper string, files fs.FS, name string) ([]Row, error) {
	var rows []Row
	raw, err := fs.ReadFile(files, name)
	if err == nil {
		err = gocsv.UnmarshalBytes(raw, &rows)
	}
	if err != nil {
		return nil, fmt.Errorf("%s/%s: %w", paper, name, err)
	}
	return rows, nil
}

// Of returns the claims of an artefact.
func (c *Claims) Of(artefact string) []Claim {
	var out []Claim
	for _, cl := range c.all {
		if cl.Artefact == artefact {
			out = append(out, cl)
		}
	}
	return out
}

// Get returns a claim by artefact and name. It panics if there is none, because that is a
// mistake in the program or its data file.
func (c *Claims) Get(artefact, name string) Claim {
	i, ok := c.index[[2]string{artefact, name}]
	if !ok {
		panic(fmt.Sprintf("figures: no claim %q in %s", name, artefact))
	}
	return c.all[i]
}

// Row is a line of results/claims.csv.
type Row struct {
	Paper     string  `csv:"paper" json:"paper"`
	Artefact  string  `csv:"artefact" json:"artefact"`
	Claim     string  `csv:"claim" json:"claim"`
	Published string  `csv:"published" json:"published"`
	Measured  string  `csv:"measured" json:"measured"`
	Low       string  `csv:"ci_low" json:"ci_low"`
	High      string  `csv:"ci_high" json:"ci_high"`
	Tolerance string  `csv:"tolerance" json:"tolerance"`
	Unit      string  `csv:"unit" json:"unit"`
	Verdict   Verdict `csv:"verdict" json:"verdict"`
	Reason    string  `csv:"reason" json:"reason"`
}

// Row returns the finding as a line of claims.csv.
func (f *Finding) Row() Row {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	r := Row{
		Paper: f.Paper, Artefact: f.Artefact, Claim: f.Name, Unit: f.Unit, Verdict: f.Verdict, Reason: f.Reason,
		Published: strconv.FormatFloat(f.Published, 'f', f.Decimals, 64),
	}
	if f.Reading != "" {
		r.Claim += " [" + f.Reading + "]"
	}
	switch f.Relation {
	case AtMost:
		r.Claim += " (at most)"
	case AtLeast:
		r.Claim += " (at least)"
	}
	if f.Measured != nil {
		r.Measured, r.Low, r.High = number(f.Measured.Value), number(f.Measured.Low), number(f.Measured.High)
	}
	if f.Verdict == Reproduced || f.Verdict == Deviates {
		r.Tolerance = number(f.Allowed)
		if f.Claim.Tolerance != nil {
			if r.Reason != "" {
				r.Reason += "; "
			}
			r.Reason += "tolerance: " + f.Claim.Tolerance.Reason
		}
	}
	return r
}
