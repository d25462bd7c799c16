package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"miglab/paper-figures/verdict"
)

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

// Count counts the claims of one kind, each once, under its default reading. An empty kind
// means both.
func (m *Manifest) Count(kind Kind) Tally {
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
	// Reproduced of Judged claims are REPRODUCED. Claims that are CONSISTENT are not among them,
	// because no reading could have it otherwise.
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
	for i, r := range readings {
		s := ReadingSummary{Name: cmp.Or(r.Name, DefaultReading), Basis: r.from.Basis, Part: r.from.Part != ""}
		for j := range rows {
			row := &rows[j]
			judged := row.Measured != nil && row.Verdict != verdict.NotRunnable && row.Verdict != verdict.Input && row.Verdict != verdict.Consistent
			if judged && row.Reading == s.Name && row.Default == (i == 0) {
				s.add(row)
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
	e.Mean = *number((e.Mean*float64(e.Claims) + r.off()) / float64(e.Claims+1))
	e.Claims++
}

// off returns the distance of the measured from the published value. It is 0 if a limit is
// kept or the value lies within the range.
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
