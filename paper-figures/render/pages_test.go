package render

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"miglab/harness/nearest"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
)

func TestUpdateReadmeReplacesTheTableAlone(t *testing.T) {
	m := newRun(&manifest.Manifest{Papers: []manifest.Paper{{Name: "far", Introduction: manifest.Introduction{Heading: "FAR: A title"}, Artefacts: []manifest.Artefact{{Rows: []manifest.Row{{Default: true, Verdict: verdict.Reproduced}}}}}}})
	before := "# x\n" + readmeBegin + "old\n" + readmeEnd + "\nrest\n"
	after, err := m.updateReadme(before)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(after, "# x\n") || !strings.HasSuffix(after, "\nrest\n") || strings.Contains(after, "old\n") || !strings.Contains(after, "| [FAR](paper-figures/far): A title | 0 | 0 | 0 | 0 | 1 | 0 |") {
		t.Errorf("README became\n%s", after)
	}
	again, err := m.updateReadme(after)
	if err != nil || again != after {
		t.Errorf("a second update changes the README: %v", err)
	}
	if _, err := m.updateReadme("# x\n"); err == nil {
		t.Error("a README without the markers is accepted")
	}
}

// TestFolderPage: a line for each conclusion that counts, with the verb in its number, and a reason where it does not hold.
func TestFolderPage(t *testing.T) {
	conclusion := func(id string, a verdict.Answer) manifest.Conclusion {
		c := manifest.Conclusion{ID: id, Short: "sentence of " + id, Because: "Reason of " + id + " (see table1). More."}
		c.Answer = a
		return c
	}
	p := newPaper(&manifest.Manifest{}, &manifest.Paper{Name: "p", Introduction: manifest.Introduction{Heading: "P: a_title", Cite: "Somebody."}, Link: "https://x", Conclusions: []manifest.Conclusion{
		conclusion("A", verdict.Holds), conclusion("B", verdict.HoldsInPart), conclusion("C", verdict.HoldsInPart),
		conclusion("D", verdict.DoesNotHold), conclusion("E", verdict.DoesNotHold), conclusion("F", verdict.NotCounted),
	}, Artefacts: []manifest.Artefact{{Rows: []manifest.Row{
		{Default: true, Verdict: verdict.Deviates, Cause: claim.Unknown},
		{Default: true, Verdict: verdict.Deviates, Cause: claim.FromScript},
		{Default: true, Verdict: verdict.Deviates, Cause: claim.FromScript},
		{Default: true, Verdict: verdict.Reproduced},
		{Verdict: verdict.Deviates, Cause: claim.FromImpossible},
	}}}}, nil)
	page, err := p.folderPage()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# P: a\\_title\n\nSomebody. <https://x>\n", "5 conclusions: 1 holds, 2 hold in part, 2 do not hold ([tests](conclusions.csv)).",
		"3 deviate", "\n\nDeviations by cause ([reasons](causes.csv)): 2 where the authors' script, not their text, gives the number; 1 unknown.\n",
		"## 1 holds\n\n- A: sentence of A.\n", "## 2 hold in part\n\n- B: sentence of B.\n- C: sentence of C.\n",
		"## 2 do not hold\n\n- D: sentence of D. Reason of D. More.\n- E: sentence of E. Reason of E. More.\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in\n%s", want, page)
		}
	}
	if strings.Contains(page, "F") || strings.Contains(page, "see") {
		t.Errorf("a conclusion that does not count, or a reference to another page:\n%s", page)
	}
}

// TestScore: a page says that no number is REPRODUCED if some could have been.
func TestScore(t *testing.T) {
	for want, verdicts := range map[string][]verdict.Verdict{
		"\n**0 REPRODUCED, 1 DEVIATES, 1 NOT RUNNABLE.**": {verdict.Deviates, verdict.NotRunnable},
		"\n**1 REPRODUCED, 1 DEVIATES.**":                 {verdict.Deviates, verdict.Reproduced},
		"\n**0 REPRODUCED, 1 INCONCLUSIVE.**":             {verdict.Inconclusive},
		"\n**1 CONSISTENT.**":                             {verdict.Consistent},
	} {
		var a manifest.Artefact
		for _, v := range verdicts {
			a.Rows = append(a.Rows, manifest.Row{Default: true, Verdict: v, Measured: manifest.Number(1)})
		}
		p := newPaper(&manifest.Manifest{}, &manifest.Paper{Artefacts: []manifest.Artefact{a}}, nil)
		page, err := show("ARTEFACT.md.tmpl", p.Pages[0])
		if err != nil || !strings.Contains(page, want) {
			t.Errorf("%v: the page lacks %q:\n%s", err, want, page)
		}
	}
}

// TestShows: an artefact is evidence where causes rest on it and where their words refer to it or its tables in brackets.
func TestShows(t *testing.T) {
	row := func(evidence, text string, byDefault bool) manifest.Artefact {
		r := manifest.Row{Evidence: evidence, Default: byDefault}
		r.Why.Text = text
		return manifest.Artefact{Name: text, Rows: []manifest.Row{r}}
	}
	p := newPaper(&manifest.Manifest{}, &manifest.Paper{Name: "p", Artefacts: []manifest.Artefact{
		{Name: "laws", Tables: []manifest.Table{{File: "laws-shares"}}},
		row("p/laws", "by evidence", true), row("p/x", "as seen (floors, laws)", true), row("p/x", "tried (laws-shares).", true),
		row("p/x", "of laws (readings)", true), row("p/laws", "not by default (laws)", false),
	}}, nil)
	want := []string{"by evidence", "as seen (floors, laws)", "tried (laws-shares)."}
	if got := p.Pages[0].Shows(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLinked: the first use of each name is linked, but not in headings, tables, tags, code, other links and longer words.
func TestLinked(t *testing.T) {
	terms := []manifest.Term{{Name: "rho, p_ref"}, {Name: "move"}, {Name: "FIXPART(7)"}}
	page := "# rho\n<a id=\"rho\"></a>\n`rho` [rho](#x), rhombus, p_move: Move, rho and rho; move.\np\\_ref, <= 1 FIXPART(7) >= 1\n| move FIXPART(7) |\n"
	want := "# rho\n<a id=\"rho\"></a>\n`rho` [rho](#x), rhombus, p_move: [Move](T.md#term-move), [rho](T.md#term-rho-p-ref) and rho; move.\n" +
		"[p\\_ref](T.md#term-rho-p-ref), <= 1 [FIXPART(7)](T.md#term-fixpart-7) >= 1\n| move FIXPART(7) |\n"
	if got := linkTerms(page, terms, "T.md"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestInputsComeLast among the artefacts of a page.
func TestInputsComeLast(t *testing.T) {
	row := func(claim string, v verdict.Verdict, byDefault bool) manifest.Row {
		return manifest.Row{Claim: claim, Verdict: v, Default: byDefault}
	}
	rows := []manifest.Row{row("a", verdict.Input, true), row("b", verdict.Deviates, true), row("b", verdict.Reproduced, false)}
	p := newPaper(&manifest.Manifest{}, &manifest.Paper{Artefacts: []manifest.Artefact{
		{Name: "given", Rows: []manifest.Row{rows[0], row("a", verdict.Deviates, false)}}, {Name: "drawing"}, {Name: "both", Rows: rows},
	}}, nil)
	if got := nearest.Names(p.Pages, func(a *artefact) string { return a.Name }); !slices.Equal(got, []string{"drawing", "both", "given"}) {
		t.Errorf("the artefacts are %q", got)
	}
}

// TestLongClaimsHaveLetters: a table whose claims do not fit names them by letters. The file of readings has numbers that deviate.
func TestLongClaimsHaveLetters(t *testing.T) {
	row := func(claim, reading string, v verdict.Verdict, measured float64) manifest.Row {
		r := manifest.Row{Claim: claim, Reading: reading, Verdict: v, Default: reading == "default", Measured: manifest.Number(measured)}
		r.Quantity = claim
		return r
	}
	long := strings.Repeat("the score of one scheme less that of another, ", 3)
	rows := []manifest.Row{
		row("short", "default", verdict.Reproduced, 1), row(long, "default", verdict.Deviates, 2),
		row("short", "x", verdict.Reproduced, 3), row(long, "y", verdict.Reproduced, 4),
	}
	readings := []manifest.ReadingSummary{{Name: "default"}, {Name: "x"}, {Name: "y"}}
	p := newPaper(&manifest.Manifest{}, &manifest.Paper{Artefacts: []manifest.Artefact{{Name: "a", Rows: rows, Readings: readings}}}, nil)
	page, err := show("ARTEFACT.md.tmpl", p.Pages[0])
	if err != nil {
		t.Fatal(err)
	}
	page = strings.Join(strings.Fields(page), " ")
	for _, want := range []string{"| a | 0 | 1.00 | REPRODUCED |", "| b | 0 | 2.00 | DEVIATES", "- a: short - b: the score"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	var b strings.Builder
	if err := p.Pages[0].byReading().Encode(&b, "csv"); err != nil {
		t.Fatal(err)
	}
	if want := "printed 0\"\n1,default,,0,0,0,,2.00\n2,x,,0,0,0,,\n3,y,,0,0,0,,4.00\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("the file of readings should end with %q:\n%s", want, b.String())
	}
}

// TestFolded: no word is lost, items stay items, and no line begins a block that the page does not have.
func TestFolded(t *testing.T) {
	page := "- " + strings.Repeat("a word - and 1. more ", 20) + "\n\n\n| " + strings.Repeat("cell ", 40) + "|\n"
	got := fold(page)
	if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(page), " ") {
		t.Errorf("words are lost:\n%s", got)
	}
	for i, line := range strings.Split(got, "\n") {
		if table := strings.HasPrefix(line, "|"); len(line) > 130 && !table || i > 0 && strings.HasPrefix(line, "-") || strings.HasPrefix(line, "  1.") {
			t.Errorf("line %d: %s", i+1, line)
		}
	}
}

// TestScan: a reading allows a cell only if it measures all numbers of the cell and none deviates; of two defaults each counts
// by its own verdict.
func TestScan(t *testing.T) {
	row := func(cell, quantity, reading string, v verdict.Verdict) manifest.Row {
		r := manifest.Row{Reading: reading, Verdict: v, Default: reading == "default", Measured: manifest.Number(1)}
		r.Row, r.Quantity = cell, quantity
		return r
	}
	hangs := row("c", "moves", "default", verdict.Hangs)
	hangs.Why.Defaults = []manifest.DefaultVerdict{{Reading: "default", Verdict: verdict.Deviates}, {Reading: "y", Verdict: verdict.Inconclusive}}
	a := &artefact{Artefact: &manifest.Artefact{
		Readings: []manifest.ReadingSummary{{Name: "default"}, {Name: "x"}, {Name: "y"}},
		Rows: []manifest.Row{
			row("a", "moves", "default", verdict.Deviates), row("a", "moves", "x", verdict.Inconclusive), row("a", "moves", "y", verdict.Reproduced),
			row("a", "swaps", "default", verdict.Reproduced), row("a", "swaps", "x", verdict.Deviates), row("a", "swaps", "y", verdict.Inconclusive),
			row("b", "moves", "default", verdict.Deviates), row("b", "moves", "x", verdict.Reproduced),
			row("b", "swaps", "default", verdict.Deviates), // x measures half of the cell
			hangs, row("c", "moves", "y", verdict.Inconclusive),
			row("c", "swaps", "default", verdict.Reproduced), row("c", "swaps", "y", verdict.Reproduced),
		},
	}}
	for i := range a.Rows {
		if a.Rows[i].Default {
			a.Measured = append(a.Measured, &a.Rows[i])
		}
	}
	s, err := a.Scan()
	if err != nil {
		t.Fatal(err)
	}
	if s.Best != "3" || s.Most != 2 || s.All != 3 || s.None != 1 || s.Key != "3 y" {
		t.Errorf("reading %s allows %d of %d cells, and none %d, with the key %q; want reading 3, 2 of 3, 1 and 3 y", s.Best, s.Most, s.All, s.None, s.Key)
	}
	table := strings.Join(strings.Fields(s.Cells), " ")
	if !strings.Contains(table, "| a | 1 of 2 | 3 |") || strings.Contains(table, "| b |") {
		t.Errorf("the table should have the cell a alone:\n%s", s.Cells)
	}
}

// TestNoScan: a page says what readings allow only if its cells have several numbers and the default does not allow all.
func TestNoScan(t *testing.T) {
	for _, cells := range []string{"aabb", "aab"} {
		a := &artefact{Artefact: &manifest.Artefact{Readings: []manifest.ReadingSummary{{Name: "default"}, {Name: "x"}}}}
		for i, cell := range cells {
			r := &manifest.Row{Reading: "default", Verdict: verdict.Reproduced, Measured: manifest.Number(1)}
			if r.Row, r.Quantity = string(cell), fmt.Sprint(i); len(cells) == 3 {
				r.Verdict = verdict.Deviates
			}
			a.Rows, a.Measured = append(a.Rows, *r), append(a.Measured, r)
		}
		if s, err := a.Scan(); s != nil || err != nil {
			t.Errorf("%s: %+v, %v", cells, s, err)
		}
	}
}

// TestListed joins numbers that follow one another.
func TestListed(t *testing.T) {
	for want, numbers := range map[string][]int{"": nil, "3": {3}, "1, 2, 4 to 6, 9": {1, 2, 4, 5, 6, 9}} {
		if got := listed(numbers); got != want {
			t.Errorf("%v is listed as %q, want %q", numbers, got, want)
		}
	}
}

// TestManyReadingsFitAPage: the page compares the default reading and those that reproduce most, says how many more there are, and
// names once what readings have in common. The file has all.
func TestManyReadingsFitAPage(t *testing.T) {
	a := manifest.Artefact{Name: "a"}
	for i := range 20 {
		reading := fmt.Sprint("reading ", i)
		a.Readings = append(a.Readings, manifest.ReadingSummary{Name: reading, Basis: "all the same", Reproduced: i / 10, Errors: []manifest.MeanError{{}}})
		r := manifest.Row{Paper: "p", Reading: reading, Claim: "c", Verdict: verdict.Deviates, Default: i == 0, Measured: manifest.Number(float64(i)), Replicates: 5, Replicate: verdict.Executions}
		a.Rows = append(a.Rows, r)
	}
	a.Readings[15].Basis = "another"
	_, texts := rendered(t, &manifest.Manifest{Papers: []manifest.Paper{{Name: "p", Artefacts: []manifest.Artefact{a}}}})
	page := strings.Join(strings.Fields(texts["p/a.md"]), " ")
	for _, want := range []string{
		"- 1, 11 to 15, 17: all the same - 16 *", " The others are those that reproduce most. Left out: 12, each of which reproduces as many numbers or fewer. [a-readings.csv](a-readings.csv) has all", "Measured on 5 executions.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "| 9 | reading 8 ") || strings.Contains(page, "measured on |") {
		t.Errorf("the page compares readings that reproduce less, or has a column that says the same in each row")
	}
}

// TestMeasuredOn: a page says once on what numbers are measured, but not where one of them was not sampled.
func TestMeasuredOn(t *testing.T) {
	sampled := manifest.Row{Measured: manifest.Number(1), Replicates: 5, Replicate: verdict.Executions}
	exact, missing := manifest.Row{Measured: manifest.Number(1)}, manifest.Row{}
	for want, rows := range map[string][]*manifest.Row{
		"5 executions": {&sampled, &missing, &sampled}, "": {&exact, &sampled},
	} {
		if got := (&artefact{Measured: rows}).MeasuredOn(); got != want {
			t.Errorf("measured on %q, want %q", got, want)
		}
	}
}

// TestDeviationsByCause: a page counts its deviations by cause, in the order of summaries.
func TestDeviationsByCause(t *testing.T) {
	a := &artefact{}
	for _, c := range []claim.Cause{claim.FromUnpublished, "", claim.FromDrawn, claim.FromUnpublished} {
		a.Measured = append(a.Measured, &manifest.Row{Cause: c})
	}
	if got := a.Deviations(); !slices.Equal(got, []causeCount{{claim.FromDrawn, 1}, {claim.FromUnpublished, 2}}) {
		t.Errorf("counts %v", got)
	}
}
