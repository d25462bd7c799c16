package hierarchical

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
	figures "miglab/paper-figures"
)

// overlapData are rows of groups that are just as a model has them: kernels alone, pairs on
// partitions, and pairs without limits.
func overlapData(m corun.Model) (rows []datasets.OverlapRate, programs map[string]*task.Program) {
	programs = map[string]*task.Program{}
	fits := datasets.KernelFits()
	for i := range 6 {
		p := fits[i].Fitted
		p.Name, p.Solo = fits[i].Kernel, 1
		programs[p.Name] = &p
	}
	names := []string{fits[0].Kernel, fits[1].Kernel, fits[2].Kernel, fits[3].Kernel, fits[4].Kernel, fits[5].Kernel}
	from := datasets.Provenance{GPU: "H200", Name: "NVIDIA H200", Driver: "570.1", Source: datasets.SourcePartition, Date: "2026-11-22"}
	add := func(group string, job int, kernel string, sms int, seconds float64) {
		rows = append(rows, datasets.OverlapRate{
			Provenance: from, Group: group, Job: job, Kernel: kernel, Intensity: 100, SMs: sms, Of: 132, Run: 1,
			Iterations: 1, Window: mig.Seconds(seconds), Iteration: mig.Seconds(seconds), Overlap: 1,
		})
	}
	for _, n := range names {
		for _, sms := range []int{16, 32, 64, 96, 132} {
			add(fmt.Sprintf("%s:%d", n, sms), 1, n, sms, programs[n].Relative(float64(sms)/132, 1))
		}
	}
	for i, a := range names {
		for _, b := range names[i+1:] {
			for _, split := range [][2]int{{66, 66}, {32, 100}, {132, 132}} {
				group := fmt.Sprintf("%s:%d %s:%d", a, split[0], b, split[1])
				ci := corun.CI{Compute: 1, Shares: []float64{float64(split[0]) / 132, float64(split[1]) / 132}}
				if split[0] == 132 {
					group = a + ":all " + b + ":all"
					ci = corun.CI{Compute: 1, Default: 2}
				}
				layout := corun.Setup{GIs: []corun.GI{{Memory: 1, CIs: []corun.CI{ci}}}}.Layout()
				slow := m.Slowdowns(&layout, &[corun.MaxSlots]*task.Program{programs[a], programs[b]})
				add(group, 1, a, split[0], slow[0])
				add(group, 2, b, split[1], slow[1])
			}
		}
	}
	return rows, programs
}

// The constants of a model are found again from groups that it made, and then it has no error
// on those that were held out. Both parts have groups.
func TestFitModel(t *testing.T) {
	want := corun.Model{Kappa: 0.1, Delta: 0.45}
	rows, programs := overlapData(want)
	groups, left := overlapGroups(rows, programs)
	if len(groups) != 45 || left != 0 {
		t.Fatalf("%d groups, %d left out", len(groups), left)
	}
	got := fitModel(groups)
	if math.Abs(got.Kappa-want.Kappa) > 1e-9 || math.Abs(got.Delta-want.Delta) > 1e-9 {
		t.Errorf("kappa %v, delta %v", got.Kappa, got.Delta)
	}
	held := func(g *overlapGroup) bool { return g.heldOut }
	if e, jobs := meanError(groups, got, held); jobs < 10 || jobs > 60 || e > 1e-9 {
		t.Errorf("error %v over %d jobs held out", e, jobs)
	}
	if e, _ := meanError(groups, shippedModel(), held); e < 0.01 {
		t.Errorf("error %v with other constants", e)
	}
}

// Beside a kernel that runs a quarter of the time, another has most of its pace alone.
func TestBursts(t *testing.T) {
	m := corun.Model{Kappa: 1}
	_, programs := overlapData(m)
	var a, b string
	for n := range programs {
		a, b = b, n
	}
	job := func(group string, job int, kernel string, intensity int) datasets.OverlapRate {
		return datasets.OverlapRate{Group: group, Job: job, Kernel: kernel, Intensity: intensity, SMs: 66, Of: 132, Iteration: 1}
	}
	group := fmt.Sprintf("%s:66 %s@25:66", a, b)
	g, ok := overlapOf([]datasets.OverlapRate{job(group, 1, a, 100), job(group, 2, b, 25)}, programs, map[string]float64{a: 1, b: 1})
	if !ok || g.kind != besideBursts {
		t.Fatalf("%+v", g)
	}
	got := g.errors(m)
	beside := m.Slowdowns(&g.layout, &g.programs)[0]
	want := 1/(0.25/beside+0.75/g.withoutOthers(0)) - 1
	if len(got) != 1 || math.Abs(got[0]-want) > 1e-12 {
		t.Errorf("%v, want %v: only the kernel that always runs counts", got, want)
	}
}

// Without measurements the artefact has its usual table alone.
func TestOverlapTables(t *testing.T) {
	p := paper(t)
	o := new(figures.Output)
	overlapTables(o, p.Claims, datasets.HardwareSet{})
	scalingFigure(o, datasets.HardwareSet{})
	if len(o.Tables) != 0 || len(o.Figures) != 0 {
		t.Errorf("%d tables, %d figures", len(o.Tables), len(o.Figures))
	}
	rows, _ := overlapData(corun.Model{Kappa: 0.1})
	h := datasets.HardwareSet{Overlap: []datasets.HardwareTable[datasets.OverlapRate]{{File: "f", Provenance: rows[0].Provenance, Rows: rows}}}
	overlapTables(o, p.Claims, h)
	scalingFigure(o, h)
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
