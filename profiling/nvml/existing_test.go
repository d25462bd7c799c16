//go:build cgo && linux

package nvml_test

import (
	"fmt"
	"slices"
	"testing"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/nvml"
	"miglab/profiling/nvml/nvmltest"
)

// unprivileged is what the driver refuses to a user in a container or on a cluster.
var unprivileged = func() (fails []string) {
	for _, f := range []string{
		"nvmlDeviceGetGpuInstancePossiblePlacements", "nvmlDeviceGetGpuInstances", "nvmlDeviceGetGpuInstanceById",
		"nvmlDeviceCreateGpuInstanceWithPlacement", "nvmlGpuInstanceDestroy", "nvmlGpuInstanceGetInfo", "nvmlComputeInstanceDestroy",
		"nvmlGpuInstanceCreateComputeInstance",
	} {
		fails = append(fails, "fail "+f+" 0 -1 NO_PERMISSION")
	}
	return fails
}()

// somebodys are instances that exist: 4g.20gb, 2g.10gb and 1g.5gb.
var somebodys = []string{
	"gi 0 1 5 0 0", "gi 0 3 14 4 0", "gi 0 7 19 6 0", "ci 0 1 0 4", "ci 0 3 0 2", "ci 0 7 0 1",
}

// openExisting opens the instances that exist on a GPU.
func openExisting(t *testing.T, selector string) profiling.Device {
	t.Helper()
	d, err := nvml.OpenExisting(new(mig.Catalog), selector)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func onExisting(lines ...string) []string {
	return slices.Concat([]string{nvmltest.A100}, unprivileged, lines)
}

// starts returns where the existing instances of a profile begin.
func starts(d profiling.Device, p *mig.Profile) (all []mig.Slices) {
	for _, in := range d.Existing() {
		if in.Profile == p {
			all = append(all, in.Start)
		}
	}
	return all
}

func TestExistingInstances(t *testing.T) {
	onStub(t, []stubTest{
		{name: "are neither made nor destroyed with privilege", state: slices.Concat([]string{nvmltest.A100}, somebodys), run: func(t *testing.T, s nvmltest.State) {
			before := s.Instances(t)
			d := openExisting(t, "")
			p := mig.MustLookup("A100").Profile(2)
			at := starts(d, p)
			if len(at) != 1 {
				t.Fatalf("%v", at)
			}
			i, err := d.Create(mig.Instance{Profile: p, Start: at[0]})
			if err != nil {
				t.Fatal(err)
			}
			if taken := s.Instances(t); !slices.Equal(taken, before) {
				t.Errorf("taking one left %q of %q", taken, before)
			}
			destroy(t, d, i)
			if after := s.Instances(t); !slices.Equal(after, before) {
				t.Errorf("giving it back left %q of %q", after, before)
			}
		}},
		{name: "are used without privilege", state: onExisting(somebodys...), run: func(t *testing.T, s nvmltest.State) {
			before := s.Instances(t)
			d := openExisting(t, "")
			id, err := d.Identify()
			if err != nil || id.Source != mig.SourceMIG || id.Model != mig.MustLookup("A100") {
				t.Errorf("%+v, %v", id, err)
			}
			if all, err := d.Instances(); err != nil || len(all) > 0 {
				t.Errorf("instances %v, %v before one is taken", all, err)
			}
			uuids := map[string]bool{}
			for _, at := range d.Existing() {
				i, err := d.Create(at)
				if err != nil {
					t.Fatal(err)
				}
				if i.Env[0] != "CUDA_VISIBLE_DEVICES="+i.UUID || uuids[i.UUID] {
					t.Errorf("%v has the environment %q; other instances are %v", i, i.Env, uuids)
				}
				uuids[i.UUID] = true
				_, err = d.Create(i.Instance)
				wants(t, err, profiling.ErrInsufficient)
			}
			all, err := d.Instances()
			if err != nil || len(all) != 3 {
				t.Fatalf("%v, %v; want three", all, err)
			}
			for n, want := range []string{"4@0", "2@4", "1@6"} {
				if all[n].String() != want {
					t.Errorf("instance %d is %v, want %s", n, all[n], want)
				}
			}
			for _, i := range all {
				destroy(t, d, i)
			}
			wants(t, d.Destroy(all[0].ID), profiling.ErrUnknownInstance)
			_, err = d.Create(at(t, "A100", "3g.20gb", 4))
			wants(t, err, profiling.ErrInsufficient, "does not exist; there are 4g.20gb at 0, 2g.10gb at 4, 1g.5gb at 6")
			left(t, s, before...)
		}},
		{name: "in a session that is killed", state: onExisting(somebodys...), run: func(t *testing.T, s nvmltest.State) {
			before := s.Instances(t)
			for range 2 {
				d := openExisting(t, "")
				f := folder(t.TempDir())
				run := f.open(t, d)
				i, _, err := run.Create(t.Context(), at(t, "A100", "4g.20gb", 0))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := run.Destroy(t.Context(), i); err != nil {
					t.Error(err)
				}
				if _, _, err := run.Create(t.Context(), at(t, "A100", "2g.10gb", 4)); err != nil {
					t.Error(err)
				}
				if err := run.Close(); err != nil {
					t.Error(err)
				}
				f.journals(t, 0)
			}
			left(t, s, before...)
		}},
		{name: "two of a profile differ", state: onExisting("gi 0 1 9 0 0", "ci 0 1 0 3", "gi 0 2 9 4 0", "ci 0 2 0 3"), run: func(t *testing.T, s nvmltest.State) {
			d := openExisting(t, "")
			a, err1 := d.Create(at(t, "A100", "3g.20gb", 0))
			b, err2 := d.Create(at(t, "A100", "3g.20gb", 4))
			if err1 != nil || err2 != nil || a.UUID == b.UUID {
				t.Errorf("%v, %v; %v, %v", a, err1, b, err2)
			}
		}},
		{name: "on a model that the table lacks", state: append([]string{"gpu 0 H20 GPU-1 1 1", "gi 0 1 9 4 0", "ci 0 1 0 3"}, unprivileged...), run: func(t *testing.T, s nvmltest.State) {
			d := openExisting(t, "")
			id, err := d.Identify()
			if at := starts(d, id.Model.Profile(3)); err != nil || id.Model.Name != "H20-78SM" || len(at) != 1 {
				t.Errorf("%v, %v, starts %v", id.Model, err, at)
			}
		}},
		{name: "that are divided are left out", state: onExisting("gi 0 2 9 4 0", "ci 0 2 1 2", "ci 0 2 0 1", "gi 0 7 19 0 0", "ci 0 7 0 1"), run: func(t *testing.T, s nvmltest.State) {
			d := openExisting(t, "")
			_, err := d.Create(at(t, "A100", "3g.20gb", 4))
			wants(t, err, profiling.ErrInsufficient, "there are 1g.5gb at 0")
			s.Remove(t, "gi 0 7")
			s.Remove(t, "ci 0 7")
			_, err = nvml.OpenExisting(new(mig.Catalog), "")
			wants(t, err, nil, "has 2 of the 3 compute slices", "nvidia-smi mig -cgi")
		}},
		{name: "that somebody destroys", state: onExisting(somebodys...), run: func(t *testing.T, s nvmltest.State) {
			d := openExisting(t, "")
			s.Remove(t, "ci 0 7")
			_, err := d.Create(at(t, "A100", "1g.5gb", 6))
			wants(t, err, profiling.ErrUnknownInstance, "somebody destroyed it")
		}},
		{name: "on a GPU that is lost meanwhile", state: onExisting(somebodys...), run: func(t *testing.T, s nvmltest.State) {
			d := openExisting(t, "")
			s.Add(t, "fail nvmlDeviceGetUUID 0 -1 GPU_IS_LOST")
			_, err := d.Create(at(t, "A100", "1g.5gb", 6))
			wants(t, err, profiling.ErrLost, "use 1g.5gb at 6")
			_, err = d.Processes()
			wants(t, err, profiling.ErrLost, "list processes")
		}},
		{name: "and the processes of others on the rest", state: onExisting(somebodys...), run: func(t *testing.T, s nvmltest.State) {
			all := openExisting(t, "")
			mine, err1 := all.Create(at(t, "A100", "1g.5gb", 6))
			theirs, err2 := all.Create(at(t, "A100", "4g.20gb", 0))
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			t.Setenv("CUDA_VISIBLE_DEVICES", mine.UUID)
			d := openExisting(t, "")
			use(t, theirs.Env[0])
			if p, err := d.Processes(); err != nil || len(p) != 0 {
				t.Errorf("processes %v, %v; want none: it is on an instance of others", p, err)
			}
			pid, _ := use(t, mine.Env[0])
			if p, err := d.Processes(); err != nil || len(p) != 1 || p[0].PID != pid {
				t.Errorf("processes %v, %v; want %d", p, err, pid)
			}
		}},
		{name: "MIG mode is off, and there is none", state: []string{"gpu 0 A100 GPU-1 0 0"}, run: func(t *testing.T, s nvmltest.State) {
			_, err := nvml.OpenExisting(new(mig.Catalog), "")
			wants(t, err, nil, "there is no MIG instance that this process may use: MIG mode of GPU-1 is off; ask", "Kubernetes", "Slurm")
		}},
		{name: "none in MIG mode", state: []string{"gpu 0 H100 GPU-1 1 1"}, run: func(t *testing.T, s nvmltest.State) {
			_, err := nvml.OpenExisting(new(mig.Catalog), "")
			wants(t, err, nil, "GPU-1 is in MIG mode and has no instances, so that CUDA finds no device on it (error 100)", "mig -cgi 1g.10gb -C")
		}},
		{name: "a GPU that has none is lost", state: []string{"gpu 0 A100 GPU-1 1 1", "gpu 1 A30 GPU-2 1 1", "gi 1 0 0 0 0", "ci 1 0 0 4"}, run: func(t *testing.T, s nvmltest.State) {
			s.Add(t, "fail nvmlDeviceGetHandleByIndex 0 1 GPU_IS_LOST")
			if _, err := nvml.OpenExisting(new(mig.Catalog), ""); err != nil {
				t.Error(err)
			}
			s.Remove(t, "gi")
			s.Add(t, "fail nvmlDeviceGetHandleByIndex 0 1 GPU_IS_LOST")
			_, err := nvml.OpenExisting(new(mig.Catalog), "")
			wants(t, err, profiling.ErrLost, "identify GPU 0")
		}},
		{name: "no model can be built", state: []string{nvmltest.A100, "table 19 2 1 4864 7"}, run: func(t *testing.T, s nvmltest.State) {
			_, err := nvml.OpenExisting(new(mig.Catalog), "")
			wants(t, err, profiling.ErrUnsupported, "no model can be built") // and not that there is no instance
		}},
		{name: "in a container that may not read the GPU's memory", state: onExisting(append(somebodys, "deny nvmlDeviceGetMemoryInfo", "deny nvmlDeviceGetComputeRunningProcesses")...), run: func(t *testing.T, s nvmltest.State) {
			d := openExisting(t, "")
			id, err := d.Identify()
			if at := starts(d, mig.MustLookup("A100").Profile(4)); err != nil || id.Model.Name != "A100" || id.MemoryMiB != 40960 || len(at) != 1 {
				t.Errorf("%+v, %v; 4g at %v", id, err, at)
			}
			if all, err := d.Processes(); err != nil || len(all) > 0 {
				t.Errorf("processes %v, %v", all, err)
			}
		}},
		{name: "whose indices move, and one is gone", state: onExisting(append(somebodys, "move 7", "stale 0 9 0 3")...), run: func(t *testing.T, s nvmltest.State) {
			d := openExisting(t, "")
			for _, size := range []mig.Slices{1, 2, 4} {
				if at := starts(d, mig.MustLookup("A100").Profile(size)); len(at) != 1 {
					t.Errorf("size %d at %v", size, at)
				}
			}
		}},
		// On B300 the instance with double memory has a smaller compute instance with as many slices. The table has no
		// multiprocessors of GB300.
		{name: "a part with all slices", state: append([]string{"gpu 0 GB300 GPU-1 1 1", "gi 0 7 15 0 0", "ci 0 7 0 1 18", "gi 0 8 15 2 0", "ci 0 8 0 1"}, unprivileged...), run: func(t *testing.T, s nvmltest.State) {
			d := openExisting(t, "")
			id, err := d.Identify()
			if at := starts(d, id.Model.Profiles[2]); err != nil || id.Model.Profiles[2].SMs != 30 || len(at) != 1 {
				t.Errorf("%v, %v: 1g.70gb at %v, want one", id.Model, err, at)
			}
			s.Remove(t, "ci 0 8")
			_, err = nvml.OpenExisting(new(mig.Catalog), "")
			wants(t, err, nil, "has 1 slices, 70 GB and 18 multiprocessors, like no profile")
		}},
		{name: "on several GPUs", state: []string{
			"gpu 0 A100 GPU-a 1 1", "gpu 1 A30 GPU-b 1 1", "gi 0 0 0 0 0", "ci 0 0 0 7", "gi 1 0 0 0 0", "ci 1 0 0 4",
		}, run: func(t *testing.T, s nvmltest.State) {
			_, err := nvml.OpenExisting(new(mig.Catalog), "")
			wants(t, err, nil, "several GPUs have MIG instances: GPU-a, GPU-b", "--device")
			d := openExisting(t, "GPU-b")
			i, err := d.Create(at(t, "A30", "4g.24gb", 0))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := nvml.OpenExisting(new(mig.Catalog), i.UUID); err != nil {
				t.Error(err)
			}
			t.Setenv("CUDA_VISIBLE_DEVICES", "1")
			_, err = nvml.OpenExisting(new(mig.Catalog), "")
			wants(t, err, nil, `has "1", which CUDA counts from the fastest of 2 GPUs on without CUDA_DEVICE_ORDER=PCI_BUS_ID`)
			t.Setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID") // the driver's numbers, also when one GPU is chosen
			for _, selector := range []string{"", "GPU-b"} {
				d := openExisting(t, selector)
				if id, err := d.Identify(); err != nil || id.UUID != "GPU-b" {
					t.Errorf("%q is %s, %v; want GPU-b", selector, id.UUID, err)
				}
			}
		}},
		{name: "that CUDA_VISIBLE_DEVICES restricts", state: onExisting(somebodys...), run: func(t *testing.T, s nvmltest.State) {
			d := openExisting(t, "")
			one, err := d.Create(at(t, "A100", "1g.5gb", 6))
			if err != nil {
				t.Fatal(err)
			}
			for visible, want := range map[string]string{
				"":            "[]", // it hides everything
				one.UUID:      "[1]",
				one.UUID[:12]: "[1]",
				"GPU-11111111-2222-3333-4444-555555555555": "[1 2 4]",
				"0":                "[1 2 4]",
				"1":                "[]",
				"MIG-other":        "[]",
				"-1":               "[]",
				"-1,0":             "[]", // what follows an invalid number is hidden
				"7," + one.UUID:    "[]",
				one.UUID + ",-1,0": "[1]",
				"0,-1":             "[1 2 4]",
				"0:two":            "error",
				"a100":             "error",
			} {
				t.Setenv("CUDA_VISIBLE_DEVICES", visible)
				d, err := nvml.OpenExisting(new(mig.Catalog), "")
				got := "[]"
				switch {
				case want == "error":
					wants(t, err, nil, "CUDA_VISIBLE_DEVICES has", "nvidia-smi -L")
					continue
				case err != nil:
					wants(t, err, nil, "no MIG instance that this process may use: 3 of GPU-11111111", "not named by --device or CUDA_VISIBLE_DEVICES="+visible)
				default:
					var sizes []mig.Slices
					for _, size := range mig.MustLookup("A100").Sizes() {
						if len(starts(d, mig.MustLookup("A100").Profile(size))) > 0 {
							sizes = append(sizes, size)
						}
					}
					got = fmt.Sprint(sizes)
				}
				if got != want {
					t.Errorf("CUDA_VISIBLE_DEVICES=%s: sizes %s, want %s", visible, got, want)
				}
			}
		}},
	})
}
