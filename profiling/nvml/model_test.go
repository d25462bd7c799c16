//go:build cgo && linux

package nvml_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/nvml"
	"miglab/profiling/nvml/nvmltest"
)

// boards are GPUs that package mig does not know. Their profiles in the stub are inferred.
var boards = []struct {
	key, label string
	// profiles are NVIDIA's names, with multiprocessors and starts.
	profiles   []string
	partitions int
	costs      string
}{
	{"H100PCIe", "H100-PCIe-114SM", []string{
		"1g.10gb 14 [0 1 2 3 4 5 6]", "1g.10gb+me 14 [0 1 2 3 4 5 6]", "1g.20gb 26 [0 2 4 6]",
		"2g.20gb 30 [0 2 4]", "3g.40gb 54 [0 4]", "4g.40gb 56 [0]", "7g.80gb 114 [0]",
	}, 19, "H100"},
	{"H20", "H20-78SM", []string{
		"1g.12gb 8 [0 1 2 3 4 5 6]", "1g.12gb+me 8 [0 1 2 3 4 5 6]", "1g.24gb 16 [0 2 4 6]",
		"2g.24gb 18 [0 2 4]", "3g.48gb 34 [0 4]", "4g.48gb 36 [0]", "7g.96gb 78 [0]",
	}, 19, "H100"},
	{"RTXPRO6000", "RTX-PRO-6000-Blackwell-Server-Edition-188SM", []string{ // the graphics profiles (+gfx) are left out
		"1g.24gb 46 [0 1 2 3]", "1g.24gb+me 46 [0 1 2 3]", "2g.48gb 94 [0 2]", "2g.48gb+me 94 [0 2]", "4g.96gb 188 [0]",
	}, 5, "A30"},
}

func TestModelsFromTheDriver(t *testing.T) {
	var tests []stubTest
	for _, b := range boards {
		state := []string{"gpu 0 " + b.key + " GPU-0 1 1"}
		tests = append(tests, stubTest{name: b.key, state: state, run: func(t *testing.T, s nvmltest.State) {
			d := open(t)
			id, err := d.Identify()
			if err != nil {
				t.Fatal(err)
			}
			g := id.Model
			var profiles []string
			for _, p := range g.Profiles {
				starts, err := d.Placements(p)
				if err != nil || !slices.Equal(starts, p.Starts) {
					t.Errorf("%s may begin at %v, %v; the model says %v", p, starts, err, p.Starts)
				}
				profiles = append(profiles, fmt.Sprintf("%s %d %v", p, p.SMs, p.Starts))
			}
			if g.Name != b.label || !slices.Equal(profiles, b.profiles) || len(g.Partitions()) != b.partitions {
				t.Errorf("%s with %q and %d partitions; want %s with %q and %d", g, profiles, len(g.Partitions()), b.label, b.profiles, b.partitions)
			}
			if !strings.HasPrefix(g.Origin, "from the driver's profiles and placements of NVIDIA ") || g.CostSource != "assumed equal to "+b.costs+" in FAR Table 1" {
				t.Errorf("origin %q, costs %q", g.Origin, g.CostSource)
			}
			if again, err := mig.ParseModel(g.JSON(), "gpu.json"); err != nil || again != g {
				t.Errorf("what is written beside the data is read as %v, %v", again, err)
			}
			sessionOn(t, d)
		}})
	}
	onStub(t, tests)
}

// sessionOn creates and destroys an instance of each size in a session, which is killed once.
func sessionOn(t *testing.T, d profiling.Device) {
	t.Helper()
	f := folder(t.TempDir())
	id, err := d.Identify()
	if err != nil {
		t.Fatal(err)
	}
	run := f.open(t, d)
	for _, size := range id.Model.Sizes() {
		p := id.Model.Profile(size)
		i, _, err := run.Create(t.Context(), mig.Instance{Profile: p, Start: p.Starts[len(p.Starts)-1]})
		if err != nil {
			t.Fatal(err)
		}
		if all, err := d.Instances(); err != nil || len(all) != 1 || all[0].Instance != i.Instance {
			t.Errorf("instances %v, %v; want %v", all, err, i)
		}
		if _, err := run.Destroy(t.Context(), i); err != nil {
			t.Fatal(err)
		}
	}
	if err := run.Close(); err != nil {
		t.Error(err)
	}
}

// Boards that a table of models refuses, or takes for others, have models of their own.
func TestBoardsAreNotRefused(t *testing.T) {
	var tests []stubTest
	for key, want := range map[string]string{
		"H100NVL": "H100-NVL-132SM", "GH200": "GH200-480GB-132SM", "H800": "H800-132SM", "A800": "A800-SXM4-80GB-98SM", "B300": "B300-SXM6-AC-148SM",
	} {
		tests = append(tests, stubTest{name: key, state: []string{"gpu 0 " + key + " GPU-0 1 1"}, run: func(t *testing.T, s nvmltest.State) {
			d := open(t)
			id, err := d.Identify()
			if err != nil || id.Model.Name != want || len(id.Model.Partitions()) != 19 {
				t.Fatalf("model %v, %v; want %s", id.Model, err, want)
			}
			sessionOn(t, d)
		}})
	}
	onStub(t, tests)
}

// A board of a name that the table knows is taken from the driver where the two differ, and a
// table that makes no sense is an error.
func TestKnownModelsAreChecked(t *testing.T) {
	label := func(want string) func(*testing.T, nvmltest.State) {
		return func(t *testing.T, s nvmltest.State) {
			if id, err := open(t).Identify(); err != nil || id.Model.Name != want {
				t.Errorf("model %v, %v; want %s", id.Model, err, want)
			}
		}
	}
	onStub(t, []stubTest{
		{name: "A30 agrees", state: []string{a30}, run: label("A30")},
		{name: "A100 agrees", run: label("A100")},
		{name: "H100 agrees", state: []string{h100}, run: label("H100")},
		{name: "an old driver lacks what schedulers do not use", state: []string{nvmltest.A100, "table 20 1 1 4864 0", "table 15 1 2 9856 0"}, run: label("A100")},
		{name: "other memory", state: []string{nvmltest.A100, "table 9 3 4 10112 2"}, run: label("A100-SXM4-40GB-98SM")},
		{name: "other placements", state: []string{nvmltest.A100, "table 5 4 8 19968 1"}, run: label("A100-SXM4-40GB-98SM")},
		{name: "two profiles of a size", state: []string{nvmltest.A100, "table 19 2 1 4864 7"}, run: func(t *testing.T, s nvmltest.State) {
			_, err := nvml.Open("")
			wants(t, err, profiling.ErrUnsupported, "no model can be built", "nvidia-smi mig -lgip")
		}},
		{name: "unknown and MIG off", state: []string{"gpu 0 H20 GPU-1 0 0"}, run: func(t *testing.T, s nvmltest.State) {
			_, err := nvml.Open("")
			wants(t, err, profiling.ErrUnsupported, "nvidia-smi -mig 1 -i GPU-1", "mps-sm-limit")
		}},
		{name: "without permission the placements are inferred", state: []string{"gpu 0 H20 GPU-1 1 1"}, run: func(t *testing.T, s nvmltest.State) {
			s.Add(t, "fail nvmlDeviceGetGpuInstancePossiblePlacements 0 -1 NO_PERMISSION")
			id, err := open(t).Identify()
			if err != nil || id.Model.Name != "H20-78SM" || !strings.Contains(id.Model.Origin, "placements are those of H100") || len(id.Model.Partitions()) != 19 {
				t.Errorf("%+v, %v", id.Model, err)
			}
			s.Remove(t, "fail")
			if again, err := open(t).Identify(); err != nil || again.Model != id.Model {
				t.Errorf("with permission it is another model: %v, %v", again.Model, err)
			}
		}},
		{name: "without permission a known one is known", run: func(t *testing.T, s nvmltest.State) {
			s.Add(t, "fail nvmlDeviceGetGpuInstancePossiblePlacements 0 -1 NO_PERMISSION")
			label("A100")(t, s)
		}},
		{name: "the driver fails", run: func(t *testing.T, s nvmltest.State) {
			d := open(t)
			s.Add(t, "fail nvmlDeviceGetGpuInstanceProfileInfo 2 1 UNKNOWN")
			_, err := d.Identify()
			wants(t, err, nil, "NVML says") // and not another model
		}},
		{name: "MIG goes on and the board turns out to be another", state: []string{"gpu 0 H100PCIe GPU-1 0 0"}, run: func(t *testing.T, s nvmltest.State) {
			d := open(t)
			if id, err := d.Identify(); err != nil || id.Model.Name != "H100" {
				t.Errorf("%v, %v; want H100 by its name", id.Model, err)
			}
			setMIG(t, d, true)
			id, err := d.Identify()
			if err != nil || id.Model.Name != "H100-PCIe-114SM" {
				t.Fatalf("%v, %v", id.Model, err)
			}
			i, err := d.Create(mig.Instance{Profile: id.Model.Profile(3), Start: 4})
			if all, list := d.Instances(); err != nil || list != nil || len(all) != 1 || all[0].Instance != i.Instance {
				t.Errorf("%v, %v; instances %v, %v", i, err, all, list)
			}
		}},
	})
}
