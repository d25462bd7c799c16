package measure

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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
	jobs := make([]Placed, len(g))
	for i, part := range g {
		k := slices.IndexFunc(p.Kernels, func(k kernel.Kernel) bool { return k.Name == part.Kernel })
		if k < 0 {
			return nil, fmt.Errorf("there is no kernel %s", part.Kernel)
		}
		on := p.Share(mps.Percentage(cmp.Or(part.SMs, p.SMs), p.SMs))
		jobs[i] = Placed{Kernel: &p.Kernels[k], On: on, Intensity: part.Intensity}
	}
	windows, err := Real{}.Together(ctx, jobs, window)
	for i := range windows {
		w, want := &windows[i], cmp.Or(g[i].SMs, p.SMs)
		if w.Device == nil {
			w.Device = &kernel.Device{UUID: bareUUID(jobs[i].On.UUID), SMs: want}
		}
		if off := w.Device.SMs - want; w.Status == kernel.OK && (off < -mpsRounding || off > mpsRounding) {
			w.Status, w.Detail = kernel.Wrong, fmt.Sprintf("it ran on %d multiprocessors, not on %d",
				w.Device.SMs, want)
		}
	}
	return windows, err
}

// bareUUID is the GPU's UUID in the name of a share of it.
func bareUUID(uuid string) string {
	uuid, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimPrefix(uuid, "MPS-"), "GPU-"), "/")
	return uuid
}
