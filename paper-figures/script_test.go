package figures

import (
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"miglab/paper-figures/verdict"
)

const (
	scriptHead = "artefact,claim,repository,commit,file,function,settings,runs,mean,sd\n"
	code       = "owner/name,0123456789012345678901234567890123456789,main.py,test,as it stands,"
)

// scripted loads claims with rows of script.csv and the cause unpublished before another one.
func scripted(rows string) (*Claims, error) {
	return LoadClaims("p", fstest.MapFS{
		"published.csv": {Data: []byte(good)},
		"script.csv":    {Data: []byte(scriptHead + rows)},
		"causes.csv": {Data: []byte(causesHead + "t1,x n=*,unpublished,p/script,script-t1: authors' code,Not public.\n" +
			"t1,*,unknown,p/t1,,Who knows.\n")},
	})
}

// TestUnpublished: the cause counts only where the authors' code gives our number and not the printed one.
func TestUnpublished(t *testing.T) {
	for what, c := range map[string]struct {
		rows string // what the authors' code gave, where 1.50 is printed and 0.035 allowed
		ours Measurement
		want Cause
	}{
		"it gives ours":                  {"100,1.7,0.1", verdict.Sampled(1.71, 0.1, 100, verdict.Executions, 0), "unpublished"},
		"nearly ours":                    {"10000,1.7,0.1", verdict.Sampled(1.72, 0.1, 10000, verdict.Executions, 0), "unpublished"},
		"neither":                        {"100,1.9,0.1", verdict.Sampled(1.71, 0.1, 100, verdict.Executions, 0), "unknown"},
		"nearly neither":                 {"10000,1.75,0.1", verdict.Sampled(1.71, 0.1, 10000, verdict.Executions, 0), "unknown"},
		"the printed number":             {"100,1.5,0.01", verdict.Sampled(1.71, 0.1, 100, verdict.Executions, 0), "unknown"},
		"the printed number's margin":    {"100,1.53,0.001", verdict.Sampled(1.54, 0.1, 100, verdict.Executions, 0), "unknown"},
		"both, in a wide interval":       {"4,1.7,1", verdict.Sampled(1.71, 0.1, 100, verdict.Executions, 0), "unknown"},
		"print by its own error":         {"100,1.7,0.1", verdict.Sampled(1.71, 0.1, 100, verdict.Executions, 0.2), "unknown"},
		"ours, measured without a draw":  {"100,1.7,0.1", Exactly(1.71), "unpublished"},
		"ours once, without an interval": {"100,1.7,0.1", Measurement{Value: 1.7, StdErr: math.NaN(), Replicates: 1, Unit: verdict.TrainingRuns}, "unknown"},
	} {
		claims, err := scripted("t1,x n=1," + code + c.rows + "\n")
		if err != nil {
			t.Fatal(err)
		}
		if e := claims.explain(&claims.All[0], c.ours); e.Cause != c.want {
			t.Errorf("the authors' code gives %s: the cause is %s, want %s", what, e.Cause, c.want)
		}
		// The same measurement of a claim without a row is not explained by another claim's row.
		if e := claims.explain(&claims.All[1], c.ours); e.Cause != "unknown" {
			t.Errorf("%s: a claim that the authors' code was not run for has the cause %s", what, e.Cause)
		}
	}
}

func TestScriptRefusesMistakes(t *testing.T) {
	for what, c := range map[string]struct{ rows, want string }{
		"another claim":       {"t1,x n=3," + code + "100,1,1", `no claim "x n=3"`},
		"twice":               {"t1,x n=1," + code + "100,1,1\nt1,x n=1," + code + "100,1,1", "listed twice"},
		"no function":         {"t1,x n=1," + strings.Replace(code, "test", "", 1) + "100,1,1", "which code"},
		"a short hash":        {"t1,x n=1," + strings.Replace(code, "01234567890", "0", 1) + "100,1,1", "full hash"},
		"one run":             {"t1,x n=1," + code + "1,1,1", "1 runs"},
		"a negative one":      {"t1,x n=1," + code + "100,1,-1", "negative"},
		"no row of the cause": {"t1,x less y," + code + "100,1,1", "script.csv does not say"},
	} {
		if _, err := scripted(c.rows + "\n"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", what, err, c.want)
		}
	}
}

// TestScriptTable: the evidence shows print, the authors' code and ours, and whether they agree.
func TestScriptTable(t *testing.T) {
	claims, err := scripted("t1,x n=1," + code + "100,1.7,0.1\nt1,x n=2," + code + "100,87,0.1\n")
	if err != nil {
		t.Fatal(err)
	}
	claims.heads = []tablePart{{"t1", "artefact", "The first"}}
	o, err := Script(Builds{"t1": func(*Data) (*Output, error) {
		return Read(Reading{Values: Values{"x n=1": Exactly(1.7), "x n=2": Exactly(80)}}), nil
	}})(&Data{Claims: claims})
	if err != nil || len(o.Tables) != 1 {
		t.Fatalf("%d tables, %v", len(o.Tables), err)
	}
	var text strings.Builder
	if err := o.Tables[0].Encode(&text, "csv"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"x n=1,1.50,1.700,0.020,100,1.700,0.000,0.000,0.020,DEVIATES,yes,\"owner/name@0123456, main.py, test\",as it stands\n",
		"x n=2,85,87.0,0.0,100,80.0,0.0,7.0,0.0,REPRODUCED,no,,\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, text.String())
		}
	}
	if got := o.Tables[0].numbersAbout("x n=1", []string{"authors' code"}); got != "authors' code 1.700 ± 0.020, authors' code less here 0.000 ± 0.020" {
		t.Errorf("the numbers about a claim are %q", got)
	}
}
