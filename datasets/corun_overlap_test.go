package datasets

import (
	"fmt"
	"math"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// overlapsOf are rows of groups that are just as a model has them: kernels alone, pairs on
// partitions, and pairs without limits.
func overlapsOf(m corun.Model) (rows []OverlapRate, programs map[string]*task.Program) {
	programs = map[string]*task.Program{}
	fits := KernelFits()
	for i := range 6 {
		p := fits[i].Fitted
		p.Name, p.Solo = fits[i].Kernel, 1
		programs[p.Name] = &p
	}
	names := []string{fits[0].Kernel, fits[1].Kernel, fits[2].Kernel, fits[3].Kernel, fits[4].Kernel, fits[5].Kernel}
	from := Provenance{GPU: "H200", Name: "NVIDIA H200", Driver: "570.1", Source: mig.SourcePartition, Date: "2026-11-22"}
	add := func(group string, job int, kernel string, sms int, seconds float64) {
		rows = append(rows, OverlapRate{
			Provenance: from, Group: group, Job: job, Kernel: kernel, SMs: sms, Of: 132, Run: 1,
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
	rows, programs := overlapsOf(want)
	groups, left := OverlapGroups(rows, programs)
	if len(groups) != 45 || left != 0 {
		t.Fatalf("%d groups, %d left out", len(groups), left)
	}
	got := FitOverlapModel(groups, corun.Model{Kappa: 0.25, Delta: 0.3})
	if math.Abs(got.Kappa-want.Kappa) > 1e-9 || math.Abs(got.Delta-want.Delta) > 1e-9 {
		t.Errorf("kappa %v, delta %v", got.Kappa, got.Delta)
	}
	held := func(g *OverlapGroup) bool { return g.HeldOut }
	if e, jobs := OverlapError(groups, got, held); jobs < 10 || jobs > 60 || e > 1e-9 {
		t.Errorf("error %v over %d jobs held out", e, jobs)
	}
	if e, _ := OverlapError(groups, corun.Model{Kappa: 0.25, Delta: 0.3}, held); e < 0.01 {
		t.Errorf("error %v with other constants", e)
	}
}
