package nvml_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/devicetest"
)

// conform checks what every [profiling.Device] promises. It calls open once for each case and closes the GPU. open
// returns an A100 without instances, in MIG mode if the device supports it. The expected answers are written out here,
// not derived from package mig. conform starts no subtests, so that it can run in a bubble of testing/synctest.
func conform(t *testing.T, open func(t *testing.T) profiling.Device) {
	t.Helper()
	for _, run := range []func(*conformer){identity, placements, lifecycle, refusals, counts, atOnce} {
		d := open(t)
		run(&conformer{d, t})
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

// conformHalfway checks what every [profiling.Device] promises about a create that fails at its compute instance. open
// returns an A100 without instances. Its driver must refuse the next compute instance with ErrPermission, and refuse to
// destroy the GPU instance with ErrBusy as often as busy says. conformHalfway closes the GPU.
func conformHalfway(t *testing.T, open func(t *testing.T, busy int) profiling.Device) {
	t.Helper()
	for busy := range 4 {
		d := open(t, busy)
		t.Logf("half an instance, %d times busy", busy)
		halfway(&conformer{d, t}, busy)
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

// TestFakeConforms tests the fake GPU, which needs no cgo. The stub's tests run the same on NVML.
func TestFakeConforms(t *testing.T) {
	g := mig.MustLookup("A100")
	for _, opts := range [][]devicetest.Option{nil, {devicetest.Parallel()}} {
		synctest.Test(t, func(t *testing.T) {
			conform(t, func(*testing.T) profiling.Device { return devicetest.New(g, opts...) })
		})
	}
	synctest.Test(t, func(t *testing.T) {
		conformHalfway(t, func(t *testing.T, busy int) profiling.Device {
			d := devicetest.New(g)
			d.FailCompute(0, profiling.ErrPermission, busy)
			return d
		})
	})
}

// a100 is the placement table of the A100 as nvidia-smi mig -lgip and -lgipp print it.
var a100 = []struct {
	profile string
	id      int
	starts  []mig.Slices
	length  mig.Slices
	max     int
}{
	{"1g.5gb", 19, []mig.Slices{0, 1, 2, 3, 4, 5, 6}, 1, 7},
	{"1g.5gb+me", 20, []mig.Slices{0, 1, 2, 3, 4, 5, 6}, 1, 1},
	{"1g.10gb", 15, []mig.Slices{0, 2, 4, 6}, 2, 4},
	{"2g.10gb", 14, []mig.Slices{0, 2, 4}, 2, 3},
	{"3g.20gb", 9, []mig.Slices{0, 4}, 4, 2},
	{"4g.20gb", 5, []mig.Slices{0}, 4, 1},
	{"7g.40gb", 0, []mig.Slices{0}, 8, 1},
}

// conformer is a device under test with helper methods.
type conformer struct {
	profiling.Device
	*testing.T
}

func (c *conformer) at(profile string, start mig.Slices) mig.Instance {
	c.Helper()
	p, err := mig.MustLookup("A100").ProfileByName(profile)
	if err != nil {
		c.Fatal(err)
	}
	return mig.Instance{Profile: p, Start: start}
}

func (c *conformer) create(profile string, start mig.Slices) profiling.Instance {
	c.Helper()
	i, err := c.Create(c.at(profile, start))
	if err != nil {
		c.Fatalf("create %s at %d: %v", profile, start, err)
	}
	return i
}

func (c *conformer) destroy(i profiling.Instance) {
	c.Helper()
	if err := c.Destroy(i.ID); err != nil {
		c.Fatalf("destroy %s at %d: %v", i.Profile, i.Start, err)
	}
}

func (c *conformer) refused(profile string, start mig.Slices, want error) {
	c.Helper()
	_, err := c.Create(c.at(profile, start))
	c.wants("create "+profile, err, want)
}

// wants checks that an error wraps another and is a [*profiling.DeviceError].
func (c *conformer) wants(op string, err, want error) {
	c.Helper()
	var device *profiling.DeviceError
	switch {
	case !errors.Is(err, want):
		c.Errorf("%s: error %v, want %v", op, err, want)
	case !errors.As(err, &device):
		c.Errorf("%s: error %#v is no *DeviceError", op, err)
	}
}

// exist checks which instances exist, by start.
func (c *conformer) exist(want ...profiling.Instance) {
	c.Helper()
	got, err := c.Instances()
	if err != nil {
		c.Fatalf("%v", err)
	}
	if !slices.EqualFunc(got, want, func(a, b profiling.Instance) bool {
		return a.Instance == b.Instance && a.ID == b.ID && a.UUID == b.UUID && slices.Equal(a.Env, b.Env)
	}) {
		c.Errorf("instances %v, want %v", got, want)
	}
}

func identity(c *conformer) {
	id, err := c.Identify()
	if err != nil {
		c.Fatalf("%v", err)
	}
	if id.UUID == "" || id.Name == "" || id.Driver == "" || id.MemoryMiB <= 0 {
		c.Errorf("%+v lacks something", id)
	}
	if id.Model != mig.MustLookup("A100") {
		c.Errorf("model %v, want A100", id.Model)
	}
	if !id.MIG || !id.MIGPending || id.Source != mig.SourceMIG {
		c.Errorf("MIG mode %v, pending %v for source %s", id.MIG, id.MIGPending, id.Source)
	}
	if p, err := c.Processes(); err != nil || len(p) != 0 {
		c.Errorf("processes %v, %v; want none", p, err)
	}
}

func placements(c *conformer) {
	for _, row := range a100 {
		p := c.at(row.profile, 0).Profile
		for start := mig.Slices(0); start < 8; start++ {
			if !slices.Contains(row.starts, start) {
				c.refused(row.profile, start, profiling.ErrPlacement)
				continue
			}
			i := c.create(row.profile, start)
			if i.Profile != p || i.Start != start {
				c.Errorf("create %s at %d made %s at %d", row.profile, start, i.Profile, i.Start)
			}
			c.exist(i)
			c.destroy(i)
		}
	}
	c.exist()
}

func lifecycle(c *conformer) {
	c.exist()
	right := c.create("3g.20gb", 4)
	left := c.create("2g.10gb", 0)
	c.exist(left, right)
	for _, i := range []profiling.Instance{left, right} {
		onMIG := strings.HasPrefix(i.UUID, "MIG-")
		if i.UUID == "" || len(i.Env) == 0 || onMIG && !slices.Contains(i.Env, "CUDA_VISIBLE_DEVICES="+i.UUID) {
			c.Errorf("%s at %d has UUID %q and environment %q", i.Profile, i.Start, i.UUID, i.Env)
		}
	}
	if left.UUID == right.UUID || left.ID == right.ID {
		c.Errorf("%v and %v share a UUID or an ID", left, right)
	}
	c.destroy(left)
	c.exist(right)
	c.wants("destroy it again", c.Destroy(left.ID), profiling.ErrUnknownInstance)
	again := c.create("2g.10gb", 0)
	if again.UUID != left.UUID {
		c.Errorf("2g.10gb at 0 is %s and was %s", again.UUID, left.UUID)
	}
	c.exist(again, right)
	c.destroy(right)
	c.destroy(again)
	c.exist()
}

func refusals(c *conformer) {
	c.wants("destroy 99", c.Destroy(99), profiling.ErrUnknownInstance)
	three := c.create("3g.20gb", 0)
	for _, taken := range []struct {
		profile string
		start   mig.Slices
	}{{"3g.20gb", 0}, {"1g.5gb", 3}, {"1g.10gb", 2}, {"2g.10gb", 2}, {"4g.20gb", 0}, {"7g.40gb", 0}} {
		c.refused(taken.profile, taken.start, profiling.ErrInsufficient)
	}
	c.exist(three)
	c.create("3g.20gb", 4)
	c.destroy(three)
	c.create("4g.20gb", 0)
}

// halfway lets the driver refuse a compute instance. The first refusal as busy goes to the
// create, when it undoes its GPU instance.
func halfway(c *conformer, busy int) {
	_, err := c.Create(c.at("3g.20gb", 4))
	c.wants("create 3g.20gb", err, profiling.ErrPermission)
	left, isLeft := errors.AsType[*profiling.LeftoverError](err)
	if isLeft != (busy > 0) {
		c.Errorf("error %#v; is something left?", err)
	}
	if !isLeft {
		c.exist()
		return
	}
	c.wants("undo", left.Undo, profiling.ErrBusy)
	c.exist(profiling.Instance{Instance: c.at("3g.20gb", 4), ID: left.ID})
	_, err = c.Create(c.at("1g.5gb", 5))
	c.wants("create over what is left", err, profiling.ErrInsufficient)
	if _, ok := errors.AsType[*profiling.LeftoverError](err); ok {
		c.Errorf("a create that was refused at once left something: %v", err)
	}
	for range busy - 1 {
		c.wants("destroy what is left", c.Destroy(left.ID), profiling.ErrBusy)
	}
	c.destroy(profiling.Instance{Instance: c.at("3g.20gb", 4), ID: left.ID})
	c.exist()
	c.destroy(c.create("3g.20gb", 4))
}

func counts(c *conformer) {
	for _, row := range a100 {
		var made []profiling.Instance
		for _, start := range row.starts {
			if len(made) < row.max {
				made = append(made, c.create(row.profile, start))
			} else {
				c.refused(row.profile, start, profiling.ErrInsufficient)
			}
		}
		if len(made) != row.max {
			c.Errorf("%d instances of %s, want %d", len(made), row.profile, row.max)
		}
		c.exist(made...)
		for _, i := range made {
			c.destroy(i)
		}
	}
}

// atOnce lets seven threads create and destroy instances at the same time.
func atOnce(c *conformer) {
	var all sync.WaitGroup
	errs := make([]error, 7)
	for start := range errs {
		at := c.at("1g.5gb", mig.Slices(start))
		all.Go(func() {
			for range 3 {
				i, err := c.Create(at)
				if err == nil && i.Instance != at {
					err = fmt.Errorf("create at %d made %+v", at.Start, i)
				}
				if err == nil {
					err = c.Destroy(i.ID)
				}
				if err != nil {
					errs[start] = err
					return
				}
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		c.Errorf("%v", err)
	}
	c.exist()
}
