package corun_test

import (
	"math/rand/v2"
	"testing"

	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// someJobs are four jobs, one held back by compute, two by memory and one serial.
func someJobs() []task.Program {
	jobs := []task.Program{
		{Name: "a", Class: task.ComputeIntensive, Solo: 20, Serial: 0.05, Compute: 0.8, Memory: 0.3, Parallelism: 0.9},
		{Name: "b", Class: task.MemoryIntensive, Solo: 12, Serial: 0.1, Compute: 0.3, Memory: 0.8, Parallelism: 0.6},
		{Name: "c", Class: task.MemoryIntensive, Solo: 31, Serial: 0.08, Compute: 0.35, Memory: 0.75, Parallelism: 0.8},
		{Name: "d", Class: task.Unscalable, Solo: 16, Serial: 0.5, Compute: 0.05, Memory: 0.04, Parallelism: 0.1},
	}
	for i := range jobs {
		whole := jobs[i].Relative(1, 1)
		jobs[i].Serial /= whole
		jobs[i].Compute /= whole
		jobs[i].Memory /= whole
	}
	return jobs
}

var sink float64

func BenchmarkEnds(b *testing.B) {
	for _, c := range []struct {
		name    string
		family  corun.Family
		jobs    int
		release bool
	}{
		{"table7/jobs=2", corun.Hierarchical, 2, false},
		{"table7/jobs=3", corun.Hierarchical, 3, false},
		{"table7/jobs=4", corun.Hierarchical, 4, false},
		{"mps/jobs=4", corun.MPSOnly, 4, false},
		{"release/jobs=4", corun.Hierarchical, 4, true},
		{"default/jobs=4", corun.DefaultShared, 4, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			var layouts []corun.Layout
			for _, s := range corun.Setups(c.family, c.jobs) {
				layouts = append(layouts, s.Layout())
			}
			jobs := someJobs()
			r := rand.New(rand.NewPCG(1, 2))
			var orders [64][corun.MaxSlots]*task.Program
			for i := range orders {
				for k, j := range r.Perm(c.jobs) {
					orders[i][k] = &jobs[j]
				}
			}
			m := corun.Model{Kappa: 0.25, Delta: 0.3, Release: c.release}
			var ends [corun.MaxSlots]float64
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				sink = m.Ends(&layouts[i%len(layouts)], &orders[i%len(orders)], &ends)
			}
		})
	}
}

func BenchmarkMeasure(b *testing.B) {
	w := corun.Window{Jobs: someJobs(), Concurrency: 4, Model: corun.Model{Kappa: 0.25, Delta: 0.3}}
	p := corun.Plan{{Jobs: []int{0, 1, 2, 3}, Setup: corun.Setups(corun.Hierarchical, 4)[20]}}
	for b.Loop() {
		if _, err := corun.Measure(w, p); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := corun.Parse("[(0.1)+(0.9),{0.375},0.5m]+[(0.1)+(0.9),{0.5},0.5m]"); err != nil {
			b.Fatal(err)
		}
	}
}
