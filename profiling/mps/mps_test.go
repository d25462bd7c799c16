package mps

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/devicetest"
)

// underMIG is a device as the conformance suite opens them; nothing else differs.
type underMIG struct{ *Device }

func (d underMIG) Identify() (profiling.Identity, error) {
	id, err := d.Device.Identify()
	id.MIG, id.MIGPending, id.Source = true, true, mig.SourceMIG
	return id, err
}

func TestConform(t *testing.T) {
	newFake(t)
	devicetest.Conform(t, func(t *testing.T) profiling.Device { return underMIG{opened(t, a100())} })
}

func TestIdentity(t *testing.T) {
	newFake(t)
	want := h200().id
	want.Model, want.Source = mig.MustLookup("H200"), mig.SourceMPS
	if got, err := opened(t, h200()).Identify(); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func TestOpenRefuses(t *testing.T) {
	divided := h200()
	divided.id.MIG = true
	lost := h200()
	lost.Lose()
	for _, c := range []struct {
		name string
		gpu  whole
		wrap error
		says string
	}{
		{"MIG on", divided, profiling.ErrUnsupported, "while MIG mode is on; measure MIG instances"},
		{"unknown model", board("Tesla T4", 15360), profiling.ErrUnsupported, "Tesla T4"},
		{"unpublished", board("NVIDIA B200", 183359), profiling.ErrUnsupported, "the MIG profiles of B200"},
		{"other board", board("NVIDIA H100 PCIe", 81559), profiling.ErrUnsupported, "H100 PCIe has 114 multiprocessors"},
		{"lost", lost, profiling.ErrLost, "identify the GPU"},
	} {
		f := newFake(t)
		_, err := Open(t.Context(), c.gpu, short(t), fails)
		if err == nil || !strings.Contains(err.Error(), c.says) || !errors.Is(err, c.wrap) {
			t.Errorf("%s: error %v, want one that says %q and wraps %v", c.name, err, c.says, c.wrap)
		}
		if _, ok := errors.AsType[*profiling.DeviceError](err); !ok {
			t.Errorf("%s: %#v is no *DeviceError", c.name, err)
		}
		if f.said("asked") != "" || *c.gpu.closed != 1 {
			t.Errorf("%s: the daemon was asked %q, the GPU was closed %d times", c.name, f.said("asked"), *c.gpu.closed)
		}
	}
}

// A board that the table lacks, or that differs from its model, is taken by the number of multiprocessors that
// CUDA tells. Its name says so, and its limits are the shares of an H100's sizes.
func TestBoardsByTheirMultiprocessors(t *testing.T) {
	for _, c := range []struct {
		name        string
		memory, sms int
		label       string
		percents    []string // of the sizes, ascending
		gb          int      // of the smallest size
	}{
		{"NVIDIA H100 PCIe", 81559, 114, "H100-PCIe-MPS-114SM", []string{"11.4", "23.68", "44.73", "48.24", "100"}, 10},
		{"NVIDIA B200", 183359, 148, "B200-MPS-148SM", []string{"11.48", "23.64", "45.27", "47.97", "100"}, 22},
		{"Tesla T4", 15360, 40, "Tesla-T4-MPS-40SM", []string{"10", "22.5", "45", "47.5", "100"}, 1},
		{"NVIDIA A100-SXM-64GB", 65536, 124, "A100-SXM-64GB-MPS-124SM", []string{"12.09", "24.19", "45.16", "48.38", "100"}, 8},
	} {
		newFake(t)
		asked := ""
		d, err := Open(t.Context(), board(c.name, c.memory), short(t), func(_ context.Context, uuid string) (int, error) {
			asked = uuid
			return c.sms, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		id, err := d.Identify()
		if err != nil || id.Model.Name != c.label || asked != uuid || d.SMs != c.sms || !strings.Contains(id.Model.Origin, "not those of MIG") {
			t.Errorf("%s: model %v, %q, of %d, %v", c.name, id.Model, id.Model.Origin, d.SMs, err)
		}
		if all, err := id.Model.Multiprocessors(); err != nil || all != c.sms {
			t.Errorf("%s: the model has %d multiprocessors, %v", c.name, all, err)
		}
		var percents []string
		for _, size := range id.Model.Sizes() {
			p := id.Model.Profile(size)
			i, err := d.Create(mig.Instance{Profile: p, Start: p.Starts[0]})
			if err != nil {
				t.Fatal(err)
			}
			percents = append(percents, strings.TrimPrefix(i.Env[2], "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE="))
			if err := d.Destroy(i.ID); err != nil {
				t.Fatal(err)
			}
		}
		if gb := id.Model.Profile(1).MemoryGB; !slices.Equal(percents, c.percents) || gb != c.gb {
			t.Errorf("%s: limits %q and %d GB, want %q and %d GB", c.name, percents, gb, c.percents, c.gb)
		}
		if again, err := mig.ParseModel(id.Model.JSON(), "gpu.json"); err != nil || again != id.Model {
			t.Errorf("%s: what is written beside the data is read as %v, %v", c.name, again, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	// Boards that the table has are not asked for, and a count that fails is said.
	newFake(t)
	d, err := Open(t.Context(), h200(), short(t), fails)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	_, err = Open(t.Context(), board("Tesla T4", 15360), short(t), fails)
	if !errors.Is(err, profiling.ErrUnsupported) || !strings.Contains(err.Error(), "CUDA does not tell how many multiprocessors it has: there is no CUDA") {
		t.Errorf("%v", err)
	}
}

func TestOpenWithoutTheProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Open(t.Context(), h200(), short(t), fails)
	if !errors.Is(err, profiling.ErrNoDriver) || !strings.Contains(err.Error(), control+": ") || !strings.Contains(err.Error(), "; install") {
		t.Errorf("without %s: %v", control, err)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than a line: %v", err)
	}
}

func TestEnvironment(t *testing.T) {
	for _, c := range []struct {
		gpu  whole
		want map[mig.Slices]string // percent by size
	}{
		{h200(), map[mig.Slices]string{1: "12.12", 2: "24.24", 3: "45.45", 4: "48.48", 7: "100"}},
		{a100(), map[mig.Slices]string{1: "12.96", 2: "25.92", 3: "38.88", 4: "51.85", 7: "90.74"}},
		{board("NVIDIA A30", 24576), map[mig.Slices]string{1: "25", 2: "50", 4: "100"}},
	} {
		newFake(t)
		d := opened(t, c.gpu)
		for size, percent := range c.want {
			i, err := d.Create(mig.Instance{Profile: d.model.Profile(size)})
			if err != nil {
				t.Fatalf("%s, size %d: %v", d.model, size, err)
			}
			want := []string{"CUDA_VISIBLE_DEVICES=" + uuid, "CUDA_MPS_PIPE_DIRECTORY=" + d.daemon.pipe, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=" + percent}
			if !slices.Equal(i.Env, want) {
				t.Errorf("%s, size %d: environment %q, want %q", d.model, size, i.Env, want)
			}
			if err := d.Destroy(i.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The driver rounds up, so every limit has to give exactly the profile's number.
func TestPercentagesRoundUpToTheProfiles(t *testing.T) {
	for _, g := range mig.GPUs() {
		all, err := g.Multiprocessors()
		if err != nil {
			continue
		}
		for _, p := range g.Profiles {
			limit := Percentage(p.SMs, all)
			if got := int(math.Ceil(limit / 100 * float64(all))); got != p.SMs {
				t.Errorf("%s, %s: %v %% of %d is %d when rounded up, want %d", g, p, limit, all, got, p.SMs)
			}
		}
	}
}

func TestShare(t *testing.T) {
	newFake(t)
	d := opened(t, h200())
	half, third := d.Share(50), d.Share(100.0/3)
	if got := half.Env[2]; got != "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50" {
		t.Errorf("half the GPU has %s", got)
	}
	if got := third.Env[2]; !strings.HasPrefix(got, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=33.333333") {
		t.Errorf("a third of the GPU has %s", got)
	}
	if half.UUID == third.UUID || half.Profile != nil {
		t.Errorf("shares %+v and %+v", half, third)
	}
	if made, err := d.Instances(); err != nil || len(made) != 0 {
		t.Errorf("shares are instances: %v, %v", made, err)
	}
	for _, bad := range []float64{0, -1, 100.5, math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a share of %v %% is given", bad)
				}
			}()
			d.Share(bad)
		}()
	}
}

func TestSetMIG(t *testing.T) {
	newFake(t)
	d := opened(t, h200())
	for _, on := range []bool{true, false} {
		if err := d.SetMIG(on); !errors.Is(err, profiling.ErrUnsupported) {
			t.Errorf("SetMIG(%v): %v", on, err)
		}
	}
}

func TestProcesses(t *testing.T) {
	f := newFake(t)
	gpu := h200()
	d := opened(t, gpu)
	f.say("servers", "811\n812\n")
	for pid, name := range map[int]string{811: "nvidia-cuda-mps-server", 900: "lud_cuda", 999: "nvidia-cuda-mps-server"} {
		gpu.Use(devicetest.WholeGPU, pid, name)
	}
	got, err := d.Processes()
	slices.SortFunc(got, func(a, b profiling.Process) int { return a.PID - b.PID })
	if want := []profiling.Process{{PID: 900, Name: "lud_cuda"}, {PID: 999, Name: "nvidia-cuda-mps-server"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("processes %v, %v; want %v", got, err, want)
	}
	f.say("servers", "who knows\n")
	if _, err := d.Processes(); err == nil || !strings.Contains(err.Error(), `"who knows"`) {
		t.Errorf("a server without a number: %v", err)
	}
}

// Without the daemon, or with a limit of its own, kernels would run with another limit
// than the rows say.
func TestDaemonThatDoesNotLimit(t *testing.T) {
	f := newFake(t)
	d := opened(t, h200())
	at := mig.Instance{Profile: d.model.Profile(1)}
	fails := func(when, says string) {
		t.Helper()
		if _, err := d.Create(at); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("create while %s: %v, want %q", when, err, says)
		}
		if _, err := d.Conditions(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("conditions while %s: %v, want %q", when, err, says)
		}
	}
	f.say("limit", "50.0\n")
	fails("the daemon has a limit", "limits all clients to 50 %")
	f.say("limit", "\n")
	fails("the daemon is silent", `answers ""`)
	f.say("limit", "100.0\n")
	if err := os.Remove(filepath.Join(d.daemon.pipe, "nvidia-cuda-mps-control.pid")); err != nil {
		t.Fatal(err)
	}
	fails("the daemon is gone", "does not answer: exit status 1: Cannot find MPS control daemon process")
	if made, _ := d.Instances(); len(made) != 0 {
		t.Errorf("instances %v were made", made)
	}
	killAll(f)
}

// killAll ends daemons that the fake control program has lost.
func killAll(f fake) {
	for _, pid := range f.daemons() {
		if p, err := os.FindProcess(pid); err == nil {
			p.Kill()
		}
	}
}

func TestDaemonIsItsOwn(t *testing.T) {
	f := newFake(t)
	for name, value := range map[string]string{
		"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": "30", "CUDA_MPS_PIPE_DIRECTORY": "/tmp/nvidia-mps",
		"CUDA_VISIBLE_DEVICES": "3", "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
	} {
		t.Setenv(name, value)
	}
	dir := short(t)
	t.Chdir(dir)
	d, err := Open(t.Context(), h200(), ".", fails)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "mps-"+uuid)
	want := "CUDA_DEVICE_ORDER=PCI_BUS_ID\nCUDA_MPS_LOG_DIRECTORY=" + folder + "/log\nCUDA_MPS_PIPE_DIRECTORY=" + folder + "/pipe\nCUDA_VISIBLE_DEVICES=" + uuid + "\n"
	if got := f.said("daemon-env"); got != want {
		t.Errorf("the daemon has %q, want %q", got, want)
	}
	if group := strings.TrimSpace(f.said("group")); group == strconv.Itoa(syscall.Getpgrp()) {
		t.Errorf("the daemon is in this process's group %s; Ctrl-C would end it", group)
	}
	for range 2 {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if n := strings.Count(f.said("asked"), "quit"); n != 1 {
		t.Errorf("%d quits, want 1", n)
	}
}

// impatient changes the patience for the time of the test.
func impatient(t *testing.T, p time.Duration) {
	t.Helper()
	before := patience
	t.Cleanup(func() { patience = before })
	patience = p
}

func TestDaemonThatDoesNotStart(t *testing.T) {
	f := newFake(t)
	dir := short(t)
	f.say("refuse-start", "MPS is not allowed here\n")
	_, err := Open(t.Context(), h200(), dir, fails)
	if err == nil || !strings.Contains(err.Error(), "start the MPS daemon: exit status 1: MPS is not allowed here; its logs are in "+dir) {
		t.Errorf("a daemon that refuses: %v", err)
	}
	f.unsay("refuse-start")

	f.say("start-nothing", "")
	impatient(t, 0)
	_, err = Open(t.Context(), h200(), dir, fails)
	patience = 20 * time.Second
	if err == nil || !strings.Contains(err.Error(), "start the MPS daemon: ") {
		t.Errorf("a daemon that is not there: %v", err)
	}
	f.unsay("start-nothing")

	f.say("limit", "25.0\n")
	_, err = Open(t.Context(), h200(), dir, fails)
	if err == nil || !strings.Contains(err.Error(), "25 %") || len(f.daemons()) != 1 || !ended(f.daemons()[0]) {
		t.Errorf("a daemon with a limit: %v, daemons %v", err, f.daemons())
	}
	f.say("limit", "100.0\n")

	// No failure keeps the lock.
	d, err := Open(t.Context(), h200(), dir, fails)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestFolderTooDeep(t *testing.T) {
	newFake(t)
	_, err := Open(t.Context(), h200(), filepath.Join(short(t), strings.Repeat("x", 80)), fails)
	if err == nil || !strings.Contains(err.Error(), "choose a shorter folder") {
		t.Errorf("a folder that is too deep for sockets: %v", err)
	}
}

func TestDaemonThatDoesNotEnd(t *testing.T) {
	for fault, says := range map[string]string{
		"refuse-quit": "it does not end",
		"crash":       "the MPS daemon does not answer: signal: killed", // which does not say that it is gone
	} {
		f := newFake(t)
		impatient(t, 50*time.Millisecond)
		d, err := Open(t.Context(), h200(), short(t), fails)
		if err != nil {
			t.Fatal(err)
		}
		f.say(fault, "")
		err = d.Close()
		want := "end the MPS daemon: " + says + "; end it by hand: echo quit | CUDA_MPS_PIPE_DIRECTORY=" + d.daemon.pipe
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", fault, err, want)
		}
		killAll(f)
	}
}

func TestCloseAfterErrors(t *testing.T) {
	f := newFake(t)
	gpu := h200()
	d, err := Open(t.Context(), gpu, short(t), fails)
	if err != nil {
		t.Fatal(err)
	}
	gpu.Lose()
	if _, err := d.Identify(); !errors.Is(err, profiling.ErrLost) {
		t.Errorf("identify a lost GPU: %v", err)
	}
	f.say("limit", "nothing\n")
	if _, err := d.Create(mig.Instance{Profile: d.model.Profile(7)}); err == nil {
		t.Error("an instance is created with a daemon out of its mind")
	}
	if err := d.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if !ended(f.daemons()[0]) || *gpu.closed != 1 {
		t.Errorf("the daemon is left, or the GPU was closed %d times", *gpu.closed)
	}
}

func TestCancelledOpenLeavesNothing(t *testing.T) {
	f := newFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, h200(), short(t), fails); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if n := len(f.daemons()); n != 0 {
		t.Errorf("%d daemons were started", n)
	}
}

func TestKilledRun(t *testing.T) {
	f := newFake(t)
	dir := short(t)
	kill := holder(t, dir)
	if _, err := Open(t.Context(), h200(), dir, fails); !errors.Is(err, profiling.ErrBusy) || !strings.Contains(err.Error(), "other run") {
		t.Errorf("open beside a run that lives: %v, want %v", err, profiling.ErrBusy)
	}
	if p := f.daemons(); len(p) != 1 || !alive(p[0]) {
		t.Fatalf("daemons %v; that of the other run should live", p)
	}
	kill()
	left := f.daemons()[0]
	if !alive(left) {
		t.Fatal("the daemon ended with its run; the test tests nothing")
	}
	d, err := Open(t.Context(), h200(), dir, fails)
	if err != nil {
		t.Fatal(err)
	}
	if !ended(left) {
		t.Error("the daemon of the killed run is left")
	}
	if made, err := d.Instances(); err != nil || len(made) != 0 {
		t.Errorf("instances %v, %v; want none", made, err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if all := f.daemons(); len(all) != 2 || !ended(all[1]) {
		t.Errorf("daemons %v; want a second one that has ended", all)
	}
}

// End ends the daemon that a killed run has left on an instance, and no other.
func TestEndOfAKilledServer(t *testing.T) {
	f := newFake(t)
	dir := short(t)
	left, err := Serve(t.Context(), dir, profiling.Instance{UUID: "MIG-1"})
	if err != nil {
		t.Fatal(err)
	}
	other, err := Serve(t.Context(), dir, profiling.Instance{UUID: "MIG-2"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is none
		if err := End(t.Context(), dir, left.gpu); err != nil {
			t.Error(err)
		}
	}
	if all := f.daemons(); len(all) != 2 || !ended(all[0]) || !alive(all[1]) {
		t.Errorf("daemons %v; want the first ended and the second alive", all)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}
