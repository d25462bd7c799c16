package figures

import (
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"miglab/harness/strictcsv"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
)

// table has rows below the head of conclusions.csv. A row that is too short ends with empty fields.
func table(rows ...string) string {
	columns := strictcsv.Columns[claim.TestLine]()
	out := strings.Join(columns, ",") + "\n"
	for line := range strings.SplitSeq(strings.Join(rows, "\n"), "\n") {
		fields, err := csv.NewReader(strings.NewReader(line)).Read()
		if err != nil {
			panic(err)
		}
		out += line + strings.Repeat(",", len(columns)-len(fields)) + "\n"
	}
	return out
}

func loadConclusions(conclusions string) (*claim.Set, error) {
	return load(good, "", "conclusions.csv", conclusions)
}

// values are a reading whose values are means with an interval of 0.1 on each side.
func values(name string, weight claim.Weight, of map[claim.Cell]float64) Reading {
	r := Reading{Name: name, Values: Values{}, from: claim.Reading{Weight: weight}}
	for key, v := range of {
		r.Values[key] = Measurement{Value: v, Low: v - 0.1, High: v + 0.1, StdErr: 0.05, Replicates: 100, Unit: verdict.Executions}
	}
	return r
}

// one is a reading with one value.
func one(name string, weight claim.Weight, v float64) Reading {
	return values(name, weight, map[claim.Cell]float64{{Row: "gain"}: v})
}

// The answer follows from the readings by rule.
func TestAnswers(t *testing.T) {
	const atLeast5rounded = `C1,"gains of 5 points",1,a,gain,,,>=,5,0,0.5,,seeds,`
	const atLeast5 = `C1,"gains of 5 points",1,a,gain,,,>=,5,0,,,seeds,`
	for name, c := range map[string]struct {
		row      string
		readings []Reading
		want     verdict.Answer
		met, of  int
	}{
		"rounded print":                    {atLeast5rounded, []Reading{one("", "", 4.7)}, verdict.Holds, 1, 1},
		"beyond the rounding":              {atLeast5rounded, []Reading{one("", "", 4.3)}, verdict.HoldsInPart, 0, 1},
		"all readings":                     {atLeast5, []Reading{one("", "", 6), one("x", "", 5.2)}, verdict.Holds, 2, 2},
		"nine of ten":                      {atLeast5, append([]Reading{one("", "", 4)}, repeated(9, 6)...), verdict.HoldsInPart, 9, 10},
		"nine of ten, default":             {atLeast5, append(append([]Reading{one("", "", 6)}, repeated(8, 6)...), one("last", "", 4)), verdict.Holds, 9, 10},
		"a second default":                 {atLeast5, append(append([]Reading{one("", "", 6)}, repeated(18, 6)...), one("last", "default", 4)), verdict.HoldsInPart, 19, 20},
		"another reading alone":            {atLeast5, []Reading{one("", "", -1), one("x", "", 6)}, verdict.HoldsInPart, 1, 2},
		"its sign":                         {atLeast5, []Reading{one("", "", 1), one("x", "", 2)}, verdict.HoldsInPart, 0, 2},
		"the other sign":                   {atLeast5, []Reading{one("", "", -1), one("x", "", -2)}, verdict.DoesNotHold, 0, 2},
		"no sign given":                    {strings.Replace(atLeast5, ",5,0,,", ",5,,,", 1), []Reading{one("", "", 1)}, verdict.DoesNotHold, 0, 1},
		"some values":                      {atLeast5, []Reading{values("", "", map[claim.Cell]float64{claim.At("gain", "a"): 6, claim.At("gain", "b"): -1})}, verdict.HoldsInPart, 0, 1},
		"one of two limits":                {strings.Replace(atLeast5, ",5,0,,", ",5,,,", 1) + "\nC1,,,a,gain,,,<=,7,,,,,", []Reading{one("", "", 9)}, verdict.DoesNotHold, 0, 1},
		"both limits":                      {atLeast5 + "\nC1,,,a,gain,,,<=,7,,,,,", []Reading{one("", "", 6)}, verdict.Holds, 1, 1},
		"open":                             {atLeast5, []Reading{one("", "", 5.05), one("x", "", 6)}, verdict.Undecided, 1, 2},
		"open, others miss":                {atLeast5, []Reading{one("", "", 0.05), one("x", "", -1)}, verdict.DoesNotHold, 0, 2},
		"post hoc":                         {atLeast5, []Reading{one("", "", -1), one("x", "post hoc", 6)}, verdict.DoesNotHold, 0, 1},
		"a part":                           {atLeast5, []Reading{one("", "", -1), one("x", "part", 6)}, verdict.DoesNotHold, 0, 1},
		"the row is post hoc":              {atLeast5 + "post hoc", []Reading{one("", "", 6)}, verdict.NotCounted, 1, 1},
		"a model":                          {atLeast5 + "model", []Reading{one("", "", 6)}, verdict.InTheModel, 1, 1},
		"less training":                    {atLeast5 + "budget", []Reading{one("", "", -1), one("x", "", -2)}, verdict.Undecided, 0, 2},
		"less training, enough":            {atLeast5 + "budget", []Reading{one("", "", 6)}, verdict.Holds, 1, 1},
		"less training, a part":            {atLeast5 + "budget", []Reading{one("", "", 1)}, verdict.HoldsInPart, 0, 1},
		"nothing measured":                 {atLeast5, nil, verdict.CannotRun, 0, 0},
		"missing":                          {`C1,"runs on hardware",1,,,,,,,,,,A GPU,missing`, nil, verdict.CannotRun, 0, 0},
		"a tie does not beat":              {strings.Replace(atLeast5, ",5,0,,", ",0,0,,", 1), []Reading{{Values: Values{{Row: "gain"}: Exactly(0)}}}, verdict.DoesNotHold, 0, 1},
		"the same measurement counts once": {atLeast5, append([]Reading{one("", "", 4)}, slices.Repeat([]Reading{one("x", "", 4)}, 3)...), verdict.HoldsInPart, 0, 1},
		"beside the paper":                 {atLeast5 + "beside", []Reading{one("", "", 6)}, verdict.NotCounted, 1, 1},
		"the paper's own error":            {atLeast5rounded, []Reading{printed(one("", "", 4), 0.5)}, verdict.Undecided, 0, 1},
		"the paper's limit has no error":   {atLeast5, []Reading{printed(one("", "", 4), 0.5)}, verdict.HoldsInPart, 0, 1},
		"one training run": {atLeast5, []Reading{{Values: Values{{Row: "gain"}: {
			Value: 9, Low: math.NaN(), High: math.NaN(), StdErr: math.NaN(),
			Replicates: 1, Unit: verdict.TrainingRuns,
		}}}}, verdict.Undecided, 0, 1},
	} {
		claims, err := loadConclusions(table(c.row))
		if err != nil {
			t.Fatal(name, err)
		}
		for _, a := range []verdict.Answer{verdict.Holds, verdict.NotCounted} { // the sentence of another answer is not shown
			claims.Tests = append(claims.Tests, claim.Test{TestLine: claim.TestLine{ID: "C1", Status: claim.Impossible, Explains: a, Because: "It " + string(a)}})
		}
		p := manifest.Paper{Name: "p", Artefacts: []manifest.Artefact{{Name: "a", Tests: given(claims, c.readings...).tests("a")}}}
		conclude(&p, claims)
		got := p.Conclusions[0]
		if want := map[verdict.Answer]string{verdict.Holds: "It holds", verdict.NotCounted: "It not counted"}[c.want]; got.Because != want {
			t.Errorf("%s: %q is said of an answer %s", name, got.Because, got.Answer)
		}
		if got.Answer != c.want || got.Met != c.met || got.Readings != c.of {
			t.Errorf("%s: %s, %d of %d; want %s, %d of %d\n%+v", name, got.Answer, got.Met, got.Readings, c.want, c.met, c.of, got)
		}
	}
}

// What holds in part says which: readings, values or the sign. The tests stand in the files of results.
func TestParts(t *testing.T) {
	for want, r := range map[verdict.Part][]Reading{
		verdict.SomeReadings: {values("", "", map[claim.Cell]float64{claim.At("gain", "a"): 6, claim.At("gain", "b"): -1}), one("x", "", 6)},
		verdict.SomeValues:   {values("", "", map[claim.Cell]float64{claim.At("gain", "a"): 6, claim.At("gain", "b"): 1}), values("x", "", map[claim.Cell]float64{claim.At("gain", "a"): 7, claim.At("gain", "b"): 1})},
		verdict.SignAlone:    {one("", "", 1)},
		"":                   {one("", "", -1)},
	} {
		claims, err := loadConclusions(table(`C1,"gains of 5 points",1,a,gain,,,>=,5,0,0.5,,seeds,`))
		if err != nil {
			t.Fatal(err)
		}
		p := manifest.Paper{Name: "p", Artefacts: []manifest.Artefact{{Name: "a", Tests: given(claims, r...).tests("a")}}}
		conclude(&p, claims)
		if c := p.Conclusions[0]; c.Part != want || (c.Answer == verdict.HoldsInPart) != (want != "") {
			t.Errorf("%q: %+v", want, c)
		}
		files := written(t, p)
		if csv := files["conclusions.csv"]; !strings.Contains(csv, ",a,gain,>=,5,0,0.5,,,,") {
			t.Errorf("%s: the test is not shown", csv)
		}
		if values := files["conclusion-values.csv"]; strings.Count(values, "\np,C1,a,") != len(p.Artefacts[0].Tests) {
			t.Errorf("%s: a value is not shown", values)
		} else if want == verdict.SignAlone && !strings.Contains(values, "\np,C1,a,default,default,gain,1,0.9,1.1,>=,5,0,0.5,missed,,0\n") {
			t.Error(values)
		}
	}
}

// A sentence with a word for a size, whose sign was tested, says so.
func TestSizeWord(t *testing.T) {
	claims, err := loadConclusions(table(`C1,"large gains",1,a,gain,,,>=,0,0,,,seeds,,large`))
	if err != nil {
		t.Fatal(err)
	}
	for gain, want := range map[float64]verdict.Part{6: verdict.SignTested, -1: ""} {
		p := manifest.Paper{Name: "p", Artefacts: []manifest.Artefact{{Name: "a", Tests: given(claims, one("", "", gain)).tests("a")}}}
		conclude(&p, claims)
		page := Plain(written(t, p)["p/CONCLUSIONS.md"])
		if c := p.Conclusions[0]; c.Part != want || !strings.Contains(page, "“large” is tested here by its sign alone.") {
			t.Errorf("%v: %+v\n%s", gain, c, page)
		}
	}
}

// TestWorstOfDefaults: the page of a paper has the worst value of all defaults, and not that of the first one. With a
// word for a size, which is tested by its sign, it has that of all readings.
func TestWorstOfDefaults(t *testing.T) {
	for size, want := range map[string]string{
		"":      "The default's worst value, gain (x), is 3 [2.9, 3.1]; the sentence needs more than 0.",
		"large": "The worst value of all readings, gain (z), is 1 [0.9, 1.1]; the sentence needs more than 0.",
	} {
		claims, err := loadConclusions(table(`C1,"large gains",1,a,gain,,,>=,0,0,,,seeds,,` + size))
		if err != nil {
			t.Fatal(err)
		}
		d := given(claims, one("", "", 6), one("x", claim.AnotherDefault, 3), one("y", claim.AnotherDefault, 4), one("z", "", 1))
		p := manifest.Paper{Name: "p", Artefacts: []manifest.Artefact{{Name: "a", Tests: d.tests("a")}}}
		conclude(&p, claims)
		if page := Plain(written(t, p)["p/README.md"]); !strings.Contains(page, want) {
			t.Error(page)
		}
	}
}

// A reading that was found after the run is shown as such, and not counted.
func TestFound(t *testing.T) {
	claims, err := loadConclusions(table(`C1,"gains of 5 points",1,a,gain,,,>=,5,0,,,seeds,`))
	if err != nil {
		t.Fatal(err)
	}
	d := &Data{Claims: claims}
	d.Readings = []Reading{one("", "", -1), one("x", "post hoc", 6), one("y", "post hoc", -2)}
	p := manifest.Paper{Name: "p", Artefacts: []manifest.Artefact{{Name: "a", Tests: d.tests("a")}}}
	conclude(&p, claims)
	files := written(t, p)
	if page := files["p/CONCLUSIONS.md"]; !strings.Contains(page, "| default  | missed | gain ") || strings.Contains(page, "| x ") {
		t.Error(page)
	}
	for _, want := range []string{",x,not counted,", ",y,not counted,"} {
		if got := files["conclusion-values.csv"]; !strings.Contains(got, want) {
			t.Errorf("%s lacks %q", got, want)
		}
	}
}

// TestDefaultValues: the page lists the values of the default, the least favourable first, unless all are met.
func TestDefaultValues(t *testing.T) {
	for b, want := range map[float64]bool{-1: true, 7: false} {
		claims, err := loadConclusions(table(`C1,"gains of 5 points",1,a,gain,,,>=,5,0,,,seeds,`))
		if err != nil {
			t.Fatal(err)
		}
		r := values("", "", map[claim.Cell]float64{claim.At("gain", "a"): 6, claim.At("gain", "b"): b})
		p := manifest.Paper{Name: "p", Artefacts: []manifest.Artefact{{Name: "a", Tests: given(claims, r).tests("a")}}}
		conclude(&p, claims)
		page := Plain(written(t, p)["p/CONCLUSIONS.md"])
		const rows = "| gain b | -1 [-1.1, -0.9] | missed | | gain a | 6 [5.9, 6.1] | met |"
		if strings.Contains(page, "By default: | value ") != want || strings.Contains(page, rows) != want ||
			!strings.Contains(page, "Each value must be at least 5.") {
			t.Errorf("%v:\n%s", b, page)
		}
	}
}

// What a conclusion in part, of agents that learned less or undecided says in words. Open values stand beside the missed ones.
func TestPlain(t *testing.T) {
	two := func(a, b float64) Reading {
		return values("", "", map[claim.Cell]float64{claim.At("gain", "a"): a, claim.At("gain", "b"): b})
	}
	for want, c := range map[string]struct {
		status string
		values Reading
	}{
		"Met under 0 of 1 readings, and by 1 of the 2 values of the default.": {"", two(6, -1)},
		"Met under 0 of 1 readings, and by 0 of the 2 values of the default. The agents learned for fewer steps than the paper's, so that a miss does not refute the sentence: runs as long as the paper's would decide it.": {"budget", two(5, -1)},
		"Met under 0 of 1 readings, and by 0 of the 2 values of the default.":                                                                                   {"", two(-1, -2)},
		"Met under 0 of 1 readings, and by 1 of the 2 values of the default. About 510 executions would decide the open values, the most for gain a (default).": {"", two(5.05, 6)},
	} {
		claims, err := loadConclusions(table(`C1,"gains of 5 points",1,a,gain,,,>=,5,0,,,seeds,` + c.status))
		if err != nil {
			t.Fatal(err)
		}
		p := manifest.Paper{Name: "p", Artefacts: []manifest.Artefact{{Name: "a", Tests: given(claims, c.values).tests("a")}}}
		conclude(&p, claims)
		if got := written(t, p)["conclusions.csv"]; !strings.Contains(got, want) {
			t.Errorf("%q\nwant\n%q", got, want)
		}
	}
}

// printed gives the value of a reading an error of the paper's own sample.
func printed(r Reading, se float64) Reading {
	for cell, m := range r.Values {
		m.PrintSE = se
		r.Values[cell] = m
	}
	return r
}

// repeated are readings with nearly the same value.
func repeated(n int, v float64) (out []Reading) {
	for i := range n {
		out = append(out, one(fmt.Sprint(i), "", v+float64(i+1)/1000))
	}
	return out
}

// given returns data with the readings of an artefact.
func given(claims *claim.Set, readings ...Reading) *Data {
	return &Data{Claims: claims, Output: Output{Readings: readings}}
}

// Several rows are one conclusion. The least favourable value is shown with its interval and threshold.
func TestConclusionOfTwoRows(t *testing.T) {
	claims, err := loadConclusions(table(`C1,both,1,a,wide,,,<=,1.1,,,,p_sup,`, `C1,,,b,narrow,,,<=,1.1,,,,p_sup,`, `C2,other,2,gone,x,,,>=,1,,,,,`))
	if err != nil {
		t.Fatal(err)
	}
	p := manifest.Paper{Name: "p", Artefacts: []manifest.Artefact{
		{Name: "a", Tests: given(claims, values("", "", map[claim.Cell]float64{claim.At("wide", "1"): 0.9, claim.At("wide", "2"): 0.95})).tests("a")},
		{Name: "b", Tests: given(claims, values("text", "", map[claim.Cell]float64{claim.At("narrow", "1"): 1.5})).tests("b")},
	}}
	conclude(&p, claims)
	if len(p.Conclusions) != 1 {
		t.Fatalf("%d conclusions: one that rests on an artefact that is not done is left out", len(p.Conclusions))
	}
	c := p.Conclusions[0]
	if c.Answer != verdict.HoldsInPart || c.Met != 1 || c.Readings != 2 {
		t.Errorf("%+v", c)
	}
	for _, want := range []string{
		"wide 2: 0.95 [0.85, 1.05], which must be at most 1.1; narrow 1: 1.5 [1.4, 1.6], which must be at most 1.1 (text)",
		"Met under 1 of 2 readings, and by 2 of the 3 values of the default.",
		"\np,C1,holds in part,under some readings,1,2,",
	} {
		if csv := written(t, p)["conclusions.csv"]; !strings.Contains(csv, want) {
			t.Errorf("%s lacks %q", csv, want)
		}
	}
}

// Of the rows of a reading, that with the least favourable value is shown.
func TestNumbersOfRows(t *testing.T) {
	claims, err := loadConclusions(table(`C1,all,1,a,large,,,>=,5,0,,,p_sup,`, `C1,,,a,,,small,>=,2,0,,,,`, `C1,,,a,,,none,>=,0,0,,,,`))
	if err != nil {
		t.Fatal(err)
	}
	for want, small := range map[string]float64{
		"small: 0.1 [0, 0.2], which must be at least 2":   0.1,
		"large 1: 1 [0.9, 1.1], which must be at least 5": 2.5,
	} {
		r := values("", "", map[claim.Cell]float64{claim.At("large", "1"): 1, claim.At("large", "2"): 3, claim.Of("small"): small, claim.Of("none"): 3})
		p := manifest.Paper{Name: "p", Artefacts: []manifest.Artefact{{Name: "a", Tests: given(claims, r).tests("a")}}}
		conclude(&p, claims)
		if got := written(t, p)["conclusions.csv"]; !strings.Contains(got, `,"`+want+`",`) {
			t.Errorf("%q\nwant\n%q", got, want)
		}
	}
}

// A conclusion that nothing measures is an error, and so is a value that nothing needs.
func TestConclusionsNeedValues(t *testing.T) {
	claims, err := loadConclusions(table(`C1,s,1,t1,y,,,>=,5,0,,,seeds,`))
	if err != nil {
		t.Fatal(err)
	}
	reads := func(cells ...claim.Cell) *Output {
		o := &Output{}
		for _, c := range cells {
			o.Under("")[c] = Exactly(1)
		}
		return o
	}
	check := func(measured ...claim.Cell) error {
		return Check(claims, "p", map[string]*Output{
			"t1": reads(append(measured, n1, n2, xLessY)...), "t2": reads(claim.Of("late")),
		})
	}
	if err := check(); err == nil {
		t.Error("a conclusion that nothing measures is accepted")
	}
	if err := check(claim.Cell{Row: "y"}); err != nil {
		t.Error(err)
	}
	if err := check(claim.Cell{Row: "y"}, claim.Cell{Row: "x"}); err == nil {
		t.Error("a value that neither a claim nor a conclusion needs is accepted")
	}
}
