package devicetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/store"
	"miglab/harness/task"
	"miglab/profiling"
	"miglab/profiling/devicetest"
	"miglab/profiling/execute"
	"miglab/profiling/launch"
	"miglab/profiling/measure"
	"miglab/profiling/session"
)

// TestRandomSequences runs random sequences of profile, execute and kill, while others make and
// destroy instances and privileges come and go. No sequence leaves an instance, gets a wrong time,
// or loses or repeats a finished run.
func TestRandomSequences(t *testing.T) {
	if _, err := os.Stat("/dev/shm"); err == nil {
		t.Setenv("TMPDIR", "/dev/shm") // each line of a journal waits for the disk
	}
	base := t.TempDir()
	total := map[string]int{}
	n := deep.N(100, 300)
	for seed := range n {
		synctest.Test(t, func(t *testing.T) {
			s := newSequence(t.Context(), filepath.Join(base, fmt.Sprint(seed)), rand.New(rand.NewPCG(uint64(seed), 16)), total)
			if err := s.run(); err != nil {
				t.Fatalf("sequence %d: %v", seed, err)
			}
		})
	}
	t.Logf("%d sequences: %v", n, total)
	for what, least := range map[string]int{"kills": n, "executed": n / 4, "recovered": n / 4, "refused": 1, "others": 1} {
		if total[what] < least {
			t.Errorf("%d %s in %d sequences, want at least %d", total[what], what, n, least)
		}
	}
}

// TestOneDestroySucceeds: of two destroys of an instance at the same time, the second finds it unknown.
func TestOneDestroySucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := mig.MustLookup("A100")
		gpu := devicetest.New(model, devicetest.Parallel())
		made, err := gpu.Create(mig.Instance{Profile: model.Profile(1)})
		if err != nil {
			t.Fatal(err)
		}
		errs := make(chan error, 2)
		for range 2 {
			go func() { errs <- gpu.Destroy(made.ID) }()
		}
		first, second := <-errs, <-errs
		if (first == nil) == (second == nil) || !errors.Is(errors.Join(first, second), profiling.ErrUnknownInstance) {
			t.Errorf("%v; %v", first, second)
		}
	})
}

const repetitions = 2

var kernelNames = []string{"a", "b"}

// takes is how long a kernel takes on an instance of a size.
func takes(name string, size mig.Slices) mig.Seconds {
	return mig.Seconds(1+float64(name[0]-'a')) * mig.Seconds(8-size)
}

// A sequence is what happens to a GPU.
type sequence struct {
	*devicetest.GPU
	ctx      context.Context
	dir      string
	r        *rand.Rand
	model    *mig.GPU
	launcher devicetest.Launcher
	// folders is the number of folders for journals: a killed program of this process would
	// still hold the lock in its own.
	folders int
	runs    []store.Unit // so far
	others  *profiling.Instance
	total   map[string]int // how often something happened in all sequences

	mu sync.Mutex
	// left is the number of calls until the program is killed; a negative one is never reached.
	left int
	dead bool
	// kill ends what the program waits for.
	kill                     context.CancelFunc
	profiling                bool
	profiled, kills, refused int
}

func newSequence(ctx context.Context, dir string, r *rand.Rand, total map[string]int) *sequence {
	model := mig.MustLookup([]string{"A30", "A100", "H100"}[r.IntN(3)])
	s := &sequence{ctx: ctx, dir: dir, r: r, model: model, left: -1, total: total}
	s.GPU = devicetest.New(model, devicetest.Watch(func(devicetest.Stage, mig.Instance) { s.call() }), devicetest.Busy(r.IntN(3), 0))
	times := map[string]map[mig.Slices]mig.Seconds{}
	for _, name := range kernelNames {
		times[name] = map[mig.Slices]mig.Seconds{}
		for _, size := range model.Sizes() {
			times[name][size] = takes(name, size)
		}
	}
	s.launcher = devicetest.Launcher{GPUs: []*devicetest.GPU{s.GPU}, Times: times}
	return s
}

// call may be where the program is killed. Then it ends this goroutine, and every one that calls
// after it, as all of a process ends.
func (s *sequence) call() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left--; s.left == 0 {
		s.dead = true
		s.kill()
	}
	if s.dead {
		runtime.Goexit()
	}
}

func (s *sequence) Identify() (profiling.Identity, error) { s.call(); return s.GPU.Identify() }

// Launch runs a kernel. That of a killed program goes on until its end.
func (s *sequence) Launch(ctx context.Context, k *launch.Kernel, on profiling.Instance) (launch.Outcome, error) {
	s.call()
	if s.profiling {
		s.profiled++
	}
	defer s.call()
	return s.launcher.Launch(context.WithoutCancel(ctx), k, on)
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
			calls = 1 + int(s.r.ExpFloat64()*40)
		}
		forbidden := calls < 0 && s.r.IntN(6) == 0
		s.meanwhile()
		s.Forbid(forbidden)
		err := s.program(work, calls)
		s.Forbid(false)
		if err := s.check(err); err != nil {
			return err
		}
	}
	return s.end()
}

// meanwhile lets others make an instance or destroy it.
func (s *sequence) meanwhile() {
	exist, err := s.Instances()
	switch {
	case err != nil:
		panic(err)
	case s.others != nil:
		if err := s.Destroy(s.others.ID); err != nil {
			panic(err)
		}
		s.others = nil
	case len(exist) == 0 && s.r.IntN(5) == 0:
		p := s.model.Profile(s.model.Sizes()[s.r.IntN(len(s.model.Sizes()))])
		// A program that was killed as it began to create there would take it for its own.
		if _, err := os.Stat(s.journal()); err != nil {
			if i, err := s.Create(mig.Instance{Profile: p, Start: p.Starts[s.r.IntN(len(p.Starts))]}); err == nil {
				s.others = &i
				s.total["others"]++
			}
		}
	}
}

func (s *sequence) folder() string { return filepath.Join(s.dir, fmt.Sprint(s.folders)) }

// journal is the file of the last program.
func (s *sequence) journal() string {
	id, err := s.GPU.Identify()
	if err != nil {
		panic(err)
	}
	return filepath.Join(s.folder(), id.UUID+".journal")
}

// database has the finished runs.
func (s *sequence) database() string { return filepath.Join(s.dir, "results.db") }

// program runs work in a session, which is killed in the middle of a call. It returns the
// program's error; nil after a kill.
func (s *sequence) program(work func(context.Context, *session.Session) error, calls int) (err error) {
	before, _ := os.ReadFile(s.journal()) // nil if there is none
	if before != nil {
		s.total["recovered"]++
	}
	s.folders++
	if err := errors.Join(os.Mkdir(s.folder(), 0o755), rewrite(s.journal(), before)); err != nil {
		return err
	}
	ctx, kill := context.WithCancel(s.ctx)
	// What a goroutine writes that has not noticed the kill yet must not count.
	var journal, rows []byte
	name := s.journal()
	s.left, s.dead, s.kill = calls, false, func() {
		journal, _ = os.ReadFile(name)
		rows, _ = os.ReadFile(s.database())
		kill()
	}
	ended := make(chan bool)
	go func() {
		defer close(ended)
		var run *session.Session
		if run, err = session.Open(ctx, s, session.Options{Dir: s.folder(), Patience: 20 * time.Second}); err == nil {
			err = errors.Join(work(ctx, run), run.Close())
		}
	}()
	<-ended
	kill()
	synctest.Wait()
	if s.dead {
		s.kills++
		s.total["kills"]++
		err = errors.Join(rewrite(s.journal(), journal), rewrite(s.database(), rows))
		s.left, s.dead = -1, false
		time.Sleep(time.Minute) // its kernels end
	}
	s.left = -1
	return err
}

// rewrite gives a file its text back, or removes it if there was none.
func rewrite(file string, text []byte) error {
	if text != nil {
		return os.WriteFile(file, text, 0o644)
	}
	return os.RemoveAll(file)
}

func (s *sequence) kernels() (all []launch.Kernel) {
	for _, name := range kernelNames {
		all = append(all, launch.Kernel{Name: name, Suite: "s", Argv: []string{"./" + name}, File: "k.yaml"})
	}
	return all
}

func (s *sequence) profile(ctx context.Context, run *session.Session) error {
	s.profiling = true
	b := measure.Bench{Dir: s.dir, Session: run, Kernels: s.kernels(), Launcher: s, Repetitions: repetitions}
	_, err := measure.Measure(ctx, &b, measure.Sweep, nil)
	return err
}

// execute runs the tasks of two partitions, one after the other.
func (s *sequence) execute(ctx context.Context, run *session.Session) error {
	s.profiling = false
	g := run.Identity().Model
	p, plan := schedule.Problem{GPU: g}, schedule.Schedule{GPU: g}
	programs := map[string]*launch.Kernel{}
	all := s.kernels()
	for phase, at := range []mig.Seconds{0, 100} {
		creates, destroys := at, at+50
		for _, in := range g.Partitions()[s.r.IntN(len(g.Partitions()))] {
			t := task.Task{Name: fmt.Sprintf("%d/%v", phase, in)}
			for _, size := range g.Sizes() {
				t.Set(size, takes("a", size))
			}
			p.Tasks = append(p.Tasks, t)
			programs[t.Name] = &all[0]
			plan.Placements = append(plan.Placements, schedule.Placement{
				Task: len(p.Tasks) - 1, Instance: in, Start: at + 10, End: at + 10 + takes("a", in.Size()),
			})
			plan.Operations = append(plan.Operations,
				schedule.Operation{Op: schedule.Create, Instance: in, Start: creates, End: creates + in.Profile.Create},
				schedule.Operation{Op: schedule.Destroy, Instance: in, Start: destroys, End: destroys + in.Profile.Destroy})
			creates, destroys = creates+in.Profile.Create, destroys+in.Profile.Destroy
		}
	}
	real, err := execute.Run(ctx, p, plan, execute.Options{GPU: run, Kernels: programs, Launcher: s})
	if err != nil {
		return err
	}
	s.total["executed"]++
	if len(real.Placements) != len(p.Tasks) {
		return fmt.Errorf("%d of %d tasks have a time", len(real.Placements), len(p.Tasks))
	}
	for _, pl := range real.Placements {
		if took, want := pl.End-pl.Start, takes("a", pl.Instance.Size()); took < want-1e-6 || took > want+1e-6 {
			return fmt.Errorf("%v took %v s, want %v", pl.Instance, took, want)
		}
	}
	return nil
}

// check says what is not as it should be after a program with an error.
func (s *sequence) check(failed error) error {
	if failed != nil {
		s.refused++
		s.total["refused"]++
		if s.others == nil && !errors.Is(failed, profiling.ErrPermission) {
			return fmt.Errorf("a program failed without a reason: %w", failed)
		}
	}
	db, err := store.Open(s.dir)
	if err != nil {
		return err
	}
	runs, err := db.Units("measured ")
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	for _, before := range s.runs {
		if !slices.Contains(runs, before) {
			return fmt.Errorf("the run %s is lost, or another one", before.Key)
		}
	}
	s.runs = runs
	exist, err := s.Instances()
	if s.others != nil && !slices.ContainsFunc(exist, func(i profiling.Instance) bool { return i.ID == s.others.ID && i.UUID == s.others.UUID }) {
		return errors.New("the instance of others is gone")
	}
	return err
}

// end profiles to the end, and checks what there is then.
func (s *sequence) end() error {
	if s.others != nil {
		s.meanwhile()
	}
	if err := s.program(s.profile, -1); err != nil {
		return err
	}
	if err := s.check(nil); err != nil {
		return err
	}
	if exist, err := s.Instances(); err != nil || len(exist) > 0 {
		return fmt.Errorf("instances %v, %w are left", exist, err)
	}
	if left, err := filepath.Glob(filepath.Join(s.folder(), "*.journal")); err != nil || len(left) > 0 {
		return fmt.Errorf("journals %q, %w are left", left, err)
	}
	if want := len(kernelNames) * len(s.model.Sizes()) * repetitions; len(s.runs) != want {
		return fmt.Errorf("%d runs, want %d", len(s.runs), want)
	}
	if most := len(s.runs) + s.kills + s.refused; s.profiled > most {
		return fmt.Errorf("%d kernels ran for %d rows, with %d kills and %d refusals: finished runs were repeated", s.profiled, len(s.runs), s.kills, s.refused)
	}
	for _, u := range s.runs {
		var unit struct{ Record measure.Run }
		if err := json.Unmarshal([]byte(u.Record), &unit); err != nil {
			return err
		}
		r := unit.Record
		if r.Status != launch.OK || r.Seconds != takes(r.Kernel, r.Size) {
			return fmt.Errorf("%s on %d slices: %s, %v s; want %v", r.Kernel, r.Size, r.Status, r.Seconds, takes(r.Kernel, r.Size))
		}
	}
	return nil
}
