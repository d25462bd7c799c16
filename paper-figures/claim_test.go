package figures

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
)

const (
	claimsHead = "artefact,row,column,quantity,kind,basis,relation,published,to,decimals,neutral,unit,margin,margin_reason,makespans,missing,also,source,home_artefact,home_row,home_column,home_quantity\n"
	causesHead = "artefact,row,column,quantity,cause,evidence,table,columns,reason\n"
	because1   = causesHead + "t1,,,,script,p/t1,,,Because.\n"
	good       = claimsHead +
		"t1,x,n=1,,printed,measured,=,1.50,,2,,s,,,,,,Table 1,,,,\n" +
		"t1,x,n=2,,printed,measured,range,85,90,0,,%,,,,,abstract,Table 1,,,,\n" +
		"t1,,,x less y,stated,measured,<=,0,,0,0,%,,,,,,6.1,,,,\n" +
		"t2,,,late,,,,,,,,,,,,,,,t1,x,n=2,\n"
)

// The cells of the good claims.
var n1, n2, xLessY = claim.Cell{Row: "x", Column: "n=1"}, claim.Cell{Row: "x", Column: "n=2"}, claim.Of("x less y")

// load reads data files, given by name with their text and another text; an empty text means that there is no file.
func load(claims, causes string, more ...string) (*claim.Set, error) {
	files := fstest.MapFS{"claims.csv": {Data: []byte(claims)}}
	if causes != "" {
		files["causes.csv"] = &fstest.MapFile{Data: []byte(causes)}
	}
	for i := 0; i < len(more); i += 2 {
		files[more[i]] = &fstest.MapFile{Data: []byte(more[i+1])}
	}
	set, err := claim.Load("p", files)
	return set, err
}

func TestMatch(t *testing.T) {
	var claims []claim.Claim
	for name, b := range map[string]claim.Basis{"m": claim.Measured, "d": claim.Derived, "h": claim.Hardware, "u": claim.Unpublished, "s": claim.StandIn, "i": claim.Input} {
		claims = append(claims, claim.Claim{Key: claim.Key{Cell: claim.Of(name)}, Basis: b, Claim: verdict.Claim{Published: 3}})
	}
	slices.SortFunc(claims, func(a, b claim.Claim) int {
		return slices.Index([]string{"m", "d", "h", "u", "s", "i"}, a.Quantity) - slices.Index([]string{"m", "d", "h", "u", "s", "i"}, b.Quantity)
	})
	inputs := func(names string, value float64) map[claim.Cell]float64 {
		out := map[claim.Cell]float64{}
		for _, name := range strings.Split(names, "") {
			out[claim.Of(name)] = value
		}
		return out
	}
	const noInputs = "-"
	for what, c := range map[string]struct {
		// Each letter is a cell. inputs are i unless they are given.
		readings, missing, inputs string
		value                     float64
		key                       string // the key that is wrong; empty for none
	}{
		"without hardware":          {readings: "mds m", missing: "hus"},
		"with hardware":             {readings: "mdhs", missing: "us"},
		"measured, unpublished":     {readings: "mdsu", missing: "hus", key: "u"},
		"a stand-in not measured":   {readings: "md", missing: "hus", key: "s"},
		"a stand-in not missing":    {readings: "mds", missing: "hu", key: "s"},
		"an input measured as well": {readings: "mds i", missing: "hus"},
		"a mistyped key":            {readings: "mdHs", missing: "hus", key: "H"},
		"in another reading":        {readings: "mds M", missing: "hus", key: "M"},
		"a mistyped missing key":    {readings: "mds", missing: "Hhus", key: "H"},
		"measured but missing":      {readings: "ds", missing: "hmus", key: "m"},
		"not measured":              {readings: "ms", missing: "hus", key: "d"},
		"no readings":               {missing: "hus", key: "m"},
		"hardware forgotten":        {readings: "mds", missing: "us", key: "h"},
		"unpublished forgotten":     {readings: "mds", missing: "hs", key: "u"},
		"an input forgotten":        {readings: "mds", missing: "hus", inputs: noInputs, key: "i"},
		"an input with another key": {readings: "mds", missing: "hus", inputs: "iI", key: "I"},
		"a measured input":          {readings: "mds", missing: "hus", inputs: "im", key: "m"},
		"another value of an input": {readings: "mds", missing: "hus", inputs: "i", value: 4, key: "i"},
		"an input as the default":   {readings: "mdis", missing: "hus", key: "i"},
	} {
		o := &Output{Missing: map[claim.Cell]string{}, Inputs: inputs(cmp.Or(c.inputs, "i"), cmp.Or(c.value, 3))}
		if c.inputs == noInputs {
			o.Inputs = nil
		}
		for i, names := range strings.Fields(c.readings) {
			values := o.Under(fmt.Sprint(i))
			for _, name := range strings.Split(names, "") {
				values[claim.Of(name)] = Exactly(3)
			}
		}
		for _, name := range strings.Split(c.missing, "") {
			o.Missing[claim.Of(name)] = "not here"
		}
		err := o.match(&claim.Set{All: claims}, "")
		key, wrong := errors.AsType[*KeyError](err)
		if wrong != (c.key != "") || wrong && key.Key != c.key {
			t.Errorf("%s: %v, want an error about %q", what, err, c.key)
		}
	}
}

// TestRepeatedNumbersCountOnce, and other readings not at all.
func TestRepeatedNumbersCountOnce(t *testing.T) {
	c, err := load(good, because1)
	if err != nil {
		t.Fatal(err)
	}
	values := Values{n1: Exactly(1.5), n2: Exactly(99), xLessY: Exactly(-1)}
	record := func(artefact string, readings ...Reading) manifest.Artefact {
		return manifest.Artefact{Paper: "p", Name: artefact, Rows: given(c, readings...).judge(c.Of(artefact))}
	}
	m := manifest.Manifest{Papers: []manifest.Paper{{Name: "p", Artefacts: []manifest.Artefact{
		record("t1", Reading{Values: values}, Reading{Name: "another", Values: Values{n1: Exactly(2)}}),
		record("t2", Reading{Values: Values{claim.Of("late"): Exactly(99)}}),
	}}}}
	if got := m.Count(claim.Printed); got[verdict.Reproduced] != 1 || got[verdict.Deviates] != 1 || got.Total() != 2 {
		t.Errorf("printed: %v", got)
	}
	if got := m.Count(claim.Stated); got[verdict.Reproduced] != 1 || got.Total() != 1 {
		t.Errorf("stated: %v", got)
	}
	csv := written(t, m.Papers[0])["claims.csv"]
	lines := strings.Split(strings.TrimSpace(csv), "\n")
	if len(lines) != 5 || !strings.HasPrefix(lines[3], "p,t1,x n=2,printed,default,range,85,99,99,99,,%,0,DEVIATES,script,Because.,Table 1,90,") {
		t.Errorf("claims.csv\n%s", csv)
	}
}

// A row has the verdict by the claim's own margin, and beside it that by the margin which claims
// without one have.
func TestVerdictByTheDefaultMargin(t *testing.T) {
	c, err := load(strings.Replace(good, ",s,,,", ",s,0.5,a wide one,", 1), "")
	if err != nil {
		t.Fatal(err)
	}
	row := given(c, Reading{Values: Values{n1: Exactly(1.9)}}).judge(c.Of("t1")[:1])[0]
	if row.Verdict != verdict.Reproduced || row.ByDefaultMargin != verdict.Deviates {
		t.Errorf("1.9 for 1.50 with a margin of 0.5: %s, by the default margin %s", row.Verdict, row.ByDefaultMargin)
	}
}

// A number that compares makespans has a second verdict, by a margin of 2 % of the longer makespan.
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
		{"%", true, 50, 52.9, -1, verdict.Reproduced}, // a makespan is 150 % of the other, and 2 % of it are 3 points
		{"%", true, 50, 53.1, -1, verdict.Deviates},
		{"", true, 1.04, 1.06, -1, verdict.Reproduced},
		{"", true, 1.04, 1.07, -1, verdict.Deviates},
	} {
		judged := claim.Claim{Unit: c.unit, OfMakespans: c.makespans, Claim: verdict.Claim{Relation: verdict.Equal, Published: c.published, Decimals: 2, Margin: c.margin}}
		d := &Data{Claims: &claim.Set{}}
		if row := d.measuredRow(&judged, Exactly(c.measured)); row.ByMakespanMargin != c.want {
			t.Errorf("%+v: %s", c, row.ByMakespanMargin)
		}
	}
}

func TestQuickRunsGiveNoVerdicts(t *testing.T) {
	c, err := load(good, "")
	if err != nil {
		t.Fatal(err)
	}
	d := given(c, Reading{Values: Values{n1: Exactly(7)}})
	d.Scale.Quick = true
	for _, r := range d.judge(c.Of("t1")) {
		if r.Verdict != verdict.None || r.Cause != "" {
			t.Errorf("%+v", r)
		}
	}
}

// TestReasonsOfConclusions: each conclusion has a short form. A reason names artefacts of the paper and has no measured
// number typed in.
func TestReasonsOfConclusions(t *testing.T) {
	for _, paper := range []string{"deadline", "drl", "far", "hierarchical", "mfi", "miso"} {
		rows, err := claim.ReadCSV[claim.TestLine](paper, os.DirFS(paper), "conclusions.csv")
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(paper + "/" + paper + ".go")
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range rows.Rows {
			if c.Sentence != "" && c.Short == "" {
				t.Error(rows.Fail(i, "short", errors.New("the sentence has no short form")))
			}
			if regexp.MustCompile(`\d\.\d|\d ?%`).MatchString(c.Because) {
				t.Error(rows.Fail(i, "because", errors.New("a measured number is not typed in")))
			}
			for _, seen := range regexp.MustCompile(`\(see ([^)]*)\)`).FindAllStringSubmatch(c.Because, -1) {
				if !bytes.Contains(text, []byte(strconv.Quote(seen[1])+",")) {
					t.Error(rows.Fail(i, "because", fmt.Errorf("the paper has no artefact %q", seen[1])))
				}
			}
		}
	}
}

// TestLoadNeedsAReference: a paper that references.csv does not know has no heading.
func TestLoadNeedsAReference(t *testing.T) {
	files := fstest.MapFS{"claims.csv": {Data: []byte(good)}, "terms.csv": {Data: []byte("name,meaning\nA,B\n")}}
	if _, err := Load("p", files); err == nil || !strings.Contains(err.Error(), `references.csv has no line for the paper "p"`) {
		t.Errorf("error %v", err)
	}
	if p, err := Load("far", fstest.MapFS{"claims.csv": files["claims.csv"]}); err != nil || p.Terms != nil {
		t.Errorf("without terms: %+v, %v", p.Terms, err)
	}
	if p, err := Load("far", files); err != nil || !strings.HasPrefix(p.Heading, "FAR: ") || len(p.Terms) != 1 {
		t.Errorf("%+v, %v", p.Introduction, err)
	}
}
