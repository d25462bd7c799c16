package corun

import (
	"math"
	"math/rand/v2"

	"miglab/harness/mig"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// randomWindow draws up to so many jobs by class, and a model.
func randomWindow(rng *rand.Rand, atMost int) corun.Window {
	w := corun.Window{
		Concurrency: 1 + rng.IntN(corun.MaxConcurrency+1),
		Model:       corun.Model{Kappa: rng.Float64() / 2, Delta: rng.Float64() / 2, Release: rng.IntN(2) == 0},
	}
	if rng.IntN(4) == 0 {
		w.Model.Kappa *= 4
	}
	for range 1 + rng.IntN(atMost) {
		w.Jobs = append(w.Jobs, randomJob(rng, task.Classes()[rng.IntN(3)]))
	}
	return w
}

// paperWindow draws jobs of the three classes in turn for the paper's Cmax.
func paperWindow(seed uint64, jobs int) corun.Window {
	rng := rand.New(rand.NewPCG(seed, uint64(jobs)))
	w := corun.Window{Concurrency: 4, Model: corun.Model{Kappa: 0.25, Delta: 0.3}}
	for i := range jobs {
		w.Jobs = append(w.Jobs, randomJob(rng, task.Classes()[i%3]))
	}
	return w
}

func randomJob(rng *rand.Rand, c task.Class) task.Program {
	between := func(low, high float64) float64 { return low + (high-low)*rng.Float64() }
	for {
		p := task.Program{Name: "job", Class: c, Solo: mig.Seconds(20 * math.Exp(rng.NormFloat64()/2))}
		switch c {
		case task.ComputeIntensive:
			p.Serial, p.Parallelism, p.Memory = between(0.02, 0.15), between(0.7, 1), between(0.1, 0.5)
		case task.MemoryIntensive:
			p.Serial, p.Parallelism, p.Memory = between(0.02, 0.2), between(0.3, 0.9), between(0.5, 0.9)
		case task.Unscalable:
			p.Serial, p.Parallelism, p.Memory = between(0.2, 0.7), between(0.06, 0.125), between(0.01, 0.08)
		}
		// The work that makes the solo time 1.
		if rest := math.Pow(1-p.Serial, task.Sharpness) - math.Pow(p.Memory, task.Sharpness); rest > 0 {
			p.Compute = p.Parallelism * math.Pow(rest, 1./task.Sharpness)
			p.Serial += between(-5e-10, 5e-10) // as rounded numbers of a file are
			return p
		}
	}
}
