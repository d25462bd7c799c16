package measure

import (
	"cmp"
	"context"
	"slices"
	"time"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/kernel"
	"miglab/profiling/mps"
)

// Processes runs groups as processes that share a GPU under MPS, or one of its instances.
type Processes struct {
	// SMs is how many multiprocessors they share.
	SMs     int
	Kernels []kernel.Kernel
	// Share returns the environment of a process that may use a percentage of the multiprocessors.
	Share func(percent float64) profiling.Instance
}

// Multiprocessors is how many the processes share.
func (p *Processes) Multiprocessors() int { return p.SMs }

// Together runs a group. A job that does not say where it ran is taken to have run where it should.
func (p *Processes) Together(ctx context.Context, g Group, window time.Duration) ([]kernel.Window, error) {
	jobs := make([]kernel.Job, len(g))
	for i, part := range g {
		k := slices.IndexFunc(p.Kernels, func(k kernel.Kernel) bool { return k.Name == part.Kernel })
		sms := cmp.Or(part.SMs, p.SMs)
		on := p.Share(mps.Percentage(sms, p.SMs))
		on.Profile = &mig.Profile{SMs: sms}
		jobs[i] = kernel.Job{Kernel: &p.Kernels[k], On: on, Intensity: part.Intensity}
	}
	return Real{}.Together(ctx, jobs, window)
}
