package devicetest

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	// failSamples is how many samples of a watch are still to fail.
	failSamples atomic.Int32
	watch       func(Stage, mig.Instance)
	// first is the state of a new GPU.
	first state
	store *store

	mu          sync.Mutex
	failCreates map[int]fault
	creates     int
}

// A fault is an injected failure of a create.
type fault struct {
	err error
	// halfway means that the create fails after its GPU instance was made. busy is how often
	// the GPU then refuses to destroy that.
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
func MIGOff() Option { return func(g *GPU) { g.first = state{} } }

// Busy lets Destroy refuse an instance that was used with ErrBusy, for a number of calls
// and for some time after its last process has ended.
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
	BeforeDestroy Stage = "before destroy" // both still exist
	ComputeGone   Stage = "compute gone"   // the compute instance is gone, and the GPU instance still exists
	Destroyed     Stage = "destroyed"      // both are gone
)

// New returns a GPU in MIG mode, without instances, whose state is in this process.
func New(model *mig.GPU, opts ...Option) *GPU {
	g, err := Open("", model, opts...)
	if err != nil {
		panic(err) // Without a file nothing can fail.
	}
	return g
}

// Open returns a GPU with its state in a file, so that it outlives the process and several processes can share it. If
// the file does not exist, Open writes the state of a GPU as [New] makes it. Faults of [GPU.FailCreate] and
// [GPU.FailCompute] stay in the process.
func Open(path string, model *mig.GPU, opts ...Option) (*GPU, error) {
	g := &GPU{
		model: model, scale: 1, driver: make(chan struct{}, 1), watch: func(Stage,
			mig.Instance) {
		},
		first: state{MIG: true, Pending: true}, failCreates: map[int]fault{},
	}
	Number(0)(g)
	for _, o := range opts {
		o(g)
	}
	g.store = &store{path: path, s: g.first}
	return g, g.store.update(func(*state) error { return nil })
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
	err := g.do("identify the GPU", func(s *state) error {
		id.MIG, id.MIGPending = s.MIG, s.Pending
		return nil
	})
	return id, err
}

// SetMIG implements [profiling.Device]. On Ampere the mode stays pending while
// processes use the GPU; the other generations change it at once.
func (g *GPU) SetMIG(on bool) error {
	return g.do("turn MIG mode "+profiling.OnOff(on), func(s *state) error {
		switch {
		case s.Forbidden:
			return profiling.ErrPermission
		case !on && len(s.Instances) > 0:
			return profiling.ErrBusy
		}
		s.Pending = on
		if ampere := strings.HasPrefix(g.model.Name, "A"); !ampere || len(s.Processes) == 0 {
			s.MIG = on
		}
		return nil
	})
}

// Placements implements [profiling.Device].
func (g *GPU) Placements(p *mig.Profile) (starts []mig.Slices, err error) {
	err = g.do("list placements of "+p.String(), func(s *state) error {
		if !slices.Contains(g.model.Profiles, p) {
			return profiling.ErrUnsupported
		}
		if !s.MIG {
			return profiling.ErrMIGOff
		}
		starts = slices.Clone(p.Starts)
		return nil
	})
	return starts, err
}

// Instances implements [profiling.Device].
func (g *GPU) Instances() (out []profiling.Instance, err error) {
	err = g.do("list instances", func(s *state) error {
		for _, i := range s.Instances {
			out = append(out, g.instance(i))
		}
		return nil
	})
	slices.SortFunc(out, func(a, b profiling.Instance) int { return cmp.Compare(a.Start, b.Start) })
	return out, err
}

func (g *GPU) instance(i instance) profiling.Instance {
	out := profiling.Instance{Instance: mig.Instance{Profile: g.profile(i.Profile), Start: i.Start}, ID: i.ID}
	if i.Compute {
		out.UUID = "MIG-" + uuid(g.uuid, fmt.Sprint(i.Profile), fmt.Sprint(i.Start))
		out.Env = []string{"CUDA_VISIBLE_DEVICES=" + out.UUID}
	}
	return out
}

func (g *GPU) profile(id int) *mig.Profile {
	return g.model.Profiles[slices.IndexFunc(g.model.Profiles, func(p *mig.Profile) bool { return p.ID == id })]
}

// Create implements [profiling.Device].
func (g *GPU) Create(at mig.Instance) (profiling.Instance, error) {
	defer g.enter()()
	op := fmt.Sprintf("create %s at %d", at.Profile, at.Start)
	g.watch(BeforeCreate, at)
	wrong := g.injected()
	if wrong.err != nil && !wrong.halfway {
		return profiling.Instance{}, &profiling.DeviceError{Op: op, Err: wrong.err}
	}
	made := instance{Profile: at.Profile.ID, Start: at.Start}
	err := g.do(op, func(s *state) error {
		if err := g.refuse(s, at); err != nil {
			return err
		}
		for slices.ContainsFunc(s.Instances, func(i instance) bool { return i.ID == made.ID }) {
			made.ID++
		}
		s.Instances = append(s.Instances, made)
		return nil
	})
	if err != nil {
		return profiling.Instance{}, err
	}
	g.watch(GPUInstance, at)
	g.sleep(at.Profile.Create)
	err = g.do(op, func(s *state) error {
		i := s.find(made.ID)
		if i == nil {
			return profiling.ErrLost // and reset since then
		}
		if wrong.halfway {
			i.Refusals = wrong.busy
			return wrong.err
		}
		i.Compute = true
		made = *i
		return nil
	})
	if err != nil {
		if undo := g.destroy(made.ID); undo != nil && !errors.Is(undo, profiling.ErrUnknownInstance) {
			err = &profiling.LeftoverError{ID: made.ID, Err: err, Undo: undo}
		}
		return profiling.Instance{}, err
	}
	g.watch(Created, at)
	return g.instance(made), nil
}

// refuse says why an instance cannot be created. It only compares memory slices and shares
// no code with package mig, since tests compare the two.
func (g *GPU) refuse(s *state, at mig.Instance) error {
	p := at.Profile
	switch {
	case s.Forbidden:
		return profiling.ErrPermission
	case !s.MIG:
		return profiling.ErrMIGOff
	case !slices.Contains(g.model.Profiles, p):
		return profiling.ErrUnsupported
	case !slices.Contains(p.Starts, at.Start):
		return profiling.ErrPlacement
	}
	same := 0
	for _, i := range s.Instances {
		if i.Profile == p.ID {
			same++
		}
		if at.Start < i.Start+g.profile(i.Profile).Length && i.Start < at.Start+p.Length {
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
	err := g.do(op, func(s *state) error {
		i := s.find(id)
		if i == nil {
			return profiling.ErrUnknownInstance
		}
		at = mig.Instance{Profile: g.profile(i.Profile), Start: i.Start}
		return nil
	})
	if err != nil {
		return err
	}
	g.watch(BeforeDestroy, at)
	err = g.do(op, func(s *state) error {
		i := s.find(id)
		switch {
		case s.Forbidden:
			return profiling.ErrPermission
		case i == nil:
			return profiling.ErrUnknownInstance
		case slices.ContainsFunc(s.Processes, func(p process) bool { return p.On == id }):
			return profiling.ErrBusy
		}
		i.Compute = false
		if i.Refusals > 0 || time.Now().Before(i.Until) {
			i.Refusals = max(0, i.Refusals-1)
			return profiling.ErrBusy
		}
		return nil
	})
	if err != nil {
		return err
	}
	g.watch(ComputeGone, at)
	g.sleep(at.Profile.Destroy)
	err = g.do(op, func(s *state) error {
		s.Instances = slices.DeleteFunc(s.Instances, func(i instance) bool { return i.ID == id })
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
	err = g.do("list processes", func(s *state) error {
		for _, p := range s.Processes {
			out = append(out, p.Process)
		}
		return nil
	})
	return out, err
}

// Conditions implements [profiling.Device]. They never change.
func (g *GPU) Conditions() (profiling.Conditions, error) {
	return profiling.Conditions{MemoryClock: 1000, PowerLimit: 300}, g.do("read clocks", func(*state) error {
		return nil
	})
}

// Watch implements [profiling.Device]. While processes use the GPU, its clocks are high; otherwise they are low.
func (g *GPU) Watch() (*profiling.Watch, error) {
	return profiling.Every(func() (profiling.Sample, error) {
		if g.failSamples.Add(-1) >= 0 {
			return profiling.Sample{}, errors.New("the driver does not answer")
		}
		s := profiling.Sample{At: time.Now(), SMClock: 345, Power: 50, Temperature: 40, Throttle: 0x1}
		processes, err := g.Processes()
		if len(processes) > 0 {
			s.SMClock, s.Power, s.Temperature, s.Throttle = 1410, 250, 60, 0x4
		}
		return s, err
	}, func() {}), nil
}

// Close implements [profiling.Device].
func (g *GPU) Close() error { return nil }

// Use lets a process use an instance until release is called. on is the instance's ID or
// [WholeGPU]. The process need not exist.
func (g *GPU) Use(on, pid int, name string) (release func()) {
	p := process{profiling.Process{PID: pid, Name: name}, on}
	g.change(func(s *state) { s.Processes = append(s.Processes, p) })
	return func() {
		g.change(func(s *state) {
			s.Processes = slices.DeleteFunc(s.Processes, func(q process) bool { return p == q })
			if i := s.find(on); i != nil {
				i.Refusals, i.Until = g.refusals, time.Now().Add(g.linger)
			}
		})
	}
}

// WholeGPU is the place of processes that run on no instance.
const WholeGPU = -1

// Lose lets every call fail with ErrLost until the GPU is reset.
func (g *GPU) Lose() { g.change(func(s *state) { s.Lost = true }) }

// Reset brings the GPU back without instances and processes, in the pending MIG mode.
func (g *GPU) Reset() {
	g.change(func(s *state) { *s = state{MIG: s.Pending, Pending: s.Pending, Forbidden: s.Forbidden} })
}

// Forbid lets SetMIG, Create and Destroy fail with ErrPermission, or work again.
func (g *GPU) Forbid(yes bool) { g.change(func(s *state) { s.Forbidden = yes }) }

// FailCreate lets the n-th create from now on (0 is the next one) fail with err before it makes anything.
func (g *GPU) FailCreate(n int, err error) { g.fail(n, fault{err: err}) }

// FailCompute lets the n-th create from now on (0 is the next one) fail with err after it made its GPU instance and
// before it makes its compute instance. The GPU then refuses to destroy the GPU instance with ErrBusy as often as busy
// says. The first refusal goes to the create, so that its error is a [*profiling.LeftoverError].
func (g *GPU) FailCompute(n int, err error, busy int) { g.fail(n, fault{err, true, busy}) }

// FailSamples lets the next samples of a watch fail.
func (g *GPU) FailSamples(n int) { g.failSamples.Store(int32(n)) }

func (g *GPU) fail(n int, f fault) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failCreates[g.creates+n] = f
}

func (g *GPU) injected() fault {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.creates++
	return g.failCreates[g.creates-1]
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
func (g *GPU) do(op string, f func(*state) error) error {
	return g.store.update(func(s *state) error {
		err := profiling.ErrLost
		if !s.Lost {
			err = f(s)
		}
		if err != nil {
			return &profiling.DeviceError{Op: op, Err: err}
		}
		return nil
	})
}

// change changes the state from outside.
func (g *GPU) change(f func(*state)) {
	err := g.store.update(func(s *state) error {
		f(s)
		return nil
	})
	if err != nil {
		panic(err) // The file with the state cannot be written, so the test cannot continue.
	}
}
