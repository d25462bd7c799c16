package session_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/devicetest"
	"miglab/profiling/session"
)

// journalFile is where the journal of the GPU lies.
func (b *bench) journalFile(d profiling.Device) string {
	b.Helper()
	id, err := d.Identify()
	if err != nil {
		b.Fatal(err)
	}
	return filepath.Join(b.dir, id.UUID+".journal")
}

func (b *bench) write(path, text string) {
	b.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}

func TestKilledRunIsCleanedUp(t *testing.T) {
	bubble(t, func(b *bench) {
		d := devicetest.New(a100, devicetest.Busy(2, 0))
		b.others(d, at("2g.10gb", 4))
		s := b.open(d)
		i := b.create(s, at("3g.20gb", 0))
		b.create(s, at("1g.5gb", 6))
		d.Use(i.ID, 77, "kernel")()
		s.Abandon()
		b.exist(d, "3@0", "2@4", "1@6")
		b.close(b.open(d))
		b.exist(d, "2@4")
		b.logged(fmt.Sprintf("destroyed 3g.20gb at 0 (%s), GPU instance 1, which a killed run (process %d) left; it was recognised by its number", i.UUID, os.Getpid()))
		b.logged("destroyed 1g.5gb at 6")
	})
}

func TestKilledRunThatIsStillUsed(t *testing.T) {
	inSession(t, func(b *bench, d *devicetest.GPU, s *session.Session) {
		i := b.create(s, at("3g.20gb", 0))
		b.create(s, at("1g.5gb", 4))
		end := d.Use(i.ID, 77, "kernel")
		s.Abandon()
		_, err := session.Open(b.Context(), d, b.options())
		b.says(err, profiling.ErrBusy, "3g.20gb at 0", "process 77 kernel", ".journal")
		b.exist(d, "3@0")
		end()
		// What was already cleaned up is somebody else's from now on.
		b.others(d, at("1g.5gb", 4))
		b.close(b.open(d))
		b.exist(d, "1@4")
	})
}

func TestWhatTheJournalDoesNotProveIsLeftAlone(t *testing.T) {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Skip("the system does not say which boot it is")
	}
	journal := func(boot, before string, instances ...string) string {
		return fmt.Sprintf(`{"boot":"%s","process":5,"before":[%s],"instances":[%s]}`, boot, before, strings.Join(instances, ","))
	}
	boot := strings.TrimSpace(string(raw))
	const creating, theirs = `{"profile":"1g.5gb","start":0,"creating":true}`, `{"profile":"2g.10gb","start":4,"uuid":"MIG-x"}`
	was := func(fields string) string { return journal(boot, theirs, `{"profile":"1g.5gb","start":0`+fields+`}`) }
	for name, c := range map[string]struct {
		journal string
		stays   bool
	}{
		"intent":                      {was(`,"creating":true`), false},
		"created":                     {was(`,"uuid":"UUID"`), false},
		"another boot":                {journal("another", "", creating), true},
		"another ID":                  {was(`,"id":1,"uuid":"UUID"`), true},
		"another UUID":                {was(`,"uuid":"MIG-other"`), true},
		"part of one, no UUID":        {was(""), false},
		"part of one, another ID":     {was(`,"id":1`), true},
		"another profile":             {journal(boot, theirs, strings.Replace(creating, "5gb", "5gb+me", 1)), true},
		"another start":               {journal(boot, theirs, strings.Replace(creating, "0,", "1,", 1)), true},
		"there before, intended":      {journal(boot, creating, creating), true},
		"there before, gone, created": {journal(boot, creating, `{"profile":"1g.5gb","start":0,"uuid":"UUID"}`), false},
		"begun":                       {journal(boot, theirs), true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(b *bench) {
				d := devicetest.New(a100)
				i, err := d.Create(at("1g.5gb", 0))
				if err != nil {
					b.Fatal(err)
				}
				b.write(b.journalFile(d), strings.ReplaceAll(c.journal, "UUID", i.UUID))
				b.close(b.open(d))
				if c.stays {
					b.exist(d, "1@0")
				} else {
					b.exist(d)
				}
				if name == "intent" {
					b.logged("destroyed 1g.5gb at 0 (" + i.UUID + "), GPU instance 0, which a killed run (process 5) left; it was recognised by its place alone")
				}
			})
		})
	}
}

func TestGPUInstanceWithoutComputeInstanceIsFound(t *testing.T) {
	bubble(t, func(b *bench) {
		d := devicetest.New(a100, devicetest.Busy(1, 0))
		s := b.open(d)
		i := b.create(s, at("1g.5gb", 0))
		d.Use(i.ID, 77, "kernel")()
		if err := d.Destroy(i.ID); !errors.Is(err, profiling.ErrBusy) { // takes the compute instance away
			b.Fatal(err)
		}
		s.Abandon()
		if exist, err := d.Instances(); err != nil || len(exist) != 1 || exist[0].UUID != "" {
			b.Fatal(exist, err)
		}
		b.close(b.open(d))
		b.exist(d)
	})
}

func TestJournalThatCannotBeRead(t *testing.T) {
	const one = `{"profile":"1g.5gb","start":0,"uuid":"MIG-1"}`
	for _, c := range []struct{ instances, want string }{
		{"hello", "this is not JSON"},
		{one + "," + one, "1g.5gb at 0 is there twice"},
		{one + "]} {}", "more text after the end"},
		{strings.Replace(one, "5gb", "6gb", 1), `did you mean "1g.5gb"`},
		{strings.Replace(one, `"start":0`, `"start":7`, 1), "it may start at [0 1 2 3 4 5 6]"},
		{strings.Replace(one, `"start"`, `"stort"`, 1), `unknown field "stort"`},
	} {
		lines := fmt.Sprintf(`{"process":5,"instances":[%s]}`, c.instances)
		bubble(t, func(b *bench) {
			d := devicetest.New(a100)
			path := b.journalFile(d)
			b.write(path, lines)
			_, err := session.Open(b.Context(), d, b.options())
			b.says(err, nil, path, c.want, "nvidia-smi mig", "delete the file")
			if journal, ok := errors.AsType[*profiling.DeviceError](err); !ok || journal.Op != path {
				b.Errorf("error %#v, want one about %s", err, path)
			}
			if b.journal() != lines {
				b.Error("the journal has changed")
			}
			if err := os.Remove(path); err != nil {
				b.Fatal(err)
			}
			b.close(b.open(d))
		})
	}
}

// A step is something that happens around a session.
type step struct {
	// What is create or destroy by the session, create by others, a create that will
	// fail, at once or halfway, a kernel that uses an instance, Close or SIGKILL.
	What string
	At   mig.Instance
	// Which is an index among the instances of the session, modulo their number.
	Which int
}

// TestNothingIsLeftWhateverHappens lets runs create, destroy, fail, be killed and come
// back, with instances of others and processes between them.
func TestNothingIsLeftWhateverHappens(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		refusals := rapid.IntRange(0, 2).Draw(r, "refusals")
		steps := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) step {
			p := rapid.SampledFrom(a100.Profiles).Draw(r, "profile")
			return step{
				What:  rapid.SampledFrom([]string{"create", "create", "create", "destroy", "others", "fail", "half", "use", "close", "kill"}).Draw(r, "what"),
				At:    mig.Instance{Profile: p, Start: rapid.SampledFrom(p.Starts).Draw(r, "start")},
				Which: rapid.IntRange(0, 6).Draw(r, "which"),
			}
		}), 1, 30).Draw(r, "steps")
		var err error
		synctest.Test(t, func(t *testing.T) {
			d := devicetest.New(a100, devicetest.Busy(refusals, 0))
			err = live(t.Context(), d, session.Options{Dir: t.TempDir()}, steps)
		})
		if err != nil {
			r.Fatal(err)
		}
	})
}

// live carries out steps, and says what is not as it should be.
func live(ctx context.Context, d *devicetest.GPU, o session.Options, steps []step) error {
	others := map[mig.Instance]bool{}
	// end checks that exactly what others have is there.
	end := func() error {
		exist, err := d.Instances()
		if err != nil {
			return err
		}
		for _, i := range exist {
			if !others[i.Instance] {
				return fmt.Errorf("%s at %d is left", i.Profile, i.Start)
			}
		}
		if len(exist) != len(others) {
			return fmt.Errorf("others have %d instances left of %d", len(exist), len(others))
		}
		return nil
	}
	var s *session.Session
	var made []profiling.Instance
	for _, now := range append(steps, step{What: "close"}) {
		if s == nil {
			var err error
			if s, err = session.Open(ctx, d, o); err != nil {
				return err
			}
			if err := end(); err != nil {
				return fmt.Errorf("after Open: %w", err)
			}
			made = nil
		}
		which := 0
		if len(made) > 0 {
			which = now.Which % len(made)
		}
		switch now.What {
		case "create":
			if i, _, err := s.Create(ctx, now.At); err == nil {
				made = append(made, i)
			}
		case "destroy":
			if len(made) > 0 {
				if _, err := s.Destroy(ctx, made[which]); err != nil {
					return err
				}
				made = slices.Delete(made, which, which+1)
			}
		case "others":
			_, err := d.Create(now.At)
			if _, left := errors.AsType[*profiling.LeftoverError](err); left || err == nil {
				others[now.At] = true
			}
		case "fail":
			d.FailCreate(0, profiling.ErrUnsupported)
		case "half": // 70 times is more than a patience, and less than two
			d.FailCompute(0, profiling.ErrInsufficient, []int{0, 1, 3, 70}[now.Which%4])
		case "use":
			if len(made) > 0 {
				d.Use(made[which].ID, 77, "kernel")()
			}
		case "close":
			if err := s.Close(); err != nil {
				return err
			}
			s = nil
			if err := end(); err != nil {
				return fmt.Errorf("after Close: %w", err)
			}
		case "kill":
			s.Abandon()
			s = nil
		}
	}
	return nil
}

// The driver tells the model of some GPUs only when MIG is on. A run is killed there and MIG goes
// off: the journal names profiles that the model of today lacks, and there are no instances.
func TestJournalOfAnotherModelWhileMIGIsOff(t *testing.T) {
	bubble(t, func(b *bench) {
		journal := `{"process":5,"instances":[{"profile":"1g.12gb","start":0,"creating":true}]}`
		d := devicetest.New(a100, devicetest.MIGOff())
		b.write(b.journalFile(d), journal)
		_, err := session.Open(b.Context(), d, b.options())
		b.says(err, profiling.ErrMIGOff)
		if b.journal() != "" {
			b.Error("the journal is still there")
		}
		d = devicetest.New(a100)
		b.write(b.journalFile(d), journal)
		_, err = session.Open(b.Context(), d, b.options())
		b.says(err, nil, `"1g.12gb"`, "nvidia-smi mig")
	})
}
