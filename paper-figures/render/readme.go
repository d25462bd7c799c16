package render

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
)

// Markers of the part of the project's README.md that the tool writes.
const (
	readmeBegin = "<!-- verdicts: written by `make readme`; do not edit -->\n"
	readmeEnd   = "<!-- /verdicts -->"
)

// gallery lists the images that README.md shows.
var gallery = []string{"far/figure12.svg", "drl/ours.svg"}

// UpdateReadme replaces the table of conclusions and verdicts and the images of the project's README.md, and the page
// of each paper's folder, from a folder of results.
func UpdateReadme(root, results string) error {
	m, err := manifest.Read(results)
	if err != nil {
		return err
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		return err
	}
	r, out := newRun(m), folder{path: root}
	text, err := r.updateReadme(string(readme))
	out.add("README.md", text, err)
	for _, p := range r.Papers {
		page, err := p.folderPage()
		out.add(filepath.Join("paper-figures", p.Name, "README.md"), page, err)
	}
	for _, image := range gallery {
		raw, err := os.ReadFile(filepath.Join(results, image))
		out.add(filepath.Join("paper-figures", "gallery", filepath.Base(image)), string(raw), err)
	}
	return out.err
}

// updateReadme replaces the verdicts in the project's README.md. It refuses a quick or incomplete run.
func (r *run) updateReadme(readme string) (string, error) {
	if r.Quick || r.Left > 0 {
		return "", fmt.Errorf("the results are not complete (quick run: %v, artefacts that are not done: %d); run "+
			"miglab reproduce first", r.Quick, r.Left)
	}
	before, rest, ok := strings.Cut(readme, readmeBegin)
	_, after, end := strings.Cut(rest, readmeEnd)
	if !ok || !end {
		return "", fmt.Errorf("README.md lacks the lines %q and %q", strings.TrimSpace(readmeBegin), readmeEnd)
	}
	return before + readmeBegin + r.outcomes() + "\n" + readmeEnd + after, nil
}

// outcomes returns a table of the papers with the numbers of conclusions by answer, and of claims by verdict.
func (r *run) outcomes() string {
	var lines []counted
	for _, p := range r.Papers {
		short, long, _ := strings.Cut(p.Heading, ": ")
		answers, n := p.countAnswers(), p.CountNumbers()
		open := answers[verdict.Undecided] + answers[verdict.InTheModel] + answers[verdict.CannotRun]
		lines = append(lines, counted{fmt.Sprintf("[%s](paper-figures/%s): %s", short, p.Name, long), []int{
			answers[verdict.Holds], answers[verdict.HoldsInPart], answers[verdict.DoesNotHold], open,
			n.Agree, n.Deviate, n.Open, n.NotJudged,
		}})
	}
	return countTable([]string{
		"hold", "in part", "do not", "open", "agree", "deviate", "undecided", "not judged",
	}, lines)
}

// A numbersCount counts the numbers of a paper by groups of verdicts.
type numbersCount struct{ Agree, Deviate, Open, NotJudged int }

// All is the number of all numbers.
func (n numbersCount) All() int { return n.Agree + n.Deviate + n.Open + n.NotJudged }

// CountNumbers counts the paper's numbers.
func (p *paper) CountNumbers() numbersCount {
	n := p.countVerdicts("")
	return numbersCount{
		Agree: n[verdict.Reproduced], Deviate: n[verdict.Deviates], Open: n[verdict.Inconclusive] + n[verdict.Hangs],
		NotJudged: n[verdict.Consistent] + n[verdict.NotRunnable] + n[verdict.Input],
	}
}

// Deviations counts the paper's numbers that deviate, by cause.
func (p *paper) Deviations() []causeCount {
	r := &run{Manifest: &manifest.Manifest{Papers: []manifest.Paper{*p.Paper}}}
	all := slices.Concat(r.Causes(true), r.Causes(false))
	return slices.DeleteFunc(all, func(c causeCount) bool { return c.N == 0 })
}

// folderPage returns the README.md of the paper's folder: its conclusions by number, with a reason where one does not
// hold.
func (p *paper) folderPage() (string, error) {
	sorted := *p
	sorted.Conclusions = slices.Clone(p.Conclusions)
	slices.SortFunc(sorted.Conclusions, func(a, b *conclusion) int {
		return cmp.Or(a.idNumber()-b.idNumber(), cmp.Compare(a.ID, b.ID))
	})
	text, err := show("FOLDER.md.tmpl", &sorted)
	return fold(strings.ReplaceAll(reference.ReplaceAllString(text, ""), " .", ".")), err
}
