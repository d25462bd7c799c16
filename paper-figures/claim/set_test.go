package claim

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"miglab/harness/strictcsv"
	"miglab/paper-figures/verdict"
)

// heads are the first lines of the data files.
var heads = map[string][]string{
	"claims.csv": strictcsv.Columns[row](), "causes.csv": strictcsv.Columns[Explanation](),
	"script.csv": strictcsv.Columns[Script](), "readings.csv": strictcsv.Columns[Reading](),
	"conclusions.csv": strictcsv.Columns[TestLine](),
}

// load reads data files, given by name as lines without a head. Fields at the end of a line may be left out.
func load(lines map[string]string) (*Set, error) {
	files := fstest.MapFS{}
	for name, text := range lines {
		out := strings.Join(heads[name], ",") + "\n"
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			out += line + strings.Repeat(",", len(heads[name])-1-strings.Count(line, ",")) + "\n"
		}
		files[name] = &fstest.MapFile{Data: []byte(out)}
	}
	return Load("p", files)
}

const (
	good = "t1,x,n=1,,printed,measured,=,1.50,,2,,s,0.1,why\n" +
		"t1,x,n=2,,printed,measured,range,85,90,0,,%,,,true,needs a GPU\n" +
		"t1,,,x less y,stated,measured,<=,0,,0,0,%\n" + repeat
	repeat = "t2,,,late,,,,,,,,,,,,,,,t1,x,n=2\n"
	cause  = "t1,,,,script,p/t1,table,a;b,Because.\n"
	test   = "C1,s,1,t1,x,n=1,,>=,5,0,,,seeds\n"
)

// with returns the good files with some in place of theirs.
func with(name, text string) map[string]string {
	files := map[string]string{"claims.csv": good}
	files[name] = text
	return files
}

func TestLoad(t *testing.T) {
	s, err := load(map[string]string{
		"claims.csv": good, "causes.csv": cause + "t1,x,,,unknown,p/t1,,,Later.\n", "conclusions.csv": test,
		"readings.csv": "t1;t2,a,part,prose\n,a,,script\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	own := s.Of("t1")
	if len(own) != 3 || own[0].Margin != 0.1 || own[0].MarginReason != "why" || own[1].To != 90 || !own[2].IsOrder() || own[2].Margin >= 0 {
		t.Errorf("claims %+v", own)
	}
	if own[0].OfMakespans || own[0].Missing != "" || !own[1].OfMakespans || own[1].Missing != "needs a GPU" || own[1].Repeats() {
		t.Errorf("claims %+v", own)
	}
	again := s.Of("t2")
	if len(again) != 1 || again[0].Key != (Key{"t2", Of("late")}) || !again[0].Repeats() || again[0].Home != own[1].Key || again[0].To != 90 {
		t.Errorf("table 2 repeats %+v", again)
	}
	for _, c := range s.All { // the repeated number has its home's cause
		if e := s.ExplainMeasured(&c, verdict.Measurement{}); e.Cause != FromScript || e.Reason != "Because." || e.Columns != "a;b" {
			t.Errorf("%v: %+v", c.Key, e)
		}
	}
	for _, artefact := range []string{"t1", "t2", "t3"} {
		if r := s.Reading(artefact, "a"); r == nil || r.Weight.Counts() != (artefact == "t3") {
			t.Errorf("%s: %+v", artefact, r)
		}
	}
	if s.Reading("t1", "b") != nil || !s.Needs("t1", own[0].Cell) || s.Needs("t1", own[1].Cell) || s.Needs("t2", own[0].Cell) {
		t.Error("a reading or a conclusion has what it does not name")
	}
}

// TestFind: a claim is found by all four parts of its key, and by nothing else, however its text reads.
func TestFind(t *testing.T) {
	s, err := load(with("claims.csv", good+"t1,x n=1,,,printed,measured,=,7,,0\n"))
	if err != nil {
		t.Fatal(err)
	}
	for published, cell := range map[float64]Cell{1.5: {Row: "x", Column: "n=1"}, 7: {Row: "x n=1"}} {
		if c := s.Find(Key{"t1", cell}); c == nil || c.Published != published || s.Published("t1", cell) != published {
			t.Errorf("%+v is %+v, want %v", cell, c, published)
		}
	}
	for _, k := range []Key{
		{"t1", Of("x n=1")}, {"t1", Cell{Column: "x", Quantity: "n=1"}}, {"t2", Cell{Row: "x", Column: "n=1"}}, {"t1", Cell{Row: "x"}}, {"t1", At("x", "n=1")},
	} {
		if c := s.Find(k); c != nil {
			t.Errorf("%+v is %+v", k, c)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a number that is not printed is accepted")
		}
	}()
	s.Published("t1", Of("x n=1"))
}

func TestLoadRefusesMistakes(t *testing.T) {
	for what, c := range map[string]struct{ file, text, says string }{
		"twice":               {"claims.csv", good + "t1,x,n=1,,printed,measured,=,2,,0\n", "6: quantity: \"x n=1\" of t1 is listed twice"},
		"a repeat twice":      {"claims.csv", good + repeat, "6: quantity"},
		"a repeat of none":    {"claims.csv", good + "t2,,,early,,,,,,,,,,,,,,,t1,x,n=3\n", "6: home_artefact"},
		"a repeat above":      {"claims.csv", repeat + good, "2: home_artefact"},
		"kind":                {"claims.csv", "t1,x,,,said,measured,=,1,,0\n", "kind"},
		"basis":               {"claims.csv", "t1,x,,,printed,guessed,=,1,,0\n", "basis"},
		"relation":            {"claims.csv", "t1,x,,,printed,measured,~,1,,0\n", "relation"},
		"number":              {"claims.csv", "t1,x,,,printed,measured,=,one,,0\n", "published"},
		"range without end":   {"claims.csv", "t1,x,,,printed,measured,range,1,,0\n", "to"},
		"range upside down":   {"claims.csv", "t1,x,,,printed,measured,range,2,1,0\n", "to"},
		"end of no range":     {"claims.csv", "t1,x,,,printed,measured,=,1,2,0\n", "to"},
		"neutral":             {"claims.csv", "t1,x,,,printed,measured,=,1,,0,none\n", "neutral"},
		"digits":              {"claims.csv", "t1,x,,,printed,measured,=,1.234,,1\n", "decimals"},
		"decimals":            {"claims.csv", "t1,x,,,printed,measured,=,1,,-3\n", "decimals"},
		"a limit of 0":        {"claims.csv", "t1,x,,,printed,measured,<=,0,,0\n", "neutral"},
		"a limit of 0, 1":     {"claims.csv", "t1,x,,,printed,measured,<=,0,,0,1\n", "neutral"},
		"margin":              {"claims.csv", "t1,x,,,printed,measured,=,1,,0,,,wide,why\n", "margin"},
		"negative margin":     {"claims.csv", "t1,x,,,printed,measured,=,1,,0,,,-5,why\n", "margin"},
		"margin of a range":   {"claims.csv", "t1,x,,,printed,measured,range,1,2,0,,,5,why\n", "margin"},
		"margin, no reason":   {"claims.csv", "t1,x,,,printed,measured,=,1,,0,,,5\n", "margin_reason"},
		"makespans":           {"claims.csv", "t1,x,,,printed,measured,=,1,,0,,,,,yes\n", "makespans"},
		"cause of no table":   {"causes.csv", "t3,,,,script,p/t1,,,Because.\n", "quantity: \"\" selects no claim"},
		"cause of no row":     {"causes.csv", "t1,y,,,script,p/t1,,,Because.\n", "selects no claim"},
		"cause of a pair":     {"causes.csv", "t1,x,,x less y,script,p/t1,,,Because.\n", "selects no claim"},
		"cause by a pattern":  {"causes.csv", "t1,*,,,script,p/t1,,,Because.\n", "selects no claim"},
		"unknown cause":       {"causes.csv", "t1,,,,chance,p/t1,,,Because.\n", "cause"},
		"cause, no reason":    {"causes.csv", "t1,,,,script,p/t1\n", "reason"},
		"reading":             {"readings.csv", "t1,a,half,prose\n", "part"},
		"status":              {"conclusions.csv", "C1,s,1,t1,x,n=1,,>=,5,0,,,seeds,certain\n", "status"},
		"no id":               {"conclusions.csv", ",s,1,t1,x,n=1,,>=,5,0,,,seeds\n", "id"},
		"apart":               {"conclusions.csv", test + strings.Replace(test, "C1", "C2", 1) + "C1,,,t1,,,,<=,7\n", "4: id"},
		"test relation":       {"conclusions.csv", "C1,s,1,t1,x,n=1,,=,5,0,,,seeds\n", "relation"},
		"threshold":           {"conclusions.csv", "C1,s,1,t1,x,n=1,,>=,five,0,,,seeds\n", "threshold"},
		"test neutral":        {"conclusions.csv", "C1,s,1,t1,x,n=1,,>=,5,none,,,seeds\n", "neutral"},
		"rounding":            {"conclusions.csv", "C1,s,1,t1,x,n=1,,>=,5,0,half,,seeds\n", "rounding"},
		"rounding of neutral": {"conclusions.csv", "C1,s,1,t1,x,n=1,,>=,0,0,0.5,,seeds\n", "rounding"},
		"no sentence":         {"conclusions.csv", "C1,,1,t1,x,n=1,,>=,5,0,,,seeds\n", "sentence"},
		"no section":          {"conclusions.csv", "C1,s,,t1,x,n=1,,>=,5,0,,,seeds\n", "sentence"},
		"unknown answer":      {"conclusions.csv", "C1,s,1,t1,x,n=1,,>=,5,0,,,seeds,,short,maybe,Because.\n", "explains"},
		"no answer":           {"conclusions.csv", "C1,s,1,t1,x,n=1,,>=,5,0,,,seeds,,,short,,Because.\n", "because"},
		"two reasons":         {"conclusions.csv", "C1,s,1,t1,x,n=1,,>=,5,0,,,seeds,,,short,holds,Because.\nC1,,,t1,x,n=1,,>=,5,0,,,,,,,holds,Again.\n", "3: because"},
		"a second short form": {"conclusions.csv", "C1,s,1,t1,x,n=1,,>=,5,0,,,seeds,,,short\nC1,,,t1,x,n=1,,>=,5,0,,,,,,short\n", "3: sentence"},
		"missing and tested":  {"conclusions.csv", "C1,s,1,t1,,,,,,,,,why,missing\n", "status"},
	} {
		_, err := load(with(c.file, c.text))
		if err == nil || !strings.Contains(err.Error(), "p/"+c.file+":") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %q", what, err, c.says)
		}
	}
	if _, err := Load("p", fstest.MapFS{"claims.csv": {Data: []byte(strings.Replace(strings.Join(heads["claims.csv"], ","), "source", "sources", 1) + "\n")}}); err == nil {
		t.Error("an unknown column is accepted")
	}
	if _, err := Load("p", fstest.MapFS{}); err == nil {
		t.Error("a paper without claims.csv is accepted")
	}
}

// TestSelection: an empty field selects all, a list selects its values, and nothing selects parts of a value.
func TestSelection(t *testing.T) {
	cells := []Cell{{"WIDE", "n=1", "end"}, {"WIDE", "n=10", "end"}, {"NARROW", "n=1", "rho"}, Of("end"), {Row: "WIDE n=1"}}
	for _, c := range []struct {
		s   Selection
		has []int
	}{
		{Selection{}, []int{0, 1, 2, 3, 4}},
		{Selection{Row: "WIDE"}, []int{0, 1}},
		{Selection{Row: "WIDE", Column: "n=1"}, []int{0}},
		{Selection{Quantity: "end"}, []int{0, 1, 3}},
		{Selection{Row: "WIDE;NARROW", Column: "n=1"}, []int{0, 2}},
		{Selection{Row: "WIDE;WIDER", Column: "n=1"}, []int{0}},
		{Selection{Column: "n=1;n=2"}, []int{0, 2}},
		{Selection{Quantity: "rho;sigma"}, []int{2}},
		{Selection{Row: "WIDE n=1"}, []int{4}},
		{Selection{Row: "NARROW", Quantity: "end"}, nil},
		{Selection{Row: "WID"}, nil},
		{Selection{Column: "n=*"}, nil},
		{Selection{Quantity: "WIDE"}, nil},
	} {
		var has []int
		for i, cell := range cells {
			if c.s.Has(cell) {
				has = append(has, i)
			}
		}
		if !slices.Equal(has, c.has) {
			t.Errorf("%+v selects %v, want %v", c.s, has, c.has)
		}
	}
}

// TestSelectionOfAnyCells: what a selection has, it has by equal values alone. To change a letter of a cell or to list a
// value twice changes no other cell.
func TestSelectionOfAnyCells(t *testing.T) {
	word := rapid.SampledFrom([]string{"", "a", "b", "a b", "ab", "*"})
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) Cell {
			return Cell{word.Draw(t, name+" row"), word.Draw(t, name+" column"), word.Draw(t, name+" quantity")}
		}
		s, cell := Selection(draw("selection")), draw("cell")
		want := true
		for i := range 3 {
			field := reflect.ValueOf(s).Field(i).String()
			want = want && (field == "" || field == reflect.ValueOf(cell).Field(i).String())
		}
		if s.Has(cell) != want || (Selection{s.Row + ";" + s.Row, s.Column, s.Quantity}).Has(cell) != want && s.Row != "" {
			t.Fatalf("%+v has %+v: %v, want %v", s, cell, s.Has(cell), want)
		}
		if other := draw("other"); (cell.Compare(other) == 0) != (cell == other) || cell.Compare(other) != -other.Compare(cell) {
			t.Fatalf("%+v and %+v compare as %d", cell, other, cell.Compare(other))
		}
	})
}

// TestCausesInOrder: the first line that selects a claim and whose cause is possible counts.
func TestCausesInOrder(t *testing.T) {
	s, err := load(map[string]string{"claims.csv": good, "causes.csv": "t1,x,n=1,,script,p/t1,,,Own.\nt1,x,,,model,p/t1,,,Row.\n"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Cause{}
	for _, c := range s.All {
		got[c.Artefact+" "+c.String()] = s.Explain(&c, func(Cause) bool { return true }).Cause
		if e := s.Explain(&c, func(c Cause) bool { return c == FromModel }); e.Cause == FromScript {
			t.Errorf("%v has a cause that is not possible", c.Key)
		}
	}
	if want := map[string]Cause{"t1 x n=1": FromScript, "t1 x n=2": FromModel, "t1 x less y": Unknown, "t2 late": FromModel}; !maps.Equal(got, want) {
		t.Errorf("causes %v, want %v", got, want)
	}
	for _, c := range Causes {
		if c.Explains() == slices.Contains([]Cause{FromInput, FromUnpublished, Unknown}, c) {
			t.Errorf("%s explains: %v", c, c.Explains())
		}
	}
}

const code = "owner/name,0123456789012345678901234567890123456789,main.py,test,as it stands,"

// scripted loads claims with lines of script.csv and the cause unpublished before another one.
func scripted(lines string) (*Set, error) {
	return load(map[string]string{
		"claims.csv": strings.Replace(good, ",0.1,why", "", 1), "script.csv": lines,
		"causes.csv": "t1,x,,,unpublished,p/script,,,Not public.\nt1,,,,unknown,p/t1,,,Who knows.\n",
	})
}

// TestUnpublished: the cause counts only where the authors' code gives our number and not the printed one.
func TestUnpublished(t *testing.T) {
	sampled := func(mean, printSE float64, n int) verdict.Measurement {
		return verdict.Sampled(mean, 0.1, n, verdict.Executions, printSE)
	}
	for what, c := range map[string]struct {
		line string // what the authors' code gave, where 1.50 is printed and 0.035 allowed
		ours verdict.Measurement
		want Cause
	}{
		"it gives ours":                  {"100,1.7,0.1", sampled(1.71, 0, 100), FromUnpublished},
		"nearly ours":                    {"10000,1.7,0.1", sampled(1.72, 0, 10000), FromUnpublished},
		"neither":                        {"100,1.9,0.1", sampled(1.71, 0, 100), Unknown},
		"nearly neither":                 {"10000,1.75,0.1", sampled(1.71, 0, 10000), Unknown},
		"the printed number":             {"100,1.5,0.01", sampled(1.71, 0, 100), Unknown},
		"the printed number's margin":    {"100,1.53,0.001", sampled(1.54, 0, 100), Unknown},
		"both, in a wide interval":       {"4,1.7,1", sampled(1.71, 0, 100), Unknown},
		"print by its own error":         {"100,1.7,0.1", sampled(1.71, 0.2, 100), Unknown},
		"ours, measured without a draw":  {"100,1.7,0.1", verdict.Exactly(1.71), FromUnpublished},
		"ours once, without an interval": {"100,1.7,0.1", verdict.Measurement{Value: 1.7, StdErr: math.NaN(), Replicates: 1, Unit: verdict.TrainingRuns}, Unknown},
	} {
		s, err := scripted("t1,x,n=1,," + code + c.line + "\n")
		if err != nil {
			t.Fatal(err)
		}
		if e := s.ExplainMeasured(&s.All[0], c.ours); e.Cause != c.want {
			t.Errorf("the authors' code gives %s: the cause is %s, want %s", what, e.Cause, c.want)
		}
		// The same measurement of a claim without a line is not explained by another claim's line.
		if e := s.ExplainMeasured(&s.All[1], c.ours); e.Cause != Unknown {
			t.Errorf("%s: a claim that the authors' code was not run for has the cause %s", what, e.Cause)
		}
	}
}

// TestUnpublishedGoesFirst: a number that the authors' code shows to be unpublished is not explained by other data, and
// one that it does not show may be.
func TestUnpublishedGoesFirst(t *testing.T) {
	for theirs, want := range map[string]Cause{"100,1.7,0.1": FromUnpublished, "100,1.9,0.1": FromInput} {
		s, err := load(map[string]string{
			"claims.csv": strings.Replace(good, ",0.1,why", "", 1), "script.csv": "t1,x,n=1,," + code + theirs + "\n",
			"causes.csv": "t1,x,,,input,p/t1,,,Other data.\nt1,x,,,unpublished,p/script,,,Not public.\n",
		})
		if err != nil {
			t.Fatal(err)
		}
		if e := s.ExplainMeasured(&s.All[0], verdict.Sampled(1.71, 0.1, 100, verdict.Executions, 0)); e.Cause != want {
			t.Errorf("the authors' code gives %s: the cause is %s, want %s", theirs, e.Cause, want)
		}
	}
}

func TestScriptRefusesMistakes(t *testing.T) {
	for what, c := range map[string]struct{ lines, want string }{
		"another claim":        {"t1,x,n=3,," + code + "100,1,1", `no claim "x n=3"`},
		"twice":                {"t1,x,n=1,," + code + "100,1,1\nt1,x,n=1,," + code + "100,1,1", "listed twice"},
		"twice, by a repeat":   {"t1,x,n=2,," + code + "100,1,1\nt2,,,late," + code + "100,1,1", "listed twice"},
		"no function":          {"t1,x,n=1,," + strings.Replace(code, "test", "", 1) + "100,1,1", "which code"},
		"a short hash":         {"t1,x,n=1,," + strings.Replace(code, "01234567890", "0", 1) + "100,1,1", "full hash"},
		"one run":              {"t1,x,n=1,," + code + "1,1,1", "1 runs"},
		"a negative one":       {"t1,x,n=1,," + code + "100,1,-1", "negative"},
		"no line of the cause": {"t1,,,x less y," + code + "100,1,1", "script.csv does not say"},
	} {
		if _, err := scripted(c.lines + "\n"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", what, err, c.want)
		}
	}
}

// TestByMakespan: a number that compares makespans has a margin of 2 points, or 2 % of a ratio, if its own is less.
func TestByMakespan(t *testing.T) {
	for _, c := range []struct {
		unit              string
		makespans         bool
		relation          verdict.Relation
		published, margin float64
		want              float64
	}{
		{"%", true, verdict.Equal, 5, -1, 2.1},
		{"%", false, verdict.Equal, 5, -1, -1},
		{"%", true, verdict.Equal, 200, -1, 6},
		{"", true, verdict.Equal, 1.05, -1, 0.021},
		{"%", true, verdict.Equal, 5, 3, 3},
		{"%", true, verdict.AtMost, 5, -1, -1},
	} {
		cl := Claim{Unit: c.unit, OfMakespans: c.makespans, Claim: verdict.Claim{Relation: c.relation, Published: c.published, Decimals: 2, Margin: c.margin}}
		if got := cl.ByMakespan().Margin; math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v: margin %v", c, got)
		}
	}
}

// TestTests: a threshold is widened by its rounding on the side of the sentence, and a tie is not less.
func TestTests(t *testing.T) {
	s, err := load(with("conclusions.csv", "C1,s,1,t1,,,,>=,5,0,0.5,,seeds\nC1,,,t1,,,,<=,8,,0.5\nC2,s,1,t1,,,,<=,0,0\nC3,s,1,,,,,,,,,,A GPU,missing\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Tests[0].Limit != 4.5 || s.Tests[1].Limit != 8.5 || !math.IsNaN(s.Tests[1].NoDifference) || !math.IsNaN(s.Tests[3].Limit) {
		t.Errorf("%+v", s.Tests)
	}
	for _, c := range []struct {
		test            int
		value, distance float64
		want            verdict.State
	}{
		{0, 4.6, 0.1 / 4.5, verdict.Met},
		{0, 4.4, -0.1 / 4.5, verdict.Missed},
		{1, 8.4, 0.1 / 8.5, verdict.Met},
		{2, -3, 3, verdict.Met},
		{2, 3, -3, verdict.Missed},
		{2, 0, 0, verdict.Open},
	} {
		test := &s.Tests[c.test]
		if got := test.Judge(verdict.Exactly(c.value), test.Limit).Verdict.State(); got != c.want || math.Abs(test.Distance(c.value)-c.distance) > 1e-12 {
			t.Errorf("test %d, %v: %s at %v, want %s at %v", c.test, c.value, got, test.Distance(c.value), c.want, c.distance)
		}
	}
}
