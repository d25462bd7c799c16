package measure

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"miglab/harness/mig"
	"miglab/harness/task"
	"miglab/profiling"
	"miglab/profiling/launch"
)

// withoutGPU hides every GPU from a program.
var withoutGPU = profiling.Instance{UUID: "no GPU", Env: []string{"CUDA_VISIBLE_DEVICES=-1"}}

// withoutGPUTimeout ends a program that waits for the GPU that it cannot see.
const withoutGPUTimeout = time.Minute

// A judge is a launcher that marks runs as wrong: if datasets cannot hold the time, if the result differs from the
// kernel's earlier results, or if it is the result without a GPU.
type judge struct {
	Launcher
	mu sync.Mutex
	// idle holds each kernel's result without a GPU; empty if the kernel failed there, as it should.
	idle map[string]string
	// first holds the first good result of each kernel.
	first map[string]string
}

func (j *judge) Launch(ctx context.Context, k *launch.Kernel, on profiling.Instance) (launch.Outcome, error) {
	if err := j.learn(ctx, k); err != nil {
		return launch.Outcome{}, err
	}
	out, err := j.Launcher.Launch(ctx, k, on)
	if out.Status != launch.OK {
		return out, err
	}
	if out.Result != "" {
		j.compare(k, &out)
	}
	if out.Status == launch.OK && !(out.Seconds > 0 && out.Seconds <= task.MaxSeconds) {
		out.Status, out.Detail = launch.Wrong, fmt.Sprintf("%v s is not a time", out.Seconds)
	}
	return out, err
}

// adopt keeps the result of a good run if the kernel has none yet.
func (j *judge) adopt(kernel, result string) {
	j.first[kernel] = cmp.Or(j.first[kernel], result)
}

// learn keeps a kernel's result without a GPU, unless the manifest names no result or it is known.
func (j *judge) learn(ctx context.Context, k *launch.Kernel) error {
	if k.Result == (launch.ResultSource{}) {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, known := j.idle[k.Name]; known {
		return nil
	}
	alone := *k
	alone.Timeout = min(k.Timeout, withoutGPUTimeout)
	out, err := j.Launcher.Launch(ctx, &alone, withoutGPU)
	if err == nil {
		j.idle[k.Name] = out.Result
	}
	return err
}

// compare makes a run wrong if its result is the same as without a GPU, or differs from the kernel's earlier runs.
func (j *judge) compare(k *launch.Kernel, out *launch.Outcome) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch first := j.first[k.Name]; {
	case out.Result == j.idle[k.Name]:
		out.Detail = "its result is the same as without a GPU"
	case first != "" && out.Result != first:
		out.Detail = fmt.Sprintf("its result differs from that of the kernel's first run: %.12s, not %.12s", out.Result,
			first)
	default:
		j.adopt(k.Name, out.Result)
		return
	}
	out.Status, out.Seconds = launch.Wrong, mig.Seconds(math.Inf(1))
}
