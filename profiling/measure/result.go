package measure

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/kernel"
)

// withoutGPU hides every GPU from a program.
var withoutGPU = profiling.Instance{UUID: "no GPU", Env: []string{"CUDA_VISIBLE_DEVICES=-1"}}

// withoutGPUTimeout ends a program that waits for the GPU that it cannot see.
const withoutGPUTimeout = time.Minute

// results compares what the runs of a kernel computed.
type results struct {
	mu sync.Mutex
	// idle holds the results of kernels that ran without a GPU; empty if they failed, as they should.
	idle map[string]string
	// first holds the first good result of each kernel.
	first map[string]string
}

// adopt records the result of a good run; empty if it showed none.
func (r *results) adopt(kernel, result string) {
	r.first[kernel] = cmp.Or(r.first[kernel], result)
}

// learn runs a kernel without a GPU, unless it has done so before.
func (r *results) learn(ctx context.Context, l Launcher, k *kernel.Kernel) error {
	if k.Result == (kernel.ResultSource{}) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.idle[k.Name]; known {
		return nil
	}
	alone := *k
	alone.Timeout = min(k.Timeout, withoutGPUTimeout)
	out, err := l.Launch(ctx, &alone, withoutGPU)
	if err == nil {
		r.idle[k.Name] = out.Result
	}
	return err
}

// judge makes a run wrong whose result is that of a run without a GPU, or differs from that of the kernel's earlier
// runs.
func (r *results) judge(k *kernel.Kernel, out *kernel.Outcome) {
	if out.Status != kernel.OK || out.Result == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch first := r.first[k.Name]; {
	case out.Result == r.idle[k.Name]:
		out.Detail = "its result is the same as without a GPU"
	case first != "" && out.Result != first:
		out.Detail = fmt.Sprintf("its result differs from that of the kernel's first run: %.12s, not %.12s", out.Result,
			first)
	default:
		r.adopt(k.Name, out.Result)
		return
	}
	out.Status, out.Seconds = kernel.Wrong, mig.Seconds(math.Inf(1))
}
