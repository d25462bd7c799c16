//go:build cgo && linux

package nvml

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/gpus"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/server"

	"miglab/harness/mig"
	"miglab/profiling"
)

// mocked returns NVIDIA's mock of a GPU in MIG mode, with the calls that the mock lacks: those that find an
// instance and a MIG device.
func mocked(t *testing.T, config gpus.Config) *device {
	t.Helper()
	lib, err := server.New(server.WithGPUs(config), server.WithDriverVersion("580.65.06"))
	if err != nil {
		t.Fatal(err)
	}
	board := lib.Devices[0].(*server.Device)
	board.MigMode = nvml.DEVICE_MIG_ENABLE
	board.GetMaxMigDeviceCountFunc = func() (int, nvml.Return) { return 7, nvml.SUCCESS }
	board.GetGpuInstanceByIdFunc = func(id int) (nvml.GpuInstance, nvml.Return) {
		for gi := range board.GpuInstances {
			if int(gi.Info.Id) == id {
				return gi, nvml.SUCCESS
			}
		}
		return nil, nvml.ERROR_NOT_FOUND
	}
	devices := map[*server.ComputeInstance]nvml.Device{}
	board.GetMigDeviceHandleByIndexFunc = func(index int) (nvml.Device, nvml.Return) {
		all := slices.SortedFunc(maps.Keys(board.GpuInstances), func(a, b *server.GpuInstance) int {
			return cmp.Compare(a.Info.Id, b.Info.Id)
		})
		if index >= len(all) || len(all[index].ComputeInstances) == 0 {
			return nil, nvml.ERROR_NOT_FOUND
		}
		for ci := range all[index].ComputeInstances {
			if devices[ci] == nil {
				devices[ci] = &mock.Device{
					GetGpuInstanceIdFunc:     func() (int, nvml.Return) { return int(all[index].Info.Id), nvml.SUCCESS },
					GetComputeInstanceIdFunc: func() (int, nvml.Return) { return int(ci.Info.Id), nvml.SUCCESS },
					GetUUIDFunc: func() (string, nvml.Return) {
						return fmt.Sprintf("MIG-%d/%d", all[index].Info.Id, ci.Info.Id), nvml.SUCCESS
					},
				}
			}
			return devices[ci], nvml.SUCCESS
		}
		return nil, nvml.ERROR_NOT_FOUND
	}
	all, err := listGPUs(lib, new(mig.Catalog))
	if err != nil || len(all) != 1 || all[0].err != nil {
		t.Fatalf("%v, %v", all, err)
	}
	return all[0]
}

// NVIDIA's mocks are discovered, get a model or a reason, and their instances live and die. The mocks of H100, H200 and
// B200 contradict what drivers list, so that no model can be built from them.
func TestNVIDIAsMocks(t *testing.T) {
	for _, c := range []struct {
		board  string
		config gpus.Config
		// model is the name of the model, or why there is none.
		model string
		works bool
	}{
		{"A30", gpus.A30_PCIE_24GB, "A30-PCIE-24GB-56SM", true},
		{"A100", gpus.A100_SXM4_40GB, "Mock-NVIDIA-A100-SXM4-40GB-98SM", true},
		{"H100", gpus.H100_SXM5_80GB, "3@0 and 2@2 share memory slices", false},
		{"H200", gpus.H200_SXM5_141GB, "it has two profiles 1g.35gb", false},
		{"B200", gpus.B200_SXM5_180GB, "it has two profiles 1g.45gb", false},
	} {
		t.Run(c.board, func(t *testing.T) {
			d := mocked(t, c.config)
			all, err := placeProfiles(d.gpu, "list")
			if err != nil {
				t.Fatal(err)
			}
			id, err := d.Identify()
			if err != nil {
				t.Fatal(err)
			}
			g, err := readModel(d.models, d.gpu, id, "model")
			if c.works != (err == nil) || err != nil && !strings.Contains(err.Error(), c.model) || err == nil && g.Name != c.model {
				t.Errorf("model %v, %v; want %s", g, err, c.model)
			}
			if !c.works { // its placements allow no model: the life of instances is tried on the table's
				id.Model = mig.MustLookup(c.board)
				known := *id.Model
				known.Profiles = nil
				for _, p := range id.Model.Profiles {
					q := *p
					i := slices.IndexFunc(all, func(d described) bool { return d.profile(1).Standard() && d.SliceCount == uint32(p.Size) })
					q.ID = int(all[i].Id) // the mock's own number
					known.Profiles = append(known.Profiles, &q)
				}
				d.model.Store(&known)
				lives(t, d, known.Profiles)
				return
			}
			lives(t, d, id.Model.Profiles)
		})
	}
}

// lives creates, lists and destroys an instance of each standard profile.
func lives(t *testing.T, d profiling.Device, profiles []*mig.Profile) {
	t.Helper()
	for _, p := range profiles {
		if !p.Standard() {
			continue
		}
		i, err := d.Create(mig.Instance{Profile: p, Start: p.Starts[len(p.Starts)-1]})
		if err != nil {
			t.Errorf("create %s: %v", p, err)
			continue
		}
		all, err := d.Instances()
		if err != nil || len(all) != 1 || all[0].Instance != i.Instance || all[0].UUID != i.UUID || i.UUID == "" {
			t.Errorf("instances %v, %v; want %v", all, err, i)
		}
		if err := d.Destroy(i.ID); err != nil {
			t.Errorf("destroy %s: %v", p, err)
		}
	}
}
