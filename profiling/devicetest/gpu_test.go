package devicetest_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/devicetest"
)

var (
	a100 = mig.MustLookup("A100")
	h100 = mig.MustLookup("H100")
)

// on is a standard instance.
func on(g *mig.GPU, size, start mig.Slices) mig.Instance {
	i, err := g.Instance(size, start)
	if err != nil {
		panic(err)
	}
	return i
}

func create(t *testing.T, d profiling.Device, at mig.Instance) profiling.Instance {
	t.Helper()
	i, err := d.Create(at)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// wants checks that something is refused, and that it says what.
func wants(t *testing.T, err, want error, op string) {
	t.Helper()
	var device *profiling.DeviceError
	if !errors.Is(err, want) || !errors.As(err, &device) || device.Op != op {
		t.Errorf("error %v, want %s: %v", err, op, want)
	}
}

func mode(t *testing.T, d profiling.Device, current, pending bool) {
	t.Helper()
	id, err := d.Identify()
	if err != nil || id.MIG != current || id.MIGPending != pending {
		t.Errorf("MIG mode %v, pending %v, %v; want %v, %v", id.MIG, id.MIGPending, err, current, pending)
	}
}

func TestIdentity(t *testing.T) {
	for _, g := range mig.GPUs() {
		d, other := devicetest.New(g, devicetest.Scale(0)), devicetest.New(g, devicetest.Scale(0), devicetest.Number(1))
		id, err := d.Identify()
		if err != nil {
			t.Fatal(err)
		}
		again, err := other.Identify()
		if err != nil {
			t.Fatal(err)
		}
		if id.UUID == again.UUID || id.Model != g || !strings.HasSuffix(id.Name, "(fake)") || !strings.HasSuffix(id.Driver, "(fake)") {
			t.Errorf("%+v and %+v", id, again)
		}
		if m, err := profiling.Model(id.Name, id.MemoryMiB); m != g {
			t.Errorf("%q with %d MiB is taken for %v, %v", id.Name, id.MemoryMiB, m, err)
		}
		i, j := create(t, d, on(g, 1, 0)), create(t, other, on(g, 1, 0))
		if i.UUID == j.UUID {
			t.Errorf("%s has two instances %s", g, i.UUID)
		}
	}
}

func TestNumbersAreUsedAgain(t *testing.T) {
	d := devicetest.New(a100, devicetest.Scale(0))
	first, second := create(t, d, on(a100, 1, 0)), create(t, d, on(a100, 1, 1))
	destroy(t, d, first)
	third := create(t, d, on(a100, 3, 4))
	if first.ID != 0 || second.ID != 1 || third.ID != 0 {
		t.Errorf("IDs %d, %d, %d; want 0, 1, 0", first.ID, second.ID, third.ID)
	}
}

func TestMIGModeOff(t *testing.T) {
	d := devicetest.New(a100, devicetest.MIGOff())
	mode(t, d, false, false)
	_, err := d.Create(on(a100, 3, 4))
	wants(t, err, profiling.ErrMIGOff, "create 3g.20gb at 4")
	_, err = d.Placements(a100.Profile(3))
	wants(t, err, profiling.ErrMIGOff, "list placements of 3g.20gb")
	if all := instances(t, d); len(all) > 0 {
		t.Errorf("instances %v", all)
	}
}

func TestSetMIG(t *testing.T) {
	for _, c := range []struct {
		gpu     *mig.GPU
		pending bool
	}{{a100, true}, {mig.MustLookup("A30"), true}, {h100, false}, {mig.MustLookup("B200"), false}} {
		d := devicetest.New(c.gpu, devicetest.Scale(0))
		i := create(t, d, on(c.gpu, 1, 0))
		wants(t, d.SetMIG(false), profiling.ErrBusy, "turn MIG mode off")
		destroy(t, d, i)
		end := d.Use(devicetest.WholeGPU, 77, "python")
		if err := d.SetMIG(false); err != nil {
			t.Fatal(err)
		}
		mode(t, d, c.pending, false)
		end()
		mode(t, d, c.pending, false) // The end of its clients does not reset a GPU.
		if err := d.SetMIG(false); err != nil {
			t.Fatal(err)
		}
		mode(t, d, false, false)
		if err := d.SetMIG(true); err != nil {
			t.Fatal(err)
		}
		mode(t, d, true, true)
	}
}

func TestResetCarriesOutThePendingMode(t *testing.T) {
	d := devicetest.New(a100)
	d.Use(devicetest.WholeGPU, 77, "python")
	if err := d.SetMIG(false); err != nil {
		t.Fatal(err)
	}
	d.Reset()
	mode(t, d, false, false)
}

func TestUnknown(t *testing.T) {
	d := devicetest.New(a100)
	wants(t, d.Destroy(0), profiling.ErrUnknownInstance, "destroy instance 0")
	_, err := d.Create(on(h100, 1, 0))
	wants(t, err, profiling.ErrUnsupported, "create 1g.10gb at 0")
	_, err = d.Placements(h100.Profile(1))
	wants(t, err, profiling.ErrUnsupported, "list placements of 1g.10gb")
}

func TestDestroyWhileInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := devicetest.New(a100, devicetest.Busy(2, time.Minute))
		i := create(t, d, on(a100, 3, 4))
		end := d.Use(i.ID, 77, "kernel")
		if ps, err := d.Processes(); err != nil || !slices.Equal(ps, []profiling.Process{{PID: 77, Name: "kernel"}}) {
			t.Errorf("processes %v, %v", ps, err)
		}
		for range 3 {
			wants(t, d.Destroy(i.ID), profiling.ErrBusy, "destroy instance 0")
		}
		if instances(t, d)[0].UUID != i.UUID {
			t.Error("the compute instance is gone while a process uses it")
		}
		end()
		if ps, err := d.Processes(); err != nil || len(ps) > 0 {
			t.Errorf("processes %v, %v", ps, err)
		}
		time.Sleep(2 * time.Minute)
		for range 2 {
			wants(t, d.Destroy(i.ID), profiling.ErrBusy, "destroy instance 0")
			if half := instances(t, d)[0]; half.UUID != "" || half.ID != i.ID || len(half.Env) > 0 {
				t.Errorf("a GPU instance without compute instance is %+v", half)
			}
		}
		destroy(t, d, i)

		i = create(t, d, on(a100, 3, 4))
		destroy(t, d, i) // It was never used.

		i = create(t, d, on(a100, 3, 4))
		d.Use(i.ID, 77, "kernel")()
		for range 5 {
			wants(t, d.Destroy(i.ID), profiling.ErrBusy, "destroy instance 0")
		}
		time.Sleep(time.Minute)
		destroy(t, d, i)
	})
}

func TestForbid(t *testing.T) {
	d := devicetest.New(a100, devicetest.Scale(0))
	i := create(t, d, on(a100, 1, 0))
	d.Forbid(true)
	_, err := d.Create(on(a100, 1, 1))
	wants(t, err, profiling.ErrPermission, "create 1g.5gb at 1")
	wants(t, d.Destroy(i.ID), profiling.ErrPermission, "destroy instance 0")
	wants(t, d.SetMIG(true), profiling.ErrPermission, "turn MIG mode on")
	if all := instances(t, d); len(all) != 1 {
		t.Errorf("instances %v", all)
	}
	d.Forbid(false)
	destroy(t, d, i)
}

func TestLoseAndReset(t *testing.T) {
	d := devicetest.New(a100, devicetest.Scale(0))
	i := create(t, d, on(a100, 1, 0))
	d.Use(i.ID, 77, "kernel")
	d.Lose()
	_, identify := d.Identify()
	_, placements := d.Placements(a100.Profile(1))
	_, list := d.Instances()
	_, make := d.Create(on(a100, 1, 1))
	_, processes := d.Processes()
	_, conditions := d.Conditions()
	for n, err := range []error{identify, placements, list, make, processes, conditions, d.SetMIG(false), d.Destroy(i.ID)} {
		if !errors.Is(err, profiling.ErrLost) {
			t.Errorf("call %d: %v, want ErrLost", n, err)
		}
	}
	d.Reset()
	if all := instances(t, d); len(all) > 0 {
		t.Errorf("instances %v after a reset", all)
	}
	if ps, err := d.Processes(); err != nil || len(ps) > 0 {
		t.Errorf("processes %v, %v after a reset", ps, err)
	}
	mode(t, d, true, true)
	wants(t, d.Destroy(i.ID), profiling.ErrUnknownInstance, "destroy instance 0")
}

func TestLostInTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := devicetest.New(a100)
		for _, again := range []bool{false, true} {
			go func() {
				time.Sleep(time.Millisecond)
				d.Lose()
				if again {
					d.Reset()
				}
			}()
			_, err := d.Create(on(a100, 7, 0))
			wants(t, err, profiling.ErrLost, "create 7g.40gb at 0")
			if _, left := errors.AsType[*profiling.LeftoverError](err); left == again {
				t.Errorf("reset: %v, error %#v; is something left?", again, err)
			}
			d.Reset()
		}
	})
}

func TestFailCreate(t *testing.T) {
	d := devicetest.New(a100, devicetest.Scale(0))
	cause := errors.New("unknown error")
	d.FailCreate(1, cause)
	create(t, d, on(a100, 1, 0))
	_, err := d.Create(on(a100, 1, 1))
	wants(t, err, cause, "create 1g.5gb at 1")
	create(t, d, on(a100, 1, 1))
}

// TestDriverDoesOneThingAtATime creates seven instances at once (FAR 2.1).
func TestDriverDoesOneThingAtATime(t *testing.T) {
	for _, c := range []struct {
		name    string
		options []devicetest.Option
		want    time.Duration // until the n-th is there: n times this
		destroy time.Duration
	}{
		{"driver", nil, 160 * time.Millisecond, 200 * time.Millisecond}, // FAR Table 1
		{"scaled", []devicetest.Option{devicetest.Scale(0.1)}, 16 * time.Millisecond, 20 * time.Millisecond},
		{"at no cost", []devicetest.Option{devicetest.Scale(0)}, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := devicetest.New(a100, c.options...)
			begin := time.Now()
			took := make([]time.Duration, 7)
			for n := range took {
				go func() {
					time.Sleep(time.Duration(n)) // in this order
					i, err := d.Create(on(a100, 1, mig.Slices(6-n)))
					if err != nil {
						t.Error(err)
					}
					took[n] = time.Since(begin).Truncate(time.Microsecond)
					if n == 6 {
						start := time.Now()
						destroy(t, d, i)
						if got := time.Since(start); got != c.destroy {
							t.Errorf("%s: destroy took %v, want %v", c.name, got, c.destroy)
						}
					}
				}()
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			for n, got := range took {
				if want := time.Duration(n+1) * c.want; got != want {
					t.Errorf("%s: create %d was done after %v, want %v", c.name, n, got, want)
				}
			}
		})
	}
}

func TestParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := devicetest.New(a100, devicetest.Parallel())
		begin := time.Now()
		done := make(chan error)
		for start := range mig.Slices(7) {
			go func() {
				_, err := d.Create(on(a100, 1, start))
				done <- err
			}()
		}
		synctest.Wait()
		_, err := d.Create(on(a100, 3, 4)) // while the others are being made
		wants(t, err, profiling.ErrInsufficient, "create 3g.20gb at 4")
		for range 7 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(begin); took != 160*time.Millisecond {
			t.Errorf("seven creates took %v together", took)
		}
	})
}

func TestWatch(t *testing.T) {
	var d *devicetest.GPU
	var got []devicetest.Stage
	var exist []string
	d = devicetest.New(a100, devicetest.Scale(0), devicetest.Watch(func(s devicetest.Stage, in mig.Instance) {
		if in != on(a100, 2, 4) {
			t.Errorf("%s %v", s, in)
		}
		got = append(got, s)
		what := "nothing"
		for _, i := range instances(t, d) {
			what = "half"
			if i.UUID != "" {
				what = "whole"
			}
		}
		exist = append(exist, what)
	}))
	destroy(t, d, create(t, d, on(a100, 2, 4)))
	want := []devicetest.Stage{
		devicetest.BeforeCreate, devicetest.GPUInstance, devicetest.Created,
		devicetest.BeforeDestroy, devicetest.ComputeGone, devicetest.Destroyed,
	}
	if !slices.Equal(got, want) {
		t.Errorf("stages %q, want %q", got, want)
	}
	if want := []string{"nothing", "half", "whole", "whole", "half", "nothing"}; !slices.Equal(exist, want) {
		t.Errorf("instances %q, want %q", exist, want)
	}
}
