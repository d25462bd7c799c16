package corun_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// program draws any program that takes its solo time on the whole GPU.
func program(t *rapid.T, label string) task.Program {
	share := rapid.Float64Range(0, 1)
	p := task.Program{
		Name: label, Class: rapid.SampledFrom(task.Classes()).Draw(t, label+" class"),
		Solo:        mig.Seconds(rapid.Float64Range(0.01, 100).Draw(t, label+" solo")),
		Serial:      share.Draw(t, label+" serial"),
		Compute:     rapid.Float64Range(0.001, 1).Draw(t, label+" compute"),
		Memory:      share.Draw(t, label+" memory"),
		Parallelism: rapid.Float64Range(0.01, 1).Draw(t, label+" parallelism"),
	}
	whole := p.Relative(1, 1)
	p.Serial /= whole
	p.Compute /= whole
	p.Memory /= whole
	return p
}

func model(t *rapid.T) corun.Model {
	return corun.Model{
		Kappa:   rapid.SampledFrom([]float64{0, 0.25, 0.6}).Draw(t, "kappa"),
		Delta:   rapid.SampledFrom([]float64{0, 0.3}).Draw(t, "delta"),
		Release: rapid.Bool().Draw(t, "release"),
	}
}

// setups are all setups of all families for 1 to 4 jobs.
func setups() (out []corun.Setup) {
	for _, f := range corun.Families() {
		for n := 1; n <= corun.MaxConcurrency; n++ {
			out = append(out, corun.Setups(f, n)...)
		}
	}
	return out
}

func TestRefereeAgreesWithModel(t *testing.T) {
	all := setups()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(all).Draw(t, "setup")
		w := corun.Window{Concurrency: corun.MaxConcurrency, Model: model(t)}
		g := corun.Group{Setup: s}
		var jobs [corun.MaxSlots]*task.Program
		for i := range s.Slots() {
			w.Jobs = append(w.Jobs, program(t, string(rune('a'+i))))
			g.Jobs = append(g.Jobs, i)
		}
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(g.Jobs), func(i, j int) { g.Jobs[i], g.Jobs[j] = g.Jobs[j], g.Jobs[i] })
		for i, j := range g.Jobs {
			jobs[i] = &w.Jobs[j]
		}
		l := s.Layout()
		var ends [corun.MaxSlots]float64
		total := w.Model.Ends(&l, &jobs, &ends)
		r, err := corun.Measure(w, corun.Plan{g})
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, got, want float64) {
			if !(math.Abs(got-want) <= 1e-9*want) {
				t.Fatalf("%s: the referee says %v, the model %v", what, got, want)
			}
		}
		near("makespan", float64(r.Makespan), total)
		for i, j := range g.Jobs {
			near("slowdown of "+w.Jobs[j].Name, r.Slowdowns[j], ends[i]/float64(w.Jobs[j].Solo))
		}
	})
}
