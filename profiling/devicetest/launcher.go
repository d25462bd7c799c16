package devicetest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/launch"
)

// A Launcher runs kernels on fake GPUs; a run only sleeps. Its fields must not change while kernels run.
type Launcher struct {
	// GPUs are the GPUs on which it runs kernels.
	GPUs []*GPU
	// Times are the seconds that a kernel takes, by the kernel's name and the instance size; +Inf means that the
	// instance has too little memory.
	Times map[string]map[mig.Slices]mig.Seconds
	// Crash names kernels that crash at the end of their time.
	Crash map[string]bool
	// Slowdown is by how much a kernel is slower for each process on the same GPU when it starts, relative to its time
	// alone: 0.02 means 2 %.
	Slowdown map[string]float64

	mu sync.Mutex
	// pid is the number of the last process.
	pid int
}

// Launch runs a kernel like [launch.Kernel.Run], until its time, its Timeout (if it has one) or ctx ends. The instance
// is in use meanwhile. The kernel crashes if the instance does not exist or the GPU is lost.
func (l *Launcher) Launch(ctx context.Context, k *launch.Kernel, on profiling.Instance) (launch.Outcome, error) {
	seconds, ok := l.Times[k.Name][on.Size()]
	if !ok {
		return launch.Outcome{}, fmt.Errorf("devicetest: there is no time of kernel %q on size %d", k.Name, on.Size())
	}
	if err := ctx.Err(); err != nil {
		return launch.Outcome{}, err
	}
	out := launch.Outcome{Status: launch.OK, Start: time.Now(), Seconds: mig.Seconds(math.Inf(1))}
	end := func(s launch.Status, detail string) (launch.Outcome, error) {
		out.Status, out.Detail, out.End = s, detail, time.Now()
		return out, nil
	}
	g := l.find(on)
	if g == nil {
		return end(launch.Crash, "no CUDA-capable device is detected")
	}
	if math.IsInf(float64(seconds), 1) {
		return end(launch.OutOfMemory, "out of memory")
	}
	others, err := g.Processes()
	if err != nil {
		return end(launch.Crash, err.Error())
	}
	l.mu.Lock()
	l.pid++
	pid := firstPID + l.pid
	l.mu.Unlock()
	defer g.Use(on.ID, pid, k.Name)()

	takes := time.Duration(float64(seconds) * (1 + l.Slowdown[k.Name]*float64(len(others))) * float64(time.Second))
	late := k.Timeout > 0 && k.Timeout < takes
	if late {
		takes = k.Timeout
	}
	select {
	case <-ctx.Done():
		return launch.Outcome{}, ctx.Err()
	case <-time.After(takes):
	}
	switch {
	case late:
		return end(launch.Timeout, fmt.Sprintf("killed after %v", k.Timeout))
	case l.Crash[k.Name]:
		return end(launch.Crash, "exit status 139")
	case l.find(on) == nil:
		return end(launch.Crash, "unspecified launch failure")
	}
	out, err = end(launch.OK, "")
	out.Seconds = profiling.Seconds(out.End.Sub(out.Start))
	return out, err
}

// firstPID is above the process numbers of real systems.
const firstPID = 1 << 23

func (l *Launcher) find(on profiling.Instance) *GPU {
	for _, g := range l.GPUs {
		exist, _ := g.Instances() // none of a lost GPU
		if slices.ContainsFunc(exist, func(i profiling.Instance) bool { return i.UUID != "" && i.UUID == on.UUID }) {
			return g
		}
	}
	return nil
}
