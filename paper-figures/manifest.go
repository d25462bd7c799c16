package figures

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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

// A Manifest is what a reproduction found. claims.csv, the pages, the site and README.md's table are made from it.
type Manifest struct {
	// Quick marks a run on few replicates, which gives no verdicts.
	Quick bool `json:"quick"`
	// Left is how many artefacts are not done.
	Left   int           `json:"left,omitempty"`
	Papers []PaperRecord `json:"papers"`
}

// A PaperRecord is what was found of a paper.
type PaperRecord struct {
	Name      string   `json:"name"`
	Title     string   `json:"title"`
	Cite      string   `json:"cite"`
	About     string   `json:"about,omitempty"`
	Limits    string   `json:"limits,omitempty"`
	Terms     []Term   `json:"terms,omitempty"`
	Artefacts []Record `json:"artefacts"`
	// Conclusions are in the order of conclusions.csv.
	Conclusions []Conclusion `json:"conclusions,omitempty"`
}

// A Record is what was found of an artefact.
type Record struct {
	Paper    string `json:"paper"`
	Artefact string `json:"artefact"`
	Title    string `json:"title"`
	// Timed marks an artefact about wall times.
	Timed    bool             `json:"timed,omitempty"`
	Readings []ReadingSummary `json:"readings,omitempty"`
	Rows     []Row            `json:"claims,omitempty"`
	// Tests are the values that conclusions rest on.
	Tests []Test `json:"tests,omitempty"`
	// Figures and Tables are in the order of the page. Tables about wall times, which always differ, are left out.
	Figures []Figure `json:"figures,omitempty"`
	Tables  []Table  `json:"tables,omitempty"`
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
	// Measured is nil if there is no value. Low and High bound the 95 % interval of the measured less the
	// published value, which includes the paper's own sampling error, shifted back by the published one.
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
	Reason   string      `json:"reason,omitempty"`
	// Evidence names the artefact that shows the cause.
	Evidence string `json:"evidence,omitempty"`
	// Numbers are those of the evidence that decide, in words.
	Numbers string `json:"numbers,omitempty"`
	Source  string `json:"source,omitempty"`

	// Decimals is the number of printed digits after the point.
	Decimals int `json:"decimals"`
	// Default marks the default reading. Part marks a reading of a part.
	Default bool `json:"default,omitempty"`
	Part    bool `json:"part,omitempty"`
	// Repeats marks a row that shows a number of another artefact again. It is not counted.
	Repeats bool `json:"repeats,omitempty"`
	// ByDefaultMargin is the verdict under the default margin.
	ByDefaultMargin verdict.Verdict `json:"by_default_margin,omitempty"`
	// ByMakespanMargin is the verdict under a margin of 2 % of the makespan, see [claim.Claim.OfMakespans].
	ByMakespanMargin verdict.Verdict `json:"by_makespan_margin,omitempty"`
}

// rowOf is the claim without a measurement.
func rowOf(c *claim.Claim) Row {
	r := Row{
		Paper: c.Paper, Artefact: c.Home.Artefact, Claim: c.Cell.String(), Cell: c.Cell, Kind: c.Kind,
		Relation: c.Relation, Published: c.Published, Unit: c.Unit, Source: c.Source, Decimals: c.Decimals,
		Repeats: c.Repeats(),
	}
	if c.Relation == verdict.Between {
		r.To = &c.To
	}
	if c.Relation == verdict.Equal && !c.Derived {
		r.Margin = number(c.OwnMargin())
	}
	return r
}

func (r *Row) setMeasured(m Measurement) {
	r.Measured, r.Replicates, r.Replicate = number(m.Value), m.Replicates, m.Unit
}

// number is a number in a file, rounded to nine digits; nil if it is not finite.
func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	// Parsing what was just formatted cannot fail.
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 9, 64), 64)
	return &v
}

// Counted reports whether the row counts in summaries: the default reading of a claim, where it belongs.
func (r *Row) Counted() bool { return r.Default && !r.Repeats && r.Kind != claim.Arithmetic }

// claimColumns are the columns of claims.csv.
var claimColumns = reports.Left("paper", "artefact", "claim", "kind", "reading", "relation", "published", "measured",
	"ci_low", "ci_high", "margin", "unit", "replicates", "verdict", "cause", "reason", "source", "published_to",
	"replicate", "evidence", "by_default_margin", "by_makespan_margin", "row", "column", "quantity", "one_sided")

// claimsCSV returns claims.csv: one line a claim and reading. A number that does not exist is empty.
func (m *Manifest) claimsCSV() (string, error) {
	t := Table{Table: reports.Table{Columns: claimColumns}}
	for r := range m.Rows() {
		if r.Repeats {
			continue
		}
		t.Row(r.Paper, r.Artefact, r.Claim, r.Kind, r.Reading, r.Relation, plain(&r.Published, r.Decimals),
			plain(r.Measured, -1), plain(r.Low, -1), plain(r.High, -1), plain(r.Margin, -1), r.Unit, r.Replicates,
			r.Verdict, r.Cause, r.Reason, r.Source, plain(r.To, r.Decimals), r.Replicate, r.Evidence,
			r.ByDefaultMargin, r.ByMakespanMargin, r.Cell.Row, r.Column, r.Quantity, r.OneSided)
	}
	return t.encoded("csv")
}

// plain formats a number with the given decimals; -1 means six significant digits.
func plain(v *float64, decimals int) string {
	switch {
	case v == nil:
		return ""
	case decimals < 0:
		return strconv.FormatFloat(*v, 'g', 6, 64)
	}
	return strconv.FormatFloat(*v, 'f', decimals, 64)
}

// Rows yields the rows of all papers.
func (m *Manifest) Rows() func(yield func(*Row) bool) {
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

// digits is how many digits after the point people read: one more than is printed.
func (r *Row) digits() int { return max(r.Decimals+1, 2) }

// RowCells are the numbers of a row as people read them. A number that does not exist is "".
type RowCells struct{ Published, Measured, Low, High, Margin, Allowed string }

// Cells formats the numbers with one digit more than is printed.
func (r *Row) Cells() RowCells {
	digits := r.digits()
	published := plain(&r.Published, r.Decimals)
	switch r.Relation {
	case verdict.AtMost, verdict.AtLeast:
		published = string(r.Relation) + " " + published
	case verdict.Between:
		published += " to " + plain(r.To, r.Decimals)
	}
	return RowCells{
		published, plain(r.Measured, digits), plain(r.Low, digits), plain(r.High, digits),
		plain(r.Margin, digits), plain(r.Allowed, digits+1),
	}
}

// manifestFile is the manifest's file in the folder for results.
const manifestFile = "manifest.json"

// ReadManifest reads the manifest of a reproduction. The error wraps [fs.ErrNotExist] if there is none.
func ReadManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, manifestFile)
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
			parts = append(parts, fmt.Sprintf("%d %s", t[v], v))
		}
	}
	return strings.Join(parts, ", ")
}

// Count counts the claims of one kind, each once, under its default reading. An empty kind means both.
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
	// Reproduced of Judged claims are REPRODUCED. CONSISTENT ones, the same under any reading, are not among them.
	Reproduced int `json:"reproduced"`
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

// summarizeReadings summarizes each reading of an artefact.
func summarizeReadings(readings []Reading, rows []Row) []ReadingSummary {
	var out []ReadingSummary
	settled := []verdict.Verdict{verdict.NotRunnable, verdict.Input, verdict.Consistent}
	for i, r := range readings {
		s := ReadingSummary{Name: cmp.Or(r.Name, DefaultReading), Basis: r.from.Basis, Part: !r.from.Weight.Counts()}
		for _, row := range rows {
			judged := row.Measured != nil && !slices.Contains(settled, row.Verdict)
			if judged && row.Reading == s.Name && row.Default == (i == 0) {
				s.add(&row)
			}
		}
		if s.Judged > 0 {
			out = append(out, s)
		}
	}
	return out
}

func (s *ReadingSummary) add(r *Row) {
	s.Judged++
	if r.Verdict == verdict.Reproduced {
		s.Reproduced++
	}
	i := slices.IndexFunc(s.Errors, func(e MeanError) bool { return e.Unit == r.Unit })
	if i < 0 {
		i = len(s.Errors)
		s.Errors = append(s.Errors, MeanError{Unit: r.Unit})
	}
	e := &s.Errors[i]
	e.Mean = *number((float64(e.Mean*float64(e.Claims)) + r.off()) / float64(e.Claims+1))
	e.Claims++
}

// off is the distance of the measured from the published value; 0 within a range or on the right side of a limit.
func (r *Row) off() float64 {
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
