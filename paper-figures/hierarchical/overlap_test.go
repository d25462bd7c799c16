package hierarchical

import (
	"fmt"
	"strings"
	"testing"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
	figures "miglab/paper-figures"
	"miglab/paper-figures/figurestest"
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
	from := datasets.Provenance{GPU: "H200", Name: "NVIDIA H200", Driver: "570.1", Source: mig.SourcePartition, Date: "2026-11-22"}
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

// Without measurements the artefact has its usual table alone.
func TestOverlapTables(t *testing.T) {
	p := figurestest.Load(t, Paper)
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
