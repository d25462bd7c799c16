package mig_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"miglab/harness/mig"
)

// half returns the text of a model with two memory slices that no table has.
func half(t *testing.T, name string) string {
	t.Helper()
	return `{"gpu": "` + name + `", "origin": "from a test", "compute_slices": 2, "memory_slices": 2, "cost_source": "assumed",
  "profiles": [
    {"id": 19, "size": 1, "length": 1, "starts": [0, 1], "max": 2, "memory_gb": 8, "sms": 10, "create_s": 0.1, "destroy_s": 0.2},
    {"id": 0, "size": 2, "length": 2, "starts": [0], "max": 1, "memory_gb": 16, "sms": 20, "create_s": 0.1, "destroy_s": 0.2}]}`
}

func TestAddedModelIsLookedUp(t *testing.T) {
	var models mig.Catalog
	file := filepath.Join(t.TempDir(), "gpu.json")
	if err := os.WriteFile(file, []byte(half(t, "Half-20SM")), 0o644); err != nil {
		t.Fatal(err)
	}
	g, err := models.LookupOrRead(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(g.Partitions()); got != 2 || len(g.Tree()) != 3 || g.Profile(1).SMs != 10 || len(g.Useful()) != 2 {
		t.Errorf("%d partitions, tree of %d, profile %+v", got, len(g.Tree()), g.Profile(1))
	}
	if again, err := models.Lookup("half-20sm"); err != nil || again != g {
		t.Errorf("by its name: %p, %v; want %p", again, err, g)
	}
	if again, err := models.Parse(g.JSON(), "again"); err != nil || again != g {
		t.Errorf("what it wrote: %p, %v; want %p", again, err, g)
	}
	if other, err := new(mig.Catalog).Lookup("half-20sm"); err == nil {
		t.Errorf("another catalog has %s", other)
	}
	for _, known := range mig.GPUs() {
		if known == g {
			t.Error("an added model is in the table, so that tests and claims would count it")
		}
	}
}

func TestModelsThatAreRefused(t *testing.T) {
	var models mig.Catalog
	good := half(t, "Refused")
	for _, c := range []struct{ old, new, says string }{
		{`"sms": 10`, `"sms": "ten"`, "gpu.json is not a GPU model"},
		{`"sms": 10`, `"smss": 10`, `unknown field "smss"`},
		{`"sms": 10`, `"sms": 10, "sms": 12`, `the field is there twice`},
		{`"sms": 10`, `"SMS": 10`, `unknown field "SMS"`},
		{`"starts": [0, 1]`, `"starts": [0, 2]`, "the GPU has 2"},
		{`"starts": [0, 1]`, `"starts": [1, 0]`, "in ascending order"},
		{`"starts": [0, 1]`, `"starts": []`, "at least one start"},
		{`"memory_slices": 2`, `"memory_slices": 9`, "1 to 8"},
		{`"size": 2`, `"size": 1`, "two standard profiles of size 1"},
		{`"size": 2`, `"size": 9`, "1 to 2"},
		{`"compute_slices": 2`, `"compute_slices": 3`, "no profile with all 3"},
		{`"create_s": 0.1`, `"create_s": 0`, "positive numbers"},
		{`"gpu": "Refused"`, `"gpu": "A100"`, "two GPU models A100 with different profiles"},
		{`"length": 2`, `"length": 1`, "the whole GPU has 2"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if text == good {
			t.Fatalf("%s changes nothing", c.old)
		}
		if _, err := models.Parse([]byte(text), "gpu.json"); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one that says %q", c.new, err, c.says)
		}
	}
	if _, err := models.Parse([]byte("{\n\"gpu\": ,"), "gpu.json"); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("error %v does not name the line", err)
	}
	if g, err := models.Lookup("Refused"); err == nil {
		t.Errorf("%s was added", g)
	}
}

// profile is a profile of as many memory slices as compute slices, unless changed.
func profile(id int, size mig.Slices, most int, starts ...mig.Slices) *mig.Profile {
	return &mig.Profile{ID: id, Size: size, Length: size, Starts: starts, Max: most, MemoryGB: 8 * int(size), SMs: 10 * int(size), Create: 0.1, Destroy: 0.2}
}

// model is a model whose largest profile is the whole GPU.
func model(name string, profiles ...*mig.Profile) *mig.GPU {
	whole := profiles[len(profiles)-1]
	return &mig.GPU{Name: name, CostSource: "assumed", ComputeSlices: whole.Size, MemorySlices: whole.Length, Profiles: profiles}
}

// like is a model of the table under another name, as the driver of another board would tell it.
func like(table, name string, sms ...int) *mig.GPU {
	var g mig.GPU
	if err := json.Unmarshal(mig.MustLookup(table).JSON(), &g); err != nil {
		panic(err)
	}
	g.Name, g.Aliases = name, nil
	for i, n := range sms {
		g.Profiles[i].SMs = n
	}
	return &g
}

// Each of these would crash a scheduler, or have it leave tasks out, or compute under wrong costs.
func TestModelsThatTheProgramCannotCarry(t *testing.T) {
	sevenOnSeven := model("Odd-77", profile(19, 1, 7, 0, 1, 2, 3, 4, 5, 6), profile(14, 2, 3, 0, 2, 4), profile(9, 3, 2, 0, 4), profile(5, 4, 1, 0), profile(0, 7, 1, 0))
	shallow := model("Odd-137", profile(19, 1, 7, 0, 1, 2, 3, 4, 5, 6), profile(9, 3, 2, 0, 4), profile(0, 7, 1, 0))
	shallow.Profiles[1].Length, shallow.Profiles[2].Length, shallow.MemorySlices = 4, 8, 8
	threeOnFour := model("Odd-34", profile(19, 1, 3, 0, 1, 2), profile(0, 3, 1, 0))
	threeOnFour.Profiles[1].Length, threeOnFour.MemorySlices = 4, 4
	spread := model("Odd-24", profile(19, 1, 2, 0, 2), profile(0, 2, 1, 0))
	spread.Profiles[0].Length, spread.Profiles[1].Length, spread.MemorySlices = 2, 4, 4
	short := model("Odd-short", profile(19, 1, 4, 0, 1, 2, 3), profile(14, 2, 2, 0, 2), profile(0, 4, 1, 0))
	short.Profiles[1].Length = 1
	inverted := model("Odd-inverted", profile(14, 2, 1, 0), profile(9, 3, 1, 0), profile(0, 7, 1, 0))
	inverted.Profiles[0].Length = 4
	slow := model("Odd-slow", profile(0, 1, 1, 0))
	slow.Profiles[0].Create = 1e308
	// variant is a model of one slice with another profile of the size that is not standard.
	variant := func(name string, change func(p *mig.Profile)) *mig.GPU {
		p := profile(20, 1, 1, 0)
		p.MediaExtensions = true
		change(p)
		return model(name, p, profile(0, 1, 1, 0))
	}
	wide := profile(14, 2, 1, 1)
	wide.DoubleMemory = true
	named := func(name string) *mig.GPU { return model(name, profile(0, 1, 1, 0)) }
	alias := named("Odd-alias")
	alias.Aliases = []string{"h100-80gb"}
	for _, c := range []struct {
		model *mig.GPU
		says  string
	}{
		{model("Odd-5", profile(19, 1, 5, 0, 1, 2, 3, 4), profile(14, 2, 2, 0, 2), profile(0, 5, 1, 0)), "5g.40gb has 5 compute slices; there are tasks for [1 2 3 4 7] only"},
		{model("Odd-6", profile(9, 3, 2, 0, 3), profile(0, 6, 1, 0)), "6g.48gb has 6 compute slices"},
		{variant("Odd-quick", func(p *mig.Profile) { p.Create = 0.05 }), "no standard profile of its size"},
		{variant("Odd-gone", func(p *mig.Profile) { p.Destroy = 0.05 }), "no standard profile of its size"},
		{model("Odd-between", profile(19, 1, 4, 0, 1, 2, 3), wide, profile(5, 4, 1, 0)), "no standard profile of its size"},
		{shallow, "3@0 is split into 1@0, 1@1, 1@2, 1@3 at once"},
		{threeOnFour, "3@0 is split into 1@0, 1@1, 1@2 at once"},
		{sevenOnSeven, "3@0 and 2@2 share memory slices"},
		{inverted, "3@0 and 2@0 share memory slices, and the larger does not cover the smaller"},
		{spread, "it must take at least 1 and begin by 1"},
		{short, "it must take at least 2 and begin by 2"},
		{model("Odd-max", profile(19, 1, 1, 0, 1), profile(0, 2, 1, 0)), "max 1; its starts [0 1] have room for 2"},
		{slow, "1e+308 s to create"},
		{like("A100", "a100", 20), `"a100" also names A100, from the program's table`},
		{alias, `"h100-80gb" also names H100`},
		{named("Odd\n1"), "begins and ends with a letter or digit"},
		{named("Odd,1"), "begins and ends with a letter or digit"},
		{named("Odd/1"), "begins and ends with a letter or digit"},
		{named("Odd "), "begins and ends with a letter or digit"},
		{named("odd.json"), "does not end with .json"},
	} {
		name := c.model.Name
		if _, err := new(mig.Catalog).Add(c.model); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: error %v, want one that says %q", name, err, c.says)
		}
	}
}

func TestRealModelsAreAccepted(t *testing.T) {
	var models mig.Catalog
	for _, g := range []*mig.GPU{
		like("H100", "H100-PCIe-114SM", 16, 16, 26, 32, 46, 56, 114),
		like("H100", "H20-78SM", 8, 8, 16, 16, 32, 32, 78),
		like("H200", "GH200-480GB-132SM"),
		like("A30", "RTX PRO 6000", 46, 94, 188),
		model("Small-2", profile(19, 1, 2, 0, 1), profile(0, 2, 1, 0)),
		model("Small-1", profile(0, 1, 1, 0)),
		model("Even-4", profile(14, 2, 2, 0, 2), profile(0, 4, 1, 0)),
	} {
		if known, err := models.Add(g); err != nil || known != g {
			t.Errorf("%s: %v, %v", g.Name, known, err)
		}
		if found, err := models.Lookup(strings.ToLower(g.Name)); err != nil || found != g {
			t.Errorf("%s by its name: %v, %v", g.Name, found, err)
		}
	}
}

// The error names both places that define the model.
func TestTwoModelsOfAName(t *testing.T) {
	var models mig.Catalog
	first := half(t, "Twice-20SM")
	if _, err := models.Parse([]byte(first), "first.json"); err != nil {
		t.Fatal(err)
	}
	moved := strings.Replace(first, "from a test", "from elsewhere", 1)
	if _, err := models.Parse([]byte(moved), "moved.json"); err != nil {
		t.Errorf("the same model from elsewhere: %v", err)
	}
	_, err := models.Parse([]byte(strings.Replace(first, `"sms": 10`, `"sms": 11`, 1)), "second.json")
	for _, file := range []string{"Twice-20SM", "in first.json", "in second.json"} {
		if !strings.Contains(fmt.Sprint(err), file) {
			t.Errorf("%v does not say %q", err, file)
		}
	}
}
