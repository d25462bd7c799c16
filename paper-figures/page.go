package figures

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"miglab/harness/atomicfile"
	"miglab/harness/strictcsv"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// pageFiles are the templates, and terms.csv, which explains what the pages of all papers have in common.
//
//go:embed *.tmpl terms.csv
var pageFiles embed.FS

// templates are the page of a paper and the summary of all.
var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"anchor":           Term.anchor,
	"answerInFull":     Conclusion.answerInFull,
	"artefactOf":       func(evidence string) string { return evidence[strings.Index(evidence, "/")+1:] },
	"brief":            Conclusion.brief,
	"byAnswer":         (*PaperRecord).byAnswer,
	"byDefaultMargin":  byMargin(func(r *Row) verdict.Verdict { return r.ByDefaultMargin }),
	"byMakespanMargin": byMargin(func(r *Row) verdict.Verdict { return r.ByMakespanMargin }),
	"causesByTable":    (*Manifest).causesByTable,
	"comparisons":      (*Record).comparisons,
	"concluded":        (*Manifest).concluded,
	"conclusionsTable": (*PaperRecord).conclusionsTable,
	"countDeviations":  (*Manifest).countDeviations,
	"counts":           (*Manifest).counts,
	"deviates":         func(rows []*Row) bool { return rows[0].Verdict == verdict.Deviates },
	"deviations":       (*Manifest).deviations,
	"deviating":        func(m *Manifest, c claim.Cause, k claim.Kind) int { return len(slices.Concat(m.deviations(c, k)...)) },
	"difference":       (*Row).difference,
	"escape":           reports.EscapeMarkdown,
	"groups":           (*Record).groups,
	"home":             (*Row).home,
	"leading":          (*PaperRecord).leading,
	"listed":           listed,
	"ordered":          (*PaperRecord).ordered,
	"others":           (*Record).others,
	"score":            (*PaperRecord).score,
	"share":            Conclusion.share,
	"tally":            (*Record).tally,
}).ParseFS(pageFiles, "*.tmpl"))

// A page is what the template of a paper's page shows.
type page struct {
	*PaperRecord
	Quick bool
	// Left is how many artefacts of all papers are not done.
	Left int
}

// Markdown returns the table for a page.
func (t Table) Markdown() (string, error) { return t.encoded("markdown") }

// encoded returns the table in one of [reports.TableFormats].
func (t *Table) encoded(format string) (string, error) {
	var b strings.Builder
	err := t.Table.Encode(&b, format)
	return b.String(), err
}

func show(name string, data any) (string, error) {
	var b strings.Builder
	err := templates.ExecuteTemplate(&b, name, data)
	return b.String(), err
}

// render writes what is made from the manifest: the papers' pages, the summary, claims.csv and itself.
func (m *Manifest) render(dir string) error {
	write := func(file, content string, err error) error {
		if err != nil {
			return err
		}
		return writeIfChanged(filepath.Join(dir, file), content)
	}
	for i := range m.Papers {
		p := &m.Papers[i]
		if len(p.Artefacts) == 0 {
			continue
		}
		if err := p.saveCurve(dir); err != nil {
			return err
		}
		text, err := p.page(m.Quick, m.Left)
		if err := write(filepath.Join(p.Name, "README.md"), text, err); err != nil {
			return err
		}
	}
	for _, f := range []struct {
		name string
		text func() (string, error)
	}{
		{"README.md", func() (string, error) { return show("summary.md.tmpl", m) }},
		{"claims.csv", m.claimsCSV},
		{"conclusions.csv", m.conclusionsCSV},
		{valuesFile, m.valuesCSV},
	} {
		text, err := f.text()
		if err := write(f.name, text, err); err != nil {
			return err
		}
	}
	raw, err := json.MarshalIndent(m, "", " ")
	return write(manifestFile, string(raw)+"\n", err)
}

// page returns the page of a paper, with its terms at the end, and those of all papers that it uses.
func (p *PaperRecord) page(quick bool, left int) (string, error) {
	terms := strictcsv.Embedded[Term](pageFiles, "terms.csv")
	text, err := show("page.md.tmpl", page{p, quick, left})
	if err != nil {
		return "", err
	}
	text = linked(linkedTables(text), slices.Concat(p.Terms, terms))
	common := slices.DeleteFunc(terms, func(t Term) bool { return !strings.Contains(text, "](#"+t.anchor()+")") })
	end, err := show("terms.md.tmpl", slices.Concat(p.Terms, common))
	return text + end, err
}

// tally counts the verdicts of the default readings.
func (a *Record) tally() Tally {
	t := Tally{}
	for i := range a.Rows {
		if a.Rows[i].Default && a.Rows[i].Verdict != verdict.None {
			t[a.Rows[i].Verdict]++
		}
	}
	return t
}

// groups gathers rows with a reason by verdict, cause, reason and evidence; of other readings only measured inputs.
func (a *Record) groups() (out [][]*Row) {
	type key struct {
		verdict.Verdict
		claim.Cause
		reason, evidence string
	}
	at := map[key]int{}
	var input string
	for i := range a.Rows {
		r := &a.Rows[i]
		if r.Default && r.Verdict == verdict.Input {
			input = r.Claim
		}
		if r.Reason == "" || !r.Default && r.Claim != input {
			continue
		}
		k := key{r.Verdict, r.Cause, r.Reason, r.Evidence}
		if _, ok := at[k]; !ok {
			at[k] = len(out)
			out = append(out, nil)
		}
		out[at[k]] = append(out[at[k]], r)
	}
	order := func(group []*Row) int { return slices.Index(verdict.All, group[0].Verdict) }
	slices.SortStableFunc(out, func(a, b []*Row) int { return order(a) - order(b) })
	return out
}

// listed names the claims of rows, and a few of them with the measured and the published number.
func listed(rows []*Row) string {
	const few = 8
	return strings.Join(Map(rows, func(r *Row) string {
		if c := r.Cells(); len(rows) <= few && r.Measured != nil {
			return strings.TrimSpace(fmt.Sprintf("%s: measured %s, published %s %s", r.Claim, c.Measured,
				c.Published, r.Unit))
		}
		return r.Claim
	}), "; ")
}

// counts is a table of the claims of a kind by paper and verdict. The format is that of a paper's name.
func (m *Manifest) counts(kind claim.Kind, format string) string {
	line := func(name string, t Tally) string {
		return countsLine(Map(verdict.All, func(v verdict.Verdict) int { return t[v] }), "0", name)
	}
	text := countsHead(verdict.All, "%s", "paper")
	for i := range m.Papers {
		one := Manifest{Papers: m.Papers[i : i+1]}
		text += line(fmt.Sprintf(format, m.Papers[i].Name), one.Count(kind))
	}
	return text + line("all", m.Count(kind))
}

// byMargin says how the counts would be under another margin, with which a row has the verdict of.
func byMargin(of func(*Row) verdict.Verdict) func(*Manifest) string {
	return func(m *Manifest) string {
		t, other, inside := Tally{}, 0, 0
		for r := range m.Rows() {
			if !r.Counted() {
				continue
			}
			v := cmp.Or(of(r), r.Verdict)
			t[v]++
			if v != r.Verdict {
				other++
			}
			if v != verdict.Deviates && r.Verdict == verdict.Deviates {
				inside++
			}
		}
		return fmt.Sprintf("%d of these verdicts would be different, among them %d of the DEVIATES: %v.", other,
			inside, t)
	}
}

// deviations gathers the counted claims of a kind (empty: of all) that deviate for a cause, by artefact.
func (m *Manifest) deviations(cause claim.Cause, kind claim.Kind) (out [][]*Row) {
	for r := range m.Rows() {
		if !r.Counted() || r.Verdict != verdict.Deviates || r.Cause != cause || kind != "" && r.Kind != kind {
			continue
		}
		last := len(out) - 1
		if last < 0 || r.home() != out[last][0].home() {
			out = append(out, nil)
			last++
		}
		out[last] = append(out[last], r)
	}
	return out
}

// countDeviations counts the printed and stated claims that deviate and are explained, or are not.
func (m *Manifest) countDeviations(explained bool) (n int) {
	for r := range m.Rows() {
		if r.Counted() && r.Verdict == verdict.Deviates && r.Cause.Explains() == explained {
			n++
		}
	}
	return n
}

// home names the artefact that the claim belongs to, as evidence is named.
func (r *Row) home() string { return r.Paper + "/" + r.Artefact }

// Markers of the part of the project's README.md that the tool writes.
const (
	readmeBegin = "<!-- verdicts: written by `make readme`; do not edit -->\n"
	readmeEnd   = "<!-- /verdicts -->"
)

// gallery lists the images that README.md shows.
var gallery = []string{"far/figure12.png", "drl/ours.png"}

// UpdateReadme replaces the tables of conclusions and verdicts and the images of the project's README.md, from a folder
// of results.
func UpdateReadme(root, results string) error {
	m, err := ReadManifest(results)
	if err != nil {
		return err
	}
	path := filepath.Join(root, "README.md")
	readme, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, err := m.updateReadme(string(readme))
	if err != nil {
		return err
	}
	if err := atomicfile.Write(path, []byte(text)); err != nil {
		return err
	}
	for _, image := range gallery {
		raw, err := os.ReadFile(filepath.Join(results, image))
		if err != nil {
			return err
		}
		if err := atomicfile.Write(filepath.Join(root, "paper-figures", "gallery", filepath.Base(image)),
			raw); err != nil {
			return err
		}
	}
	return nil
}

// updateReadme replaces the verdicts in the project's README.md. It refuses a quick or incomplete run.
func (m *Manifest) updateReadme(readme string) (string, error) {
	if m.Quick || m.Left > 0 {
		return "",
			fmt.Errorf("the results are not complete (quick run: %v, artefacts that are not done: %d); run miglab "+
				"reproduce first", m.Quick, m.Left)
	}
	before, rest, ok := strings.Cut(readme, readmeBegin)
	_, after, end := strings.Cut(rest, readmeEnd)
	if !ok || !end {
		return "", fmt.Errorf("README.md lacks the lines %q and %q", strings.TrimSpace(readmeBegin), readmeEnd)
	}
	return before + readmeBegin + m.concluded("%s") + "\n" + m.counts("", "%s") + readmeEnd + after, nil
}

// prove adds to the deviations of a paper the numbers that their causes rest on, out of the
// tables that causes.csv names. Numbers of artefacts that are not done are left out.
func (p *PaperRecord) prove(claims *Claims) error {
	tables := map[string]Table{}
	for i := range p.Artefacts {
		own := p.Artefacts[i].Tables
		for j, t := range own {
			tables[t.File] = t
			own[j].About = nil // the claims get what people read of it
		}
	}
	for i := range p.Artefacts {
		a := &p.Artefacts[i]
		of := claims.Of(a.Artefact)
		for j := range a.Rows {
			r := &a.Rows[j]
			c := of[slices.IndexFunc(of, func(c claim.Claim) bool { return c.Cell == r.Cell })]
			e := claims.Explain(&c, func(cause claim.Cause) bool { return cause == r.Cause })
			t, done := tables[e.Table]
			if r.Cause == "" || !r.Default || !done {
				continue
			}
			if r.Numbers = t.numbersAbout(c.Home.Cell, strings.Split(e.Columns, ";")); r.Numbers == "" {
				return &KeyError{
					p.Name, r.Artefact, r.Claim,
					fmt.Sprintf("has no row in %s, which causes.csv names", e.Table),
				}
			}
		}
	}
	return nil
}

// numbersAbout puts in words the columns, of rows about a claim, that begin with one of the names.
func (t *Table) numbersAbout(cell claim.Cell, names []string) string {
	var out []string
	for i, about := range t.About {
		if !about.Has(cell) {
			continue
		}
		text := numbersInWords(t.Table.Columns, t.Table.Rows[i], names)
		if about.Label != "" {
			text = about.Label + ": " + text
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// numbersInWords puts the numbers of a row in words, in the columns that begin with one of the names.
func numbersInWords(columns reports.Columns, row, names []string) string {
	var numbers []string
	for i, c := range columns {
		name, unit, _ := strings.Cut(c.Name, " [")
		begins := slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(name, n) })
		last := len(numbers) - 1
		switch cell := row[i]; {
		case cell == "" || !c.Right || !begins:
		case c.Join == "±":
			numbers[last] += " ± " + cell
		case c.Join == "(":
			numbers[last] += " (published " + cell + ")"
		default:
			numbers = append(numbers, strings.TrimSpace(name+" "+cell+" "+strings.TrimSuffix(unit, "]")))
		}
	}
	return strings.Join(numbers, ", ")
}

// difference is the deviation from the nearer end of what is published, with its interval.
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
		if o := &a.Rows[i]; o.Cell == r.Cell && !o.Default && !o.Part && o.Measured != nil {
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
