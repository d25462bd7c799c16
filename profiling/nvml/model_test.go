//go:build cgo && linux

package nvml_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	_ "miglab/algorithms"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
	"miglab/profiling"
	"miglab/profiling/nvml"
	"miglab/profiling/nvml/nvmltest"
)

// models are those of the boards that differ from the table, or that it lacks. The others are the table's.
var models = map[string]string{
	"A800": "A800-SXM4-80GB-98SM", "H800": "H800-132SM", "H100PCIe": "H100-PCIe-114SM", "H20": "H20-78SM", "X1": "X1-of-tomorrow-98SM",
	// The table has no multiprocessors of some of their profiles.
	"B200": "B200-148SM", "GB200": "GB200-152SM", "B300": "B300-SXM6-AC-148SM", "GB300": "GB300-152SM", "RTXPRO5000": "RTX-PRO-5000-Blackwell-110SM",
}

// Every board that people have published a listing of goes from the driver's profiles to a model, a schedule and a
// referee, and runs a session. What was published is in the model and, if there is one, in that of the table.
func TestEveryBoard(t *testing.T) {
	boards := map[string][]map[string]string{}
	for _, row := range nvmltest.Listings(t) {
		boards[row["key"]] = append(boards[row["key"]], row)
	}
	var tests []stubTest
	for _, key := range slices.Sorted(maps.Keys(boards)) {
		tests = append(tests, stubTest{name: key, state: []string{"gpu 0 " + key + " GPU-0 1 1"}, run: func(t *testing.T, s nvmltest.State) {
			d := open(t)
			id, err := d.Identify()
			if err != nil {
				t.Fatal(err)
			}
			table, unknown := profiling.Model(id.Name, id.MemoryMiB)
			if want := models[key]; want != "" && id.Model.Name != want || want == "" && (unknown != nil || id.Model != table) {
				t.Errorf("the model is %s; want %q of the driver, or %v of the table", id.Model, want, table)
			}
			for _, row := range boards[key] {
				published(t, d, id.Model, row)
				if unknown == nil && !slices.Contains([]string{"A800", "H20", "H100PCIe", "H800"}, key) { // boards of another model's name
					published(t, nil, table, row)
				}
			}
			if id.Model != table {
				if again, err := new(mig.Catalog).Parse(id.Model.JSON(), "gpu.json"); err != nil || string(again.JSON()) != string(id.Model.JSON()) {
					t.Errorf("what is written beside the data is read as %v, %v", again, err)
				}
			}
			scheduled(t, id.Model)
			sessionOn(t, d)
		}})
	}
	onStub(t, tests)
}

// published checks a model against what was published of a profile. The driver d is asked for its placements, unless
// it is nil.
func published(t *testing.T, d profiling.Device, g *mig.GPU, row map[string]string) {
	t.Helper()
	p, err := g.ProfileByName(row["profile"])
	if err != nil {
		t.Error(err)
		return
	}
	unit := max(1, g.DriverSlices)
	starts := strings.Fields(row["starts"])
	for i, start := range p.Starts {
		if len(starts) > 0 && fmt.Sprint(start*unit) != starts[i] {
			t.Errorf("%s %s begins at %v, published are %v", g, p, p.Starts, starts)
		}
	}
	for column, got := range map[string]int{
		"id": p.ID, "size": int(p.Size), "length": int(p.Length * unit), "max": p.Max, "sms": p.SMs,
	} {
		want := row[column]
		if want != "" && fmt.Sprint(got) != want {
			t.Errorf("%s %s: %s is %d, published is %s", g, p, column, got, want)
		}
		if want == "" && column == "sms" && d == nil && got != 0 && !strings.Contains(g.Assumed, "multiprocessors") {
			t.Errorf("%s %s has %d multiprocessors, which nobody published and the model does not call assumed", g, p, got)
		}
	}
	if row["starts"] == "" && d == nil && !strings.Contains(g.Assumed, "placements") {
		t.Errorf("%s %s begins at %v, which nobody published and the model does not call assumed", g, p, p.Starts)
	}
	if row["source"] == "" {
		t.Errorf("%s %s has no source", g, p)
	}
}

// scheduled has algorithms schedule tasks on a model, and the referee check them.
func scheduled(t *testing.T, g *mig.GPU) {
	t.Helper()
	problem := algo.Problem{GPU: g, Count: 1}
	for i := range 12 {
		k := task.New(fmt.Sprintf("t%02d", i), nil)
		for _, size := range g.Sizes() {
			k.Set(size, mig.Seconds(1+i)/mig.Seconds(size))
		}
		problem.Tasks = append(problem.Tasks, k)
	}
	for _, name := range []string{"far", "miso", "fixpartbest", "treedp", "lns"} {
		plan, err := algo.MustParse(name).Schedule(t.Context(), problem)
		if err != nil {
			t.Errorf("%s on %s: %v", name, g, err)
		} else if wrong := schedule.Check(problem, plan); wrong != nil {
			t.Errorf("%s on %s: %v", name, g, wrong)
		}
	}
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
			_, err := nvml.Open(new(mig.Catalog), "")
			wants(t, err, profiling.ErrUnsupported, "no model can be built", "nvidia-smi mig -lgip")
		}},
		{name: "unknown and MIG off", state: []string{"gpu 0 H20 GPU-1 0 0"}, run: func(t *testing.T, s nvmltest.State) {
			_, err := nvml.Open(new(mig.Catalog), "")
			wants(t, err, profiling.ErrUnsupported, "nvidia-smi -mig 1 -i GPU-1", "miglab profile corun")
		}},
		{name: "without permission the placements are inferred", state: []string{"gpu 0 H20 GPU-1 1 1"}, run: func(t *testing.T, s nvmltest.State) {
			s.Add(t, "fail nvmlDeviceGetGpuInstancePossiblePlacements 0 -1 NO_PERMISSION")
			id, err := open(t).Identify()
			if err != nil || id.Model.Name != "H20-78SM" || !strings.Contains(id.Model.Origin, "placements are those of H100") || len(id.Model.Partitions()) != 19 {
				t.Errorf("%+v, %v", id.Model, err)
			}
			s.Remove(t, "fail")
			if again, err := open(t).Identify(); err != nil || string(again.Model.Definition()) != string(id.Model.Definition()) {
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
			s.Remove(t, "gpu")
			s.Add(t, "gpu 0 H100PCIe GPU-1 1 1")
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
