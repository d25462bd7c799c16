//go:build cgo && linux

package nvml_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/store"
	"miglab/harness/task"
	"miglab/profiling"
	"miglab/profiling/execute"
	"miglab/profiling/kernel"
	"miglab/profiling/measure"
	"miglab/profiling/nvml"
	"miglab/profiling/session"
)

// TestRandomSequences runs random sequences of profile, execute and kill on a driver that behaves
// as drivers do. No sequence leaves an instance, attributes a time to a wrong instance, or loses a
// finished run. MIGLAB_SEQUENCES is their number.
func TestRandomSequences(t *testing.T) {
	n := deep.N(100, 1000)
	if v, err := strconv.Atoi(os.Getenv("MIGLAB_SEQUENCES")); err == nil {
		n = v
	}
	base := memoryDir(t)
	var total counts
	for seed := range n {
		var err error
		synctest.Test(t, func(t *testing.T) {
			s := newSequence(t.Context(), filepath.Join(base, fmt.Sprint(seed)), uint64(seed))
			err = s.run()
			total.add(s.counts)
		})
		if err != nil {
			t.Fatalf("sequence %d: %v", seed, err)
		}
	}
	t.Logf("%d sequences: %+v", n, total)
	if n >= 100 && (total.kills < n || total.executed < n/2 || total.recovered < n/4 || total.replaced == 0 || total.pending == 0 || total.refused == 0) {
		t.Errorf("the sequences leave out something: %+v", total)
	}
}

// memoryDir returns a folder in memory, where the system has one: every line of a journal waits
// for the disk.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "sequences-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// counts are how often something happened.
type counts struct{ sessions, kills, recovered, replaced, pending, refused, profiled, executed int }

func (c *counts) add(o counts) {
	c.sessions += o.sessions
	c.kills += o.kills
	c.recovered += o.recovered
	c.replaced += o.replaced
	c.pending += o.pending
	c.refused += o.refused
	c.profiled += o.profiled
	c.executed += o.executed
}

// A sequence is what happens to a GPU.
type sequence struct {
	ctx    context.Context
	dir    string
	r      *rand.Rand
	driver *fakeDriver
	// folders is the number of folders for journals: a killed program of this process would
	// still hold the lock in its own.
	folders int
	runs    []store.Unit // so far
	others  *gpuInstance
	// strangers is how many instances others made.
	strangers int
	// off is whether MIG mode was off at first.
	off     bool
	wrong   error // what a kernel saw that must not be
	started int   // kernels
	// profiling is whether the program profiles.
	profiling bool
	counts
}

const repetitions = 2

var kernelNames = []string{"a", "b"}

func newSequence(ctx context.Context, dir string, seed uint64) *sequence {
	r := rand.New(rand.NewPCG(seed, 16))
	model := mig.MustLookup([]string{"A30", "A100", "H100"}[r.IntN(3)])
	s := &sequence{ctx: ctx, dir: dir, r: r, driver: newFakeDriver(model, r)}
	s.driver.current = r.IntN(3) > 0
	s.driver.wants = s.driver.current
	s.off = !s.driver.current
	return s
}

func (s *sequence) run() error {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	for range 3 + s.r.IntN(6) {
		work := s.profile
		if s.r.IntN(3) == 0 {
			work = s.execute
		}
		calls := -1
		if s.r.IntN(4) > 0 {
			calls = 1 + int(s.r.ExpFloat64()*400)
		}
		s.driver.forbidden = calls < 0 && s.r.IntN(6) == 0
		s.meanwhile()
		if s.others != nil && calls > 0 {
			calls = 1 + s.r.IntN(250) // about when it wants to create what is in the way
		}
		err := s.program(work, calls)
		s.driver.forbidden = false
		if err := s.check(err); err != nil {
			return err
		}
	}
	return s.end()
}

// meanwhile lets others make an instance or destroy it, and the GPU be reset.
func (s *sequence) meanwhile() {
	d := s.driver
	switch {
	case d.wants != d.current && len(d.gis) == 0:
		d.current = d.wants // a reset
	case s.others != nil:
		s.others.gone = true
		d.gis = slices.DeleteFunc(d.gis, func(i *gpuInstance) bool { return i == s.others })
		s.others = nil
	// Not after a kill: what a run was about to create is known by its place alone.
	case d.current && len(d.gis) == 0 && !s.killed() && s.r.IntN(5) == 0:
		sizes := d.model.Sizes()
		p := d.model.Profile(sizes[s.r.IntN(len(sizes))])
		s.make(mig.Instance{Profile: p, Start: p.Starts[s.r.IntN(len(p.Starts))]})
	case len(d.gis) > 0 && s.r.IntN(5) == 0:
		s.replace(d.gis[s.r.IntN(len(d.gis))])
	}
	d.shuffle()
}

// killed reports whether the last program left a journal.
func (s *sequence) killed() bool {
	_, err := os.Stat(s.journal(filepath.Join(s.dir, fmt.Sprint(s.folders))))
	return err == nil
}

// make lets others make an instance.
func (s *sequence) make(at mig.Instance) {
	s.strangers++
	s.others = &gpuInstance{d: s.driver, at: at, uuid: fmt.Sprintf("MIG-others-%d", s.strangers), sms: at.Profile.SMs}
	s.driver.add(s.others)
}

// replace lets others destroy what a killed run left, and make the same. The journal has its UUID,
// if it was made to the end; only then can the next run tell the two apart.
func (s *sequence) replace(left *gpuInstance) {
	journal, err := os.ReadFile(s.journal(filepath.Join(s.dir, fmt.Sprint(s.folders))))
	if err != nil || left.uuid == "" || !bytes.Contains(journal, []byte(`"`+left.uuid+`"`)) {
		return
	}
	s.replaced++
	left.gone = true
	s.driver.gis = slices.DeleteFunc(s.driver.gis, func(i *gpuInstance) bool { return i == left })
	s.make(left.at)
}

// program runs work in a session, which is killed in the middle of a call of the driver. It
// returns the program's error; nil after a kill.
func (s *sequence) program(work func(context.Context, *session.Session) error, calls int) (err error) {
	s.sessions++
	dir := s.folder()
	ctx, kill := context.WithCancel(s.ctx)
	// What a goroutine writes that has not noticed the kill yet must not count.
	var journal, rows []byte
	s.driver.left, s.driver.dead, s.driver.kill = calls, false, func() {
		journal, _ = os.ReadFile(s.journal(dir)) // nil if there is none
		rows, _ = os.ReadFile(s.database())
		if s.r.IntN(4) == 0 && len(journal) > 0 { // in the middle of a line
			journal = append(journal, `{"event":"crea`...)
		}
		kill()
	}
	ended := make(chan bool)
	go func() {
		defer close(ended)
		err = s.session(ctx, dir, work)
	}()
	<-ended
	kill()
	synctest.Wait()
	if s.driver.dead {
		s.kills++
		err = errors.Join(rewrite(s.journal(dir), journal), rewrite(s.database(), rows))
		time.Sleep(time.Minute) // its kernels end
	}
	s.driver.left, s.driver.dead = -1, false
	return err
}

// folder returns a new folder with the journal of the last one.
func (s *sequence) folder() string {
	last := s.journal(filepath.Join(s.dir, fmt.Sprint(s.folders)))
	s.folders++
	dir := filepath.Join(s.dir, fmt.Sprint(s.folders))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		panic(err)
	}
	if text, err := os.ReadFile(last); err == nil {
		s.recovered++
		if err := os.WriteFile(s.journal(dir), text, 0o644); err != nil {
			panic(err)
		}
	}
	return dir
}

func (s *sequence) journal(dir string) string { return filepath.Join(dir, s.driver.uuid+".journal") }

// rewrite gives a file its text back, or removes it if there was none.
func rewrite(file string, text []byte) error {
	err := os.Remove(file)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if err == nil && text != nil {
		err = os.WriteFile(file, text, 0o644)
	}
	return err
}

// session opens the device and a session as the commands do.
func (s *sequence) session(ctx context.Context, dir string, work func(context.Context, *session.Session) error) error {
	d, err := nvml.OpenWith(s.driver, "")
	if err != nil {
		return err
	}
	run, err := session.Open(ctx, d, session.Options{Dir: dir, AllowMIGMode: true, Patience: 20 * time.Second})
	if err != nil {
		return err
	}
	err = work(ctx, run)
	return errors.Join(err, run.Close())
}

func (s *sequence) profile(ctx context.Context, run *session.Session) error {
	s.profiling = true
	b := measure.Bench{Dir: s.dir, Session: run, Kernels: s.kernels(), Launcher: s, Repetitions: repetitions, Seed: 1}
	_, err := b.Run(ctx, func(ctx context.Context, b *measure.Bench) (*measure.Plan, error) {
		p, err := measure.Sweep(ctx, b)
		if err == nil { // drawing would take longer than all sequences
			p.Save = func(io.Writer, bool) (int, error) { return 0, nil }
		}
		return p, err
	}, io.Discard)
	return err
}

func (s *sequence) kernels() (all []kernel.Kernel) {
	for _, name := range kernelNames {
		all = append(all, kernel.Kernel{Name: name, Suite: "s", Argv: []string{"./" + name}, File: "k.yaml"})
	}
	return all
}

// database has the finished runs.
func (s *sequence) database() string { return filepath.Join(s.dir, "results.db") }

// finished returns the finished runs.
func (s *sequence) finished() ([]store.Unit, error) {
	db, err := store.Open(s.dir)
	if err != nil {
		return nil, err
	}
	runs, err := db.Units("profile ")
	return runs, errors.Join(err, db.Close())
}

// execute runs the tasks of two partitions, one after the other.
func (s *sequence) execute(ctx context.Context, run *session.Session) error {
	s.profiling = false
	g := run.Identity().Model
	p := schedule.Problem{GPU: g, Model: mig.Free}
	plan := schedule.Schedule{GPU: g, Model: mig.Free}
	programs := map[string]*kernel.Kernel{}
	all := s.kernels()
	for phase, at := range []mig.Seconds{0, 100} {
		partition := g.Partitions()[s.r.IntN(len(g.Partitions()))]
		for _, in := range partition {
			name := fmt.Sprintf("%d/%v", phase, in)
			t := task.Task{Name: name}
			for _, size := range g.Sizes() {
				t.Set(size, takes("a", size))
			}
			p.Tasks = append(p.Tasks, t)
			programs[name] = &all[0]
			plan.Placements = append(plan.Placements, schedule.Placement{
				Task: len(p.Tasks) - 1, Instance: in, Start: at, End: at + takes("a", in.Size()),
			})
			plan.Operations = append(plan.Operations, schedule.Operation{Op: schedule.Create, Instance: in, Start: at, End: at},
				schedule.Operation{Op: schedule.Destroy, Instance: in, Start: at + 50, End: at + 50})
		}
	}
	real, err := execute.Run(ctx, p, plan, execute.Options{GPUs: []*session.Session{run}, Kernels: programs, Launcher: s})
	if err == nil && len(real.Placements) != len(p.Tasks) {
		return fmt.Errorf("%d of %d tasks have a time", len(real.Placements), len(p.Tasks))
	}
	for _, pl := range real.Placements {
		if took := pl.End - pl.Start; took < takes("a", pl.Instance.Size())-1e-6 || took > takes("a", pl.Instance.Size())+1e-6 {
			s.wrong = fmt.Errorf("%v took %v s", pl.Instance, took)
		}
	}
	if err == nil {
		s.executed++
	}
	return err
}

// takes is how long a kernel takes on an instance of a size.
func takes(name string, size mig.Slices) mig.Seconds {
	return mig.Seconds(1+float64(name[0]-'a')) * mig.Seconds(8-size)
}

// Launch runs a kernel on the instance that its environment names, as CUDA would.
func (s *sequence) Launch(ctx context.Context, k *kernel.Kernel, on profiling.Instance) (kernel.Outcome, error) {
	d := s.driver
	i := d.device(on.Env)
	if i == nil {
		return kernel.Outcome{Status: kernel.Crash, Detail: "no CUDA-capable device"}, nil
	}
	d.mu.Lock()
	if d.dead {
		d.mu.Unlock()
		runtime.Goexit()
	}
	s.started++
	if s.profiling {
		s.profiled++
	}
	if i.at != on.Instance || i.sms != on.Profile.SMs {
		s.wrong = fmt.Errorf("a kernel for %v (%s) ran on %v (%s), %d multiprocessors", on.Instance, on.UUID, i.at, i.uuid, i.sms)
	}
	uuid := i.uuid
	d.processes[uuid] = 1000 + s.started
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		delete(d.processes, uuid)
		d.mu.Unlock()
	}()
	out := kernel.Outcome{Status: kernel.OK, Start: time.Now(), Seconds: takes(k.Name, i.at.Size())}
	time.Sleep(time.Duration(float64(out.Seconds) * float64(time.Second)))
	d.mu.Lock()
	killed := d.dead
	d.mu.Unlock()
	if killed {
		runtime.Goexit()
	}
	out.End = time.Now()
	return out, ctx.Err()
}

// check says what is not as it should be after a program with an error.
func (s *sequence) check(err error) error {
	if s.wrong != nil {
		return s.wrong
	}
	if err != nil {
		s.refused++
		switch {
		case strings.Contains(err.Error(), "a reset"):
			s.pending++
		case s.others != nil, errors.Is(err, profiling.ErrPermission), errors.Is(err, profiling.ErrInsufficient), errors.Is(err, profiling.ErrBusy):
		default:
			return fmt.Errorf("a program failed without a reason: %w", err)
		}
	}
	runs, err := s.finished()
	if err != nil {
		return err
	}
	for _, before := range s.runs {
		if !slices.Contains(runs, before) {
			return fmt.Errorf("the run %s is lost, or another one", before.Key)
		}
	}
	s.runs = runs
	if s.others != nil && !slices.Contains(s.driver.gis, s.others) {
		return errors.New("the instance of others is gone")
	}
	return nil
}

// end profiles to the end on a driver that works, and checks what there is then.
func (s *sequence) end() error {
	for range 20 { // MIG mode can stay pending several times
		s.meanwhile()
		if s.others != nil {
			s.meanwhile()
		}
		err := s.program(s.profile, -1)
		if wrong := s.check(err); wrong != nil {
			return wrong
		}
		if err == nil {
			return s.complete()
		}
	}
	return errors.New("there is no end")
}

func (s *sequence) complete() error {
	if n := len(s.driver.gis); n > 0 {
		return fmt.Errorf("%d instances are left, the first of them %v", n, s.driver.gis[0].at)
	}
	left, err := filepath.Glob(filepath.Join(s.dir, fmt.Sprint(s.folders), "*.journal"))
	if err != nil || len(left) > 0 {
		return fmt.Errorf("journals %q, %v are left", left, err)
	}
	// An instance of others keeps the MIG mode on.
	if s.driver.wants == s.off && s.strangers == 0 {
		return fmt.Errorf("MIG mode was %v and will be %v", !s.off, s.driver.wants)
	}
	if want := len(kernelNames) * len(s.driver.model.Sizes()) * repetitions; len(s.runs) != want {
		return fmt.Errorf("%d runs, want %d", len(s.runs), want)
	}
	if most := len(s.runs) + s.kills + s.refused; s.profiled > most {
		return fmt.Errorf("%d kernels ran for %d rows, with %d kills and %d refusals: finished runs were repeated", s.profiled, len(s.runs), s.kills, s.refused)
	}
	for _, u := range s.runs {
		var r measure.Run
		if err := json.Unmarshal([]byte(u.Record), &r); err != nil {
			return err
		}
		if r.Status != kernel.OK || r.Seconds != takes(r.Kernel, r.Size) {
			return fmt.Errorf("%s on %d slices: %s, %v s; want %v", r.Kernel, r.Size, r.Status, r.Seconds, takes(r.Kernel, r.Size))
		}
	}
	return nil
}

// Of the compute instances with all slices, the one with most multiprocessors is made.
func TestComputeInstanceWithMostMultiprocessors(t *testing.T) {
	d := newFakeDriver(mig.MustLookup("H100"), rand.New(rand.NewPCG(3, 1)))
	d.current, d.wants = true, true
	gpu, err := nvml.OpenWith(d, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range d.model.Sizes() {
		p := d.model.Profile(size)
		var i profiling.Instance
		for err = profiling.ErrBusy; errors.Is(err, profiling.ErrBusy); {
			i, err = gpu.Create(mig.Instance{Profile: p})
		}
		if err != nil {
			t.Fatal(err)
		}
		if made := d.device(i.Env); made == nil || made.sms != p.SMs {
			t.Errorf("%s: %+v, want %d multiprocessors", p, made, p.SMs)
		}
		for err = profiling.ErrBusy; errors.Is(err, profiling.ErrBusy); {
			err = gpu.Destroy(i.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A UUID that is not that of a MIG device is not used: a kernel with it would run on the whole GPU.
func TestUUIDOfAMIGDevice(t *testing.T) {
	d := newFakeDriver(mig.MustLookup("A30"), rand.New(rand.NewPCG(3, 1)))
	d.current, d.wants, d.prefix = true, true, "GPU-"
	gpu, err := nvml.OpenWith(d, "")
	if err != nil {
		t.Fatal(err)
	}
	for err = profiling.ErrBusy; errors.Is(err, profiling.ErrBusy) && !errors.Is(err, profiling.ErrUnsupported); {
		_, err = gpu.Create(mig.Instance{Profile: d.model.Profile(1)})
	}
	if !errors.Is(err, profiling.ErrUnsupported) || !strings.Contains(err.Error(), "which does not begin with MIG-; install a newer driver") {
		t.Errorf("%v", err)
	}
}

// A driver that never says that there are no more profiles is asked a bounded number of times.
func TestEnumerationEnds(t *testing.T) {
	d := newFakeDriver(mig.MustLookup("A30"), rand.New(rand.NewPCG(3, 1)))
	d.current, d.wants, d.endless = true, true, true
	gpu, err := nvml.OpenWith(d, "")
	if err != nil {
		t.Fatal(err)
	}
	if id, err := gpu.Identify(); err != nil || id.Model != d.model {
		t.Errorf("%v, %v; want A30", id.Model, err)
	}
	if all, err := gpu.Instances(); err != nil || len(all) > 0 {
		t.Errorf("instances %v, %v", all, err)
	}
}
