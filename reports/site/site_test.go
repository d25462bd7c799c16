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
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

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
		Papers:  []site.Paper{{Name: "far", Title: "FAR", Brief: "It is ahead (F1).", Score: "2 conclusions: 1 holds, 1 not runnable"}},
		Results: results(),
		Numbers: []site.Number{
			{Paper: "far", Artefact: "table4", Claim: "rho n=10", Published: "1.23", Measured: "1.234", Interval: "1.22 to 1.24", Verdict: "REPRODUCED"},
			{Paper: "far", Artefact: "table4", Claim: "rho n=15", Published: "11 s", Measured: "9", Verdict: "DEVIATES", Cause: "script"},
			{Paper: "far", Artefact: "premises", Claim: hostile, Published: "2", Verdict: "NOT RUNNABLE"},
		},
		Instances: []site.Instance{instance("drl/WIDETIMES", 0, 6), instance("drl/WIDETIMES", 1, 4), instance(hostile, 0, 3)},
		Try:       &site.Program{Wasm: []byte("none")},
	}
}

// results is a folder of results with a page of each kind.
func results() fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range map[string]string{
		"README.md": "# What came out\n\n[METHOD](METHOD.md#causes), [far](far/README.md), [claims.csv](claims.csv)\n\n| paper | all |\n|---|---:|\n| far | 2 |\n",
		"METHOD.md": "# Method\n\n[Results](README.md)\n\n<a id=\"causes\"></a>\n\n## Causes of deviations\n\n`rho` <= 1 & more\n",
		"far/README.md": "# far: A \\_ title & more\n\n[All](../README.md) [premises](premises.md#readings)\n\n![marks](conclusions.svg)\n\n" +
			"[<img src=\"table4.svg\" alt=\"table4\" width=\"150\">](table4.md)\n",
		"far/table4.md":   "# far table4\n\n" + hostile + "\n\n<script>alert(1)</script>\n\n```text\na < b\n```\n\n[x](javascript:alert(1))\n",
		"far/premises.md": "# Real work\n\n## Readings\n\n![curves](premises.svg)\n",
		"claims.csv":      "paper\n", "unlinked.md": "# No page\n",
	} {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for _, name := range []string{"conclusions", "table4", "premises"} {
		out["far/"+name+".svg"] = &fstest.MapFile{Data: []byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 300"><rect width="40" height="20"/></svg>`)}
	}
	return out
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
	if want := []string{
		"algorithms.html", "batch.html", "clusters.html", "corun.html", "index.html", "instances.html", "numbers.html", "papers/METHOD.html", "papers/far/index.html",
		"papers/far/premises.html", "papers/far/table4.html", "papers/index.html", "suite.html", "try.html",
	}; !slices.Equal(pages, want) {
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
			if n.name == "img" && !strings.HasSuffix(n.attributes["src"], "favicon.svg") && n.attributes["loading"] != "lazy" {
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
				if target = path.Join(path.Dir(name), target); value == "" {
					continue // an address that could run a script
				} else if value[0] == '#' {
					target = name
				}
				if files[target] == nil {
					t.Errorf("%s: %s leads to %q, which is not in the site", name, n.name, value)
				}
				if strings.HasPrefix(target, "papers/") && fragment != "" && !bytes.Contains(files[target], []byte(`id="`+fragment+`"`)) {
					t.Errorf("%s: %q leads to no place", name, value)
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
				Boards: sample().Boards, Papers: sample().Papers,
				Suite: []reports.Table{{Title: "Suite", Columns: reports.Left("track"), Rows: [][]string{{"all of it"}}}},
			},
			"index.html",
			[]string{
				`<li><a href="papers/far/index.html">FAR</a>: It is ahead (F1). <span class="on">2 conclusions: 1 holds, 1 not runnable.</span></li>`, `<a href="batch.html">batch</a>`,
				`<td data-column="algorithm">exact</td>`, `<td data-column="track">all of it</td>`, "Enter an algorithm",
			},
		},
		"the first page says which papers and tracks have no results, and how to get them": {
			site.Data{Boards: sample().Boards, Papers: sample().Papers, Left: 110, Absent: []string{"drl", "mfi"}, Flags: "--results 'my own'"},
			"index.html",
			[]string{
				`>110 artefacts of the papers are not done, among them all of drl, mfi: <code>miglab reproduce --results &#39;my own&#39;</code>.</p>`,
				`>Tracks without results: stream, placement, dispatch. To compute leaderboards of all tracks: <code>miglab site --results &#39;my own&#39;</code>.</p>`,
			},
		},
		"without a paper the first page says how to reproduce them": {
			site.Data{Flags: "--quick --results results/quick"},
			"index.html",
			[]string{`>No paper is reproduced here: <code>miglab reproduce --quick --results results/quick</code>.</p>`, "Tracks without results: batch, stream,"},
		},
		"numbers lead to their pages": {
			sample(), "numbers.html", []string{`<a href="papers/far/table4.html">far table4</a> rho n=15</td><td class="num" data-label="published">11 s</td>`},
		},
		"the pages of results are there with their names, tables and anchors": {
			sample(), "papers/index.html",
			[]string{
				`<title>What came out – miglab</title>`, `<a href="../papers/index.html" aria-current="page">Papers</a>`, `<a href="../papers/far/premises.html">Real work</a>`,
				`<a href="METHOD.html#causes">METHOD</a>, <a href="far/index.html">far</a>, <a href="claims.csv">claims.csv</a>`,
				`<div class="scroll short" tabindex="0" role="region" aria-label="Table"><table class="data">`, `<td align="right">2</td>`,
			},
		},
		"an anchor that a page has": {sample(), "papers/METHOD.html", []string{`<p><a id="causes"></a></p>`, `<h2 id="causes-of-deviations">`, `<code>rho</code> &lt;= 1 &amp; more`}},
		"pictures are drawings": {
			sample(), "papers/far/index.html",
			[]string{`<title>far: A _ title &amp; more – miglab</title>`, `<img src="conclusions.svg" alt="marks" loading="lazy" />`, `<a href="table4.html"><img src="table4.svg" alt="table4" loading="lazy" /></a>`},
		},
		"the navigation marks the page about real work": {sample(), "papers/far/premises.html", []string{`<a href="../../papers/far/premises.html" aria-current="page">Real work</a>`}},
		"code is in a box": {sample(), "papers/far/table4.html", []string{`aria-label="Commands, or what they print"><pre><code class="language-text">a &lt; b`, `<a href="">x</a>`}},
	} {
		page := string(write(t, filepath.Join(t.TempDir(), "site"), c.data)[c.page])
		for _, want := range c.want {
			if !strings.Contains(page, want) {
				t.Errorf("%s: %s lacks %q", name, page, want)
			}
		}
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
		{"a page that is missing", "far/premises.md: open far/premises.md: file does not exist; miglab reproduce", func(d *site.Data) { delete(d.Results.(fstest.MapFS), "far/premises.md") }},
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
	if small["papers/far/table4.svg"] != nil || small["try.html"] != nil || len(small) != 13 {
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
		"notes.txt": "", "papers/mine.svg": "", "corun.html": "/corun.html: miglab site did not write",
		"files.txt": ": the folder holds something else than a site", "papers": "/papers/claims.csv: ", "site.css": "/site.css: miglab",
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
