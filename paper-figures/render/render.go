// Package render makes the pages, the CSV files, the LaTeX tables and the figures of a reproduction from its manifest
// alone. Words stand in the templates and numbers come from typed fields. Links lead only to files that were written.
package render

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"miglab/harness/atomicfile"
	"miglab/harness/nearest"
	"miglab/harness/strictcsv"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// files are the templates, and terms.csv, which explains what the pages of all papers have in common.
//
//go:embed *.tmpl terms.csv
var files embed.FS

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"anchor":   anchor,
		"capital":  func(s string) string { return strings.ToUpper(s[:1]) + s[1:] },
		"escape":   reports.EscapeMarkdown,
		"markdown": func(t reports.Table) (string, error) { return markdown(&t) },
		"join":     func(names []string) string { return strings.Join(names, "; ") },
	}).ParseFS(files, "*.tmpl"))
})

// show fills in a template.
func show(name string, data any) (string, error) {
	var b strings.Builder
	err := templates().ExecuteTemplate(&b, name, data)
	return strings.TrimSpace(b.String()), err
}

// Write writes everything that a manifest gives into a folder of results, and the manifest itself. Files that have
// their bytes already stay untouched.
func Write(dir string, m *manifest.Manifest) error {
	r, out := newRun(m), folder{path: dir}
	for _, page := range []string{"README.md", "METHOD.md"} {
		text, err := show(page+".tmpl", r)
		out.add(page, fold(text), err)
	}
	for _, p := range r.Papers {
		p.addPages(&out)
		if err := p.saveCurve(filepath.Join(dir, p.Name)); err != nil {
			return err
		}
	}
	out.addTable("claims.csv", "csv", r.claimsCSV())
	out.addTable("conclusions.csv", "csv", r.conclusionsCSV())
	out.addTable("conclusion-values.csv", "csv", r.valuesCSV())
	raw, err := json.MarshalIndent(m, "", " ")
	out.add(manifest.File, string(raw)+"\n", err)
	return out.err
}

// A folder writes files. It keeps the first error, and then writes no more, like a [bufio.Writer].
type folder struct {
	path string
	err  error
}

// add writes a text, or keeps the error of making it.
func (f *folder) add(name, text string, err error) {
	f.err = cmp.Or(f.err, err)
	if f.err == nil {
		f.err = writeIfChanged(filepath.Join(f.path, name), text)
	}
}

// addTable writes a table in one of [reports.TableFormats].
func (f *folder) addTable(name, format string, t *reports.Table) {
	var text strings.Builder
	err := t.Encode(&text, format)
	f.add(name, text.String(), err)
}

func writeIfChanged(path, text string) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return nil
	}
	return atomicfile.Write(path, []byte(text))
}

// A run is a manifest as its summary shows it: without papers that have no finished artefact.
type run struct {
	*manifest.Manifest
	Papers []*paper
}

func newRun(m *manifest.Manifest) *run {
	r := &run{Manifest: m}
	terms := strictcsv.Embedded[manifest.Term](files, "terms.csv")
	for i := range m.Papers {
		if len(m.Papers[i].Artefacts) > 0 {
			r.Papers = append(r.Papers, newPaper(m, &m.Papers[i], terms))
		}
	}
	return r
}

// countedRows yields the rows that count in summaries.
func (r *run) countedRows(yield func(*manifest.Row) bool) {
	for row := range r.Rows() {
		if row.Counted() && !yield(row) {
			return
		}
	}
}

// A causeCount is how many numbers deviate for a cause.
type causeCount struct {
	Name claim.Cause
	N    int
}

// Causes counts the deviations by cause, for the causes that explain a number or for the others. It leaves out causes
// of none.
func (r *run) Causes(explains bool) (out []causeCount) {
	for _, c := range claim.Causes {
		if n := r.Deviating(c, ""); n > 0 && c.Explains() == explains {
			out = append(out, causeCount{c, n})
		}
	}
	return out
}

// Explained counts the deviations that are explained, or those that are not.
func (r *run) Explained(explains bool) int {
	return count(r.countedRows, func(row *manifest.Row) bool {
		return deviates(row) && row.Cause.Explains() == explains
	})
}

// Deviating counts the claims of a kind that deviate for a cause. An empty kind means all.
func (r *run) Deviating(cause claim.Cause, kind claim.Kind) int {
	return count(r.countedRows, func(row *manifest.Row) bool {
		return deviates(row) && row.Cause == cause && (kind == "" || row.Kind == kind)
	})
}

// OneSided counts the numbers that could only be refuted.
func (r *run) OneSided() int { return count(r.countedRows, isOneSided) }

func isOneSided(r *manifest.Row) bool { return r.OneSided }

// count counts the rows with a property.
func count(rows iter.Seq[*manifest.Row], has func(*manifest.Row) bool) (n int) {
	for r := range rows {
		if has(r) {
			n++
		}
	}
	return n
}

// Changed counts, by table, the verdicts that would be different under the default margin or the margin of makespans.
func (r *run) Changed(makespans bool) (out []string) {
	tables := map[string]int{}
	for row := range r.countedRows {
		v := row.ByDefaultMargin
		if makespans {
			v = row.ByMakespanMargin
		}
		if v != "" && v != row.Verdict {
			tables[fmt.Sprintf("of %s/%s from %s to %s", row.Paper, row.Artefact, row.Verdict, v)]++
		}
	}
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		out = append(out, fmt.Sprintf("%d %s", tables[table], table))
	}
	return out
}

// A counted line of a table has a paper, with a link, and its counts.
type counted struct {
	Name   string
	Counts []int
}

// countTable returns a table of counts by paper in Markdown.
func countTable(heads []string, lines []counted) string {
	return words("counts", struct {
		Heads []string
		Lines []counted
	}{heads, lines})
}

// counts returns the counts of names and their sum.
func counts[N ~string](names []N, n map[N]int) (out []int) {
	sum := 0
	for _, name := range names {
		out, sum = append(out, n[name]), sum+n[name]
	}
	return append(out, sum)
}

// page links to the paper's page.
func (p *paper) page() string { return fmt.Sprintf("[%s](%[1]s/README.md)", p.Name) }

// Verdicts is a table of the claims of a kind by paper and verdict.
func (r *run) Verdicts(kind claim.Kind) string {
	var lines []counted
	for _, p := range r.Papers {
		lines = append(lines, counted{p.page(), counts(verdict.All, p.countVerdicts(kind))})
	}
	heads := nearest.Names(verdict.All, func(v verdict.Verdict) string {
		return strings.TrimSuffix(string(v), " ON THE READING") // too long for a heading
	})
	return countTable(append(heads, "all"), append(lines, counted{"all", counts(verdict.All, r.Count(kind))}))
}

// Answers is a table of the conclusions by paper and answer.
func (r *run) Answers() string {
	var lines []counted
	for _, p := range r.Papers {
		lines = append(lines, counted{p.page(), counts(verdict.Answers, p.countAnswers())})
	}
	return countTable(append(nearest.Names(verdict.Answers, asText), "all"), lines)
}

// CausesByTable is a table of the causes of deviations by paper and artefact.
func (r *run) CausesByTable() (string, error) {
	t := &reports.Table{Columns: reports.Left("table").Right(nearest.Names(claim.Causes, asText)...)}
	for _, p := range r.Papers {
		for _, a := range p.Artefacts {
			n := map[claim.Cause]int{}
			for _, row := range a.Rows {
				if row.Counted() && row.Verdict == verdict.Deviates {
					n[row.Cause]++
				}
			}
			if len(n) > 0 {
				t.Row(p.Name+"/"+a.Name, nearest.Names(claim.Causes, func(c claim.Cause) string {
					if n[c] == 0 {
						return ""
					}
					return strconv.Itoa(n[c])
				}))
			}
		}
	}
	return markdown(t)
}

func asText[S ~string](s S) string { return string(s) }

// markdown returns a table as Markdown that fits a page.
func markdown(t *reports.Table) (string, error) {
	var b strings.Builder
	for _, piece := range t.Fit() {
		if err := piece.Encode(&b, "markdown"); err != nil {
			return "", err
		}
		b.WriteString("\n")
	}
	return strings.TrimSpace(b.String()), nil
}
