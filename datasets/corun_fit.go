package datasets

import (
	"math"
	"slices"
	"sync"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// A KernelFit is the co-run model's program for a measured kernel.
type KernelFit struct {
	// Kernel is spelled as in the table of times. Program is its name in the hierarchical paper's
	// Table IV; "" if Table IV lacks it or the times are not the published ones.
	Kernel, Program string
	// Fitted is the program. Its class is the class in Table IV or, without a Program, the best-fitting class that the
	// times do not contradict.
	Fitted task.Program
	RMS    float64 // the root mean square of the relative residuals over the instance sizes
	Gain   float64 // the measured time on the smallest size over the time on the largest
}

// Contradicts reports whether the measured times contradict the class: an unscalable (US) kernel gains less than
// [task.UnscalableLoss] from the smallest to the largest size, and other kernels gain more. Times by instance size
// cannot tell a compute-intensive (CI) kernel from a memory-intensive one (MI).
func (f *KernelFit) Contradicts() bool {
	unscalable := f.Gain < 1+task.UnscalableLoss
	return (f.Fitted.Class == task.Unscalable) != unscalable
}

// KernelFits returns the fits of the 16 public kernels, in the order of the table.
//
// On MIG instances compute and bandwidth grow together, so that times by size do not show how much of the work is
// memory work. This share comes from the class: the middle of the intervals from which its programs are drawn. The
// serial part, the parallelism (in thousandths) and the solo time minimise the sum of the squared relative residuals.
func KernelFits() []KernelFit { return slices.Clone(kernelFits()) }

var kernelFits = sync.OnceValue(func() []KernelFit {
	var out []KernelFit
	for _, t := range batch(tables()[rodiniaA100]) {
		var program tableProgram
		i := slices.IndexFunc(table4(), func(p tableProgram) bool { return p.Kernel == t.Name })
		if i >= 0 {
			program = table4()[i]
		}
		out = append(out, fitKernel(t.Name, program, instanceCurve(&t)))
	}
	return out
})

// A point is a kernel's time with a share of the multiprocessors and of the bandwidth.
type point struct{ compute, bandwidth, seconds float64 }

// instanceCurve returns a task's times on the sizes of an A100 that it fits. The papers count eight GPCs (clusters of
// multiprocessors) on an A100.
func instanceCurve(t *task.Task) (out []point) {
	g := mig.MustLookup("A100")
	for _, size := range g.Sizes() {
		if t.Fits(size) {
			bandwidth := float64(g.Profile(size).Length) / float64(g.MemorySlices)
			out = append(out, point{compute: float64(size) / 8, bandwidth: bandwidth, seconds: float64(t.On(size))})
		}
	}
	return out
}

// fitKernel fits a kernel's program. program is the zero value for a kernel that is not in Table IV.
func fitKernel(kernel string, program tableProgram, curve []point) KernelFit {
	best := KernelFit{RMS: math.Inf(1)}
	for _, class := range task.Classes() {
		f := KernelFit{Kernel: kernel, Program: program.Name, Gain: curve[0].seconds / curve[len(curve)-1].seconds}
		f.fit(curve, class)
		possible := class == program.Class
		if program.Name == "" {
			possible = !f.Contradicts()
		}
		if possible && f.RMS < best.RMS {
			best = f
		}
	}
	return best
}

// fit fits a kernel's times with the memory work of a class. For a given parallelism the model is linear in the serial
// and the parallel seconds, a and b.
func (f *KernelFit) fit(curve []point, class task.Class) {
	shape := classShapes[class]
	// memory is the memory work as a share of the part that is not serial.
	memory := shape.memory.middle() / (1 - float64(shape.serial.middle()))
	f.RMS = math.Inf(1)
	for thousandths := 1; thousandths <= 1000; thousandths++ {
		p := task.Program{Class: class, Fitted: true, Parallelism: float64(thousandths) / 1000, Memory: memory}
		if p.Parallelism < minParallelism {
			continue
		}
		p.Compute = computeFor(0, p.Parallelism, p.Memory)
		a, b, rms := fitSeconds(curve, &p)
		if rms >= f.RMS {
			continue
		}
		p.Solo = mig.Seconds(a + b)
		p.Serial = a / (a + b)
		p.Compute *= 1 - p.Serial
		p.Memory *= 1 - p.Serial
		f.Fitted, f.RMS = p, rms
	}
}

// minParallelism is half a GPC. Times by size cannot distinguish programs that use fewer
// multiprocessors than the smallest instance has.
const minParallelism = 1. / 16

// maxSerial keeps some work for the GPU in every program.
const maxSerial = 0.98

// fitSeconds returns the a and b of at least 0 that minimise the sum of ((a + b f) / t - 1)^2 over the curve, with a at
// most maxSerial (a + b). f is the parallel program's relative time at a point, and t the measured time. rms is the
// root of the mean of these squares.
func fitSeconds(curve []point, parallel *task.Program) (a, b, rms float64) {
	var u, v []float64 // 1/t and f/t
	for _, p := range curve {
		u = append(u, 1/p.seconds)
		v = append(v, parallel.Relative(p.compute, p.bandwidth)/p.seconds)
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
		r := math.Sqrt(sum / float64(len(u)))
		if r < rms {
			a, b, rms = x, y, r
		}
	}
	// The serial share s = a / (a + b) of the optimum is inside its bounds, or on one of them.
	det := float64(uu*vv) - float64(uv*uv)
	if det > 0 {
		x, y := (float64(u1*vv)-float64(v1*uv))/det, (float64(v1*uu)-float64(u1*uv))/det
		if x >= 0 && y >= 0 && x <= maxSerial*(x+y) {
			try(x, y)
		}
	}
	for _, s := range []float64{0, maxSerial} {
		// On a bound, a + b is the only unknown.
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
