package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/devicetest"
	"miglab/profiling/session"
)

var (
	a100 = mig.MustLookup("A100")
	h100 = mig.MustLookup("H100")
)

// at is an instance of the A100.
func at(profile string, start mig.Slices) mig.Instance {
	p, err := a100.ProfileByName(profile)
	if err != nil {
		panic(err)
	}
	return mig.Instance{Profile: p, Start: start}
}

// bubble runs a test in virtual time.
func bubble(t *testing.T, f func(*bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(&bench{T: t, dir: t.TempDir()}) })
}

// inSession runs a test in virtual time, in a session on an A100 without instances.
func inSession(t *testing.T, f func(*bench, *devicetest.GPU, *session.Session)) {
	t.Helper()
	bubble(t, func(b *bench) {
		d := devicetest.New(a100)
		f(b, d, b.open(d))
	})
}

// A bench is where sessions are tested: their folder, and what they logged.
type bench struct {
	*testing.T
	dir string
	log []string
}

func (b *bench) options() session.Options {
	return session.Options{Dir: b.dir, Log: func(format string, args ...any) { b.log = append(b.log, fmt.Sprintf(format, args...)) }}
}

func (b *bench) open(d profiling.Device) *session.Session {
	b.Helper()
	return b.openWith(d, b.options())
}

func (b *bench) openWith(d profiling.Device, o session.Options) *session.Session {
	b.Helper()
	s, err := session.Open(b.Context(), d, o)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func (b *bench) create(s *session.Session, at mig.Instance) profiling.Instance {
	b.Helper()
	i, _, err := s.Create(b.Context(), at)
	if err != nil {
		b.Fatal(err)
	}
	return i
}

// others makes an instance of somebody else.
func (b *bench) others(d profiling.Device, at mig.Instance) {
	b.Helper()
	if _, err := d.Create(at); err != nil {
		b.Fatal(err)
	}
}

// refused checks the error of a create, as says does.
func (b *bench) refused(s *session.Session, at mig.Instance, want error, words ...string) error {
	b.Helper()
	_, _, err := s.Create(b.Context(), at)
	b.says(err, want, words...)
	return err
}

func (b *bench) close(s *session.Session) {
	b.Helper()
	if err := s.Close(); err != nil {
		b.Errorf("Close: %v", err)
	}
	if j := b.journal(); j != "" {
		b.Errorf("the journal is still there after Close:\n%s", j)
	}
}

// journal is the text of the one journal, or "".
func (b *bench) journal() string {
	b.Helper()
	files, err := filepath.Glob(filepath.Join(b.dir, "*.journal"))
	if err != nil || len(files) > 1 {
		b.Fatal(files, err)
	}
	if len(files) == 0 {
		return ""
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		b.Fatal(err)
	}
	return string(raw)
}

// journaled lists the instances of the journal, as size@start, and with a question mark if they are being created.
func (b *bench) journaled() (all []string) {
	b.Helper()
	var j struct {
		Instances []struct {
			Profile  string
			Start    mig.Slices
			Creating bool
		}
	}
	if text := b.journal(); text != "" {
		if err := json.Unmarshal([]byte(text), &j); err != nil {
			b.Fatal(err)
		}
	}
	for _, i := range j.Instances {
		all = append(all, at(i.Profile, i.Start).String()+map[bool]string{true: "?"}[i.Creating])
	}
	return all
}

// writes checks which instances the journal has.
func (b *bench) writes(want ...string) {
	b.Helper()
	if got := b.journaled(); !slices.Equal(got, want) {
		b.Errorf("the journal has %q, want %q", got, want)
	}
}

// exist checks which instances there are, as size@start.
func (b *bench) exist(d profiling.Device, want ...string) {
	b.Helper()
	all, err := d.Instances()
	if err != nil {
		b.Fatal(err)
	}
	var got []string
	for _, i := range all {
		got = append(got, i.String())
	}
	if !slices.Equal(got, want) {
		b.Errorf("instances %v, want %v", got, want)
	}
}

// says checks an error, and that it contains words.
func (b *bench) says(err, want error, words ...string) {
	b.Helper()
	if want != nil && !errors.Is(err, want) {
		b.Errorf("error %v, want one that wraps %v", err, want)
	}
	if err == nil {
		b.Fatal("no error")
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			b.Errorf("error %q does not say %q", err, w)
		}
	}
}

// logged checks that a message contains words.
func (b *bench) logged(words string) {
	b.Helper()
	if !slices.ContainsFunc(b.log, func(l string) bool { return strings.Contains(l, words) }) {
		b.Errorf("no message says %q: %q", words, b.log)
	}
}

func TestInstancesComeAndGo(t *testing.T) {
	inSession(t, func(b *bench, d *devicetest.GPU, s *session.Session) {
		if id := s.Identity(); id.Model != a100 || s.Device() != d {
			b.Errorf("identity %+v", id)
		}
		i, effort, err := s.Create(b.Context(), at("3g.20gb", 4))
		if err != nil || effort != (session.Effort{Took: 200 * time.Millisecond, Attempts: 1}) { // FAR Table 1
			b.Fatalf("create: %v, %v", effort, err)
		}
		b.exist(d, "3@4")
		if b.writes("3@4"); !strings.Contains(b.journal(), i.UUID) {
			b.Errorf("journal\n%s", b.journal())
		}
		effort, err = s.Destroy(b.Context(), i)
		if err != nil || effort != (session.Effort{Took: 210 * time.Millisecond, Attempts: 1}) {
			b.Fatalf("destroy: %v, %v", effort, err)
		}
		b.exist(d)
		b.writes()
		b.close(s)
		if len(b.log) > 0 {
			b.Errorf("messages %q", b.log)
		}
	})
}

func TestIntentIsWrittenFirst(t *testing.T) {
	bubble(t, func(b *bench) {
		stages := map[devicetest.Stage][]string{}
		d := devicetest.New(a100, devicetest.Watch(func(s devicetest.Stage, _ mig.Instance) { stages[s] = b.journaled() }))
		s := b.open(d)
		b.create(s, at("1g.5gb", 0))
		b.close(s)
		if want := []string{"1@0?"}; !slices.Equal(stages[devicetest.BeforeCreate], want) {
			b.Errorf("before the create the journal has %q, want %q", stages[devicetest.BeforeCreate], want)
		}
		if want := []string{"1@0"}; !slices.Equal(stages[devicetest.Destroyed], want) {
			b.Errorf("when it was destroyed the journal had %q, want %q", stages[devicetest.Destroyed], want)
		}
	})
}

func TestSecondRunIsRefused(t *testing.T) {
	inSession(t, func(b *bench, d *devicetest.GPU, s *session.Session) {
		_, err := session.Open(b.Context(), d, b.options())
		file := filepath.Join(b.dir, s.Identity().UUID+".lock")
		b.says(err, nil, "another run uses", fmt.Sprintf("process %d holds %s", os.Getpid(), file), "wait until it ends")
		if err := os.Truncate(file, 0); err != nil {
			b.Fatal(err)
		}
		_, err = session.Open(b.Context(), d, b.options())
		b.says(err, nil, "another run uses "+s.Identity().UUID+": it holds "+file)
		other := b.open(devicetest.New(a100, devicetest.Number(1)))
		if err := other.Close(); err != nil {
			b.Error(err)
		}
		b.close(s)
		b.close(b.open(d))
	})
}

func TestMIGOffIsRefused(t *testing.T) {
	bubble(t, func(b *bench) {
		d := devicetest.New(a100, devicetest.MIGOff())
		_, err := session.Open(b.Context(), d, b.options())
		b.says(err, profiling.ErrMIGOff, "nvidia-smi -i GPU-", "-mig 1")
		b.oneLine(err)
		if b.journal() != "" {
			b.Error("there is a journal")
		}
	})
}

func TestPendingModeIsRefused(t *testing.T) {
	bubble(t, func(b *bench) {
		d := devicetest.New(a100)
		end := d.Use(devicetest.WholeGPU, 77, "python")
		d.Pend(false)
		o := b.options()
		o.WithOthers = true
		_, err := session.Open(b.Context(), d, o)
		b.says(err, nil, "is on and will be off", "process 77 python", "nvidia-dcgm nvsm", "--gpu-reset")
		b.oneLine(err)
		end()
		d.Reset()
		_, err = session.Open(b.Context(), d, o)
		b.says(err, profiling.ErrMIGOff)
	})
}

func TestOthersOnTheGPU(t *testing.T) {
	bubble(t, func(b *bench) {
		d := devicetest.New(h100)
		d.Use(devicetest.WholeGPU, 77, "python")
		d.Use(devicetest.WholeGPU, 78, "")
		_, err := session.Open(b.Context(), d, b.options())
		b.says(err, nil, "process 77 python, process 78;", "nvidia-dcgm nvsm", "--with-others")
		b.oneLine(err)
		o := b.options()
		o.WithOthers = true
		b.close(b.openWith(d, o))
		b.logged("process 77 python, process 78")
	})
}

func TestInstancesOfOthersAreLeftAlone(t *testing.T) {
	bubble(t, func(b *bench) {
		d := devicetest.New(a100)
		b.others(d, at("3g.20gb", 4))
		s := b.open(d)
		b.logged("3g.20gb at 4 (MIG-")
		b.create(s, at("1g.5gb", 0))
		b.refused(s, at("2g.10gb", 4), profiling.ErrInsufficient, "create 2g.10gb at 4", "3g.20gb at 4 (MIG-", "did not make")
		b.refused(s, at("3g.20gb", 4), profiling.ErrInsufficient, "did not make")
		b.refused(s, at("1g.10gb", 0), profiling.ErrInsufficient, "1g.5gb at 0 (MIG-", "which this run made")
		b.refused(s, at("1g.5gb", 0), profiling.ErrInsufficient, "this run has this instance already")
		exist, err := d.Instances()
		if err != nil {
			b.Fatal(err)
		}
		_, err = s.Destroy(b.Context(), exist[1])
		b.says(err, profiling.ErrUnknownInstance, "3g.20gb at 4")
		b.close(s)
		b.exist(d, "3@4")
	})
}

func TestBusyInstanceIsDestroyedInTheEnd(t *testing.T) {
	const destroy = 210 * time.Millisecond
	for _, tt := range []struct {
		busy     devicetest.Option
		waited   time.Duration // the pauses between the calls
		attempts int
	}{
		{devicetest.Busy(4, 0), (5 + 10 + 20 + 40) * time.Millisecond, 5},
		{devicetest.Busy(0, 7*time.Second), (5+10+20+40+80+160+320)*time.Millisecond + 13*500*time.Millisecond, 21},
	} {
		bubble(t, func(b *bench) {
			d := devicetest.New(a100, tt.busy)
			s := b.open(d)
			i := b.create(s, at("3g.20gb", 0))
			d.Use(i.ID, 77, "kernel")()
			effort, err := s.Destroy(b.Context(), i)
			if want := (session.Effort{Took: tt.waited + destroy, Attempts: tt.attempts}); err != nil || effort != want {
				b.Errorf("destroy: %v, %v; want %v from the first call on", effort, err, want)
			}
			b.close(s)
		})
	}
}

// timed is a GPU that says that a part of the time of a create is the driver's.
type timed struct{ *devicetest.GPU }

func (d timed) Create(at mig.Instance) (profiling.Instance, error) {
	i, err := d.GPU.Create(at)
	i.Took = 3 * time.Millisecond
	return i, err
}

func TestCreateTakesWhatTheDriverTakes(t *testing.T) {
	bubble(t, func(b *bench) {
		d := devicetest.New(a100)
		d.FailCreate(0, profiling.ErrBusy)
		s := b.open(timed{d})
		_, effort, err := s.Create(b.Context(), at("3g.20gb", 4))
		if want := (session.Effort{Took: (5 + 3) * time.Millisecond, Attempts: 2}); err != nil || effort != want {
			b.Errorf("create: %v, %v; want %v, a pause and the driver's part", effort, err, want)
		}
		b.close(s)
	})
}

// A driver that is busy for a moment makes the instance in the end, and a refusal that lasts is reported.
func TestBusyDriverCreatesInTheEnd(t *testing.T) {
	bubble(t, func(b *bench) {
		d := devicetest.New(a100)
		d.FailCreate(0, profiling.ErrBusy)
		d.FailCreate(1, profiling.ErrBusy)
		s := b.open(d)
		i, effort, err := s.Create(b.Context(), at("3g.20gb", 4))
		if want := (session.Effort{Took: 215 * time.Millisecond, Attempts: 3}); err != nil || effort != want {
			b.Errorf("create: %v, %v; want %v", effort, err, want)
		}
		b.exist(d, "3@4")
		if _, err := s.Destroy(b.Context(), i); err != nil {
			b.Error(err)
		}
		b.close(s)
	})
	bubble(t, func(b *bench) {
		d := devicetest.New(a100)
		for n := range 1000 {
			d.FailCreate(n, profiling.ErrBusy)
		}
		s := b.open(d)
		b.refused(s, at("3g.20gb", 4), profiling.ErrBusy, "create 3g.20gb at 4")
		b.exist(d)
		b.close(s)
	})
}

func TestPatienceEnds(t *testing.T) {
	inSession(t, func(b *bench, d *devicetest.GPU, s *session.Session) {
		i := b.create(s, at("3g.20gb", 0))
		end := d.Use(i.ID, 77, "kernel")
		start := time.Now()
		_, err := s.Destroy(b.Context(), i)
		b.says(err, profiling.ErrBusy, "3g.20gb at 0", "30s", "process 77 kernel")
		if took := time.Since(start); took != 30*time.Second {
			b.Errorf("it took %v to lose patience", took)
		}
		end()
		if _, err := s.Destroy(b.Context(), i); err != nil {
			b.Errorf("another try: %v", err)
		}
		b.close(s)
	})
}

func TestCloseWaitsForAllAtOnce(t *testing.T) {
	bubble(t, func(b *bench) {
		d := devicetest.New(a100)
		o := b.options()
		o.Patience = 10 * time.Second
		s := b.openWith(d, o)
		for n, start := range []mig.Slices{0, 1, 2} {
			i := b.create(s, at("1g.5gb", start))
			if start != 1 {
				d.Use(i.ID, 70+n, "kernel")
			}
		}
		start := time.Now()
		err := s.Close()
		b.says(err, profiling.ErrBusy, "1g.5gb at 0", "1g.5gb at 2", "10s", "next run")
		if took := time.Since(start); took > 11*time.Second {
			b.Errorf("Close took %v", took)
		}
		b.exist(d, "1@0", "1@2")
		b.writes("1@0", "1@2")
	})
}

func TestCancel(t *testing.T) {
	inSession(t, func(b *bench, d *devicetest.GPU, s *session.Session) {
		i := b.create(s, at("3g.20gb", 0))
		end := d.Use(i.ID, 77, "kernel")
		ctx, cancel := context.WithTimeout(b.Context(), time.Second)
		defer cancel()
		_, err := s.Destroy(ctx, i)
		b.says(err, context.DeadlineExceeded, "3g.20gb at 0", "still in use")
		_, _, err = s.Create(ctx, at("1g.5gb", 4))
		b.says(err, context.DeadlineExceeded)
		b.exist(d, "3@0")
		end()
		b.close(s)
		b.exist(d)
	})
}

func TestCloseWaitsForCreate(t *testing.T) {
	bubble(t, func(b *bench) {
		d := devicetest.New(a100, devicetest.Parallel())
		s := b.open(d)
		made := make(chan error, 1)
		go func() {
			_, _, err := s.Create(b.Context(), at("7g.40gb", 0))
			made <- err
		}()
		synctest.Wait()
		b.close(s)
		b.exist(d)
		if err := <-made; err != nil {
			b.Errorf("create: %v", err)
		}
		b.refused(s, at("1g.5gb", 0), nil, "the session is closed")
		if err := s.Close(); err != nil {
			b.Errorf("second Close: %v", err)
		}
	})
}

func TestCreateRefusedInTheMiddle(t *testing.T) {
	inSession(t, func(b *bench, d *devicetest.GPU, s *session.Session) {
		cause := errors.New("the driver does not know either")
		d.FailCreate(1, cause)
		b.create(s, at("1g.5gb", 0))
		b.refused(s, at("1g.5gb", 1), cause, "create 1g.5gb at 1")
		b.create(s, at("1g.5gb", 1))
		b.create(s, at("1g.5gb", 2))
		b.writes("1@0", "1@1", "1@2")
		b.close(s)
		b.exist(d)
	})
}

// refusals are what a driver says where it makes nothing.
var refusals = []error{profiling.ErrInsufficient, profiling.ErrPlacement, profiling.ErrMIGOff, profiling.ErrPermission, profiling.ErrUnsupported}

// forgetful is a GPU that does not tell the number of what a create leaves.
type forgetful struct {
	*devicetest.GPU
	blind bool
}

func (f forgetful) Create(at mig.Instance) (profiling.Instance, error) {
	i, err := f.GPU.Create(at)
	if left, ok := errors.AsType[*profiling.LeftoverError](err); ok {
		left.ID = -1
	}
	return i, err
}

func (f *forgetful) Instances() ([]profiling.Instance, error) {
	if f.blind {
		return nil, errors.New("blind")
	}
	return f.GPU.Instances()
}

func TestHalfAnInstanceIsTakenAway(t *testing.T) {
	for _, cause := range append([]error{errors.New("unknown")}, refusals...) {
		for _, busy := range []int{0, 1, 9} { // 0: undone by the device
			for _, tells := range []bool{true, false} {
				bubble(t, func(b *bench) {
					fake := devicetest.New(a100)
					var d profiling.Device = fake
					if !tells {
						d = &forgetful{GPU: fake}
					}
					s := b.open(d)
					fake.FailCompute(0, cause, busy)
					err := b.refused(s, at("1g.5gb", 0), cause, "create 1g.5gb at 0")
					if strings.Contains(err.Error(), "a part of the instance") {
						b.Errorf("error %q, and nothing is left", err)
					}
					b.exist(d)
					b.writes()
					b.create(s, at("1g.5gb", 0))
					b.close(s)
					b.exist(d)
				})
			}
		}
	}
}

func TestHalfAnInstanceThatStays(t *testing.T) {
	for _, cause := range append([]error{errors.New("unknown")}, refusals...) {
		for _, killed := range []bool{false, true} {
			inSession(t, func(b *bench, d *devicetest.GPU, s *session.Session) {
				b.create(s, at("1g.5gb", 6))
				d.FailCompute(0, cause, 200) // more than two patiences
				start := time.Now()
				err := b.refused(s, at("3g.20gb", 0), cause, "create 3g.20gb at 0", "a part of the instance may be left", "tried for 30s")
				b.says(err, profiling.ErrBusy)
				if took := time.Since(start); took < 30*time.Second {
					b.Errorf("patience was lost after %v", took)
				}
				b.exist(d, "3@0", "1@6")
				b.refused(s, at("3g.20gb", 0), profiling.ErrInsufficient, "this run has this instance already")
				b.refused(s, at("1g.5gb", 2), profiling.ErrInsufficient, "3g.20gb at 0 is in the way, which this run made")
				if killed {
					s.Abandon()
					_, err = session.Open(b.Context(), d, b.options())
				} else {
					err = s.Close()
				}
				b.says(err, profiling.ErrBusy, "3g.20gb at 0", "tries again, with the journal", ".journal")
				b.exist(d, "3@0")
				// What somebody else makes is not the run's, even if the profile is the same.
				b.others(d, at("3g.20gb", 4))
				d.Use(1, 77, "nobody")() // is busy no more
				b.close(b.open(d))
				b.exist(d, "3@4")
				b.logged("destroyed 3g.20gb at 0, GPU instance 1, which a killed run")
			})
		}
	}
}

// TestResetWhileDestroying has a GPU reset when the driver is about to destroy what a create has left, and what
// Close finds.
func TestResetWhileDestroying(t *testing.T) {
	bubble(t, func(b *bench) {
		var d *devicetest.GPU
		destroys := 0
		d = devicetest.New(a100, devicetest.Watch(func(s devicetest.Stage, _ mig.Instance) {
			if s != devicetest.BeforeDestroy {
				return
			}
			if destroys++; destroys != 1 {
				d.Reset()
			}
		}))
		s := b.open(d)
		d.FailCompute(0, profiling.ErrPermission, 100)
		err := b.refused(s, at("1g.5gb", 0), profiling.ErrPermission)
		if errors.Is(err, profiling.ErrUnknownInstance) {
			b.Errorf("error %q, and nothing is left", err)
		}
		if b.writes(); destroys != 2 {
			b.Errorf("%d destroys", destroys)
		}
		b.create(s, at("1g.5gb", 0))
		b.close(s)
		if destroys != 3 {
			b.Errorf("%d destroys", destroys)
		}
	})
}

// whole is a GPU whose creates fail when all is there, and to which destroying is forbidden then, as where the UUID
// cannot be read.
type whole struct {
	*devicetest.GPU
	cause error
}

func (w whole) Create(at mig.Instance) (profiling.Instance, error) {
	i, err := w.GPU.Create(at)
	if err != nil {
		return i, err
	}
	w.Forbid(true)
	return profiling.Instance{}, &profiling.LeftoverError{ID: i.ID, Err: w.cause, Undo: profiling.ErrPermission}
}

func TestWholeInstanceOfAFailedCreate(t *testing.T) {
	for _, killed := range []bool{false, true} {
		bubble(t, func(b *bench) {
			d := whole{devicetest.New(a100), errors.New("no UUID")}
			s := b.open(d)
			err := b.refused(s, at("1g.5gb", 0), d.cause)
			b.says(err, profiling.ErrPermission, "a part of the instance may be left")
			if killed {
				s.Abandon()
				d.Forbid(false)
				s = b.open(d)
				b.exist(d)
			}
			d.Forbid(false)
			b.close(s)
			b.exist(d)
		})
	}
}

// vague is a GPU whose driver does not say what it has made.
type vague struct{ *forgetful }

var errVague = errors.New("unknown")

func (v vague) Create(mig.Instance) (profiling.Instance, error) {
	return profiling.Instance{}, &profiling.LeftoverError{ID: -1, Err: errVague}
}

func TestWhatNobodyKnowsIsLookedFor(t *testing.T) {
	for _, others := range []string{"", "before", "meanwhile"} {
		for _, blind := range []bool{false, true} {
			bubble(t, func(b *bench) {
				d := vague{&forgetful{GPU: devicetest.New(a100)}}
				var exist []string
				somebody := func(when string) {
					if when != others {
						return
					}
					b.others(d.GPU, at("1g.5gb", 0))
					exist = []string{"1@0"}
				}
				somebody("before")
				s := b.open(d)
				if !blind {
					somebody("meanwhile")
				}
				d.blind = blind
				err := b.refused(s, at("1g.5gb", 0), errVague)
				if blind {
					b.says(err, nil, "a part of the instance may be left: blind")
					b.writes("1@0?")
				} else {
					b.writes()
				}
				d.blind = false
				b.close(s)
				b.exist(d, exist...)
			})
		}
	}
}

func TestRefusalsNeverDestroyWhatOthersHave(t *testing.T) {
	for _, before := range []bool{true, false} {
		bubble(t, func(b *bench) {
			d := devicetest.New(a100)
			others := func() {
				b.others(d, at("1g.5gb", 0))
			}
			if before {
				others()
			}
			s := b.open(d)
			if !before {
				others()
			}
			for _, cause := range append([]error{errors.New("unknown")}, refusals...) {
				d.FailCreate(0, cause)
				b.refused(s, at("1g.5gb", 0), cause)
				b.exist(d, "1@0")
				b.writes()
			}
			b.close(s)
			b.exist(d, "1@0")
		})
	}
}

func TestPermissionIsLost(t *testing.T) {
	inSession(t, func(b *bench, d *devicetest.GPU, s *session.Session) {
		i := b.create(s, at("1g.5gb", 0))
		d.Forbid(true)
		_, err := s.Destroy(b.Context(), i)
		b.says(err, profiling.ErrPermission)
		b.refused(s, at("1g.5gb", 1), profiling.ErrPermission)
		err = s.Close()
		b.says(err, profiling.ErrPermission, ".journal", "next run")
		_, err = session.Open(b.Context(), d, b.options())
		b.says(err, profiling.ErrPermission, ".journal")
		d.Forbid(false)
		b.close(b.open(d))
		b.exist(d)
		b.logged("destroyed 1g.5gb at 0")
	})
}

func TestGPUIsLost(t *testing.T) {
	inSession(t, func(b *bench, d *devicetest.GPU, s *session.Session) {
		i := b.create(s, at("1g.5gb", 0))
		d.Lose()
		b.refused(s, at("1g.5gb", 1), profiling.ErrLost)
		_, err := s.Destroy(b.Context(), i)
		b.says(err, profiling.ErrLost)
		err = s.Close()
		b.says(err, profiling.ErrLost, `["1g.5gb at 0"]`, ".journal", "next run") // the other was not begun
		_, err = session.Open(b.Context(), d, b.options())
		b.says(err, profiling.ErrLost)
		d.Reset()
		b.others(d, at("3g.20gb", 0)) // somebody was faster
		b.close(b.open(d))
		b.exist(d, "3@0")
	})
}

func TestGPUIsLostWhileItCreates(t *testing.T) {
	bubble(t, func(b *bench) {
		var d *devicetest.GPU
		d = devicetest.New(a100, devicetest.Watch(func(s devicetest.Stage, _ mig.Instance) {
			if s == devicetest.GPUInstance {
				d.Lose()
			}
		}))
		s := b.open(d)
		err := b.refused(s, at("1g.5gb", 0), profiling.ErrLost)
		if n := strings.Count(err.Error(), profiling.ErrLost.Error()); n != 1 {
			b.Errorf("error %q says %d times that the GPU is lost", err, n)
		}
		err = s.Close()
		b.says(err, profiling.ErrLost, "1g.5gb at 0", ".journal", "next run")
		d.Reset()
		b.close(b.open(d))
		b.exist(d)
	})
}

func TestInstanceThatSomebodyElseDestroyed(t *testing.T) {
	inSession(t, func(b *bench, d *devicetest.GPU, s *session.Session) {
		i := b.create(s, at("1g.5gb", 0))
		if err := d.Destroy(i.ID); err != nil {
			b.Fatal(err)
		}
		_, err := s.Destroy(b.Context(), i)
		b.says(err, profiling.ErrUnknownInstance)
		other, err := d.Create(at("3g.20gb", 4))
		if err != nil || other.ID != i.ID {
			b.Fatalf("%+v, %v: the number is to be used again", other, err)
		}
		b.writes()
		b.create(s, at("1g.5gb", 0)) // in its place
		b.close(s)
		b.exist(d, "3@4")
	})
}

// TestWhatIsGoneIsNotTheRunsAnyMore has somebody destroy an instance of a run that cannot clean up, and make the
// same again.
func TestWhatIsGoneIsNotTheRunsAnyMore(t *testing.T) {
	inSession(t, func(b *bench, d *devicetest.GPU, s *session.Session) {
		gone, used := b.create(s, at("1g.5gb", 0)), b.create(s, at("1g.5gb", 1))
		end := d.Use(used.ID, 77, "kernel")
		if err := d.Destroy(gone.ID); err != nil {
			b.Fatal(err)
		}
		b.says(s.Close(), profiling.ErrBusy, "1g.5gb at 1")
		end()
		if again, err := d.Create(at("1g.5gb", 0)); err != nil || again.ID != gone.ID || again.UUID != gone.UUID {
			b.Fatalf("%+v, %v: number and UUID are to be used again", again, err)
		}
		b.close(b.open(d))
		b.exist(d, "1@0")
	})
}

func TestManyAtOnce(t *testing.T) {
	for _, opts := range [][]devicetest.Option{nil, {devicetest.Parallel()}} {
		bubble(t, func(b *bench) {
			d := devicetest.New(a100, append(opts, devicetest.Busy(1, time.Second))...)
			s := b.open(d)
			done := make(chan error)
			for start := range mig.Slices(7) {
				go func() {
					for range 5 {
						i, _, err := s.Create(b.Context(), at("1g.5gb", start))
						if err != nil {
							done <- err
							return
						}
						d.Use(i.ID, 100+int(start), "kernel")()
						if start%2 == 0 {
							if _, err := s.Destroy(b.Context(), i); err != nil {
								done <- err
								return
							}
						} else {
							break
						}
					}
					done <- nil
				}()
			}
			for range 7 {
				if err := <-done; err != nil {
					b.Error(err)
				}
			}
			b.exist(d, "1@1", "1@3", "1@5")
			b.close(s)
			b.exist(d)
		})
	}
}

func TestNoFolder(t *testing.T) {
	bubble(t, func(b *bench) {
		file := filepath.Join(b.dir, "file")
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			b.Fatal(err)
		}
		o := b.options()
		o.Dir = file
		_, err := session.Open(b.Context(), devicetest.New(a100), o)
		b.says(err, nil, file)
		o.Dir = filepath.Join(b.dir, "new", "folder")
		if err := b.openWith(devicetest.New(a100), o).Close(); err != nil {
			b.Error(err)
		}
	})
}

// oneLine checks that an error is one line.
func (b *bench) oneLine(err error) {
	b.Helper()
	if err == nil || strings.Contains(err.Error(), "\n") {
		b.Errorf("error %q is not one line", err)
	}
}
