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
	Where   About
	Kernels []kernel.Kernel
	// Share returns the environment of a process that may use a percentage of the
	// multiprocessors.
	Share func(percent float64) profiling.Instance
}

// About says which GPU it is.
func (p *Processes) About() About { return p.Where }

// Together runs a group.
func (p *Processes) Together(ctx context.Context, g Group, window time.Duration) ([]Rate, error) {
	jobs := make([]kernel.Job, len(g))
	on := make([]profiling.Instance, len(g))
	for i, part := range g {
		k := p.find(part.Kernel)
		if k == nil {
			return nil, fmt.Errorf("there is no kernel %s", part.Kernel)
		}
		on[i] = p.Share(p.percent(part))
		jobs[i] = kernel.Job{Kernel: k, Intensity: part.Intensity, Env: on[i].Env}
	}
	windows, err := kernel.Together(ctx, jobs, window)
	if err != nil {
		return nil, err
	}
	rates := make([]Rate, len(g))
	for i, w := range windows {
		r := Rate{Status: w.Status, Detail: w.Detail, SMs: g[i].SMs, Iterations: w.Iterations, Window: w.Finish - w.Begin, Overlap: w.Overlap}
		if r.SMs == 0 {
			r.SMs = p.Where.SMs
		}
		r.UUID = bare(on[i].UUID)
		if d := w.Device; d != nil {
			r.SMs, r.UUID = d.SMs, d.UUID
			if wrong := p.elsewhere(*d, on[i], g[i].SMs); wrong != "" {
				r.Status, r.Detail = kernel.Wrong, wrong
			}
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

// elsewhere says how the device on which a job ran differs from what it was given; empty if
// it does not.
func (p *Processes) elsewhere(d kernel.Device, on profiling.Instance, sms int) string {
	if wrong := elsewhere(d, on); wrong != "" {
		return wrong
	}
	if sms == 0 {
		sms = p.Where.SMs
	}
	if d.SMs < sms-mpsRounding || d.SMs > sms+mpsRounding {
		return fmt.Sprintf("it ran on %d multiprocessors, not on %d", d.SMs, sms)
	}
	return ""
}

// percent is the share of a job in percent, cut after two decimals: MPS rounds it up to whole
// multiprocessors.
func (p *Processes) percent(part Part) float64 {
	if part.SMs == 0 {
		return 100
	}
	return math.Floor(10000*float64(part.SMs)/float64(p.Where.SMs)) / 100
}

func (p *Processes) find(name string) *kernel.Kernel {
	for i := range p.Kernels {
		if p.Kernels[i].Name == name {
			return &p.Kernels[i]
		}
	}
	return nil
}
