package measure

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"miglab/profiling"
	"miglab/profiling/kernel"
)

// Processes runs groups as processes that share a GPU under MPS, or one of its instances.
type Processes struct {
	// SMs is how many multiprocessors they share.
	SMs     int
	Kernels []kernel.Kernel
	// Share returns the environment of a process that may use a percentage of the
	// multiprocessors.
	Share func(percent float64) profiling.Instance
}

// Multiprocessors is how many the processes share.
func (p *Processes) Multiprocessors() int { return p.SMs }

// Together runs a group.
func (p *Processes) Together(ctx context.Context, g Group, window time.Duration) ([]Rate, error) {
	jobs := make([]Placed, len(g))
	for i, part := range g {
		k := p.find(part.Kernel)
		if k == nil {
			return nil, fmt.Errorf("there is no kernel %s", part.Kernel)
		}
		jobs[i] = Placed{Kernel: k, On: p.Share(p.percent(part)), Intensity: part.Intensity}
	}
	windows, err := Real{}.Together(ctx, jobs, window)
	if err != nil {
		return nil, err
	}
	rates := make([]Rate, len(g))
	for i, w := range windows {
		r := Rate{
			Status: w.Status, Detail: w.Detail, SMs: g[i].SMs, Iterations: w.Iterations, Window: w.Finish - w.Begin,
			Overlap: w.Overlap, From: w.From, To: w.To,
		}
		if r.SMs == 0 {
			r.SMs = p.SMs
		}
		r.UUID = bare(jobs[i].On.UUID)
		if d := w.Device; d != nil {
			if off := d.SMs - r.SMs; r.Status == kernel.OK && (off < -mpsRounding || off > mpsRounding) {
				r.Status, r.Detail = kernel.Wrong, fmt.Sprintf("it ran on %d multiprocessors, not on %d", d.SMs, r.SMs)
			}
			r.SMs, r.UUID = d.SMs, d.UUID
		}
		rates[i] = r
	}
	return rates, nil
}

// bare is the GPU's UUID in the name of a share of it.
func bare(uuid string) string {
	uuid, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimPrefix(uuid, "MPS-"), "GPU-"), "/")
	return uuid
}

// percent is the share of a job in percent, cut after two decimals: MPS rounds it up to whole
// multiprocessors.
func (p *Processes) percent(part Part) float64 {
	if part.SMs == 0 {
		return 100
	}
	return math.Floor(10000*float64(part.SMs)/float64(p.SMs)) / 100
}

func (p *Processes) find(name string) *kernel.Kernel {
	for i := range p.Kernels {
		if p.Kernels[i].Name == name {
			return &p.Kernels[i]
		}
	}
	return nil
}
