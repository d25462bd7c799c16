// Package measure runs the experiments of the papers on a GPU: the times of kernels
// on every instance size (FAR 2.4, Figs. 2 and 3; DRL Fig. 7), what reconfiguration
// costs (FAR 2.1), whether instances disturb each other (FAR 2.5, Table 2), and
// MPS co-runs for the co-run track.
package measure

import (
	"context"

	"miglab/profiling"
	"miglab/profiling/kernel"
)

// A Launcher runs a kernel once on an instance. The program's is [Real]; tests in
// virtual time have others.
type Launcher interface {
	Launch(ctx context.Context, k *kernel.Kernel, on profiling.Instance) (kernel.Outcome, error)
}

// Real starts processes.
type Real struct{}

// Launch starts the kernel's process with the instance's environment.
func (Real) Launch(ctx context.Context, k *kernel.Kernel, on profiling.Instance) (kernel.Outcome, error) {
	return k.Run(ctx, on.Env)
}
