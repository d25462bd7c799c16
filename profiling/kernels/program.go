package kernels

import (
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"time"

	"miglab/harness/nearest"
	"miglab/profiling/cuda"
)

// A Program is one benchmark: its kernels, and the host side that makes the input and launches them.
type Program struct {
	Name string // also the name of its source, NAME.cu
	// What describes in a line the computation and its limit.
	What string
	Unit string // names the things that a size counts
	// A measurement has Size and Iterations, a verification has VerifySize.
	Size, Iterations, VerifySize uint64
	// WindowSize is the size of measurements in which each kernel iterates for a fraction of a second; 0 means Size.
	WindowSize uint64
	MaxSize    uint64 // the largest size
	// Bytes returns the device memory that a size takes, without CUDA's own.
	Bytes func(size uint64) uint64
	// start makes the input. It returns one iteration, which always begins with the same input, and the comparison of
	// its result with a reference.
	start func(h *host, size, seed uint64) (iterate func(), verify func())
}

//go:embed ptx/*.ptx
var ptx embed.FS

// Programs returns all programs, sorted by name.
func Programs() []*Program {
	return []*Program{bfs, gaussian, gemm, lu, nw, randomAccess, reduction, stream}
}

// Lookup returns the program with a name, or a [*nearest.UnknownError].
func Lookup(name string) (*Program, error) {
	return nearest.Find("kernel", name, Programs(), func(p *Program) string { return p.Name })
}

// Fingerprint returns a hash of the programs' device code and sizes. Times of programs with another one are not
// comparable.
func Fingerprint() string {
	h := sha256.New()
	for _, p := range Programs() {
		text, _ := ptx.ReadFile("ptx/" + p.Name + ".ptx") // it is embedded
		fmt.Fprintf(h, "%s %d %d %d\n%s\n", p.Name, p.Size, p.WindowSize, p.VerifySize, text)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:6])
}

// A Run is a program with its input on a device.
type Run struct {
	host            host
	iterate, verify func()
	burst           uint64 // how many iterations [Run.Until] makes at once
}

// Start loads the program's kernels into a GPU and makes its input there, from a seed. It waits until the input is
// complete.
func (p *Program) Start(g cuda.Queue, size, seed uint64) (*Run, error) {
	text, err := ptx.ReadFile("ptx/" + p.Name + ".ptx")
	if err != nil {
		return nil, err
	}
	r := &Run{host: host{gpu: g, err: g.Load(text)}, burst: 1}
	r.iterate, r.verify = p.start(&r.host, size, seed)
	r.host.sync()
	return r, r.host.err
}

// Iterate launches iterations and waits for them.
func (r *Run) Iterate(n uint64) error {
	for range n {
		r.iterate()
	}
	r.host.sync()
	return r.host.err
}

// Until iterates in bursts, at least once, until there is enough, and returns the number of iterations. A burst takes a
// few milliseconds, or one iteration; the host then waits for the device.
func (r *Run) Until(enough func() bool) (done uint64, err error) {
	const least = 5 * time.Millisecond
	for done == 0 || !enough() {
		start := time.Now()
		if err := r.Iterate(r.burst); err != nil {
			return done, err
		}
		done += r.burst
		if time.Since(start) < least {
			r.burst *= 2
		}
	}
	return done, nil
}

// For returns a function for [Run.Until] that lets a time pass from now.
func For(d time.Duration) (enough func() bool) {
	start := time.Now()
	return func() bool { return time.Since(start) >= d }
}

// Verify compares the result of the last iteration with a reference that the processor computes.
func (r *Run) Verify() error {
	r.verify()
	return r.host.err
}

// A host does what a program asks of a GPU until something fails. It keeps the first error; after it, its methods have
// no effect.
type host struct {
	gpu cuda.Queue
	err error
}

// alloc reserves memory for a number of values.
func (h *host) alloc(count, bytes uint64) uint64 {
	if h.err != nil {
		return 0
	}
	p, err := h.gpu.Alloc(count * bytes)
	if refusal, ok := errors.AsType[*cuda.Error](err); ok && refusal.OutOfMemory() {
		err = fmt.Errorf("%d bytes of device memory: %w", count*bytes, err)
	}
	h.err = err
	return uint64(p)
}

func (h *host) launch(name string, grid, block cuda.Dim, arguments ...uint64) {
	if h.err == nil {
		h.err = h.gpu.Launch(name, grid, block, arguments...)
	}
}

// fill launches the kernel that makes the input with a thread for each of count values. The kernel takes the arguments,
// among which count may stand again.
func (h *host) fill(count uint64, arguments ...uint64) {
	h.launch("fill", line(blocks(count, 256)), line(256), arguments...)
}

func (h *host) sync() {
	if h.err == nil {
		h.err = h.gpu.Sync()
	}
}

// compare reports the first value that is not the reference's. NaN never is.
func (h *host) compare(i int, got, want, allowed float64) {
	if d := got - want; h.err == nil && !(-allowed <= d && d <= allowed) {
		h.err = mismatch(i, got, want, allowed)
	}
}

func mismatch(i int, got, want, allowed float64) error {
	return fmt.Errorf("wrong at %d: got %.9g, want %.9g within %.2g", i, got, want, allowed)
}

// compareIntegers reports the first integer that is not the reference's.
func compareIntegers[T uint64 | uint32 | int32](h *host, got, want []T) {
	for i := range want {
		if got[i] != want[i] && h.err == nil {
			h.err = mismatch(i, float64(got[i]), float64(want[i]), 0)
		}
	}
}

// line returns a grid or a block of one dimension, rectangle one of two.
func line(n uint64) cuda.Dim            { return cuda.Dim{X: uint32(n), Y: 1, Z: 1} }
func rectangle(x, y uint64) cuda.Dim    { return cuda.Dim{X: uint32(x), Y: uint32(y), Z: 1} }
func blocks(work, block uint64) uint64  { return (work + block - 1) / block }
func roundUp(n, multiple uint64) uint64 { return blocks(n, multiple) * multiple }

// readValues copies values from the device.
func readValues[T any](h *host, from, count uint64) []T {
	values := make([]T, count)
	if h.err == nil {
		h.err = h.gpu.Read(bytesOf(values), cuda.Pointer(from))
	}
	return values
}

// writeValues copies values to the device.
func writeValues[T any](h *host, to uint64, values ...T) {
	if h.err == nil {
		h.err = h.gpu.Write(cuda.Pointer(to), bytesOf(values))
	}
}
