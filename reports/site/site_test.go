package site_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/spec"
	"miglab/harness/stats"
	"miglab/harness/task"
	"miglab/reports"
	"miglab/reports/leaderboard"
	"miglab/reports/site"
)

// hostile is a name that breaks out of whatever does not escape it.
const hostile = "</script><img src=x onerror=alert(1)>'\"`${alert(1)}\u2028&amp;"

// standing is an algorithm's place by its mean gap in percent; NaN if it failed.
func standing(track, dataset string, rank int, algorithm string, gap float64) leaderboard.Standing {
	s := leaderboard.Standing{
		Track: track, Dataset: dataset, Rank: rank, Algorithm: algorithm, Version: 1, Instances: 20,
		Metric: leaderboard.Metric{Name: "makespan_s"},
		Gap:    gap, GapLow: gap, GapHigh: gap, Micros: 1000 / float64(rank),
		Value: stats.Summary{N: 20, Mean: 100 + gap, Low: 99 + gap, High: 101 + gap, Median: 100 + gap},
	}
	if math.IsNaN(gap) {
		s.Failed = 1
	}
	return s
}

func board(track, gpu, model string, standings ...leaderboard.Standing) site.Board {
	return site.Board{Track: track, GPU: gpu, Model: model, Standings: standings}
}

// sample is a small site with every kind of thing on it.
func sample() site.Data {
	return site.Data{
		Boards: []site.Board{
			board(
				"batch", "A100", "sequential",
				standing("batch", "drl/WIDETIMES", 1, "far", 9.5), standing("batch", "drl/WIDETIMES", 2, "miso", 10.25),
				standing("batch", "drl/WIDETIMES", 3, "nomig", 100.125), standing("batch", "drl/WIDETIMES", 4, "late", math.NaN()),
				standing("batch", hostile, 1, hostile, 3),
			),
			board("batch", "A30", "sequential", standing("batch", "drl/WIDETIMES", 1, "far", 2),
				standing("batch", "drl/WIDETIMES", 2, "far?seed=2", 3), standing("batch", "drl/WIDETIMES", 3, "far?seed=3", 4),
				standing("batch", "drl/WIDETIMES", 4, "agent?seed=2", 6), standing("batch", "drl/WIDETIMES", 5, "agent?seed=1", 7)),
			board("batch", "A100", "parallel", standing("batch", "drl/WIDETIMES", 1, "miso", 7)),
			board("corun", "A100", "", standing("corun", "corun/queues", 1, "exact", 0)),
		},
		Algorithms: []algo.Spec{
			{Name: "far", Track: "batch", Version: 2, Summary: "a family", Cite: hostile, Params: []spec.Param{{Name: "keep", Default: "best", Values: []string{"best", hostile}, Doc: hostile}}},
			{Name: "parts", Track: "batch", Version: 1, Summary: hostile},
		},
		Papers: []site.Paper{{
			Name: "far", Title: "FAR", Cite: hostile, About: "It schedules.", Brief: "It is ahead (F1).", Limits: "no GPU", Score: "2 conclusions: holds 1, not runnable 1", Curve: "curve",
			Answers: []site.NameCount{{Name: "holds", N: 1}, {Name: "does not hold"}, {Name: "not runnable", N: 1}},
			Conclusions: []site.Conclusion{
				{ID: "F1", Short: "it scales", Artefact: "figure5", Sentence: hostile, Section: "7", Answer: "holds", Met: "9 of 10", Reason: "It is proven.", Numbers: "rho: 1.2 [1.1, 1.3], which must be <= 1.22", Plain: "It is met.", Varied: "the tasks"},
				{ID: "F2", Sentence: strings.Repeat("long", 90), Section: "1", Answer: "not runnable", Plain: "A GPU is missing."},
			},
		}, {Name: "drl", About: "It learns."}},
		Claims: []site.Claim{
			{Paper: "far", Artefact: "table4", Name: "rho n=10", Reading: "default", Default: true, Published: "1.23", Measured: "1.234", Low: "1.22", High: "1.24", Margin: "0.01", Verdict: "REPRODUCED"},
			{Paper: "far", Artefact: "table4", Name: "rho n=15", Reading: "default", Default: true, Published: "11", Measured: "9", Unit: "s", Verdict: "DEVIATES", Cause: "script", Reason: "another generator"},
			{Paper: "far", Artefact: "table4", Name: "rho n=15", Reading: "released", Published: "11", Measured: "-10.5", Unit: "s", Verdict: "DEVIATES"},
			{Paper: "far", Artefact: "table4", Name: "reduction n=15", Kind: "arithmetic", Default: true, Published: "7", Measured: "9", Verdict: "DEVIATES", Cause: "script", Reason: "another generator"},
			{Paper: "drl", Artefact: hostile, Name: hostile, Reading: hostile, Default: true, Published: "2", Verdict: "NOT RUNNABLE", Reason: hostile},
			{Paper: "drl", Artefact: "text", Name: "reward", Default: true, Published: "1", Verdict: "INPUT", Reason: "the agents have it"},
			{Paper: "drl", Artefact: "text", Name: "quick", Default: true, Published: "3", Measured: "-2e-7"},
		},
		Figures: []site.Figure{
			{Paper: "far", Artefact: "conclusions", File: "curve", Title: "curve", SVG: []byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 300"><rect width="40" height="20"/></svg>`)},
			{Paper: "far", Artefact: "figure5", File: "figure5", Title: "before", SVG: []byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><rect width="40" height="20"/></svg>`)},
			{Paper: "far", Artefact: "figure5", File: "figure5", Title: hostile, SVG: []byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 40"><circle r="9"/></svg>`)},
			{Paper: "far", Artefact: "table4", File: "table4", Title: "rho", Table: &reports.Table{Columns: reports.Right("n").Left("rho"), Rows: [][]string{{"1", strings.ReplaceAll(hostile, "\n", "")}}}},
		},
		Premises:  "far/figure5",
		Instances: []site.Instance{instance("drl/WIDETIMES", 0, 6), instance("drl/WIDETIMES", 1, 4), instance(hostile, 0, 3)},
		Try:       &site.Program{Wasm: []byte("none")},
	}
}

// instance has n tasks and two schedules of them, one on the whole GPU and one on two
// parts of it.
func instance(dataset string, number, n int) site.Instance {
	gpu := mig.MustLookup("A100")
	p := schedule.Problem{GPU: gpu}
	for i := range n {
		name := "task " + string(rune('a'+i))
		if i == 1 {
			name = hostile
		}
		d := mig.Seconds(10 + i)
		p.Tasks = append(p.Tasks, task.New(name, map[mig.Slices]mig.Seconds{3: d / 2, 4: d / 2.5, 7: d / 4}))
	}
	return site.Instance{
		Track: "batch", Dataset: dataset, Number: number, Problem: p, Lower: 5, Proven: number == 1,
		Plans: []site.Plan{{Algorithm: "whole", Schedule: onParts(p, "7@0")}, {Algorithm: "parts", Schedule: onParts(p, "4@0", "3@4")}, {Algorithm: hostile, Schedule: onParts(p, "3@4")}},
	}
}

// onParts runs the tasks in turn on instances that are created one after the other.
func onParts(p schedule.Problem, parts ...string) schedule.Schedule {
	s := schedule.Schedule{GPU: p.GPU}
	var in []mig.Instance
	var free []mig.Seconds
	var at mig.Seconds
	for _, name := range parts {
		part, err := p.GPU.Instance(mig.Slices(name[0]-'0'), mig.Slices(name[2]-'0'))
		if err != nil {
			panic(err)
		}
		end := at + part.Profile.Create
		s.Operations = append(s.Operations, schedule.Operation{Op: schedule.Create, Instance: part, Start: at, End: end})
		in, free, at = append(in, part), append(free, end), end
	}
	for i := range p.Tasks {
		k := i % len(in)
		end := free[k] + p.Tasks[i].On(in[k].Size())
		s.Placements = append(s.Placements, schedule.Placement{Task: i, Instance: in[k], Start: free[k], End: end})
		free[k] = end
	}
	return s
}

// write writes a site and returns its files by path.
func write(t *testing.T, dir string, d site.Data) map[string][]byte {
	t.Helper()
	if err := site.Write(dir, d); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A node is an element as the browser gets it.
type node struct {
	name       string
	attributes map[string]string
	text       string
}

// parse reads a page, which is written so that it is well-formed XML as well.
func parse(t *testing.T, name string, page []byte) []node {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(page))
	d.Entity = xml.HTMLEntity
	var out []node
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			n := node{e.Name.Local, map[string]string{}, ""}
			for _, a := range e.Attr {
				n.attributes[a.Name.Local] = a.Value
			}
			out = append(out, n)
		case xml.CharData:
			if len(out) > 0 {
				out[len(out)-1].text += string(e)
			}
		}
	}
}

func TestPages(t *testing.T) {
	files := write(t, filepath.Join(t.TempDir(), "out", "site"), sample())
	pages := slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool { return !strings.HasSuffix(name, ".html") })
	if want := []string{"algorithms.html", "batch.html", "claims-drl.html", "claims-far.html", "claims.html", "clusters.html", "corun.html", "figures.html", "index.html", "instances.html", "numbers-drl.html", "numbers-far.html", "premises.html", "suite.html", "tables-far.html", "try.html"}; !slices.Equal(pages, want) {
		t.Fatalf("pages %q, want %q", pages, want)
	}
	for _, name := range pages {
		ids := map[string]bool{}
		for _, n := range parse(t, name, files[name]) {
			id := n.attributes["id"]
			if id != "" && ids[id] {
				t.Errorf("%s: the id %q is there twice", name, id)
			}
			ids[id] = true
			if n.name == "img" && !strings.HasPrefix(n.attributes["src"], "figures/") && n.attributes["src"] != "favicon.svg" {
				t.Errorf("%s: an image that is not ours: %v", name, n.attributes)
			}
			if n.name == "img" && n.attributes["src"] != "favicon.svg" && n.attributes["loading"] != "lazy" {
				t.Errorf("%s: %v is not loaded lazily", name, n.attributes)
			}
			if n.name == "script" && strings.TrimSpace(n.text) != "" {
				t.Errorf("%s: a script within the page: %q", name, n.text)
			}
			for a, value := range n.attributes {
				if strings.HasPrefix(a, "on") || a == "style" {
					t.Errorf("%s: %s has the attribute %s=%q", name, n.name, a, value)
				}
				if a != "src" && a != "href" && a != "data-script" {
					continue
				}
				target, fragment, _ := strings.Cut(value, "#")
				if target != "" && files[target] == nil {
					t.Errorf("%s: %s leads to %q, which is not in the site", name, n.name, value)
				}
				if (target == "figures.html" || target == "tables-far.html") && fragment != "" && !bytes.Contains(files[target], []byte(`id="`+fragment+`"`)) {
					t.Errorf("%s: %q leads to no figure", name, value)
				}
			}
		}
	}
	// The namespaces of SVG are names; nothing else may look like an address.
	address := regexp.MustCompile(`https?://[^"'\s)]+`)
	for name, data := range files {
		for _, a := range address.FindAllString(string(data), -1) {
			if a != "http://www.w3.org/2000/svg" && a != "http://www.w3.org/1999/xlink" {
				t.Errorf("%s names %s", name, a)
			}
		}
	}
}

// What a leaderboard shows are the cells of its table, digit for digit.
func TestLeaderboardCells(t *testing.T) {
	d := sample()
	files := write(t, filepath.Join(t.TempDir(), "site"), d)
	var shown []string
	for _, name := range []string{"batch.html", "corun.html"} {
		for _, n := range parse(t, name, files[name]) {
			switch {
			case n.name == "a" && len(shown) > 0 && shown[len(shown)-1] == "": // the link in a cell
				shown[len(shown)-1] = n.text
			case n.name != "td" || strings.Contains(n.attributes["class"], "interval"):
			case n.attributes["data-column"] == "instance_us":
				shown = append(shown, n.attributes["data-sort"])
			default:
				shown = append(shown, strings.TrimSpace(n.text))
			}
		}
	}
	var want []string
	for _, b := range d.Boards {
		all := leaderboard.Table(b.Standings)
		table := all.Without("track").WithoutEmpty()
		want = append(want, slices.Concat(table.Rows...)...)
	}
	if !slices.Equal(shown, want) {
		t.Errorf("the cells are\n%q, want\n%q", shown, want)
	}
}

// TestTexts: sentences that the pages have to say.
func TestTexts(t *testing.T) {
	far := standing("batch", "drl/WIDETIMES", 1, "far", 9.5)
	mine := standing("batch", "drl/WIDETIMES", 2, "exec:./mine", 12)
	mine.Name = "earliest"
	some := far
	some.NoBound, some.LeftOut = 3, 5
	acceptance := leaderboard.Metric{Name: "acceptance", Higher: true, Bounded: true}
	high, low := standing("placement", "openb", 1, "fgd", 5), standing("placement", "openb", 2, "ff", 8)
	reached := standing("placement", "mfi/uniform", 1, "fgd", 0)
	exact, near := standing("batch", "rodinia", 1, "treedp", 0), standing("batch", "rodinia", 1, "lns", 0.486)
	equal := standing("batch", "a30-batch", 1, "lns", 0)
	optimal := exact
	optimal.Dataset = equal.Dataset
	rest := func(s leaderboard.Standing) leaderboard.Standing {
		s.Algorithm, s.Rank, s.Gap = "far", 3, 5
		return s
	}
	high.Metric, low.Metric, reached.Metric = acceptance, acceptance, acceptance
	for name, c := range map[string]struct {
		data site.Data
		page string
		want []string
	}{
		"a program outside miglab has its own name beside its command": {
			site.Data{Boards: []site.Board{board("batch", "A100", "sequential", far, mine)}},
			"batch.html",
			[]string{`<th scope="col" data-column="name" class="">name</th>`, `<td>earliest</td>`},
		},
		"a bound from above is approached from below": {
			site.Data{Boards: []site.Board{board("placement", "A100-80GB", "", high, low, reached)}},
			"placement.html",
			[]string{
				"fgd leads with 5.00 % below the bound (95 % interval 5.00 to 5.00). Next is ff with 8.00 % below the bound",
				"fgd is alone: 0.00 % below the bound (95 % interval 0.00 to 0.00).",
			},
		},
		"algorithms that share the first place have a value each": {
			site.Data{Boards: []site.Board{board("batch", "A100", "sequential", exact, near, rest(near), optimal, equal, rest(equal))}},
			"batch.html",
			[]string{
				"treedp and lns share the first place, 0.00 % to 0.486 % above the bound: 20 instances do not tell them apart.",
				"treedp and lns share the first place, 0.00 % above the bound: 20 instances do not tell them apart.",
			},
		},
		"instances without a bound do not count": {
			site.Data{Boards: []site.Board{board("batch", "A100", "sequential", some)}},
			"batch.html",
			[]string{" There is a bound of 22 of 25 instances; the others do not count.</p>"},
		},
		"the first page has the papers, who leads, the suite and how to enter": {
			site.Data{
				Boards: sample().Boards, Papers: sample().Papers, Claims: sample().Claims,
				Suite: []reports.Table{{Title: "Suite", Columns: reports.Left("track"), Rows: [][]string{{"all of it"}}}},
			},
			"index.html",
			[]string{
				`<li><a href="claims-far.html">FAR</a>: It is ahead (F1). <span class="on">2 conclusions: holds 1, not runnable 1.</span></li>`, `<a href="batch.html">batch</a>`,
				`<td data-column="algorithm">exact</td>`, `<td data-column="track">all of it</td>`, "Enter an algorithm",
			},
		},
		"a table of claims begins with its counts": {
			sample(), "numbers-far.html", []string{`<p class="tally">3 numbers: 1 REPRODUCED, 2 DEVIATES (2 script)</p>`},
		},
	} {
		page := string(write(t, filepath.Join(t.TempDir(), "site"), c.data)[c.page])
		for _, want := range c.want {
			if !strings.Contains(page, want) {
				t.Errorf("%s: %s lacks %q", name, page, want)
			}
		}
	}
}

// Other readings and numbers that follow from others are counted neither by verdict nor by cause.
func TestCounts(t *testing.T) {
	claim := func(kind, cause string, byDefault bool) site.Claim {
		return site.Claim{Paper: "far", Artefact: "table4", Verdict: "DEVIATES", Kind: kind, Cause: cause, Default: byDefault}
	}
	causes := site.Data{Claims: []site.Claim{
		claim("mean", "script", true), claim("mean", "script", true), claim("mean", "script", false),
		claim("mean", "error", true), claim("arithmetic", "error", true),
		claim("arithmetic", "input", true), claim("mean", "budget", false),
	}}
	for _, c := range []struct {
		data    site.Data
		pattern string
		want    []string
	}{
		// The conclusions that do not hold, and by verdict: REPRODUCED, DEVIATES, NOT RUNNABLE, INPUT.
		{sample(), `(?:<a href="(?:claims|numbers)-|class="zero")[^>]*>(\w+)`, []string{"far", "0", "far", "1", "1", "0", "0", "drl", "0", "0", "1", "1"}},
		{sample(), `(5 published numbers and statements of 2 papers)`, []string{"5 published numbers and statements of 2 papers"}},
		{causes, `<tr><th scope="row">(\w+</th><td class="num">\d+)</td>`, []string{`script</th><td class="num">2`, `error</th><td class="num">1`}},
	} {
		page := write(t, filepath.Join(t.TempDir(), "site"), c.data)["claims.html"]
		var got []string
		for _, m := range regexp.MustCompile(c.pattern).FindAllSubmatch(page, -1) {
			got = append(got, string(m[1]))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// At most 400 words of a page stand before its first answer, and each paper's page begins with what came out.
func TestAnswersComeFirst(t *testing.T) {
	files := write(t, filepath.Join(t.TempDir(), "site"), sample())
	for name, first := range map[string]string{
		"batch.html": `class="answer"`, "claims.html": `<table class="data counts">`, "claims-far.html": "2 conclusions: holds 1, not runnable 1", "claims-drl.html": `<ul class="artefacts">`, "numbers-drl.html": `<tr data-verdict=`,
	} {
		_, page, _ := strings.Cut(string(files[name]), "<main")
		before, _, found := strings.Cut(page, first)
		if n := len(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString("<main"+before, " "))); !found || n > 400 {
			t.Errorf("%s: %d words before %s, which is there: %v", name, n, first, found)
		}
	}
	page := string(files["claims-far.html"])
	last := 0
	for _, part := range []string{
		"It schedules.", "<strong>It is ahead (F1).</strong> 2 conclusions: holds 1, not runnable 1.", "What limits this page: no GPU", `<img src="figures/far-curve.svg"`,
		`<tr data-answer="holds">`, `data-label="met">9 of 10<`, "It is proven.", "which must be &lt;= 1.22.", `<tr data-answer="not runnable">`, "A GPU is missing.", "<h2>Numbers</h2>",
	} {
		at := strings.Index(page, part)
		if at < last {
			t.Errorf("%q is at %d, and what comes before it is at %d", part, at, last)
		}
		last = at
	}
	if !regexp.MustCompile(`<a href="claims-far.html">far</a></th><td class="num">1</td><td class="num"><span class="zero">0</span></td><td class="num">1</td><td class="num">2</td>`).Match(files["claims.html"]) {
		t.Errorf("the claims do not begin with the counts of conclusions: %s", files["claims.html"])
	}
}

// The page about real work has the artefact's conclusions and its drawings, and says so where there are none.
func TestPremises(t *testing.T) {
	d := sample()
	page := string(write(t, filepath.Join(t.TempDir(), "site"), d)["premises.html"])
	for _, part := range []string{"<strong>“it scales”</strong> is tested here: It is met. Decided by rho: 1.2", `src="figures/far-figure5.svg"`, `src="figures/far-figure5-2.svg"`} {
		if !strings.Contains(page, part) {
			t.Errorf("%s is missing", part)
		}
	}
	if strings.Contains(page, "far-curve.svg") || strings.Contains(page, "A GPU is missing") {
		t.Error("another artefact is on the page")
	}
	d.Premises = ""
	if page := string(write(t, filepath.Join(t.TempDir(), "site"), d)["premises.html"]); !strings.Contains(page, "no results about this yet") {
		t.Error(page)
	}
}

// A row has all other rows of its algorithm and dataset folded under it, and says how far their values reach.
func TestFoldedRows(t *testing.T) {
	files := write(t, filepath.Join(t.TempDir(), "site"), sample())
	folded, heads := map[string]int{}, map[string]string{}
	for _, n := range parse(t, "batch.html", files["batch.html"]) {
		if head := n.attributes["data-head"]; head != "" {
			folded[head]++
		}
		if says := n.attributes["data-folded"]; says != "" {
			heads[n.attributes["data-algorithm"]] = says
		}
	}
	if want := map[string]string{"far": "2 variants: 3.00 % to 4.00 %", "agent?seed=2": "1 variant: 7.00 %"}; !maps.Equal(heads, want) {
		t.Errorf("%q, want %q", heads, want)
	}
	if want := map[string]int{"far": 2, "agent?seed=2": 1}; !maps.Equal(folded, want) {
		t.Errorf("%v rows are folded, want %v", folded, want)
	}
}

// The scripts of datasets are one call with one JSON value, whatever names are in it.
func TestDatasetScripts(t *testing.T) {
	files := write(t, filepath.Join(t.TempDir(), "site"), sample())
	scripts := 0
	for name, text := range files {
		if !strings.HasPrefix(name, "data/") {
			continue
		}
		scripts++
		inner, ok := strings.CutPrefix(string(text), "miglab.loaded(")
		inner, end := strings.CutSuffix(inner, ");\n")
		var data struct {
			Dataset   string
			Instances []struct {
				Bound     float64
				BoundText string
				Plans     []struct {
					Algorithm, MakespanText, Gap string
					Bars                         []struct{ Label string }
					Used, Waiting                []schedule.Step
				}
			}
		}
		if !ok || !end || strings.ContainsAny(inner, "<>\u2028") {
			t.Errorf("%s is no harmless call: %s", name, text)
		}
		if err := json.Unmarshal([]byte(inner), &data); err != nil {
			t.Fatal(err)
		}
		if data.Dataset != "drl/WIDETIMES" {
			continue
		}
		// Six tasks on 7 slices: 0.24 s for the instance and (10 + 11 + ... + 15)/4 s.
		plan := data.Instances[0].Plans[0]
		if plan.MakespanText != "18.990" || plan.Gap != "279.800" || len(plan.Bars) != 7 || plan.Bars[2].Label != hostile || data.Instances[0].BoundText != "5.000" {
			t.Errorf("the first plan is %+v", data.Instances[0])
		}
		// One task after the other on the whole GPU.
		if n := len(plan.Used); n != 3 || plan.Used[1].N != 7 || len(plan.Waiting) != 7 || plan.Waiting[0].N != 6 || plan.Waiting[6].N != 0 {
			t.Errorf("the first plan uses %v, and there wait %v", plan.Used, plan.Waiting)
		}
	}
	if scripts != 2 {
		t.Errorf("%d scripts of datasets, want 2", scripts)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name, says string
		spoil      func(*site.Data)
	}{
		{"makespan below the bound", "is below the certified bound", func(d *site.Data) { d.Instances[0].Lower = 100 }},
		{"invalid schedule", "whole", func(d *site.Data) { d.Instances[0].Plans[0].Schedule.Placements[0].End++ }},
		{"no schedules", "no schedules", func(d *site.Data) { d.Instances[0].Plans = nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := sample()
			c.spoil(&d)
			dir := filepath.Join(t.TempDir(), "site")
			err := site.Write(dir, d)
			if err == nil || !strings.HasPrefix(err.Error(), "site: ") || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v, want one that says %q", err, c.says)
			}
			if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("there is a folder: %v", err)
			}
		})
	}
}

// A site takes the place of an earlier one with the same bytes, or of an empty folder, and leaves nothing else behind.
func TestFolder(t *testing.T) {
	parent := t.TempDir()
	dir, empty := filepath.Join(parent, "site"), filepath.Join(parent, "empty")
	first := write(t, dir, sample())
	if second := write(t, dir, sample()); !maps.EqualFunc(first, second, bytes.Equal) {
		t.Error("the second site differs from the first")
	}
	// A killed run leaves a temporary file: in a site, or in a folder without a list.
	if err := errors.Join(os.Mkdir(empty, 0o755), os.WriteFile(filepath.Join(dir, ".tmp-1"), nil, 0o644), os.WriteFile(filepath.Join(empty, ".tmp-1"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	small := write(t, dir+string(filepath.Separator), site.Data{})
	if small["figures/far-figure5.svg"] != nil || small["try.html"] != nil || len(small) != 17 {
		t.Errorf("the old site is still there: %q", slices.Sorted(maps.Keys(small)))
	}
	for name, data := range small {
		if strings.HasSuffix(name, ".html") {
			parse(t, name, data)
		}
	}
	if again := write(t, empty, site.Data{}); len(again) != len(small) {
		t.Errorf("a killed run is not completed: %q", slices.Sorted(maps.Keys(again)))
	}
	if entries, err := os.ReadDir(parent); err != nil || len(entries) != 2 {
		t.Errorf("beside the sites there is more: %v, %v", entries, err)
	}
}

// A file that no earlier run wrote stays: beside a site, in place of a page and in another folder. A list of other
// files does not make a folder a site.
func TestAUsersFileStays(t *testing.T) {
	const mine = "files.txt\nindex.html\nthesis.tex\n" // as ls > files.txt
	for name, says := range map[string]string{
		"notes.txt": "", "figures/mine.svg": "", "corun.html": "/corun.html: miglab site did not write",
		"files.txt": ": the folder holds something else than a site", "figures": "/figures/far-curve.svg: ", "site.css": "/site.css: miglab",
	} {
		dir := filepath.Join(t.TempDir(), "site")
		path := filepath.Join(dir, filepath.FromSlash(name))
		write(t, dir, site.Data{})
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(mine), 0o644)); err != nil {
			t.Fatal(err)
		}
		if name == "site.css" { // a link in place of a file of the site
			to := filepath.Join(t.TempDir(), "mine")
			if err := errors.Join(os.Rename(path, to), os.Symlink(to, path)); err != nil {
				t.Skip(err) // Windows may refuse links
			}
		}
		err := site.Write(dir, sample())
		if (err == nil) != (says == "") || err != nil && !strings.Contains(filepath.ToSlash(err.Error()), "site: "+filepath.ToSlash(dir)+says) {
			t.Errorf("%s: %v, want an error that says %q", name, err, says)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != mine {
			t.Errorf("%s is now %.99q, %v", name, now, err)
		}
	}
}
