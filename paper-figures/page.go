package figures

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"miglab/paper-figures/verdict"
)

// render writes everything that is made from the manifest: claims.csv, a page for each paper,
// the summary in README.md, and the manifest itself.
func (r *Reproduction) render(m *Manifest) error {
	for i := range m.Papers {
		p := &m.Papers[i]
		if len(p.Artefacts) == 0 {
			continue
		}
		text, err := r.paperPage(p)
		if err != nil {
			return err
		}
		if err := writeIfChanged(filepath.Join(r.Dir, p.Name, "README.md"), text); err != nil {
			return err
		}
	}
	claims, err := m.claimsCSV()
	if err != nil {
		return err
	}
	if err := writeIfChanged(filepath.Join(r.Dir, "claims.csv"), claims); err != nil {
		return err
	}
	if err := writeIfChanged(filepath.Join(r.Dir, "README.md"), m.summaryPage()); err != nil {
		return err
	}
	raw, err := json.MarshalIndent(m.withoutTimed(), "", " ")
	if err != nil {
		return err
	}
	return writeIfChanged(filepath.Join(r.Dir, manifestFile), string(raw)+"\n")
}

// withoutTimed leaves out the files about wall times, because the manifest has the same bytes
// after every run.
func (m *Manifest) withoutTimed() *Manifest {
	out := *m
	out.Papers = nil
	for _, p := range m.Papers {
		p.Artefacts = slices.Clone(p.Artefacts)
		for i := range p.Artefacts {
			if a := &p.Artefacts[i]; a.Timed {
				a.Tables, a.Figures = nil, nil
			}
		}
		out.Papers = append(out.Papers, p)
	}
	return &out
}

// quickNote heads the pages of a quick run.
const quickNote = "A quick run on few replicates: no verdicts.\n\n"

// paperPage is the page of a paper: its terms, and each artefact with its figures, tables and
// verdicts.
func (r *Reproduction) paperPage(p *PaperRecord) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", p.Title, p.Cite)
	if r.Scale.Quick {
		b.WriteString(quickNote)
	}
	if len(p.Terms) > 0 {
		b.WriteString("Terms on this page:\n\n")
		for _, t := range p.Terms {
			fmt.Fprintf(&b, "- **%s**: %s\n", t.Name, t.Meaning)
		}
		b.WriteString("\nThe verdicts and causes are explained in [the summary](../README.md).\n\n")
	}
	for i := range p.Artefacts {
		a := &p.Artefacts[i]
		if a.Timed && len(a.Rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "## %s: %s\n\n", a.Artefact, a.Title)
		for _, f := range a.Figures {
			fmt.Fprintf(&b, "![%s](%s.svg)\n\n", f.Title, f.File)
		}
		for _, t := range a.Tables {
			if a.Timed {
				continue // its tables differ from run to run
			}
			raw, err := os.ReadFile(filepath.Join(r.Dir, p.Name, t+".md"))
			if err != nil {
				return "", err
			}
			b.Write(raw)
			b.WriteString("\n")
		}
		b.WriteString(a.verdicts())
	}
	return b.String(), nil
}

// verdicts says in Markdown what came out, and for each group of claims that were not
// reproduced why.
func (a *Record) verdicts() string {
	tally := Tally{}
	for i := range a.Rows {
		if a.Rows[i].Default && a.Rows[i].Verdict != verdict.None {
			tally[a.Rows[i].Verdict]++
		}
	}
	if tally.Total() == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**Verdicts**: %v.\n\n", tally)
	for _, v := range verdict.All {
		for _, g := range groups(a.Rows, v) {
			if g.reason == "" {
				continue
			}
			label := string(v)
			if g.cause != "" {
				label += ", cause `" + string(g.cause) + "`"
			}
			fmt.Fprintf(&b, "- %s (%d): %s\n", label, len(g.rows), g.reason)
			fmt.Fprintf(&b, "  %s.\n", listed(g.rows))
			if g.evidence != "" {
				fmt.Fprintf(&b, "  Evidence: `miglab reproduce --only %s`.\n", g.evidence)
			}
		}
	}
	b.WriteString("\n")
	return b.String()
}

// summaryPage is README.md of the folder for results.
func (m *Manifest) summaryPage() string {
	var b strings.Builder
	b.WriteString("# What came out\n\n")
	if m.Quick {
		b.WriteString(quickNote)
	}
	b.WriteString("Each number that the five papers print, and each sentence that can be tested, has one verdict. " +
		"A verdict looks at the whole 95 % interval of the difference between the measured and the printed number, " +
		"including the sampling error of the paper's own experiment.\n\n")
	for _, kind := range []struct {
		kind  Kind
		title string
	}{{Printed, "Printed numbers"}, {Stated, "Stated claims"}} {
		fmt.Fprintf(&b, "## %s\n\n%s\n", kind.title, m.verdictTable(kind.kind, pageLink))
	}
	b.WriteString(m.byDefaultMargin())
	b.WriteString(m.causeTable())
	b.WriteString("## Verdicts\n\n")
	for _, v := range verdicts {
		fmt.Fprintf(&b, "- %s: %s\n", v.verdict, v.words)
	}
	b.WriteString("\n## Readings\n\n" +
		"Where a paper leaves something open, a reading is one way to understand it, applied to a whole table. " +
		"The default reading is the script that made the table, if it is public; then a number that the authors' own code printed; then a formula; then prose. " +
		"It is never chosen because it agrees. Each table lists all its readings with \"k of n REPRODUCED\" and the mean error.\n\n" +
		"## Files\n\n" +
		"- `claims.csv`: one line a claim and reading.\n" +
		"- `manifest.json`: the same with everything else that the pages show.\n" +
		"- `<paper>/README.md`: the paper's tables and figures with their verdicts. Each table is also there as CSV with one value a cell, as text, Markdown and LaTeX.\n")
	return b.String()
}

// verdicts explains the verdicts.
var verdicts = []struct {
	verdict verdict.Verdict
	words   string
}{
	{verdict.Reproduced, "the whole interval lies within half the last printed digit plus the margin; for a limit, on the claimed side; for a range, inside it. The margin is the larger of half the last digit and 2 % of the number, unless the paper's `margins.csv` has another with a reason."},
	{verdict.Deviates, "the whole interval lies outside; for a number with two sides the 97.5 % interval, so that chance alone does it at most 2.5 % of the time. The row names the cause and the evidence."},
	{verdict.Inconclusive, "neither. The row says what would settle it. A number about a trained agent needs at least three training runs."},
	{verdict.Consistent, "it could not have come out otherwise, for example a count that follows from the GPU model."},
	{verdict.NotRunnable, "something is missing, and the row says what."},
	{verdict.Input, "the project takes the number from the paper."},
}

func plainName(p *PaperRecord) string { return p.Name }

func pageLink(p *PaperRecord) string { return fmt.Sprintf("[%s](%[1]s/README.md)", p.Name) }

// verdictTable counts the claims of a kind by paper and verdict.
func (m *Manifest) verdictTable(kind Kind, name func(*PaperRecord) string) string {
	var b strings.Builder
	b.WriteString("| paper |")
	for _, v := range verdict.All {
		fmt.Fprintf(&b, " %s |", v)
	}
	b.WriteString(" all |\n|---|" + strings.Repeat("---:|", len(verdict.All)+1) + "\n")
	line := func(name string, t Tally) {
		fmt.Fprintf(&b, "| %s |", name)
		for _, v := range verdict.All {
			fmt.Fprintf(&b, " %d |", t[v])
		}
		fmt.Fprintf(&b, " %d |\n", t.Total())
	}
	for i := range m.Papers {
		one := Manifest{Papers: m.Papers[i : i+1]}
		line(name(&m.Papers[i]), one.Count(kind))
	}
	line("all", m.Count(kind))
	return b.String()
}

// byDefaultMargin says how the counts would be if every claim had the default margin.
func (m *Manifest) byDefaultMargin() string {
	t := Tally{}
	own := 0
	for r := range m.Rows() {
		if !r.Counted() {
			continue
		}
		v := r.Verdict
		if r.ByDefaultMargin != "" && r.ByDefaultMargin != v {
			v = r.ByDefaultMargin
			own++
		}
		t[v]++
	}
	return fmt.Sprintf("With the default margin everywhere, %d of all verdicts would be different: %v.\n\n", own, t)
}

// causeTable counts the deviations by cause.
func (m *Manifest) causeTable() string {
	var b strings.Builder
	b.WriteString("## Causes of deviations\n\n| cause | printed | stated | what it means |\n|---|---:|---:|---|\n")
	for _, c := range Causes {
		n := map[Kind]int{}
		for r := range m.Rows() {
			if r.Counted() && r.Verdict == verdict.Deviates && r.Cause == c.Cause {
				n[r.Kind]++
			}
		}
		fmt.Fprintf(&b, "| `%s` | %d | %d | %s |\n", c.Cause, n[Printed], n[Stated], c.Words)
	}
	b.WriteString("\n")
	return b.String()
}

// Markers of the part of the project's README.md that the tool writes.
const (
	readmeBegin = "<!-- verdicts: written by `make readme`; do not edit -->\n"
	readmeEnd   = "<!-- /verdicts -->"
)

// UpdateReadme replaces the table of verdicts in the project's README.md. It refuses a quick run
// and one that is not complete.
func (m *Manifest) UpdateReadme(readme string) (string, error) {
	if m.Quick || m.Left > 0 {
		return "", fmt.Errorf("the results are not complete (quick run: %v, artefacts that are not done: %d); run miglab reproduce first", m.Quick, m.Left)
	}
	before, rest, ok := strings.Cut(readme, readmeBegin)
	_, after, end := strings.Cut(rest, readmeEnd)
	if !ok || !end {
		return "", fmt.Errorf("README.md lacks the lines %q and %q", strings.TrimSpace(readmeBegin), readmeEnd)
	}
	return before + readmeBegin + m.verdictTable("", plainName) + readmeEnd + after, nil
}
