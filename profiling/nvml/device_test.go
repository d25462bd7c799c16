//go:build cgo && linux

package nvml_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	driver "github.com/NVIDIA/go-nvml/pkg/nvml"

	"miglab/datasets"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/nvml"
	"miglab/profiling/nvml/nvmltest"
)

const (
	a30  = "gpu 0 A30 GPU-a3000000-0000-0000-0000-000000000000 1 1"
	h100 = "gpu 0 H100 GPU-10000000-0000-0000-0000-000000000000 1 1"
)

// open opens the only GPU.
func open(t *testing.T) profiling.Device {
	t.Helper()
	d, err := nvml.Open(new(mig.Catalog), "")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// at is an instance by NVIDIA's name of its profile.
func at(t *testing.T, model, profile string, start mig.Slices) mig.Instance {
	t.Helper()
	p, err := mig.MustLookup(model).ProfileByName(profile)
	if err != nil {
		t.Fatal(err)
	}
	return mig.Instance{Profile: p, Start: start}
}

// create makes an instance of the A100.
func create(t *testing.T, d profiling.Device, profile string, start mig.Slices) profiling.Instance {
	t.Helper()
	i, err := d.Create(at(t, "A100", profile, start))
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// destroy destroys an instance.
func destroy(t *testing.T, d profiling.Device, i profiling.Instance) {
	t.Helper()
	if err := d.Destroy(i.ID); err != nil {
		t.Error(err)
	}
}

// wants checks an error: its cause, that it is a *DeviceError of one line, and that it
// says all the words.
func wants(t *testing.T, err, cause error, words ...string) {
	t.Helper()
	var device *profiling.DeviceError
	if !errors.As(err, &device) {
		t.Fatalf("error %#v is no *DeviceError", err)
	}
	if cause != nil && !errors.Is(err, cause) {
		t.Errorf("error %q, want %q", err, cause)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q has several lines", err)
	}
}

// left checks which GPU and compute instances exist, by the state's lines.
func left(t *testing.T, s nvmltest.State, want ...string) {
	t.Helper()
	if got := s.Instances(t); !slices.Equal(got, want) {
		t.Errorf("instances %q, want %q", got, want)
	}
}

// use starts a process with KEY=VALUE in its environment, which is on the GPU until
// it is stopped.
func use(t *testing.T, env string) (pid int, stop func()) {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.Env = append(os.Environ(), env)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	t.Cleanup(stop)
	return cmd.Process.Pid, stop
}

// deviceTests are the tests with one driver.
var deviceTests = []stubTest{
	{name: "conformance", run: func(t *testing.T, s nvmltest.State) {
		conform(t, func(t *testing.T) profiling.Device {
			s.Remove(t, "gi")
			s.Remove(t, "ci")
			return open(t)
		})
	}},
	{name: "conformance halfway", run: func(t *testing.T, s nvmltest.State) {
		conformHalfway(t, func(t *testing.T, busy int) profiling.Device {
			for _, word := range []string{"gi", "ci", "fail"} {
				s.Remove(t, word)
			}
			s.Add(t, "fail nvmlGpuInstanceCreateComputeInstance 0 1 NO_PERMISSION", fmt.Sprintf("fail nvmlGpuInstanceDestroy 0 %d IN_USE", busy))
			return open(t)
		})
	}},
	{name: "identity", state: []string{h100, "driver 570.1"}, run: func(t *testing.T, s nvmltest.State) {
		got, err := open(t).Identify()
		want := profiling.Identity{
			UUID: "GPU-10000000-0000-0000-0000-000000000000", Name: "NVIDIA H100 80GB HBM3", Model: mig.MustLookup("H100"),
			MemoryMiB: 81559, Driver: "570.1", MIG: true, MIGPending: true, Source: mig.SourceMIG,
		}
		if err != nil || got != want {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}},
	{name: "samples", run: func(t *testing.T, s nvmltest.State) {
		from := time.Now()
		w, err := open(t).Watch()
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		waitForSamples(t, w, from)
		got := w.Between(from, time.Now())
		got.Samples = 0
		if want := (datasets.Load{ClockMin: 1410, ClockMean: 1410, ClockMax: 1410, PowerMean: 387.5, PowerMax: 387.5, TemperatureMax: 31, Throttle: "power-cap"}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		s.Add(t, "fail nvmlDeviceGetClockInfo 0 -1 GPU_IS_LOST")
		_, err = open(t).Watch()
		wants(t, err, profiling.ErrLost, "sample the GPU's clocks")
	}},
	{name: "samples by UUID", state: []string{"gpu 0 L4 GPU-0a 0 0", "driver 570.1"}, run: func(t *testing.T, s nvmltest.State) {
		from := time.Now()
		w, version, processes, err := nvml.WatchGPU("0a")
		if err != nil || version != "570.1" || processes != 0 {
			t.Fatalf("driver %q, %d processes, %v", version, processes, err)
		}
		waitForSamples(t, w, from)
		w.Close()
		_, version, _, err = nvml.WatchGPU("0b")
		if wants(t, err, nil, "find the GPU with the UUID 0b"); version != "570.1" {
			t.Errorf("driver %q", version)
		}
	}},
	// In a MIG slice CUDA gives the UUID of the MIG device. Its processes count, and the samples are the GPU's.
	{name: "samples of a slice", state: append([]string{nvmltest.A100}, somebodys...), run: func(t *testing.T, s nvmltest.State) {
		d := openExisting(t, "")
		mine, err1 := d.Create(at(t, "A100", "1g.5gb", 6))
		theirs, err2 := d.Create(at(t, "A100", "4g.20gb", 0))
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		use(t, theirs.Env[0])
		for want := range 3 {
			from := time.Now()
			w, _, processes, err := nvml.WatchGPU(strings.TrimPrefix(mine.UUID, "MIG-"))
			if err != nil || processes != want {
				t.Fatalf("%d processes, %v; want %d", processes, err, want)
			}
			waitForSamples(t, w, from)
			w.Close()
			use(t, mine.Env[0])
		}
		s.Add(t, "fail nvmlDeviceGetComputeRunningProcesses 0 1 NO_PERMISSION")
		w, _, processes, err := nvml.WatchGPU(strings.TrimPrefix(mine.UUID, "MIG-"))
		if err != nil || processes != -1 {
			t.Fatalf("%d processes, %v; want -1, not known", processes, err)
		}
		w.Close()
	}},
	{name: "the memory of the GPU is denied", state: []string{nvmltest.A100, "deny nvmlDeviceGetMemoryInfo"}, run: func(t *testing.T, s nvmltest.State) {
		for key, want := range map[string]string{"A100": "A100", "A800": "A800-SXM4-80GB-98SM", "H20": "H20-78SM", "RTXPRO6000": "RTX-PRO-6000"} {
			s.Remove(t, "gpu")
			s.Add(t, "gpu 0 "+key+" GPU-1 1 1")
			if id, err := open(t).Identify(); err != nil || id.Model.Name != want || id.MemoryMiB < 40000 {
				t.Errorf("%+v, %v; want %s", id, err, want)
			}
		}
		s.Remove(t, "gpu")
		s.Add(t, "gpu 0 A100 GPU-1 0 0")
		_, err := nvml.Open(new(mig.Catalog), "")
		wants(t, err, profiling.ErrPermission, "NVIDIA_MIG_MONITOR_DEVICES=all")
	}},
	{name: "pairs", run: func(t *testing.T, s nvmltest.State) { pairs(t, mig.MustLookup("A100")) }},

	{name: "MIG mode is off", state: []string{"gpu 0 A100 GPU-1 0 0"}, run: func(t *testing.T, s nvmltest.State) {
		d := open(t)
		three := at(t, "A100", "3g.20gb", 4)
		_, err := d.Create(three)
		wants(t, err, profiling.ErrMIGOff, "create 3g.20gb at 4", "nvidia-smi -mig 1 -i GPU-1")
		wants(t, d.Destroy(1), profiling.ErrUnknownInstance, "destroy instance 1")
		if all, err := d.Instances(); err != nil || len(all) > 0 {
			t.Errorf("instances %v, %v; want none", all, err)
		}
		if all, err := d.Processes(); err != nil || len(all) > 0 {
			t.Errorf("processes %v, %v; want none", all, err)
		}
	}},
	{name: "MIG mode is pending", state: []string{"gpu 0 A100 GPU-1 0 1"}, run: func(t *testing.T, s nvmltest.State) {
		d := open(t)
		if id, err := d.Identify(); err != nil || id.MIG || !id.MIGPending {
			t.Errorf("MIG mode %v, pending %v, %v; want off and on", id.MIG, id.MIGPending, err)
		}
		_, err := d.Create(at(t, "A100", "1g.5gb", 0))
		wants(t, err, profiling.ErrMIGOff)
	}},
	{name: "MIG devices get other indices while one is looked for", run: func(t *testing.T, s nvmltest.State) {
		d := open(t)
		for _, line := range []string{"move 14", "fail nvmlDeviceGetMigDeviceHandleByIndex 2 1 INVALID_ARGUMENT", "stale 0 9 0 0"} {
			s.Add(t, line)
			i := create(t, d, "3g.20gb", 4)
			all, err := d.Instances()
			if err != nil || len(all) != 1 || all[0].UUID != i.UUID {
				t.Errorf("%s: instances %v, %v; want %v", line, all, err, i)
			}
			if _, err := d.Processes(); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			if err := d.Destroy(i.ID); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}},
	// The time of a create is that of the driver's two calls. Here the search for the MIG device pauses twice.
	{name: "what a create takes", state: []string{nvmltest.A100, "time create 9 20", "move 28"}, run: func(t *testing.T, s nvmltest.State) {
		before := time.Now()
		i := create(t, open(t), "3g.20gb", 4)
		if all := time.Since(before); i.Took < 20*time.Millisecond || all-i.Took < 4*time.Millisecond {
			t.Errorf("the driver took %v of %v", i.Took, all)
		}
	}},
	{name: "destroyed, says the driver, and lists it", state: []string{nvmltest.A100, "linger 1"}, run: func(t *testing.T, s nvmltest.State) {
		d := open(t)
		i := create(t, d, "3g.20gb", 4)
		wants(t, d.Destroy(i.ID), profiling.ErrBusy, "destroy instance 1", "says that it destroyed the instance, and lists it")
		destroy(t, d, i)
		left(t, s)
		s.Add(t, "linger 1", "fail nvmlGpuInstanceCreateComputeInstance 0 1 NO_PERMISSION")
		_, err := d.Create(i.Instance)
		if l, ok := errors.AsType[*profiling.LeftoverError](err); !ok || l.ID != 1 || !errors.Is(l.Undo, profiling.ErrBusy) {
			t.Errorf("error %#v, and the instance is listed", err)
		}
	}},
	{name: "no permission", run: func(t *testing.T, s nvmltest.State) {
		d := open(t)
		i := create(t, d, "1g.5gb", 0)
		for _, f := range []string{"nvmlDeviceCreateGpuInstanceWithPlacement", "nvmlComputeInstanceDestroy", "nvmlDeviceGetGpuInstances", "nvmlDeviceGetComputeRunningProcesses"} {
			s.Add(t, "fail "+f+" 0 -1 NO_PERMISSION")
		}
		const remedy = "/proc/driver/nvidia/capabilities/mig/config"
		_, err := d.Create(at(t, "A100", "1g.5gb", 1))
		wants(t, err, profiling.ErrPermission, "create 1g.5gb at 1", remedy)
		wants(t, d.Destroy(i.ID), profiling.ErrPermission, "destroy instance 7", remedy)
		_, err = d.Instances()
		wants(t, err, profiling.ErrPermission, remedy)
		_, err = d.Processes()
		wants(t, err, profiling.ErrPermission, remedy)
		left(t, s, "gi 0 7 19 0 0", "ci 0 7 0 1")
	}},
	{name: "the device file is kept from us", run: func(t *testing.T, s nvmltest.State) {
		s.Add(t, "fail nvmlDeviceGetHandleByIndex 0 1 OPERATING_SYSTEM")
		_, err := nvml.Open(new(mig.Catalog), "")
		wants(t, err, profiling.ErrPermission, "cgroup")
	}},
	{name: "lost", run: func(t *testing.T, s nvmltest.State) {
		d := open(t)
		one := create(t, d, "1g.5gb", 0)
		for _, code := range []string{"GPU_IS_LOST", "RESET_REQUIRED"} {
			s.Remove(t, "fail")
			s.Add(t, "fail * 0 -1 "+code)
			_, identify := d.Identify()
			_, instances := d.Instances()
			_, create := d.Create(at(t, "A100", "1g.5gb", 1))
			_, processes := d.Processes()
			_, open := nvml.Open(new(mig.Catalog), "")
			for _, err := range []error{identify, instances, create, processes, open, d.Destroy(one.ID)} {
				wants(t, err, profiling.ErrLost, "Xid", "with nvidia-smi --gpu-reset -i and its number, or reboot")
			}
		}
	}},

	{name: "what was half created cannot be undone", run: func(t *testing.T, s nvmltest.State) {
		d := open(t)
		for _, c := range []struct {
			call, code string
			cause      error
			number     int
		}{
			{"nvmlGpuInstanceCreateComputeInstance", "INSUFFICIENT_RESOURCES", profiling.ErrInsufficient, 1},
			{"nvmlGpuInstanceCreateComputeInstance", "NO_PERMISSION", profiling.ErrPermission, 1},
			{"nvmlGpuInstanceCreateComputeInstance", "NOT_SUPPORTED", profiling.ErrUnsupported, 1},
			{"nvmlComputeInstanceGetInfo", "NO_PERMISSION", profiling.ErrPermission, 1},
			{"nvmlGpuInstanceGetInfo", "NO_PERMISSION", profiling.ErrPermission, -1},
		} {
			s.Add(t, "fail "+c.call+" 0 1 "+c.code, "fail nvmlGpuInstanceDestroy 0 1 IN_USE")
			_, err := d.Create(at(t, "A100", "3g.20gb", 4))
			wants(t, err, c.cause, "create 3g.20gb at 4", "a part of the instance remains", "still in use")
			if l, ok := errors.AsType[*profiling.LeftoverError](err); !ok || l.ID != c.number || !errors.Is(l.Undo, profiling.ErrBusy) {
				t.Errorf("%s, %s: error %#v, want a LeftoverError with number %d", c.call, c.code, err, c.number)
			}
			left(t, s, "gi 0 1 9 4 0")
			if all, err := d.Instances(); err != nil || len(all) != 1 || all[0].UUID != "" || len(all[0].Env) > 0 {
				t.Errorf("instances %+v, %v; want one without a UUID", all, err)
			}
			if err := d.Destroy(1); err != nil {
				t.Error(err)
			}
			left(t, s)
		}
	}},
	{name: "what was half created is gone when it is undone", run: func(t *testing.T, s nvmltest.State) {
		s.Add(t, "fail nvmlGpuInstanceCreateComputeInstance 0 1 NO_PERMISSION", "fail nvmlGpuInstanceDestroy 0 1 INVALID_ARGUMENT")
		_, err := open(t).Create(at(t, "A100", "3g.20gb", 4))
		wants(t, err, profiling.ErrPermission)
		if _, ok := errors.AsType[*profiling.LeftoverError](err); ok || errors.Is(err, profiling.ErrUnknownInstance) {
			t.Errorf("error %#v, and nothing is left", err)
		}
	}},
	{name: "the driver does not say whether it has created", run: func(t *testing.T, s nvmltest.State) {
		d := open(t)
		for code, leaves := range map[string]bool{
			"INVALID_ARGUMENT": false, "NOT_SUPPORTED": false, "NO_PERMISSION": false, "INSUFFICIENT_RESOURCES": false,
			"IN_USE": false, "UNKNOWN": true, "TIMEOUT": true, "GPU_IS_LOST": true,
		} {
			s.Add(t, "fail nvmlDeviceCreateGpuInstanceWithPlacement 0 1 "+code)
			_, err := d.Create(at(t, "A100", "3g.20gb", 4))
			wants(t, err, nil, "create 3g.20gb at 4")
			l, ok := errors.AsType[*profiling.LeftoverError](err)
			if ok != leaves || leaves && (l.ID != -1 || l.Undo != nil || !strings.Contains(err.Error(), "a part of the instance may exist")) {
				t.Errorf("%s: error %#v; may something be left: %v", code, err, leaves)
			}
		}
	}},
	// Whatever call fails, and however often: an error tells it, a create is undone or tells what it left, and an
	// instance that was not destroyed can be.
	{name: "any call fails", run: func(t *testing.T, s nvmltest.State) {
		d := open(t)
		three := at(t, "A100", "3g.20gb", 4)
		for code, cause := range map[string]error{"UNKNOWN": nil, "NO_PERMISSION": profiling.ErrPermission, "GPU_IS_LOST": profiling.ErrLost} {
			for _, times := range []int{1, 2, -1} {
				for n, failed := 0, true; failed; n += deep.N(5, 1) {
					s.Add(t, fmt.Sprintf("fail * %d %d %s", n, times, code))
					i, err := d.Create(three)
					if err != nil {
						wants(t, err, cause, "create 3g.20gb at 4")
						gi := s.Lines(t, "gi")
						l, ok := errors.AsType[*profiling.LeftoverError](err)
						if len(gi) > 0 && (!ok || l.ID != 1 && l.ID != -1) || times == 1 && len(gi) > 0 {
							t.Errorf("call %d fails %d times with %s: error %v, and there is %q", n, times, code, err, gi)
						}
					} else if err = d.Destroy(i.ID); err != nil {
						wants(t, err, cause, "destroy instance 1")
						s.Remove(t, "fail")
						if err := d.Destroy(i.ID); err != nil {
							t.Errorf("to destroy again: %v", err)
						}
					}
					failed = err != nil
					for _, word := range []string{"gi", "ci", "fail"} {
						s.Remove(t, word)
					}
				}
			}
		}
	}},

	{name: "destroy while a kernel runs", run: func(t *testing.T, s nvmltest.State) {
		d := open(t)
		i := create(t, d, "7g.40gb", 0)
		pid, stop := use(t, i.Env[0])
		if all, err := d.Processes(); err != nil || !slices.Equal(all, []profiling.Process{{PID: pid, Name: "sleep"}}) {
			t.Errorf("processes %v, %v; want sleep, %d", all, err, pid)
		}
		wants(t, d.Destroy(i.ID), profiling.ErrBusy)
		left(t, s, "gi 0 0 0 0 0", "ci 0 0 0 7")
		stop()
		other := exec.Command("sleep", "1000") // on a GPU of another state, whose UUID is the same
		other.Env = append(os.Environ(), i.Env[0], nvmltest.Variable+"=elsewhere")
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			other.Process.Kill()
			other.Wait()
		}()
		destroy(t, d, i)
		left(t, s)
	}},
	{name: "a compute instance goes while its GPU instance is destroyed", run: func(t *testing.T, s nvmltest.State) {
		d := open(t)
		i := create(t, d, "3g.20gb", 4)
		for _, code := range []string{"INVALID_ARGUMENT", "NOT_FOUND"} {
			s.Add(t, "fail nvmlComputeInstanceDestroy 0 1 "+code)
			wants(t, d.Destroy(i.ID), profiling.ErrBusy) // since another one has come
		}
		s.Add(t, "fail nvmlGpuInstanceGetComputeInstances 0 1 INVALID_ARGUMENT")
		wants(t, d.Destroy(i.ID), profiling.ErrBusy)
		left(t, s, "gi 0 1 9 4 0", "ci 0 1 0 3")
		s.Add(t, "fail nvmlGpuInstanceDestroy 0 1 INVALID_ARGUMENT")
		wants(t, d.Destroy(i.ID), profiling.ErrUnknownInstance)
	}},
	{name: "a compute instance goes while its GPU instance is listed", run: func(t *testing.T, s nvmltest.State) {
		d := open(t)
		i := create(t, d, "3g.20gb", 4)
		for _, call := range []string{"nvmlGpuInstanceGetComputeInstances", "nvmlComputeInstanceGetInfo", "nvmlDeviceGetUUID"} {
			s.Add(t, "fail "+call+" 0 1 INVALID_ARGUMENT")
			if all, err := d.Instances(); err != nil || len(all) != 1 || all[0].ID != i.ID || all[0].UUID != "" || len(all[0].Env) > 0 {
				t.Errorf("%s: instances %+v, %v; want one without a UUID", call, all, err)
			}
			s.Add(t, "fail "+call+" 0 1 INVALID_ARGUMENT", "fail nvmlGpuInstanceGetInfo 1 1 INVALID_ARGUMENT")
			if all, err := d.Instances(); err != nil || len(all) > 0 {
				t.Errorf("%s: instances %+v, %v; want none", call, all, err)
			}
		}
	}},
	{name: "destroy an instance with several compute instances", state: []string{nvmltest.A100, "gi 0 2 9 4 0", "ci 0 2 1 2", "ci 0 2 0 1"}, run: func(t *testing.T, s nvmltest.State) {
		d := open(t)
		if all, err := d.Instances(); err != nil || len(all) != 1 || all[0].Instance != at(t, "A100", "3g.20gb", 4) || all[0].ID != 2 {
			t.Errorf("instances %+v, %v; want number 2, 3g.20gb at 4", all, err)
		}
		if err := d.Destroy(2); err != nil {
			t.Error(err)
		}
		left(t, s)
	}},
	{name: "an instance goes while it is listed", run: func(t *testing.T, s nvmltest.State) {
		d := open(t)
		create(t, d, "1g.5gb", 0)
		stays := create(t, d, "1g.5gb", 1)
		s.Add(t, "fail nvmlGpuInstanceGetInfo 0 1 INVALID_ARGUMENT")
		if all, err := d.Instances(); err != nil || len(all) != 1 || all[0].UUID != stays.UUID {
			t.Errorf("instances %+v, %v; want %+v alone", all, err, stays)
		}
	}},
	{name: "profiles that the table lacks", state: []string{a30, "table 6 2 3 17856 1", "gi 0 1 6 0 0", "ci 0 1 0 2", "gi 0 4 14 3 0"}, run: func(t *testing.T, s nvmltest.State) {
		d := open(t)
		if all, err := d.Instances(); err != nil || len(all) != 2 || all[0].Profile != mig.MustLookup("A30").Others[1] {
			t.Errorf("instances %v, %v; want the table's 2g.12gb+me", all, err)
		}
		without := *mig.MustLookup("A30")
		without.Others = nil
		nvml.SetModel(d, &without)
		all, err := d.Instances()
		if err != nil || len(all) != 2 {
			t.Fatalf("instances %v, %v; want two", all, err)
		}
		p := all[0].Profile
		if slices.Contains(mig.MustLookup("A30").Profiles, p) {
			t.Errorf("profile 6 is the table's %v", p)
		}
		if p.ID != 6 || p.Size != 2 || p.Length != 3 || p.Max != 1 || p.SMs != 28 || p.String() != "2g.18gb+me" || all[0].Mask() != 7 {
			t.Errorf("the stand-in is %+v", p)
		}
		if all[1].Profile != mig.MustLookup("A30").Profile(1) || all[1].UUID != "" {
			t.Errorf("the other is %+v, want 1g.6gb without a UUID", all[1])
		}
	}},
	{name: "a profile that the driver lacks", run: func(t *testing.T, s nvmltest.State) {
		_, err := open(t).Create(mig.Instance{Profile: &mig.Profile{ID: 77, Size: 1, MemoryGB: 1}})
		wants(t, err, profiling.ErrUnsupported, "create 1g.1gb at 0", "no profile 77")
	}},
	{name: "a driver whose table of a profile that schedulers do not use is another", state: []string{
		nvmltest.A100, "table 15 1 3 9856 4",
	}, run: func(t *testing.T, s nvmltest.State) {
		d := open(t)
		_, err := d.Create(at(t, "A100", "1g.10gb", 0))
		wants(t, err, profiling.ErrPlacement)
		if all, err := d.Instances(); err != nil || len(all) > 0 {
			t.Errorf("instances %v, %v; want none", all, err)
		}
	}},
	{name: "processes", run: func(t *testing.T, s nvmltest.State) {
		d := open(t)
		i, j := create(t, d, "1g.5gb", 2), create(t, d, "3g.20gb", 4)
		const whole = "GPU-11111111-2222-3333-4444-555555555555"
		var want []int
		for _, env := range []string{
			"CUDA_VISIBLE_DEVICES=" + whole, "MIGLAB_NVML_STUB_GRAPHICS=" + whole,
			i.Env[0], j.Env[0], j.Env[0], "MIGLAB_NVML_STUB_GRAPHICS=" + j.UUID, "MIGLAB_NVML_STUB_MPS=" + i.UUID,
		} {
			pid, _ := use(t, env)
			want = append(want, pid)
		}
		t.Setenv("CUDA_VISIBLE_DEVICES", i.UUID) // a process with graphics, too, is one
		pid, _ := use(t, "MIGLAB_NVML_STUB_GRAPHICS="+i.UUID)
		want = append(want, pid)
		all, err := d.Processes()
		var got []int
		for _, p := range all {
			got = append(got, p.PID)
		}
		slices.Sort(want)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("processes %v, %v; want %v", all, err, want)
		}
	}},
	{name: "a MIG device goes while processes are listed", run: func(t *testing.T, s nvmltest.State) {
		d := open(t)
		create(t, d, "1g.5gb", 2)
		s.Add(t, "fail nvmlDeviceGetComputeRunningProcesses 1 1 INVALID_ARGUMENT", "fail nvmlDeviceGetGraphicsRunningProcesses 0 -1 NOT_SUPPORTED")
		if all, err := d.Processes(); err != nil || len(all) != 0 {
			t.Errorf("processes %v, %v; want none", all, err)
		}
	}},

	{name: "killed while it creates", state: []string{nvmltest.A100, "time create 9 600000"}, run: func(t *testing.T, s nvmltest.State) {
		three := at(t, "A100", "3g.20gb", 4)
		const doomed = "MIGLAB_NVML_TEST_DOOMED"
		if os.Getenv(doomed) != "" {
			open(t).Create(three)
			return
		}
		cmd := again(t, t.Name(), doomed+"=1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan bool)
		go func() {
			cmd.Wait()
			close(ended)
		}()
		for len(s.Instances(t)) == 0 {
			select {
			case <-ended:
				t.Fatal("the process that creates has ended")
			case <-time.After(time.Millisecond):
			}
		}
		cmd.Process.Kill()
		<-ended
		left(t, s, "gi 0 1 9 4 0")
		d := open(t)
		all, err := d.Instances()
		if err != nil || len(all) != 1 || all[0].Instance != three || all[0].UUID != "" {
			t.Fatalf("instances %+v, %v; want 3g.20gb at 4 without a UUID", all, err)
		}
		if err := d.Destroy(all[0].ID); err != nil {
			t.Error(err)
		}
		left(t, s)
	}},

	{name: "which GPU", state: []string{
		"gpu 0 A100 GPU-aaaa1 1 1", "gpu 1 A30 GPU-aaaa2 0 0", "gpu 2 L4 GPU-bbbb1 0 0", "gpu 3 X1 GPU-cccc1 1 1",
	}, run: func(t *testing.T, s nvmltest.State) {
		for selector, want := range map[string]string{"0": "GPU-aaaa1", "1": "GPU-aaaa2", "GPU-aaaa2": "GPU-aaaa2", "GPU-aaaa1": "GPU-aaaa1"} {
			d, err := nvml.Open(new(mig.Catalog), selector)
			if err != nil {
				t.Fatal(err)
			}
			if id, err := d.Identify(); err != nil || id.UUID != want {
				t.Errorf("%q is %s, %v; want %s", selector, id.UUID, err, want)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
		const all = "0: NVIDIA A100-SXM4-40GB, GPU-aaaa1; 1: NVIDIA A30, GPU-aaaa2; 2: NVIDIA L4, GPU-bbbb1; 3: NVIDIA X1 of tomorrow, GPU-cccc1"
		for selector, says := range map[string]string{
			"": "there are several: " + all, "4": `there is no GPU "4"; there are ` + all, "MIG-1": `there is no GPU "MIG-1"`,
			"GPU-aaaa": `"GPU-aaaa" names several: 0: NVIDIA A100-SXM4-40GB, GPU-aaaa1; 1: NVIDIA A30, GPU-aaaa2;`,
		} {
			_, err := nvml.Open(new(mig.Catalog), selector)
			wants(t, err, nil, "choose a GPU", says, "index or UUID")
		}
		_, err := nvml.Open(new(mig.Catalog), "GPU-b")
		wants(t, err, profiling.ErrUnsupported, "NVIDIA L4", "miglab profile corun")
		if d, err := nvml.Open(new(mig.Catalog), "3"); err != nil {
			t.Error(err)
		} else if id, err := d.Identify(); err != nil || id.Model.Name != "X1-of-tomorrow-98SM" {
			t.Errorf("%+v, %v; want a model from the driver", id, err)
		}
	}},
	{name: "one of two GPUs is lost", state: []string{"gpu 0 A100 GPU-a 1 1", "gpu 1 A30 GPU-b 1 1"}, run: func(t *testing.T, s nvmltest.State) {
		for selector, works := range map[string]bool{"": false, "0": false, "1": true, "GPU-a": false, "GPU-b": true, "GPU-": true} {
			s.Remove(t, "fail")
			s.Add(t, "fail nvmlDeviceGetHandleByIndex 0 1 GPU_IS_LOST")
			_, err := nvml.Open(new(mig.Catalog), selector)
			if works && err != nil {
				t.Errorf("%q: %v", selector, err)
			} else if !works {
				wants(t, err, profiling.ErrLost, "identify GPU 0")
			}
		}
	}},
	{name: "no GPU", state: []string{"driver 550"}, run: func(t *testing.T, s nvmltest.State) {
		_, err := nvml.Open(new(mig.Catalog), "")
		wants(t, err, nil, "the driver reports no GPU")
	}},
	{name: "the driver is not loaded", run: func(t *testing.T, s nvmltest.State) {
		for code, says := range map[string]string{"DRIVER_NOT_LOADED": "modprobe nvidia", "LIB_RM_VERSION_MISMATCH": "different versions; reboot"} {
			s.Remove(t, "fail")
			s.Add(t, "fail nvmlInit 0 -1 "+code)
			_, err := nvml.Open(new(mig.Catalog), "")
			wants(t, err, nil, "load NVML", says)
			if code == "DRIVER_NOT_LOADED" {
				wants(t, err, profiling.ErrNoDriver)
			}
		}
	}},
}

// pairs creates every instance beside every other: the driver has to refuse exactly
// what package mig says cannot be.
func pairs(t *testing.T, g *mig.GPU) {
	t.Helper()
	var all []mig.Instance
	for _, p := range g.Profiles {
		for _, start := range p.Starts {
			all = append(all, mig.Instance{Profile: p, Start: start})
		}
	}
	d := open(t)
	for i := 0; i < len(all); i += deep.N(3, 1) {
		a := all[i]
		first, err := d.Create(a)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range all[i:] {
			second, err := d.Create(b)
			if a.Overlaps(b) || a.Profile == b.Profile && a.Profile.Max == 1 {
				wants(t, err, profiling.ErrInsufficient, b.Profile.String())
			} else if err != nil {
				t.Errorf("%s at %d beside %s at %d: %v", b.Profile, b.Start, a.Profile, a.Start, err)
			} else if err := d.Destroy(second.ID); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Destroy(first.ID); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDevice(t *testing.T) { onStub(t, deviceTests) }

// A call of a function that the library lacks would end the process.
func TestOldDriver(t *testing.T) {
	onStub(t, []stubTest{{name: "open", state: []string{nvmltest.A100, "driver 530.30.02"}, run: func(t *testing.T, s nvmltest.State) {
		_, err := nvml.Open(new(mig.Catalog), "")
		wants(t, err, profiling.ErrUnsupported, "the driver 530.30.02 is too old; install driver 535 or later")
	}}}, "-DOLD_DRIVER")
}

// Of the compute instances with all slices, the one with most multiprocessors is made.
func TestComputeInstanceWithMostMultiprocessors(t *testing.T) {
	most := nvml.Whole([]driver.ComputeInstanceProfileInfo{
		{Id: 1, SliceCount: 2, MultiprocessorCount: 16},
		{Id: 2, SliceCount: 1, MultiprocessorCount: 18},
		{Id: 3, SliceCount: 2, MultiprocessorCount: 18},
		{Id: 4, SliceCount: 2, MultiprocessorCount: 14},
	}, 2)
	if most == nil || most.Id != 3 {
		t.Errorf("%+v, want 3", most)
	}
}

// A driver that never says that there are no more profiles is asked a bounded number of times.
func TestEnumerationEnds(t *testing.T) {
	if all, err := nvml.Enumerate(func(n int) (int, driver.Return) { return n, driver.SUCCESS }); err != nil || len(all) > 100 {
		t.Errorf("%d profiles, %v", len(all), err)
	}
}

// A UUID that is not that of a MIG device is not used: a kernel with it would run on the whole GPU.
func TestUUIDOfAMIGDevice(t *testing.T) {
	onStub(t, []stubTest{{name: "create", state: []string{a30, "prefix GPU-"}, run: func(t *testing.T, s nvmltest.State) {
		_, err := open(t).Create(at(t, "A30", "1g.6gb", 0))
		wants(t, err, profiling.ErrUnsupported, "which does not begin with MIG-; install a newer driver")
	}}})
}

func TestNoDriver(t *testing.T) {
	if os.Getenv(child) == t.Name() {
		_, err := nvml.Open(new(mig.Catalog), "")
		wants(t, err, profiling.ErrNoDriver, "load NVML", "libnvidia-ml.so.1 was not found")
		return
	}
	// A file that is no library stands before the real one, if there is one.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "libnvidia-ml.so.1"), []byte(strings.Repeat("no library\n", 100)), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := again(t, t.Name(), "LD_LIBRARY_PATH="+dir).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestGigabytesAreThoseOfNVIDIAsNames(t *testing.T) {
	// Memory as listings in NVIDIA's MIG guide have it, in MiB. That of a whole A100
	// depends on the driver.
	for _, tt := range []struct{ profile, gpu, want int }{
		{4864, 40960, 5},
		{4864, 40536, 5},
		{9856, 40536, 10},
		{19968, 40960, 20},
		{40192, 40536, 40},
		{5952, 24576, 6},
		{11968, 24576, 12},
		{24000, 24576, 24},
		{9984, 81559, 10},
		{20096, 81559, 20},
		{40448, 81559, 40},
		{81152, 81559, 80},
		// H200 and B200: eighths of 141 and 180 GB.
		{143771 / 8, 143771, 18},
		{143771 / 4, 143771, 35},
		{143771 / 2, 143771, 71},
		{180 * 128, 180 * 1024, 23},
		{180 * 512, 180 * 1024, 90},
	} {
		if got := nvml.Gigabytes(tt.profile, tt.gpu); got != tt.want {
			t.Errorf("%d of %d MiB are %d GB, want %d", tt.profile, tt.gpu, got, tt.want)
		}
	}
}

// waitForSamples waits until a watch has two samples.
func waitForSamples(t *testing.T, w *profiling.Watch, from time.Time) {
	t.Helper()
	for w.Between(from, time.Now()).Samples < 2 { // until go test has no more patience
		time.Sleep(10 * time.Millisecond)
	}
}
