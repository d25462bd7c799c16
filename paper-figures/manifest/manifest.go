// Package manifest holds the facts that a reproduction of papers found, as one typed value and one JSON file. Package
// render makes pages, CSV files and figures from a manifest alone.
package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/wholefile"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// A Manifest has the findings of a reproduction.
type Manifest struct {
	// Quick marks a run on few replicates, which gives no verdicts.
	Quick bool `json:"quick"`
	// Left is how many artefacts are not done.
	Left   int     `json:"left,omitempty"`
	Papers []Paper `json:"papers"`
}

// An Introduction begins the page of a paper. miglab has no page.
type Introduction struct {
	Heading string `csv:"heading" json:"title"`
	Cite    string `csv:"cite" json:"cite"`
	// About says in a sentence what the paper is about, and Limits what limits what can be said about it here.
	About  string `csv:"about" json:"about,omitempty"`
	Limits string `csv:"limits" json:"limits,omitempty"`
	// Brief says in a sentence or two what came out, and Summary in a few more what holds, what does not and why. Both
	// name conclusions as links to CONCLUSIONS.md.
	Brief   string `csv:"brief" json:"brief,omitempty"`
	Summary string `csv:"summary" json:"summary,omitempty"`
	// TrainingRun says what a training run of the paper's agents costs; empty for a paper without them.
	TrainingRun string `csv:"training_run" json:"training_run,omitempty"`
}

// A Paper has the findings about a paper.
type Paper struct {
	Name string `json:"name"`
	Introduction
	// Link is the paper's address; empty if it has none.
	Link      string     `json:"link,omitempty"`
	Terms     []Term     `json:"terms,omitempty"`
	Artefacts []Artefact `json:"artefacts"`
	// Conclusions are in the order of conclusions.csv.
	Conclusions []Conclusion `json:"conclusions,omitempty"`
}

// An Artefact has the findings about a table, a figure or a group of numbers.
type Artefact struct {
	Paper string `json:"paper"`
	Name  string `json:"artefact"`
	Title string `json:"title"`
	// Timed marks an artefact about wall times.
	Timed    bool             `json:"timed,omitempty"`
	Readings []ReadingSummary `json:"readings,omitempty"`
	Rows     []Row            `json:"claims,omitempty"`
	// Tests are the values that conclusions rest on.
	Tests []Test `json:"tests,omitempty"`
	// TimedTables are the files of tables about wall times.
	TimedTables []string `json:"timed_tables,omitempty"`
	// Figures and Tables are in the order of the page. Tables about wall times, which always differ, are left out.
	Figures []Figure `json:"figures,omitempty"`
	Tables  []Table  `json:"tables,omitempty"`
}

// Folder returns the folder for the artefact's files, below the folder of results. Wall times, which differ from run to
// run, are not in the paper's.
func (a *Artefact) Folder() string {
	if a.Timed {
		return "."
	}
	return a.Paper
}

// A Row is a claim under a reading: a line of results/claims.csv.
type Row struct {
	Paper    string `json:"paper"`
	Artefact string `json:"artefact"`
	// Claim is the text of the cell.
	Claim string `json:"claim"`
	claim.Cell
	Kind      claim.Kind       `json:"kind"`
	Reading   string           `json:"reading"`
	Relation  verdict.Relation `json:"relation"`
	Published float64          `json:"published"`
	// To is the upper end of a range.
	To *float64 `json:"published_to,omitempty"`
	// Measured is nil without a value. Low and High bound the 95 % interval of the measured value: the
	// interval of its difference to the published value, with the paper's own sampling error, plus the published value.
	Measured *float64 `json:"measured,omitempty"`
	Low      *float64 `json:"ci_low,omitempty"`
	High     *float64 `json:"ci_high,omitempty"`
	// Margin is how far the measured value may lie from print. Allowed adds half the last printed digit.
	Margin  *float64 `json:"margin,omitempty"`
	Allowed *float64 `json:"allowed,omitempty"`
	Unit    string   `json:"unit,omitempty"`
	// Replicates is the size of the sample, 0 if the value was not sampled; Replicate says what a replicate is.
	Replicates int             `json:"replicates,omitempty"`
	Replicate  verdict.Unit    `json:"replicate,omitempty"`
	Verdict    verdict.Verdict `json:"verdict"`
	// OneSided marks a number that could only be refuted, see [verdict.Judgement].
	OneSided bool        `json:"one_sided,omitempty"`
	Cause    claim.Cause `json:"cause,omitempty"`
	Why      Why         `json:"why,omitzero"`
	// Evidence names the artefact that shows the cause.
	Evidence string `json:"evidence,omitempty"`
	// Numbers are the ones in the evidence that decide.
	Numbers []Evidence `json:"numbers,omitempty"`
	Source  string     `json:"source,omitempty"`

	// Decimals is the number of printed digits after the point.
	Decimals int `json:"decimals"`
	// Default marks the default reading. Part marks a reading that does not compete with it.
	Default bool `json:"default,omitempty"`
	Part    bool `json:"part,omitempty"`
	// Repeats marks a row that shows a number of another artefact again. It is not counted.
	Repeats bool `json:"repeats,omitempty"`
	// ByDefaultMargin is the verdict under the default margin.
	ByDefaultMargin verdict.Verdict `json:"by_default_margin,omitempty"`
	// ByMakespanMargin is the verdict under a margin of 2 % of the makespan, see [claim.Claim.OfMakespans].
	ByMakespanMargin verdict.Verdict `json:"by_makespan_margin,omitempty"`
}

// RowOf returns the row of a claim without a measurement.
func RowOf(c *claim.Claim) Row {
	r := Row{
		Paper: c.Paper, Artefact: c.Home.Artefact, Claim: c.Cell.String(), Cell: c.Cell, Kind: c.Kind,
		Relation: c.Relation, Published: c.Published, Unit: c.Unit, Source: c.Source, Decimals: c.Decimals,
		Repeats: c.Repeats(),
	}
	if c.Relation == verdict.Between {
		r.To = &c.To
	}
	if c.Relation == verdict.Equal && !c.Derived {
		r.Margin = Number(c.OwnMargin())
	}
	return r
}

// SetMeasured sets the measured value and its replicates.
func (r *Row) SetMeasured(m verdict.Measurement) {
	r.Measured, r.Replicates, r.Replicate = Number(m.Value), m.Replicates, m.Unit
}

// Number rounds a number to nine significant digits, as all files have it; nil if it is not finite.
func Number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	// Parsing what was just formatted cannot fail.
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 9, 64), 64)
	return &v
}

// Counted reports whether the row counts in summaries: the default reading of a claim, where it belongs,
// and no arithmetic.
func (r *Row) Counted() bool { return r.Default && !r.Repeats && r.Kind != claim.Arithmetic }

// Digits formats a number with the given decimals; -1 means six significant digits. A number that does not exist is "".
func Digits(v *float64, decimals int) string {
	switch {
	case v == nil:
		return ""
	case decimals < 0:
		return strconv.FormatFloat(*v, 'g', 6, 64)
	}
	return strconv.FormatFloat(*v, 'f', decimals, 64)
}

// Rows yields the rows of all papers.
func (m *Manifest) Rows() iter.Seq[*Row] {
	return func(yield func(*Row) bool) {
		for i := range m.Papers {
			for j := range m.Papers[i].Artefacts {
				rows := m.Papers[i].Artefacts[j].Rows
				for k := range rows {
					if !yield(&rows[k]) {
						return
					}
				}
			}
		}
	}
}

// File is the name of the manifest in the folder for results.
const File = "manifest.json"

// Read reads the manifest of a reproduction. The error wraps [fs.ErrNotExist] if it does not exist.
func Read(dir string) (*Manifest, error) {
	path := filepath.Join(dir, File)
	raw, err := wholefile.Read(path, 64<<20)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w; run miglab reproduce first", err)
		}
		return nil, err
	}
	m := &Manifest{}
	if err := json.Unmarshal(raw, m); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w; delete it and run miglab reproduce again", path, err)
	}
	return m, nil
}

// A Tally counts claims by verdict.
type Tally map[verdict.Verdict]int

// Total adds up the counts.
func (t Tally) Total() (sum int) {
	for _, n := range t {
		sum += n
	}
	return sum
}

// String lists the verdicts that occur, for example "17 REPRODUCED, 1 DEVIATES".
func (t Tally) String() string {
	var parts []string
	for _, v := range verdict.All {
		if t[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", t[v], strings.TrimSuffix(string(v), " ON THE READING")))
		}
	}
	return strings.Join(parts, ", ")
}

// Count counts the claims of one kind, each once, under its default reading. An empty kind means printed and stated.
func (m *Manifest) Count(kind claim.Kind) Tally {
	t := Tally{}
	for r := range m.Rows() {
		if r.Counted() && (kind == "" || r.Kind == kind) {
			t[r.Verdict]++
		}
	}
	return t
}

// A ReadingSummary says how well a reading of an artefact agrees with print.
type ReadingSummary struct {
	Name  string `json:"name"`
	Basis string `json:"basis,omitempty"`
	Part  bool   `json:"part,omitempty"`
	// Reproduced of Judged claims are REPRODUCED, and Deviating DEVIATES. CONSISTENT ones, the same under any reading,
	// are not among them.
	Reproduced int `json:"reproduced"`
	Deviating  int `json:"deviating"`
	Judged     int `json:"judged"`
	// Errors are the mean distances from print, one for each unit.
	Errors []MeanError `json:"errors,omitempty"`
}

// A MeanError is the mean distance of measured from published numbers of one unit.
type MeanError struct {
	Unit   string  `json:"unit"`
	Mean   float64 `json:"mean"`
	Claims int     `json:"claims"`
}

// Add counts a row with a measured value that was judged under the reading.
func (s *ReadingSummary) Add(r *Row) {
	s.Judged++
	switch r.Verdict {
	case verdict.Reproduced:
		s.Reproduced++
	case verdict.Deviates:
		s.Deviating++
	}
	i := slices.IndexFunc(s.Errors, func(e MeanError) bool { return e.Unit == r.Unit })
	if i < 0 {
		i = len(s.Errors)
		s.Errors = append(s.Errors, MeanError{Unit: r.Unit})
	}
	e := &s.Errors[i]
	e.Mean = *Number((float64(e.Mean*float64(e.Claims)) + r.distance()) / float64(e.Claims+1))
	e.Claims++
}

// distance returns how far the measured value is from the published one; 0 in a range or on the right side of a limit.
func (r *Row) distance() float64 {
	miss := *r.Measured - r.Published
	switch r.Relation {
	case verdict.AtMost:
		return max(0, miss)
	case verdict.AtLeast:
		return max(0, -miss)
	case verdict.Between:
		return max(0, -miss, *r.Measured-*r.To)
	}
	return math.Abs(miss)
}

// A Term is a symbol or word of a paper with its meaning: a line of terms.csv.
type Term struct {
	Name    string `csv:"name"`
	Meaning string `csv:"meaning"`
}

// A Table is a table with the name of its files, without extension.
type Table struct {
	File          string `json:"file"`
	reports.Table `json:"table"`
	// About says what each row is evidence for; nil if no cause can name the table. A manifest leaves it out.
	About []About `json:"about,omitempty"`
}

// About selects the claims that a row is about. Label tells a claim's rows apart.
type About struct {
	claim.Selection
	Label string `json:"label,omitempty"`
}

// RowAbout is [reports.Table.Row] for a row that is about claims, with a label that tells a claim's rows apart.
func (t *Table) RowAbout(claims claim.Selection, label string, cells ...any) {
	t.About = append(t.About, About{claims, label})
	t.Row(cells...)
}

// A Figure is a figure with the name of its files, without extension. In a [Manifest] the figure itself is nil.
type Figure struct {
	File   string         `json:"file"`
	Title  string         `json:"title"`
	Figure reports.Figure `json:"-"`
}

// Why says what the verdict of a row rests on. Package render puts it in words.
type Why struct {
	// Text is a sentence of a data file: why a number deviates, what is missing, or what an input is used for.
	Text string `json:"text,omitempty"`
	// Detail is [verdict.Measurement.Detail].
	Detail string `json:"detail,omitempty"`
	// Margin is the reason of a margin that is not the default one.
	Margin string `json:"margin,omitempty"`
	// Open has the reason of an INCONCLUSIVE number.
	Open *Open `json:"open,omitempty"`
	// Defaults lists the verdicts of a number that hangs on the reading, each with the first default reading that has
	// it.
	Defaults []DefaultVerdict `json:"defaults,omitempty"`
	// Uncounted marks a row of a reading that does not decide.
	Uncounted bool `json:"uncounted,omitempty"`
}

// Open says why a number is INCONCLUSIVE and how to settle it.
type Open struct {
	// Fewest is how many replicates a verdict needs if there are fewer, and otherwise 0.
	Fewest int `json:"fewest,omitempty"`
	// Tie is set if both values are equal in every replicate.
	Tie bool `json:"tie,omitempty"`
	// Enough and Outside are the judgement's, see [verdict.Judgement].
	Enough  int  `json:"enough,omitempty"`
	Outside bool `json:"outside,omitempty"`
	// Steps is how long agents learned here, and PaperSteps how long in the paper, both in million steps, if longer
	// training could give the printed number. They are 0 otherwise.
	Steps      float64 `json:"steps,omitempty"`
	PaperSteps float64 `json:"paper_steps,omitempty"`
	// PrintSE is the standard error of the printed number, if no number of replicates would be enough.
	PrintSE float64 `json:"print_se,omitempty"`
}

// A DefaultVerdict is the verdict under a reading that is a default.
type DefaultVerdict struct {
	Reading string          `json:"reading"`
	Verdict verdict.Verdict `json:"verdict"`
}

// Evidence has the numbers in a row of a table about a claim.
type Evidence struct {
	// Label tells rows about the same claim apart.
	Label  string        `json:"label,omitempty"`
	Values []NamedNumber `json:"values"`
}

// A NamedNumber is a cell of a table with the cells that are joined to it.
type NamedNumber struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Unit  string `json:"unit,omitempty"`
	// Half is half of an interval, and Published a number to compare with.
	Half      string `json:"half,omitempty"`
	Published string `json:"published,omitempty"`
}
