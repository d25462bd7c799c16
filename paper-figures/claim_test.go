package figures

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"miglab/paper-figures/verdict"
)

const (
	publishedHead = "artefact,claim,kind,basis,relation,published,to,decimals,neutral,unit,places,source\n"
	marginsHead   = "artefact,claim,margin,reason\n"
	causesHead    = "artefact,claim,cause,evidence,numbers,reason\n"
)

// load reads data files; an empty one does not exist.
func load(published, margins, causes string) (*Claims, error) {
	files := fstest.MapFS{"published.csv": {Data: []byte(published)}}
	for name, text := range map[string]string{"margins.csv": margins, "causes.csv": causes} {
		if text != "" {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return LoadClaims("p", files)
}

const good = publishedHead +
	"t1,x n=1,printed,measured,=,1.50,,2,,s,,Table 1\n" +
	"t1,x n=2,printed,measured,range,85,90,0,,%,t2 late; abstract,Table 1\n" +
	"t1,x less y,stated,measured,<=,0,,0,0,%,,6.1\n"

func TestLoadClaims(t *testing.T) {
	c, err := load(good, marginsHead+"t1,x n=1,0.1,why\nt1,x n=1*,0.2,later\n", causesHead+"t1,*,script,p/t1,,Because.\n")
	if err != nil {
		t.Fatal(err)
	}
	own := c.Of("t1")
	if len(own) != 3 || own[0].Margin != 0.1 || own[1].To != 90 || !own[2].IsOrder() || own[2].Margin >= 0 {
		t.Errorf("claims %+v", own)
	}
	if again := c.Of("t2"); len(again) != 1 || again[0].Name != "late" || !again[0].Repeats || again[0].Artefact != "t1" {
		t.Errorf("table 2 repeats %+v", again)
	}
	if e := c.explain(&own[0], Measurement{}); e.Cause != "script" || e.Reason != "Because." {
		t.Errorf("%+v", e)
	}
}

func TestLoadClaimsRefusesMistakes(t *testing.T) {
	row := func(s string) string { return publishedHead + s + "\n" }
	for what, in := range map[string][3]string{
		"twice":             {good + "t1,x n=1,printed,measured,=,2,,0,,,,T\n"},
		"kind":              {row("t1,x,said,measured,=,1,,0,,,,T")},
		"basis":             {row("t1,x,printed,guessed,=,1,,0,,,,T")},
		"relation":          {row("t1,x,printed,measured,~,1,,0,,,,T")},
		"number":            {row("t1,x,printed,measured,=,one,,0,,,,T")},
		"range without end": {row("t1,x,printed,measured,range,1,,0,,,,T")},
		"range upside down": {row("t1,x,printed,measured,range,2,1,0,,,,T")},
		"end of no range":   {row("t1,x,printed,measured,=,1,2,0,,,,T")},
		"neutral":           {row("t1,x,printed,measured,=,1,,0,none,,,T")},
		"unknown column":    {strings.Replace(good, "source", "sources", 1)},
		"negative margin":   {good, marginsHead + "t1,x n=1,-5,why\n"},
		"margin of a range": {good, marginsHead + "t1,x n=2,5,why\n"},
		"digits":            {row("t1,x,printed,measured,=,1.234,,1,,,,T")},
		"decimals":          {row("t1,x,printed,measured,=,1,,-3,,,,T")},
		"a limit of 0":      {row("t1,x,printed,measured,<=,0,,0,,,,T")},
		"a limit of 0, 1":   {row("t1,x,printed,measured,<=,0,,0,1,,,T")},
		"margin of none":    {good, marginsHead + "t1,z*,1,why\n"},
		"margin, no reason": {good, marginsHead + "t1,x n=1,1,\n"},
		"cause of none":     {good, "", causesHead + "t2,*,script,p/t1,,Because.\n"},
		"unknown cause":     {good, "", causesHead + "t1,*,chance,p/t1,,Because.\n"},
		"cause, no reason":  {good, "", causesHead + "t1,*,script,p/t1,,\n"},
	} {
		if _, err := load(in[0], in[1], in[2]); err == nil || !strings.Contains(err.Error(), "p/") {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true},
		{"a", "ab", false},
		{"*", "", true},
		{"a*", "abc", true},
		{"*c", "abc", true},
		{"a*b*c", "axxbyyc", true},
		{"a*b*c", "axxcyyb", false},
		{"*b", "abc", false},
		{"a*a", "a", false},
	} {
		if got := matches(c.pattern, c.name); got != c.want {
			t.Errorf("%q matches %q: %v, want %v", c.pattern, c.name, got, c.want)
		}
	}
}

func TestMatch(t *testing.T) {
	claims := []Claim{{Name: "m", Basis: Measured}, {Name: "d", Basis: Derived}, {Name: "h", Basis: Hardware}, {Name: "u", Basis: Unpublished}, {Name: "i", Basis: Input, Claim: verdict.Claim{Published: 3}}}
	inputs := map[string]float64{"i": 3}
	for what, c := range map[string]struct {
		Declaration
		key string // the key that is wrong; empty for none
	}{
		"without hardware":          {Declaration{Readings: [][]string{{"m", "d"}, {"m"}}, Missing: []string{"h", "u"}}, ""},
		"with hardware":             {Declaration{Readings: [][]string{{"m", "d", "h"}}, Missing: []string{"u"}}, ""},
		"a stand-in":                {Declaration{Readings: [][]string{{"m", "d", "u"}}, Missing: []string{"h", "u"}}, ""},
		"an input measured as well": {Declaration{Readings: [][]string{{"m", "d"}, {"i"}}, Missing: []string{"h", "u"}}, ""},
		"a mistyped key":            {Declaration{Readings: [][]string{{"m", "d", "H"}}, Missing: []string{"h", "u"}}, "H"},
		"in another reading":        {Declaration{Readings: [][]string{{"m", "d"}, {"M"}}, Missing: []string{"h", "u"}}, "M"},
		"a mistyped missing key":    {Declaration{Readings: [][]string{{"m", "d"}}, Missing: []string{"H", "h", "u"}}, "H"},
		"measured but missing":      {Declaration{Readings: [][]string{{"d"}}, Missing: []string{"h", "m", "u"}}, "m"},
		"not measured":              {Declaration{Readings: [][]string{{"m"}}, Missing: []string{"h", "u"}}, "d"},
		"no readings":               {Declaration{Missing: []string{"h", "u"}}, "m"},
		"hardware forgotten":        {Declaration{Readings: [][]string{{"m", "d"}}, Missing: []string{"u"}}, "h"},
		"unpublished forgotten":     {Declaration{Readings: [][]string{{"m", "d"}}, Missing: []string{"h"}}, "u"},
		"an input forgotten":        {Declaration{Readings: [][]string{{"m", "d"}}, Missing: []string{"h", "u"}, Inputs: map[string]float64{}}, "i"},
		"an input with another key": {Declaration{Readings: [][]string{{"m", "d"}}, Missing: []string{"h", "u"}, Inputs: map[string]float64{"i": 3, "I": 3}}, "I"},
		"a measured input":          {Declaration{Readings: [][]string{{"m", "d"}}, Missing: []string{"h", "u"}, Inputs: map[string]float64{"i": 3, "m": 3}}, "m"},
		"another value of an input": {Declaration{Readings: [][]string{{"m", "d"}}, Missing: []string{"h", "u"}, Inputs: map[string]float64{"i": 4}}, "i"},
		"an input as the default":   {Declaration{Readings: [][]string{{"m", "d", "i"}}, Missing: []string{"h", "u"}}, "i"},
	} {
		if c.Inputs == nil {
			c.Inputs = inputs
		}
		err := (&Claims{All: claims}).Match(c.Declaration)
		key, wrong := errors.AsType[*KeyError](err)
		if wrong != (c.key != "") || wrong && key.Key != c.key {
			t.Errorf("%s: %v, want an error about %q", what, err, c.key)
		}
	}
}

// TestRepeatedNumbersCountOnce, and other readings not at all.
func TestRepeatedNumbersCountOnce(t *testing.T) {
	c, err := load(good, "", causesHead+"t1,*,script,p/t1,,Because.\n")
	if err != nil {
		t.Fatal(err)
	}
	values := Values{"x n=1": Exactly(1.5), "x n=2": Exactly(99), "x less y": Exactly(-1)}
	record := func(artefact string, readings ...Reading) Record {
		d := &Data{Claims: c}
		return Record{Paper: "p", Artefact: artefact, Rows: d.judge(c.Of(artefact), Read(readings...))}
	}
	m := Manifest{Papers: []PaperRecord{{Name: "p", Artefacts: []Record{
		record("t1", Reading{Values: values}, Reading{Name: "another", Values: Values{"x n=1": Exactly(2)}}),
		record("t2", Reading{Values: Values{"late": Exactly(99)}}),
	}}}}
	if got := m.Count(Printed); got[verdict.Reproduced] != 1 || got[verdict.Deviates] != 1 || got.Total() != 2 {
		t.Errorf("printed: %v", got)
	}
	if got := m.Count(Stated); got[verdict.Reproduced] != 1 || got.Total() != 1 {
		t.Errorf("stated: %v", got)
	}
	csv, err := m.claimsCSV()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(csv), "\n")
	if len(lines) != 5 || !strings.HasPrefix(lines[3], "p,t1,x n=2,printed,default,range,85,99,99,99,,%,0,DEVIATES,script,Because.,Table 1,90,") {
		t.Errorf("claims.csv\n%s", csv)
	}
}

// A row has the verdict by the claim's own margin, and beside it that by the margin which claims
// without one have.
func TestVerdictByTheDefaultMargin(t *testing.T) {
	c, err := load(good, marginsHead+"t1,x n=1,0.5,a wide one\n", "")
	if err != nil {
		t.Fatal(err)
	}
	d := &Data{Claims: c}
	row := d.judge(c.Of("t1")[:1], Read(Reading{Values: Values{"x n=1": Exactly(1.9)}}))[0]
	if row.Verdict != verdict.Reproduced || row.ByDefaultMargin != verdict.Deviates {
		t.Errorf("1.9 for 1.50 with a margin of 0.5: %s, by the default margin %s", row.Verdict, row.ByDefaultMargin)
	}
}

// A number that compares makespans has a second verdict, by a margin of 2 points or 2 % of a ratio.
func TestVerdictByTheMakespan(t *testing.T) {
	for _, c := range []struct {
		unit                string
		makespans           bool
		published, measured float64
		margin              float64
		want                verdict.Verdict
	}{
		{"%", true, 5, 6.9, -1, verdict.Reproduced},
		{"%", true, 5, 7.2, -1, verdict.Deviates},
		{"%", false, 5, 6.9, -1, verdict.Deviates},
		{"%", true, 200, 203.5, -1, verdict.Reproduced}, // 2 % of the number are more
		{"", true, 1.04, 1.06, -1, verdict.Reproduced},
		{"", true, 1.04, 1.07, -1, verdict.Deviates},
	} {
		claim := Claim{Unit: c.unit, OfMakespans: c.makespans, Claim: verdict.Claim{Relation: verdict.Equal, Published: c.published, Decimals: 2, Margin: c.margin}}
		d := &Data{Claims: &Claims{}}
		if row := d.measuredRow(&claim, Exactly(c.measured)); row.ByMakespanMargin != c.want {
			t.Errorf("%+v: %s", c, row.ByMakespanMargin)
		}
	}
}

func TestQuickRunsGiveNoVerdicts(t *testing.T) {
	c, err := load(good, "", "")
	if err != nil {
		t.Fatal(err)
	}
	d := &Data{Claims: c, Scale: Scale{Quick: true}}
	for _, r := range d.judge(c.Of("t1"), Read(Reading{Values: Values{"x n=1": Exactly(7)}})) {
		if r.Verdict != verdict.None || r.Cause != "" {
			t.Errorf("%+v", r)
		}
	}
}

func TestUpdateReadmeReplacesTheTableAlone(t *testing.T) {
	m := &Manifest{Papers: []PaperRecord{{Name: "far", Artefacts: []Record{{Rows: []Row{{Default: true, Verdict: verdict.Reproduced}}}}}}}
	before := "# x\n" + readmeBegin + "old\n" + readmeEnd + "\nrest\n"
	after, err := m.updateReadme(before)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(after, "# x\n") || !strings.HasSuffix(after, "\nrest\n") || strings.Contains(after, "old\n") || !strings.Contains(after, "| far | 1 |") {
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

// loadTables loads a paper with the lines of tables.csv and the artefact a.
func loadTables(lines string) (Paper, error) {
	return Load("p", fstest.MapFS{
		"published.csv": {Data: []byte(good)}, "terms.csv": {Data: []byte("name,meaning\nA,B\n")}, "tables.csv": {Data: []byte("table,part,text\n" + lines)},
	}, Builds{"a": func(*Data) (*Output, error) { return nil, nil }})
}

func TestLoadRefusesMistakesInTables(t *testing.T) {
	for lines, says := range map[string]string{
		"a,artefact,A\na,txt,name\n":              `p/tables.csv:3: part: unknown part "txt"`,
		"a,artefact,A\nC1,because maybe,x\n":      `p/tables.csv:3: part: unknown part "because maybe"`,
		"a,artefact,A\nw,words,x\nw,words,y\n":    `p/tables.csv:4: part: "w"`,
		"a,artefact,A\nb,artefact,B\n":            `p/tables.csv:3: table: "b"`,
		"a,artefact,A\nb,text,B\na,timed,again\n": `p/tables.csv:4: table: "a"`,
		"a,title,A\n": `p/a: "a" has no line in tables.csv`,
	} {
		if _, err := loadTables(lines); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: error %v, want %q", lines, err, says)
		}
	}
}

// TestTextsAreUsed: the program names every table, artefact and text of each tables.csv.
func TestTextsAreUsed(t *testing.T) {
	for _, paper := range []string{"deadline", "drl", "far", "hierarchical", "mfi"} {
		table, err := ReadCSV[tablePart](paper, os.DirFS(paper), "tables.csv")
		if err != nil {
			t.Fatal(err)
		}
		rows, err := ReadCSV[conclusionRow](paper, os.DirFS(paper), "conclusions.csv")
		if err != nil {
			t.Fatal(err)
		}
		source, _ := os.ReadFile("hardware.go")
		own, _ := filepath.Glob(paper + "/*.go")
		for _, path := range own {
			text, _ := os.ReadFile(path)
			source = append(source, text...)
		}
		for i, c := range rows.Rows {
			if c.Sentence != "" && !slices.ContainsFunc(table.Rows, func(r tablePart) bool { return r.Table == c.ID && r.Part == "short" }) {
				t.Error(rows.Fail(i, "id", errors.New("tables.csv has no short form of the sentence")))
			}
		}
		for i, r := range table.Rows {
			why := strings.HasPrefix(r.Part, because)
			if why || r.Part == "short" {
				if !slices.ContainsFunc(rows.Rows, func(c conclusionRow) bool { return c.ID == r.Table }) {
					t.Error(table.Fail(i, "table", fmt.Errorf("no conclusion %q", r.Table)))
				}
				if why && regexp.MustCompile(`\d\.\d|\d ?%`).MatchString(r.Text) {
					t.Error(table.Fail(i, "text", errors.New("a measured number is not typed in")))
				}
				for _, seen := range regexp.MustCompile(`\(see ([^)]*)\)`).FindAllStringSubmatch(r.Text, -1) {
					if !slices.ContainsFunc(table.Rows, func(o tablePart) bool { return o.Table == seen[1] && o.Part == "artefact" }) {
						t.Error(table.Fail(i, "text", fmt.Errorf("the page has no table %q", seen[1])))
					}
				}
				continue
			}
			if !slices.Contains([]string{"paper", "cite", "about", "limits"}, r.Part) && !bytes.Contains(source, []byte(strconv.Quote(r.Table))) {
				t.Error(table.Fail(i, "table", fmt.Errorf("nothing uses %q", r.Table)))
			}
		}
	}
}

// TestHead: tables.csv has the columns and notes of a table in their order, and the program refuses
// a table without columns or without a value for its text.
func TestHead(t *testing.T) {
	p, err := loadTables("a,artefact,-\na,title,A\na,text,name\nb,title,no columns\na,number,time [s]\na,note,first\na,note,{1} of {2}\na,plusminus,mean\nc,text,{1}\n")
	if err != nil {
		t.Fatal(err)
	}
	c := p.Claims
	a := c.Head("a", 3, "4")
	if len(a.Columns) != 4 || a.Columns[3].Name != "mean ±" || a.Title != "A" || a.Columns[0].Right || !a.Columns[1].Right || a.Columns[1].Name != "time [s]" || strings.Join(a.Notes, " ") != "first 3 of 4" {
		t.Errorf("%+v", a)
	}
	for _, table := range []string{"b", "c", "d"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is accepted", table)
				}
			}()
			c.Head(table)
		}()
	}
}
