package figures

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
)

// everyVerdict is a paper with a claim of each verdict, two causes and two readings.
func everyVerdict(t *testing.T) Paper {
	t.Helper()
	text := claimsHead + "t1,,,same,printed,measured,=,1.50,,2,,s,0.5,the text says about,,,,Table 1,,,,\n"
	for _, name := range []string{"off", "off as well", "one run"} {
		text += "t1,,," + name + ",printed,measured,=,1.50,,2,,s,,,,,,Table 1,,,,\n"
	}
	for _, rest := range []string{"count,printed,derived,=,19", "real,printed,hardware,=,3", "secret,printed,stand-in,=,3", "given,printed,input,=,3"} {
		text += "t1,,," + rest + ",,0,,,,,,,,Table 1,,,,\n"
	}
	c, err := load(text, causesHead+"t1,,,off,script,p/t1,,,The script has it.\n")
	if err != nil {
		t.Fatal(err)
	}
	build := func(d *Data) {
		off := Exactly(9)
		off.Detail = "The other one is EFT."
		d.Readings = []Reading{
			{from: claim.Reading{Basis: "the script"}, Values: Values{
				claim.Of("same"): Exactly(1.5), claim.Of("off"): off, claim.Of("off as well"): Exactly(8), claim.Of("one run"): d.MeanOf([]float64{1.5}, verdict.TrainingRuns, 1),
				claim.Of("count"): Exactly(19), claim.Of("secret"): Exactly(4),
			}},
			{Name: "prose", from: claim.Reading{Basis: "the text"}, Values: Values{claim.Of("same"): Exactly(7), claim.Of("off"): Exactly(7), claim.Of("secret"): Exactly(7), claim.Of("given"): Exactly(4)}},
		}
		d.Missing = map[claim.Cell]string{claim.Of("real"): "It needs an A30.", claim.Of("secret"): "The kernels are not public."}
		d.TakeInputs("cost of the model", map[claim.Cell]float64{claim.Of("given"): 3})
	}
	return Paper{Name: "p", Introduction: manifest.Introduction{Heading: "P", Cite: "A paper."}, Claims: c, Terms: []manifest.Term{{Name: "off", Meaning: "not the same"}}, Artefacts: []Artefact{{Name: "t1", Title: "Table 1", Build: build}}}
}

func reproduce(t *testing.T, dir string, p Paper) (*manifest.Manifest, int) {
	t.Helper()
	st, err := store.Open(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	r := Reproduction{Papers: []Paper{p}, Dir: dir, Engine: &run.Engine{Store: st}}
	m, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m, m.Left
}

func read(t *testing.T, elem ...string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestReproduction: each verdict but one occurs, and two claims deviate; the page has every reason
// that claims.csv has, and the summary every count.
func TestReproduction(t *testing.T) {
	dir := t.TempDir()
	m, left := reproduce(t, dir, everyVerdict(t))
	if left != 0 {
		t.Errorf("%d artefacts left", left)
	}
	n := m.Count(claim.Printed)
	for _, v := range verdict.All {
		want := 1
		switch v {
		case verdict.Deviates, verdict.NotRunnable:
			want = 2
		case verdict.Hangs:
			want = 0 // the paper has one default
		}
		if n[v] != want {
			t.Errorf("%d %s, want %d", n[v], v, want)
		}
	}
	page, summary, method := Plain(read(t, dir, "p", "t1.md")), read(t, dir, "README.md"), read(t, dir, "METHOD.md")
	lines, err := csv.NewReader(strings.NewReader(read(t, dir, "claims.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 1+8+4 {
		t.Errorf("%d lines of claims", len(lines))
	}
	const otherReading = "Not counted: the verdict of the claim is that of the default reading."
	for _, l := range lines[1:] {
		if reason := l[15]; reason == "" && l[13] != "REPRODUCED" || l[15] != otherReading && !strings.Contains(page, reason) {
			t.Errorf("the page lacks %q of %q", reason, l[2])
		}
		if (l[14] == "") != (l[13] != "DEVIATES" || l[15] == otherReading) {
			t.Errorf("%q is %s with the cause %q", l[2], l[13], l[14])
		}
	}
	for _, part := range []string{"The script has it. The other one is EFT.", "again by `miglab reproduce --only p/t1`, with the `--results` of this page", "(not explained)", "1 training run does not decide"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q:\n%s", part, page)
		}
	}
	for _, part := range []string{
		"| [p](p/README.md) | 1 | 2 | 0 | 1 | 1 | 2 | 1 | 8 |", "**1 deviation is explained:** `script` 1.", "`unknown` 1.",
	} {
		if !strings.Contains(summary, part) {
			t.Errorf("the summary lacks %q:\n%s", part, summary)
		}
	}
	for _, c := range claim.Causes {
		if !strings.Contains(method, "\n- `"+string(c)+"`: ") {
			t.Errorf("METHOD.md does not explain the cause %s", c)
		}
	}
	for _, v := range verdict.All {
		if !strings.Contains(method, "\n| "+string(v)+" | ") {
			t.Errorf("METHOD.md does not explain the verdict %s", v)
		}
	}
}

// TestReproductionIsReadAgain: a second run builds nothing and writes the same bytes, and a
// changed file is written again.
func TestReproductionIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	p := everyVerdict(t)
	builds := 0
	build := p.Artefacts[0].Build
	p.Artefacts[0].Build = func(d *Data) {
		builds++
		build(d)
	}
	reproduce(t, dir, p)
	files := []string{"claims.csv", "README.md", "manifest.json", "p/README.md", "p/t1.md"}
	before := map[string]string{}
	for _, f := range files {
		before[f] = read(t, dir, f)
	}
	if reproduce(t, dir, p); builds != 2 {
		t.Errorf("%d builds, want 2: a plan and the results", builds)
	}
	if err := os.WriteFile(filepath.Join(dir, "p", "t1.md"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if reproduce(t, dir, p); builds != 2 {
		t.Errorf("%d builds after a page has changed, which is made from the manifest; want 2", builds)
	}
	for _, f := range files {
		if read(t, dir, f) != before[f] {
			t.Errorf("%s has other bytes", f)
		}
	}
	m, err := manifest.Read(dir)
	if err != nil || m.Count("").Total() != 8 {
		t.Errorf("the manifest has %v, %v", m, err)
	}
}

// TestCheckRefusesWhatNoArtefactHas.
func TestCheckRefusesWhatNoArtefactHas(t *testing.T) {
	for what, change := range map[string]func(*Paper){
		"an artefact that does not exist": func(p *Paper) { p.Claims.All[0].Artefact = "t2" },
		"another name":                    func(p *Paper) { p.Claims.All[0].Quantity = "sam" },
		"evidence elsewhere":              func(p *Paper) { p.Claims.Explanations[0].Evidence = "q/t1" },
		"evidence that does not exist":    func(p *Paper) { p.Claims.Explanations[0].Evidence = "p/t2" },
	} {
		p := everyVerdict(t)
		if err := checkPaper(&p); err != nil {
			t.Fatal(err)
		}
		change(&p)
		if checkPaper(&p) == nil {
			t.Errorf("%s is accepted", what)
		}
	}
}
