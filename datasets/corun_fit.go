package datasets

import (
	"math"
	"slices"
	"strings"
	"sync"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// A KernelFit is the co-run model's program for a kernel of [RodiniaA100].
type KernelFit struct {
	// Kernel is spelled as in the table; Program is its name in the hierarchical paper's
	// Table IV, empty if it is not there.
	Kernel, Program string
	// Fitted has its class from Table IV; where the kernel is not there, of those that it does
	// not contradict the one whose division of the work fits best.
	Fitted task.Program
	// RMS is the root mean square of the relative residuals over the instance sizes.
	RMS float64
	// Gain is the measured time on one slice over that on seven.
	Gain float64
}

// Contradicts reports whether the measured times are not those of the class: it is US though it gains 10 % or more from one to seven slices, or not
// US though it gains less. Times by instance size cannot tell CI from MI.
func (f *KernelFit) Contradicts() bool {
	return (f.Fitted.Class == task.Unscalable) != (f.Gain < 1.1)
}

// KernelFits returns the fits of the 16 public kernels, in the order of the table.
//
// On MIG instances compute and bandwidth grow together, so that times by size say nothing
// about the division of the work between them: that is the class's, the middle of what
// programs of the class are drawn from. The serial part, the parallelism and the solo time
// minimise the sum of the squared relative residuals; the parallelism in thousandths.
func KernelFits() []KernelFit { return slices.Clone(kernelFits()) }

var kernelFits = sync.OnceValue(func() []KernelFit {
	programs := map[string]string{}
	for program, kernel := range publicKernels {
		programs[kernel] = program
	}
	var out []KernelFit
	for _, t := range batch(tables()[RodiniaA100]) {
		best := KernelFit{RMS: math.Inf(1)}
		name := programs[t.Name]
		for _, class := range task.Classes() {
			f := KernelFit{Kernel: t.Name, Program: name, Gain: float64(t.On(1) / t.On(7))}
			f.fit(&t, class)
			if (name == "" && !f.Contradicts() || name != "" && class == classOf(name)) && f.RMS < best.RMS {
				best = f
			}
		}
		out = append(out, best)
	}
	return out
})

// classOf returns the class that Table IV gives a program.
func classOf(program string) task.Class {
	for _, row := range table4 {
		for _, printed := range strings.Fields(row.programs) {
			if name, _ := unmarked(printed); name == program {
				return row.class
			}
		}
	}
	panic("datasets: Table IV has no program " + program)
}

// fit fits a task's times on A100 instances with a class's division of the work. For a given
// parallelism the model is linear in the serial and the parallel seconds, a and b.
func (f *KernelFit) fit(t *task.Task, class task.Class) {
	shape := classShapes[class]
	// memory is the memory work as a share of what is not serial.
	memory := shape.memory.middle() / (1 - shape.serial.middle())
	f.RMS = math.Inf(1)
	for thousandths := 1; thousandths <= 1000; thousandths++ {
		p := task.Program{Class: class, Fitted: true, Parallelism: float64(thousandths) / 1000, Memory: memory}
		if p.Parallelism < minParallelism {
			continue
		}
		p.Compute = computeFor(0, p.Parallelism, p.Memory)
		a, b, rms := fitSeconds(t, &p)
		if rms >= f.RMS {
			continue
		}
		s := a / (a + b)
		p.Solo, p.Serial, p.Compute, p.Memory = mig.Seconds(a+b), s, (1-s)*p.Compute, (1-s)*p.Memory
		f.Fitted, f.RMS = p, rms
	}
}

// minParallelism is half a GPC: fewer multiprocessors than any instance has cannot be told
// apart.
const minParallelism = 1. / 16

// maxSerial keeps a program from being serial alone, without any work for the GPU.
const maxSerial = 0.98

// fitSeconds finds a and b from 0 that minimise the sum of ((a + b f) / t - 1)^2 over the
// instance sizes, f being the parallel program's relative time.
func fitSeconds(t *task.Task, parallel *task.Program) (a, b, rms float64) {
	g := mig.MustLookup("A100")
	var u, v []float64 // 1/t and f/t
	for _, size := range g.Sizes() {
		const gpcs = 8
		compute := float64(size) / gpcs
		bandwidth := float64(g.Profile(size).Length) / float64(g.MemorySlices)
		seconds := float64(t.On(size))
		u, v = append(u, 1/seconds), append(v, parallel.Relative(compute, bandwidth)/seconds)
	}
	var uu, uv, vv, u1, v1 float64
	for i := range u {
		uu += float64(u[i] * u[i])
		uv += float64(u[i] * v[i])
		vv += float64(v[i] * v[i])
		u1 += u[i]
		v1 += v[i]
	}
	rms = math.Inf(1)
	try := func(x, y float64) {
		sum := 0.0
		for i := range u {
			r := float64(x*u[i]) + float64(y*v[i]) - 1
			sum += float64(r * r)
		}
		if r := math.Sqrt(sum / float64(len(u))); r < rms {
			a, b, rms = x, y, r
		}
	}
	// The optimum is inside, or on one of the bounds: s = 0 and s = maxSerial.
	if det := float64(uu*vv) - float64(uv*uv); det > 0 {
		x, y := (float64(u1*vv)-float64(v1*uv))/det, (float64(v1*uu)-float64(u1*uv))/det
		if x >= 0 && y >= 0 && x <= maxSerial*(x+y) {
			try(x, y)
		}
	}
	for _, s := range []float64{0, maxSerial} {
		// One unknown is left, the sum of a and b.
		var w1, ww float64
		for i := range u {
			w := float64(s*u[i]) + float64((1-s)*v[i])
			w1 += w
			ww += float64(w * w)
		}
		try(s*w1/ww, (1-s)*w1/ww)
	}
	return a, b, rms
}
