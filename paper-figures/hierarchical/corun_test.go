package hierarchical

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"miglab/datasets"
	"miglab/harness/mig"
	figures "miglab/paper-figures"
	"miglab/paper-figures/figurestest"
)

const corunHead = "gpu,gpu_name,driver,source,date,mix,job,kernel,percent,runs,seconds,wall_seconds,total_seconds\n"

// corunLines has the lines of a mix; seconds are by job.
func corunLines(mix string, seconds ...float64) string {
	var b strings.Builder
	for i, job := range strings.Fields(mix) {
		kernel, percent, _ := strings.Cut(job, ":")
		fmt.Fprintf(&b, "H200,NVIDIA H200,570.1,mps-sm-limit,2026-11-21,%s,%d,%s,%s,3,%.17g,%.17g,1000\n", mix, i+1, kernel, percent, seconds[i], seconds[i])
	}
	return b.String()
}

// corunText builds the artefact and returns its table.
func corunText(t *testing.T, files map[string]string) string {
	t.Helper()
	h, p, out := figurestest.Hardware(t, files), figurestest.Load(t, Paper), t.TempDir()
	p.Artefacts = []figures.Artefact{{Name: "corun", Build: func(d *figures.Data) (*figures.Output, error) { return corunError(d, h) }}}
	figurestest.Reproduce(t, figures.Reproduction{Papers: []figures.Paper{p}, Dir: out})
	text, err := os.ReadFile(filepath.Join(out, "hierarchical", "corun.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func needsCorun(t *testing.T) string { return figurestest.Load(t, Paper).Claims.Words("corun-missing") }

func TestCorunErrorWithoutHardware(t *testing.T) {
	if text := corunText(t, nil); !strings.Contains(text, needsCorun(t)) {
		t.Error(text)
	}
}

// TestCorunError takes co-runs that are just as the model has them, and some that are not.
// The numbers are made up.
func TestCorunError(t *testing.T) {
	rows := func(lines string) []datasets.CorunTime {
		return figurestest.Hardware(t, map[string]string{"a.corun.csv": corunHead + lines}).Corun[0].Rows
	}
	alone := corunLines("LavaMD:100", 4) + corunLines("NW:100", 2) + corunLines("gemm:100", 3)
	const mix = "LavaMD:75 NW:25"
	public, err := programsFor(datasets.HardwareSet{}, datasets.Provenance{})
	if err != nil {
		t.Fatal(err)
	}
	checks, left, err := checkCoruns(rows(alone+corunLines(mix, 5, 3)), public)
	if err != nil || left != 0 || len(checks) != 1 {
		t.Fatalf("%+v, %d left, %v", checks, left, err)
	}
	c := checks[0]
	if c.mix != mix || math.Abs(c.throughput-(4+2)/5.) > 1e-12 || c.slowdowns[0] != 1.25 || c.slowdowns[1] != 1.5 {
		t.Errorf("%+v", c)
	}
	exactly := corunLines(mix, 4*c.simulatedSlowdowns[0], 2*c.simulatedSlowdowns[1])
	if checks, _, err = checkCoruns(rows(alone+exactly), public); err != nil || math.Abs(checks[0].throughput/checks[0].simulated-1) > 1e-12 {
		t.Errorf("%+v, %v; the throughput is that of the model", checks, err)
	}
	text := corunText(t, map[string]string{
		"right.corun.csv": corunHead + alone + exactly + corunLines("NW:50 gemm:50", 4, 4) + corunLines("NW:75 LavaMD:75", 4, 4),
	})
	for _, want := range []string{
		"mean absolute error of the throughput 0.0 % over 1 mixes, of the slowdown 0.0 % over 2 jobs",
		"2 mixes are left out", "measured on H200; source: mps-sm-limit, NVIDIA H200",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "NOT RUNNABLE") {
		t.Error(text)
	}
	only := corunText(t, map[string]string{"left.corun.csv": corunHead + alone + corunLines("NW:50 gemm:50", 4, 4)})
	if !strings.Contains(only, needsCorun(t)) || !strings.Contains(only, "1 mixes are left out") {
		t.Error(only)
	}
}

// TestProgramsFor: times of the same GPU under MPS come before public ones, and the newest of
// them before the others.
func TestProgramsFor(t *testing.T) {
	const head = "gpu,gpu_name,driver,source,date,suite,kernel,size,mean_seconds,std_seconds,runs\n"
	kernel := func(name, source, date, kernel string, seconds float64) string {
		var b strings.Builder
		for _, size := range mig.MustLookup("H200").Sizes() {
			fmt.Fprintf(&b, "H200,%s,570.1,%s,%s,S,%s,%d,%g,0,3\n", name, source, date, kernel, size, seconds*float64(8-size))
		}
		return b.String()
	}
	h := figurestest.Hardware(t, map[string]string{
		"a.kernels.csv": head + kernel("N", "mps-sm-limit", "2026-02-01", "gemm", 5) + kernel("N", "mps-sm-limit", "2026-02-01", "NW", 7),
		"b.kernels.csv": head + kernel("N", "mps-sm-limit", "2026-01-01", "gemm", 6),
		"c.kernels.csv": head + kernel("N", "mig", "2026-03-01", "gemm", 1),
		"d.kernels.csv": head + kernel("other", "mps-sm-limit", "2026-03-01", "gemm", 2),
	})
	got, err := programsFor(h, datasets.Provenance{GPU: "H200", Name: "N", Source: "mps-sm-limit", Driver: "600"})
	if err != nil {
		t.Fatal(err)
	}
	near := func(name string, want mig.Seconds) {
		if solo := got[name].Solo; solo < want/2 || solo > want*2 {
			t.Errorf("%s takes %v s alone, want about %v", name, solo, want)
		}
	}
	near("gemm", 5)
	near("NW", 7)
	near("LavaMD", 3.5)
	if len(got) != 17 {
		t.Errorf("%d programs, want the 16 public ones and gemm", len(got))
	}
}

// Without measurements the artefact has its usual table alone.
func TestOverlapTables(t *testing.T) {
	p := figurestest.Load(t, Paper)
	o := new(figures.Output)
	addOverlap(o, p.Claims, datasets.HardwareSet{})
	if len(o.Tables) != 0 || len(o.Figures) != 0 {
		t.Errorf("%d tables, %d figures", len(o.Tables), len(o.Figures))
	}
	// Six kernels alone, pairs on partitions and pairs without limits, as a model with kappa 0.1 and delta 0 has them.
	h, err := datasets.ReadHardware(os.DirFS("testdata"))
	if err != nil {
		t.Fatal(err)
	}
	addOverlap(o, p.Claims, h)
	if len(o.Tables) != 2 || len(o.Figures) != 1 {
		t.Fatalf("%d tables, %d figures", len(o.Tables), len(o.Figures))
	}
	text := fmt.Sprint(o.Tables)
	for _, want := range []string{"held out", "fitted on", "without limits", "source: sm-partition", "0.10"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
}
