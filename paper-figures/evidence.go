package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// prove adds to the deviations of a paper the numbers that their causes rest on, out of the
// tables that causes.csv names. Numbers of artefacts that are not done are left out.
func (p *PaperRecord) prove(claims *Claims) error {
	tables := map[string]reports.Table{}
	for i := range p.Artefacts {
		for _, t := range p.Artefacts[i].Evidence {
			tables[t.File] = t.Table
		}
		p.Artefacts[i].Evidence = nil // the rows have what people read of it
	}
	for i := range p.Artefacts {
		a := &p.Artefacts[i]
		of := claims.Of(a.Artefact)
		for j := range a.Rows {
			r := &a.Rows[j]
			c := of[slices.IndexFunc(of, func(c Claim) bool { return c.Name == r.Claim })]
			name, columns, _ := strings.Cut(claims.explain(&c).Numbers, ": ")
			t, done := tables[name]
			if r.Cause == "" || !r.Default || !done {
				continue
			}
			if r.Numbers = numbersAbout(c.Home, t, strings.Split(columns, "; ")); r.Numbers == "" {
				return &KeyError{p.Name, r.Artefact, r.Claim, fmt.Sprintf("has no row in %s, which causes.csv names", name)}
			}
		}
	}
	return nil
}

// numbersAbout puts the rows of a table that are about a claim in words: the columns of numbers
// that begin with one of the names. A column tells what a row is about if one of its texts, or of
// its numbers such as n=20, is a part of the claim's name.
func numbersAbout(claim string, t reports.Table, names []string) string {
	about := func(column int, row []string) bool {
		if t.Columns[column].Right {
			return slices.Contains(strings.Fields(claim), t.Columns[column].Name+"="+row[column])
		}
		return row[column] != "" && strings.Contains(claim, row[column])
	}
	rows, found := t.Rows, false
	var others []int
	for i := range t.Columns {
		some := slices.DeleteFunc(slices.Clone(rows), func(row []string) bool { return !about(i, row) })
		if len(some) > 0 {
			rows, found = some, true
		} else {
			others = append(others, i)
		}
	}
	if !found {
		return ""
	}
	return strings.Join(Map(rows, func(row []string) string { return cellsInWords(t.Columns, others, row, names) }), "; ")
}

// cellsInWords puts some cells of a row in words: texts first, then the numbers of the columns that
// begin with one of the names.
func cellsInWords(columns reports.Columns, shown []int, row, names []string) string {
	var texts, numbers []string
	for _, i := range shown {
		name, unit, _ := strings.Cut(columns[i].Name, " [")
		begins := slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(name, n) })
		last := len(numbers) - 1
		switch cell := row[i]; {
		case cell == "" || columns[i].Right && !begins:
		case !columns[i].Right:
			texts = append(texts, cell)
		case columns[i].Join == "±":
			numbers[last] += " ± " + cell
		case columns[i].Join == "(":
			numbers[last] += " (published " + cell + ")"
		default:
			numbers = append(numbers, strings.TrimSpace(name+" "+cell+" "+strings.TrimSuffix(unit, "]")))
		}
	}
	if len(texts) > 0 {
		return strings.Join(texts, ", ") + ": " + strings.Join(numbers, ", ")
	}
	return strings.Join(numbers, ", ")
}

// difference says by how much a row deviates from the nearer end of what is published, with the
// interval of the difference.
func (r *Row) difference() string {
	end, unit := r.Published, strings.Replace(" "+r.Unit, "%", "points", 1)
	if r.To != nil && *r.Measured > end {
		end = *r.To
	}
	less := func(v *float64) string { d := *v - end; return plain(&d, r.digits()) }
	says := strings.TrimSpace(less(r.Measured) + unit)
	if r.Low != nil && r.High != nil && *r.Low < *r.High {
		says += fmt.Sprintf(" [%s to %s]", less(r.Low), less(r.High))
	}
	return says
}

// others says what the other readings of the whole artefact give for a row, if there are any.
func (a *Record) others(r *Row) string {
	least, most := math.Inf(1), math.Inf(-1)
	for i := range a.Rows {
		if o := &a.Rows[i]; o.Claim == r.Claim && !o.Default && !o.Part && o.Measured != nil {
			least, most = min(least, *o.Measured), max(most, *o.Measured)
		}
	}
	switch {
	case least == most:
		return "by the other reading " + plain(&least, r.digits())
	case least < most:
		return fmt.Sprintf("by the other readings %s to %s", plain(&least, r.digits()), plain(&most, r.digits()))
	}
	return ""
}

// deviates reports whether rows are deviations, all of the same cause.
func deviates(rows []*Row) bool { return rows[0].Verdict == verdict.Deviates }
