package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/nearest"
	"miglab/profiling/cuda"
	"miglab/profiling/kernels"
)

// kernelRun holds the flags of the command kernel. The programs that nvcc builds take the same flags.
type kernelRun struct {
	size, iterations, warmUp int
	seed                     uint64
	verify                   bool
}

func newKernel() *cobra.Command {
	var f kernelRun
	c := &cobra.Command{
		Use:       "kernel NAME",
		Short:     "Run one of the project's own kernels on the GPU",
		Args:      cli.Arguments(1, 1, "the name of a kernel"),
		ValidArgs: nearest.Names(kernels.Programs(), func(p *kernels.Program) string { return p.Name }),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := kernels.Lookup(args[0])
			if err != nil {
				return err
			}
			return f.run(c, p)
		},
	}
	cli.AddFlag(c, &f.size, "size", "0", cli.WholeNumber(0, math.MaxInt), "size of the input; 0 means the kernel's own")
	cli.AddFlag(c, &f.iterations, "iterations", "0", cli.AtLeast(0), "timed iterations; 0 means the kernel's own")
	cli.AddFlag(c, &f.warmUp, "warm-up", "500", cli.AtLeast(0),
		"milliseconds of iterations before the timed ones, so that the GPU raises its clocks")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "of the input")
	c.Flags().BoolVar(&f.verify, "verify", false, "compare the result with a reference instead of timing it")
	return c
}

func (f *kernelRun) run(c *cobra.Command, p *kernels.Program) (err error) {
	size, iterations := p.Size, p.Iterations
	if f.verify {
		size, iterations = p.VerifySize, 1
	}
	size, iterations = cmp.Or(uint64(f.size), size), cmp.Or(uint64(f.iterations), iterations)
	if size > p.MaxSize {
		return fmt.Errorf("--size %d: %s takes at most %d %s", size, p.Name, p.MaxSize, p.Unit)
	}
	device, err := cuda.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	out := c.OutOrStdout()
	facts := device.Facts
	megabytes := (p.Bytes(size) + 999999) / 1000000 // rounded up
	fmt.Fprintf(out, "memory_mb: %d\ndevice: %s\nsms: %d\ndevice_mib: %d\nl2_bytes: %d\nuuid: %s\n",
		megabytes, facts.Name, facts.SMs, facts.MemoryMiB, facts.L2Bytes, facts.UUID)
	r, err := p.Start(device, size, f.seed)
	if err != nil {
		return cli.FailedError{Err: err}
	}
	if f.verify {
		err = errors.Join(r.Iterate(iterations), r.Verify())
	} else {
		err = f.time(out, r, iterations)
	}
	if err != nil {
		return cli.FailedError{Err: err}
	}
	fmt.Fprintln(out, "ok")
	return nil
}

// time prints the time of some iterations. Before them it iterates at least once, and for as long as the warm-up,
// because an idle GPU has low clocks.
func (f *kernelRun) time(out io.Writer, r *kernels.Run, iterations uint64) error {
	if _, err := r.Until(kernels.For(time.Duration(f.warmUp) * time.Millisecond)); err != nil {
		return err
	}
	start := time.Now()
	if err := r.Iterate(iterations); err != nil {
		return err
	}
	fmt.Fprintf(out, "time_s: %.6f\n", time.Since(start).Seconds())
	return nil
}
