// Package devicetest provides a fake GPU for tests: a [profiling.Device] that refuses what hardware refuses -
// overlapping instances, wrong placements, too many instances of a profile, destroying an instance in use, a MIG mode
// that stays pending - and that fails on demand. [Launcher] runs kernels on it in virtual time. The tests of package
// nvml run the same conformance suite on it and on NVML.
//
// Operations take the times of the model (FAR Table 1) with [time.Sleep], which costs no time under testing/synctest. A
// GPU must be made inside the bubble that uses it. The name and the driver of the GPU end in "(fake)", because its
// times are not measurements.
//
// Only tests import it.
package devicetest

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"miglab/harness/mig"
	"miglab/profiling"
)

// A GPU is a fake GPU. Methods are safe for concurrent use.
type GPU struct {
	model *mig.GPU
	uuid  string
	scale float64
	// driver admits as many creates and destroys at a time as it has room for, in the order of arrival. It is a
	// channel, since the clock of a synctest bubble stops while goroutines wait for a mutex.
	driver   chan struct{}
	refusals int
	linger   time.Duration
	watch    func(Stage, mig.Instance)

	mu sync.Mutex
	state
	// failSamples is the number of samples of a watch that still fail.
	failSamples int
	failCreates map[int]fault
	creates     int
}

// A state changes with each operation.
type state struct {
	on, pending     bool
	lost, forbidden bool
	instances       []instance
	processes       []process
}

type instance struct {
	mig.Instance
	id int
	// compute says whether its compute instance exists.
	compute bool
	// refusals and until say how often, and until when, the GPU refuses to destroy it.
	refusals int
	until    time.Time
}

type process struct {
	profiling.Process
	on int
}

// A fault is an injected failure of a create.
type fault struct {
	err error
	// halfway means that the create fails after its GPU instance was made. busy is how often the GPU then refuses to
	// destroy that.
	halfway bool
	busy    int
}

var _ profiling.Device = (*GPU)(nil)

// An Option changes a new GPU.
type Option func(*GPU)

// Number distinguishes GPUs: those with different numbers have different UUIDs. The default is 0.
func Number(i int) Option {
	return func(g *GPU) { g.uuid = "GPU-" + uuid(g.model.Name, fmt.Sprint(i)) }
}

// Scale multiplies the times of creating and destroying. The default is 1.
func Scale(f float64) Option { return func(g *GPU) { g.scale = f } }

// Parallel lets the GPU create and destroy instances at the same time. Real drivers do not (FAR 2.1).
func Parallel() Option { return func(g *GPU) { g.driver = make(chan struct{}, 1000) } }

// MIGOff makes a GPU whose MIG mode is off at first.
func MIGOff() Option { return func(g *GPU) { g.state = state{} } }

// Busy lets Destroy refuse an instance that was used with ErrBusy, for a number of calls and for some time after its
// last process has ended.
func Busy(refusals int, linger time.Duration) Option {
	return func(g *GPU) { g.refusals, g.linger = refusals, linger }
}

// Watch calls f at every [Stage] of a create and a destroy, in the goroutine of the operation, which waits until f
// returns.
func Watch(f func(Stage, mig.Instance)) Option { return func(g *GPU) { g.watch = f } }

// A Stage says what has just happened.
type Stage string

// The stages of create and destroy, in order.
const (
	BeforeCreate  Stage = "before create"  // nothing exists yet
	GPUInstance   Stage = "gpu instance"   // the GPU instance exists, without a compute instance and so without a UUID
	Created       Stage = "created"        // the GPU instance and its compute instance exist
	BeforeDestroy Stage = "before destroy" // the GPU instance still exists
	ComputeGone   Stage = "compute gone"   // the compute instance is gone, and the GPU instance still exists
	Destroyed     Stage = "destroyed"      // both are gone
)

// New returns a GPU in MIG mode, without instances.
func New(model *mig.GPU, opts ...Option) *GPU {
	g := &GPU{
		model: model, scale: 1, driver: make(chan struct{}, 1), watch: func(Stage, mig.Instance) {},
		state: state{on: true, pending: true}, failCreates: map[int]fault{},
	}
	Number(0)(g)
	for _, o := range opts {
		o(g)
	}
	return g
}

func uuid(words ...string) string {
	h := sha256.Sum256([]byte(strings.Join(words, "\n")))
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// Identify implements [profiling.Device].
func (g *GPU) Identify() (profiling.Identity, error) {
	id := profiling.Identity{
		UUID: g.uuid, Name: "NVIDIA " + g.model.Name + " (fake)", Model: g.model,
		MemoryMiB: 1024 * g.model.Profiles[len(g.model.Profiles)-1].MemoryGB, Driver: "0.0 (fake)",
		Source: mig.SourceMIG,
	}
	err := g.do("identify the GPU", func() error {
		id.MIG, id.MIGPending = g.on, g.pending
		return nil
	})
	return id, err
}

// Existing implements [profiling.Device].
func (g *GPU) Existing() []mig.Instance { return nil }

// Instances implements [profiling.Device].
func (g *GPU) Instances() (out []profiling.Instance, err error) {
	err = g.do("list instances", func() error {
		for _, i := range g.instances {
			out = append(out, g.describe(i))
		}
		return nil
	})
	slices.SortFunc(out, func(a, b profiling.Instance) int { return cmp.Compare(a.Start, b.Start) })
	return out, err
}

func (g *GPU) describe(i instance) profiling.Instance {
	out := profiling.Instance{Instance: i.Instance, ID: i.id}
	if i.compute {
		out.UUID = "MIG-" + uuid(g.uuid, fmt.Sprint(i.Profile.ID), fmt.Sprint(i.Start))
		out.Env = []string{"CUDA_VISIBLE_DEVICES=" + out.UUID}
	}
	return out
}

// find returns the instance with a number; nil if it does not exist. The caller holds mu.
func (g *GPU) find(id int) *instance {
	for k := range g.instances {
		if g.instances[k].id == id {
			return &g.instances[k]
		}
	}
	return nil
}

// Create implements [profiling.Device].
func (g *GPU) Create(at mig.Instance) (profiling.Instance, error) {
	defer g.enter()()
	op := fmt.Sprintf("create %s at %d", at.Profile, at.Start)
	g.watch(BeforeCreate, at)
	wrong := g.nextFault()
	if wrong.err != nil && !wrong.halfway {
		return profiling.Instance{}, &profiling.DeviceError{Op: op, Err: wrong.err}
	}
	made := instance{Instance: at}
	err := g.do(op, func() error {
		if err := g.refuse(at); err != nil {
			return err
		}
		for g.find(made.id) != nil {
			made.id++
		}
		g.instances = append(g.instances, made)
		return nil
	})
	if err != nil {
		return profiling.Instance{}, err
	}
	g.watch(GPUInstance, at)
	g.sleep(at.Profile.Create)
	err = g.do(op, func() error {
		i := g.find(made.id)
		if i == nil {
			return profiling.ErrLost // and reset since then
		}
		if wrong.halfway {
			i.refusals = wrong.busy
			return wrong.err
		}
		i.compute = true
		made = *i
		return nil
	})
	if err != nil {
		undo := g.destroy(made.id)
		if undo != nil && !errors.Is(undo, profiling.ErrUnknownInstance) {
			err = &profiling.LeftoverError{ID: made.id, Err: err, Undo: undo}
		}
		return profiling.Instance{}, err
	}
	g.watch(Created, at)
	return g.describe(made), nil
}

// refuse says why an instance cannot be created. It only compares memory slices and shares no code with package mig,
// since tests compare the two. The caller holds mu.
func (g *GPU) refuse(at mig.Instance) error {
	p := at.Profile
	switch {
	case g.forbidden:
		return profiling.ErrPermission
	case !g.on:
		return profiling.ErrMIGOff
	case !slices.Contains(g.model.Profiles, p):
		return profiling.ErrUnsupported
	case !slices.Contains(p.Starts, at.Start):
		return profiling.ErrPlacement
	}
	same := 0
	for _, i := range g.instances {
		if i.Profile == p {
			same++
		}
		if at.Start < i.Start+i.Profile.Length && i.Start < at.Start+p.Length {
			return profiling.ErrInsufficient
		}
	}
	if same >= p.Max {
		return profiling.ErrInsufficient
	}
	return nil
}

// Destroy implements [profiling.Device].
func (g *GPU) Destroy(id int) error {
	defer g.enter()()
	return g.destroy(id)
}

// destroy destroys an instance for a caller that the driver has admitted.
func (g *GPU) destroy(id int) error {
	op := fmt.Sprintf("destroy instance %d", id)
	var at mig.Instance
	err := g.do(op, func() error {
		i := g.find(id)
		if i == nil {
			return profiling.ErrUnknownInstance
		}
		at = i.Instance
		return nil
	})
	if err != nil {
		return err
	}
	g.watch(BeforeDestroy, at)
	err = g.do(op, func() error {
		i := g.find(id)
		switch {
		case g.forbidden:
			return profiling.ErrPermission
		case i == nil:
			return profiling.ErrUnknownInstance
		case slices.ContainsFunc(g.processes, func(p process) bool { return p.on == id }):
			return profiling.ErrBusy
		}
		i.compute = false
		if i.refusals > 0 || time.Now().Before(i.until) {
			i.refusals = max(0, i.refusals-1)
			return profiling.ErrBusy
		}
		return nil
	})
	if err != nil {
		return err
	}
	g.watch(ComputeGone, at)
	g.sleep(at.Profile.Destroy)
	err = g.do(op, func() error {
		if g.find(id) == nil {
			return profiling.ErrUnknownInstance // another destroy was faster
		}
		g.instances = slices.DeleteFunc(g.instances, func(i instance) bool { return i.id == id })
		return nil
	})
	if err != nil {
		return err
	}
	g.watch(Destroyed, at)
	return nil
}

// Processes implements [profiling.Device].
func (g *GPU) Processes() (out []profiling.Process, err error) {
	err = g.do("list processes", func() error {
		for _, p := range g.processes {
			out = append(out, p.Process)
		}
		return nil
	})
	return out, err
}

// Watch implements [profiling.Device]. While processes use the GPU, its clocks are high; otherwise they are low.
func (g *GPU) Watch() (*profiling.Watch, error) {
	return profiling.NewWatch(func() (s profiling.Sample, err error) {
		err = g.do("sample", func() error {
			if g.failSamples > 0 {
				g.failSamples--
				return errors.New("the driver does not answer")
			}
			s = profiling.Sample{At: time.Now(), SMClock: 345, Power: 50, Temperature: 40, Throttle: 0x1}
			if len(g.processes) > 0 {
				s.SMClock, s.Power, s.Temperature, s.Throttle = 1410, 250, 60, 0x4
			}
			return nil
		})
		return s, err
	}, func() {}), nil
}

// Close implements [profiling.Device].
func (g *GPU) Close() error { return nil }

// Use lets a process use an instance until release is called. on is the instance's ID or [WholeGPU]. The process need
// not exist.
func (g *GPU) Use(on, pid int, name string) (release func()) {
	p := process{profiling.Process{PID: pid, Name: name}, on}
	g.change(func() { g.processes = append(g.processes, p) })
	return func() {
		g.change(func() {
			g.processes = slices.DeleteFunc(g.processes, func(q process) bool { return p == q })
			i := g.find(on)
			if i != nil {
				i.refusals, i.until = g.refusals, time.Now().Add(g.linger)
			}
		})
	}
}

// WholeGPU is the place of processes that run on no instance.
const WholeGPU = -1

// Lose lets every call fail with ErrLost until the GPU is reset.
func (g *GPU) Lose() { g.change(func() { g.lost = true }) }

// Pend asks for a MIG mode that begins with the next Reset.
func (g *GPU) Pend(on bool) { g.change(func() { g.pending = on }) }

// Reset brings the GPU back without instances and processes, in the pending MIG mode.
func (g *GPU) Reset() {
	g.change(func() { g.state = state{on: g.pending, pending: g.pending, forbidden: g.forbidden} })
}

// Forbid lets Create and Destroy fail with ErrPermission, or work again.
func (g *GPU) Forbid(yes bool) { g.change(func() { g.forbidden = yes }) }

// FailCreate lets the n-th create from now on (0 is the next one) fail with err before it makes anything.
func (g *GPU) FailCreate(n int, err error) { g.fail(n, fault{err: err}) }

// FailCompute lets the n-th create from now on (0 is the next one) fail with err after it made its GPU instance and
// before it makes its compute instance. The GPU then refuses to destroy the GPU instance with ErrBusy as often as busy
// says. The first refusal goes to the create, so that its error is a [*profiling.LeftoverError].
func (g *GPU) FailCompute(n int, err error, busy int) { g.fail(n, fault{err, true, busy}) }

// FailSamples lets the next samples of a watch fail.
func (g *GPU) FailSamples(n int) { g.change(func() { g.failSamples = n }) }

func (g *GPU) fail(n int, f fault) { g.change(func() { g.failCreates[g.creates+n] = f }) }

func (g *GPU) nextFault() (f fault) {
	g.change(func() {
		f = g.failCreates[g.creates]
		g.creates++
	})
	return f
}

// enter waits for the driver and returns a function that releases it.
func (g *GPU) enter() (leave func()) {
	g.driver <- struct{}{}
	return func() { <-g.driver }
}

func (g *GPU) sleep(s mig.Seconds) {
	time.Sleep(time.Duration(float64(s) * g.scale * float64(time.Second)))
}

// do reads or changes the state, unless the GPU is lost.
func (g *GPU) do(op string, f func() error) error {
	err := profiling.ErrLost
	g.change(func() {
		if !g.lost {
			err = f()
		}
	})
	if err != nil {
		return &profiling.DeviceError{Op: op, Err: err}
	}
	return nil
}

// change changes the state, whatever the GPU does.
func (g *GPU) change(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f()
}
