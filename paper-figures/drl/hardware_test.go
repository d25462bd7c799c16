package drl

import (
	"math"
	"strings"
	"testing"

	"miglab/harness/algo"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/figurestest"
	"miglab/paper-figures/verdict"
)

func TestTable3(t *testing.T) {
	claims := figurestest.Load(t, Paper).Claims
	if id := algo.MustParse(direct.one(rodinia)).ID; id != agent3 {
		t.Errorf("the agent of measured kernels is %s, that of the table %s", id, agent3)
	}
	file := func(source, algorithm string) map[string]string {
		text := figurestest.ExecutionHead
		for i, k := range batch3(claims) {
			published := claims.Of("table3")[3*i:]
			end := published[1].Published
			if k == "LU" {
				end *= 1.1
			}
			// The two runs of PathFinder come the other way round.
			k = strings.NewReplacer("#1", "#2", "#2", "#1").Replace(k)
			text += figurestest.ExecutionLine("A100", source, algorithm, k, published[0].Published, end)
		}
		return map[string]string{"x.execution.csv": text}
	}
	build := func(files map[string]string) figures.Values {
		values := figures.Values{}
		executed3(figurestest.Hardware(t, files), claims, values)
		return values
	}
	for what, files := range map[string]map[string]string{"no files": nil, "FAR": file("mig", "far")} {
		if n := len(build(files)); n != 0 {
			t.Errorf("%s: %d claims are measured", what, n)
		}
	}
	for _, c := range claims.Of("table3") {
		if c.Quantity == simulatedEnd {
			continue // it is measured without a GPU
		}
		reason := c.Missing
		figurestest.CheckReason(t, c.String(), reason, "execution", "A100")
		batch := "times of " + strings.Join(batch3(claims), ", ") + " from"
		if want := "`miglab execute --algorithm " + agent3 + " --kernels rodinia --set rodinia=FOLDER "; !strings.Contains(reason, want) || !strings.Contains(reason, batch) {
			t.Errorf("%s: the reason %q lacks %q or the batch", c.Cell, reason, want)
		}
	}
	values := build(file("mig", agent3))
	if n := len(values); n != 27 {
		t.Errorf("%d claims are measured", n)
	}
	for _, c := range claims.Of("table3") {
		m := values[c.Cell]
		want := verdict.Reproduced
		if c.Cell == claim.At("LU", "real end") || c.Cell == claim.At("LU", "difference") {
			want = verdict.Deviates
		}
		if v := verdict.Judge(c.Claim, m).Verdict; v != want {
			t.Errorf("%s = %v for %v: %s, want %s", c.Cell, m.Value, c.Published, v, want)
		}
		if !strings.Contains(m.Detail, "source: mig, NVIDIA A100, driver 570.1, 2026-11-21") {
			t.Errorf("%s: detail %q", c.Cell, m.Detail)
		}
	}
}

func TestTextAboutHardware(t *testing.T) {
	claims := figurestest.Load(t, Paper).Claims
	for cell, kind := range map[claim.Cell]string{isolationDifference: "isolation", reconfigurationDeviation: "reconfiguration"} {
		figurestest.CheckReason(t, cell.String(), claims.Find(claim.Key{Artefact: "text", Cell: cell}).Missing, kind, "A100")
	}
	measure := func(files map[string]string) figures.Values {
		values := figures.Values{}
		onHardware(figurestest.Hardware(t, files), values)
		return values
	}
	if values := measure(nil); len(values) != 0 {
		t.Errorf("without files: %v", values)
	}
	from := "A100,NVIDIA A100,570.1,mig,2026-11-21,"
	reconfigured := "A30,NVIDIA A30,570.1,mig,2026-11-21,1,1,create,1,4,0.2,0.001,0.19,0.206,0.2,1\n"
	values := measure(map[string]string{
		"a.isolation.csv": figurestest.IsolationHead + from + "a,1,,4,2,0,window\n" + from + "a,1,b:1@1,4,1.97,-1.5,window\n" + from + "c,2,,4,2,0,window\n" + from + "c,2,b:1@2,4,2.02,1,window\n",
		"b.reconfiguration.csv": figurestest.ReconfigurationHead + reconfigured +
			strings.Replace(reconfigured, "create,1,4,0.2,0.001,0.19", "destroy,1,4,0.2,0.001,0.199", 1),
	})
	if d := values[isolationDifference].Value; d != 1.5 {
		t.Errorf("largest difference %v %%, want 1.5, of the one that was faster", d)
	}
	if d := values[reconfigurationDeviation].Value; math.Abs(d-5) > 1e-9 {
		t.Errorf("largest deviation %v %%, want that of 0.19 s from 0.2 s", d)
	}
	if want := "Found for create of size 1; source: mig, NVIDIA A30, driver 570.1, 2026-11-21."; values[reconfigurationDeviation].Detail != want ||
		!strings.HasPrefix(values[isolationDifference].Detail, "Found for a on size 1 beside b:1@1; ") {
		t.Errorf("details %v", values)
	}
}
