package figures

import (
	"math"
	"strings"
	"testing"
	"testing/fstest"
)

func claim(published float64, decimals int, relation Relation) Claim {
	return Claim{Paper: "p", Artefact: "a", Name: "n", Published: published, Decimals: decimals, Relation: relation}
}

func TestJudge(t *testing.T) {
	tolerant := claim(1.2, 2, Equal)
	tolerant.Tolerance = &Tolerance{0.05, "why"}
	strict := claim(2, 0, AtMost)
	strict.Tolerance = &Tolerance{0, "a proven limit"}
	for _, c := range []struct {
		what  string
		claim Claim
		value Measurement
		want  Verdict
	}{
		{"within half a digit", claim(1.22, 2, Equal), Exactly(1.2166), Reproduced},
		{"just at half a digit", claim(1.22, 2, Equal), Exactly(1.215), Reproduced},
		{"beyond half a digit", claim(1.22, 2, Equal), Exactly(1.2149), Deviates},
		{"within three standard errors", claim(1.22, 2, Equal), Measurement{Value: 1.25, SE: 0.01}, Reproduced},
		{"beyond three standard errors", claim(1.22, 2, Equal), Measurement{Value: 1.2551, SE: 0.01}, Deviates},
		{"a wide interval alone decides nothing", claim(1.22, 2, Equal), Measurement{Value: 1.3, Low: 1.1, High: 1.5}, Deviates},
		{"a tolerance of its own", tolerant, Exactly(1.249), Reproduced},
		{"beyond it", tolerant, Exactly(1.2501), Deviates},
		{"below a limit", claim(1.75, 2, AtMost), Exactly(1), Reproduced},
		{"above a limit", claim(1.75, 2, AtMost), Exactly(1.76), Deviates},
		{"above a limit without tolerance", strict, Exactly(2.001), Deviates},
		{"above a least value", claim(50, 0, AtLeast), Exactly(80), Reproduced},
		{"below a least value", claim(50, 0, AtLeast), Exactly(49), Deviates},
	} {
		f := Judge(c.claim, c.value, "", "because")
		if f.Verdict != c.want {
			t.Errorf("%s: %s, want %s", c.what, f.Verdict, c.want)
		}
		if (f.Reason == "because") != (c.want == Deviates) {
			t.Errorf("%s: reason %q with %s", c.what, f.Reason, f.Verdict)
		}
	}
}

func TestMeanOfTakesThePapersReplicates(t *testing.T) {
	m, err := MeanOf([]float64{1, 2, 3, 4}, 100)
	if err != nil {
		t.Fatal(err)
	}
	if sd := math.Sqrt(5.0 / 3); m.Value != 2.5 || math.Abs(m.SE-sd/10) > 1e-12 || !(m.Low < 2.5 && 2.5 < m.High) {
		t.Errorf("%+v", m)
	}
}

func TestCompareNamesTheNearestReading(t *testing.T) {
	claims := []Claim{claim(1.5, 1, Equal)}
	value := func(v float64) Values { return Values{"n": Exactly(v)} }
	fs := (&Data{}).Compare(claims, []Reading{Lookup("", value(2)), Lookup("far", value(3)), Lookup("near", value(1.6)), Lookup("silent", nil)}, Always("why"))
	if len(fs) != 3 || fs[0].Reading != "" || fs[0].Verdict != Deviates {
		t.Fatalf("findings %+v", fs)
	}
	if want := `why; the reading that comes nearest, "near", gives 1.60`; fs[0].Reason != want {
		t.Errorf("reason %q, want %q", fs[0].Reason, want)
	}
	if row := fs[2].Row(); row.Claim != "n [near]" || row.Measured != "1.6" || row.Published != "1.5" {
		t.Errorf("row %+v", row)
	}
}

// load reads claims and tolerances.
func load(published, tolerances string) (*Claims, error) {
	return LoadClaims("p", fstest.MapFS{
		"published.csv": {Data: []byte(published)}, "tolerances.csv": {Data: []byte(tolerances)},
	})
}

func TestLoadClaimsRefusesMistakes(t *testing.T) {
	const head = "artefact,claim,published,decimals,unit,relation,source\n"
	const tolerances = "artefact,claim,tolerance,reason\n"
	good := head + "t1,x,1.50,2,s,=,Table 1\nt1,y,3,0,,<=,Table 1\n"
	c, err := load(good, tolerances+"t1,*,0.1,why\n")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(c.Of("t1")); n != 2 || c.Get("t1", "y").Tolerance.Value != 0.1 {
		t.Errorf("%d claims, %+v", n, c.Get("t1", "y"))
	}
	for what, in := range map[string][2]string{
		"twice":             {good + "t1,x,2,0,,=,Table 1\n", tolerances},
		"relation":          {head + "t1,x,1,0,,~,Table 1\n", tolerances},
		"number":            {head + "t1,x,one,0,,=,Table 1\n", tolerances},
		"tolerance of none": {good, tolerances + "t1,z,1,why\n"},
		"no reason":         {good, tolerances + "t1,x,1,\n"},
	} {
		if _, err := load(in[0], in[1]); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}

func TestUpdateReadmeReplacesTheSummaryAlone(t *testing.T) {
	rows := []Row{
		{Paper: "far", Artefact: "rodinia", Claim: "rho FAR", Published: "1.22", Measured: "1.2166", Verdict: Reproduced},
		{Paper: "far", Artefact: "rodinia", Claim: "rho FAR [unrefined]", Published: "1.22", Measured: "1.3", Verdict: Deviates},
	}
	before := "# x\n" + readmeBegin + "old\n" + readmeEnd + "\nrest\n"
	after, err := UpdateReadme(before, rows)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(after, "# x\n") || !strings.HasSuffix(after, "\nrest\n") || strings.Contains(after, "old\n") {
		t.Errorf("README became\n%s", after)
	}
	if !strings.Contains(after, "1 published numbers: 1 REPRODUCED, 0 DEVIATES") || strings.Contains(after, "unrefined") {
		t.Errorf("readings are counted:\n%s", after)
	}
	again, err := UpdateReadme(after, rows)
	if err != nil || again != after {
		t.Errorf("a second update changes the README: %v", err)
	}
	if _, err := UpdateReadme("# x\n", rows); err == nil {
		t.Error("a README without the markers is accepted")
	}
}
