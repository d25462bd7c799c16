package far

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"miglab/harness/mig"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/figurestest"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
)

// isolated has a kernel alone and beside another on A100, the latter slower by percent.
func isolated(source, kernel string, size mig.Slices, percent float64) string {
	row := "A100,NVIDIA A100,570.1," + source + ",2026-11-21,%s,%d,%s,10,%.17g,%g,window\n"
	return fmt.Sprintf(row, kernel, size, "", 2.0, 0.0) + fmt.Sprintf(row, kernel, size, "CFD:1@6", 2*(1+percent/100), percent)
}

// rowsOf builds Tables 2 and 3 and returns the rows of their claims by name.
func rowsOf(t *testing.T, files map[string]string) map[string]manifest.Row {
	t.Helper()
	p := figures.Paper{Name: "far", Claims: figurestest.Load(t, Paper).Claims, Artefacts: []figures.Artefact{
		{Name: "table2", Build: table2}, {Name: "table3", Build: table3},
	}}
	m, _ := figurestest.Reproduce(t, figures.Reproduction{Papers: []figures.Paper{p}, Hardware: figurestest.Hardware(t, files)})
	out := map[string]manifest.Row{}
	for row := range m.Rows() {
		out[row.Artefact+" "+row.Claim] = *row
	}
	return out
}

func TestTables2And3WithoutHardware(t *testing.T) {
	for what, files := range map[string]map[string]string{"no files": nil} {
		rows := rowsOf(t, files)
		if len(rows) != 16+27 {
			t.Errorf("%s: %d rows, want 43", what, len(rows))
		}
		for name, r := range rows {
			switch {
			case strings.HasSuffix(name, "simulated end"):
				if r.Verdict != verdict.NotRunnable || (r.Measured == nil) != strings.Contains(name, "HotSpot") {
					t.Errorf("%s, %s: %s", what, name, r.Verdict)
				}
				continue
			case r.Artefact == "table2":
				figurestest.CheckReason(t, name, r.Why.Text, "isolation", "A100")
			default:
				figurestest.CheckReason(t, name, r.Why.Text, "execution", "A30")
			}
			if r.Verdict != verdict.NotRunnable {
				t.Errorf("%s, %s: %s", what, name, r.Verdict)
			}
		}
	}
}

func TestTables2And3WithHardware(t *testing.T) {
	claims := figurestest.Load(t, Paper).Claims
	files := map[string]string{
		"a.isolation.csv": figurestest.IsolationHead + isolated("mig", "Backprop", 1, -1.1) + isolated("mig", "HotSpot", 2, 4) + isolated("mig", "lavamd", 1, 0.34),
		"b.execution.csv": figurestest.ExecutionHead,
	}
	for i, k := range batch3 {
		// The paper's ends, but that of the first kernel 10 % later.
		end := claims.Published("table3", claim.At(k, "real end"))
		if i == 0 {
			end *= 1.1
		}
		files["b.execution.csv"] += figurestest.ExecutionLine("A30", "mig", "far", k, claims.Published("table3", claim.At(k, "simulated end")), end)
	}
	rows := rowsOf(t, files)
	for name, want := range map[string]struct {
		measured float64 // 0 for none
		verdict  verdict.Verdict
	}{
		"table2 Backprop size 1":          {1.1, verdict.Reproduced},
		"table2 HotSpot size 2":           {4, verdict.Deviates},
		"table2 LavaMD size 1":            {0, verdict.NotRunnable},       // lavamd is of another suite
		"table3 PathFinder simulated end": {20.8927, verdict.NotRunnable}, // of eight kernels
		"table3 PathFinder real end":      {22.704, verdict.Deviates},
		"table3 PathFinder deviation":     {7.10888, verdict.Deviates},
		"table3 LavaMD real end":          {21.62, verdict.Reproduced},
		"table3 LavaMD deviation":         {-0.462535, verdict.Reproduced},
		"table3 HotSpot simulated end":    {0, verdict.NotRunnable},
		"table3 HotSpot real end":         {22.25, verdict.Reproduced},
	} {
		r, measured := rows[name], 0.0
		if r.Measured != nil {
			measured = *r.Measured
		}
		if math.Abs(measured-want.measured) > 1e-4 || r.Verdict != want.verdict {
			t.Errorf("%s = %v: %s, want %v: %s", name, measured, r.Verdict, want.measured, want.verdict)
		}
	}
	if r := rows["table2 HotSpot size 2"]; !strings.Contains(r.Why.Detail, "Beside CFD:1@6. Measured on A100; source: mig, NVIDIA A100, driver 570.1, 2026-11-21") {
		t.Errorf("reason %q", r.Why.Detail)
	}
}

// TestTextAboutHardware needs all kernels on all sizes for the largest difference.
func TestTextAboutHardware(t *testing.T) {
	claims := figurestest.Load(t, Paper).Claims
	measure := func(files map[string]string) figures.Values {
		values := figures.Values{}
		inText(figurestest.Hardware(t, files), values)
		return values
	}
	values := measure(nil)
	if len(values) != 0 {
		t.Errorf("without files: %v", values)
	}
	missing := func(cell claim.Cell) string { return claims.Find(claim.Key{Artefact: "text", Cell: cell}).Missing }
	figurestest.CheckReason(t, largestDifference.String(), missing(largestDifference), "isolation", "A100")
	figurestest.CheckReason(t, largestDeviation.String(), missing(largestDeviation), "execution", "A30")
	if batch := strings.Join(batch3, ", "); !strings.Contains(missing(largestDeviation), "times of "+batch+" from") {
		t.Errorf("claims.csv lacks the batch %s", batch)
	}

	kernels := kernels("A100")
	isolation, execution := figurestest.IsolationHead, figurestest.ExecutionHead
	for i := range kernels {
		for _, s := range a100.Sizes()[:4] {
			if i+int(s) > 1 { // all but the first on 1 slice
				isolation += isolated("mig", kernels[i].Name, s, float64(i)/10)
			}
		}
	}
	for i, k := range batch3 {
		execution += figurestest.ExecutionLine("A30", "mig", "far", k, 10, 10+float64(i)/100)
	}
	if values := measure(map[string]string{"a.isolation.csv": isolation}); len(values) != 0 {
		t.Errorf("without a kernel on one size: %v", values)
	}
	isolation += isolated("mig", kernels[0].Name, 1, -2)
	values = measure(map[string]string{"a.isolation.csv": isolation, "b.execution.csv": execution})
	if d := values[largestDifference].Value; d != 2 {
		t.Errorf("largest difference %v %%, want 2, of the one that was faster", d)
	}
	if d := values[largestDeviation].Value; math.Abs(d-(1-10/10.08)*100) > 1e-9 {
		t.Errorf("largest deviation %v %%, want that of an end at 10.08 s instead of 10 s", d)
	}
	if len(values) != 2 {
		t.Errorf("more than the two claims is measured: %v", values)
	}
}
