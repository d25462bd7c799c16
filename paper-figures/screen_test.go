package figures

import (
	"slices"
	"strings"
	"testing"

	"miglab/paper-figures/verdict"
)

// TestLinked: the first use of each name is linked, but not in headings, tags, code, other links and longer words.
func TestLinked(t *testing.T) {
	terms := []Term{{Name: "rho, p_ref"}, {Name: "move"}, {Name: "FIXPART(7)"}}
	page := "# rho\n<a id=\"rho\"></a>\n`rho` [rho](#x), rhombus, p_move: Move, rho and rho; move.\n| p\\_ref | <= 1 FIXPART(7) >= 1 |\n"
	want := "# rho\n<a id=\"rho\"></a>\n`rho` [rho](#x), rhombus, p_move: [Move](#term-move), [rho](#term-rho-p-ref) and rho; move.\n" +
		"| [p\\_ref](#term-rho-p-ref) | <= 1 [FIXPART(7)](#term-fixpart-7) >= 1 |\n"
	if got := linked(page, terms); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestInputsComeLast: in a table of claims, and among the artefacts of a page.
func TestInputsComeLast(t *testing.T) {
	row := func(claim string, v verdict.Verdict, byDefault bool) Row {
		return Row{Claim: claim, Verdict: v, Default: byDefault}
	}
	rows := []Row{row("a", verdict.Input, true), row("b", verdict.Deviates, true), row("b", verdict.Reproduced, false)}
	table := claimsTable(&Artefact{Name: "x"}, rows)
	if got := Map(table.Rows, func(r []string) string { return r[0] }); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("the rows are %q", got)
	}
	p := PaperRecord{Artefacts: []Record{
		{Artefact: "given", Rows: []Row{rows[0], row("a", verdict.Deviates, false)}}, {Artefact: "drawing"}, {Artefact: "both", Rows: rows},
	}}
	if got := Map(p.ordered(), func(a Record) string { return a.Artefact }); !slices.Equal(got, []string{"drawing", "both", "given"}) {
		t.Errorf("the artefacts are %q", got)
	}
}

// answeredPaper has six conclusions, the first of which was not measured, and one that decides nothing.
func answeredPaper() PaperRecord {
	p := PaperRecord{Name: "p", Title: "P", About: "About it.", Limits: "A limit.", Artefacts: []Record{{Artefact: "a"}}}
	for i, a := range []verdict.Answer{verdict.CannotRun, verdict.Holds, verdict.DoesNotHold, verdict.Holds, verdict.HoldsInPart, verdict.Undecided, verdict.Aside} {
		c := Conclusion{ID: "C" + string(rune('0'+i)), Sentence: "a sentence", Conclusion: verdict.Conclusion{Answer: a}}
		if a != verdict.CannotRun {
			c.Met, c.Readings, c.Numbers = 1, 2, "m: 3 [2, 4], which must be <= 5"
			c.Dots = []Dot{{State: verdict.Met, Default: true, Distance: 0.1}, {State: verdict.Open}}
		}
		p.Conclusions = append(p.Conclusions, c)
	}
	return p
}

// TestLeading: one that does not hold is among the first three, if there is one.
func TestLeading(t *testing.T) {
	for want, answers := range map[string][]verdict.Answer{
		"123": {verdict.CannotRun, verdict.Holds, verdict.Undecided, verdict.HoldsInPart},
		"024": {verdict.Holds, verdict.CannotRun, verdict.Holds, verdict.Holds, verdict.DoesNotHold, verdict.DoesNotHold},
		"012": {verdict.Holds, verdict.DoesNotHold, verdict.Holds, verdict.DoesNotHold},
		"1":   {verdict.CannotRun, verdict.Undecided},
	} {
		p := PaperRecord{}
		for i, a := range answers {
			p.Conclusions = append(p.Conclusions, Conclusion{ID: string(rune('0' + i)), Conclusion: verdict.Conclusion{Answer: a}})
		}
		if got := strings.Join(Map(p.leading(), func(c Conclusion) string { return c.ID }), ""); got != want {
			t.Errorf("%q: %s lead, want %s", answers, got, want)
		}
	}
}

// TestFirstScreen: the score, the first three conclusions that were measured and the limits, in at most ten lines before the figure.
func TestFirstScreen(t *testing.T) {
	p := answeredPaper()
	page, err := p.page(false, 2)
	if err != nil {
		t.Fatal(err)
	}
	screen, _, found := strings.Cut(strings.NewReplacer(`\[`, "[", `\]`, "]", "&lt;", "<").Replace(Unlinked(page)), "![")
	lines := slices.DeleteFunc(strings.Split(screen, "\n"), func(l string) bool { return l == "" })
	want := []string{
		"# P", "About it. ", "**6 conclusions: holds 2, holds in part 1, does not hold 1, undecided 1, not runnable 1.**",
		"- **C1 holds** (1 of 2): “a sentence”. Measured: m: 3 [2, 4], which must be <= 5.",
		"- **C2 does not hold** (1 of 2): “a sentence”. Measured: m: 3 [2, 4], which must be <= 5.",
		"- **C3 holds** (1 of 2): “a sentence”. Measured: m: 3 [2, 4], which must be <= 5.",
		"2 artefacts of the papers are not done here; conclusions that rest on them are left out.",
		"What limits this page: A limit.",
	}
	if !found || !slices.Equal(lines, want) {
		t.Errorf("the first screen is\n%q\nwant\n%q", lines, want)
	}
	m := Manifest{Papers: []PaperRecord{p}}
	if got := m.concluded("<%s>"); !strings.Contains(got, "| <p> | 2 | 1 | 1 | 1 | 0 | 1 | 6 |") {
		t.Errorf("the conclusions by paper are\n%s", got)
	}
	dir := t.TempDir()
	if err := m.render(dir); err != nil {
		t.Fatal(err)
	}
	if svg := read(t, dir, "p", "conclusions.svg"); !strings.Contains(svg, ">does not hold</text>") {
		t.Errorf("the figure lacks an answer: %s", svg)
	}
	summary := read(t, dir, "README.md")
	if before, _, found := strings.Cut(summary, "[p](p/README.md)"); !found || len(strings.Fields(before)) > 400 {
		t.Errorf("the summary begins with %q", before)
	}
}
