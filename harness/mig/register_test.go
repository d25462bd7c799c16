package mig_test

import (
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

func TestRegisteredModelIsLookedUp(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gpu.json")
	if err := os.WriteFile(file, []byte(half(t, "Half-20SM")), 0o644); err != nil {
		t.Fatal(err)
	}
	g, err := mig.Lookup(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(g.Partitions()); got != 2 || len(g.Tree()) != 3 || g.Profile(1).SMs != 10 || len(g.Useful()) != 2 {
		t.Errorf("%d partitions, tree of %d, profile %+v", got, len(g.Tree()), g.Profile(1))
	}
	if again, err := mig.Lookup("half-20sm"); err != nil || again != g {
		t.Errorf("by its name: %p, %v; want %p", again, err, g)
	}
	if again, err := mig.ParseModel(g.JSON(), "again"); err != nil || again != g {
		t.Errorf("what it wrote: %p, %v; want %p", again, err, g)
	}
	for _, known := range mig.GPUs() {
		if known == g {
			t.Error("a registered model is in the table, so that tests and claims would count it")
		}
	}
}

func TestModelsThatAreRefused(t *testing.T) {
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
		if _, err := mig.ParseModel([]byte(text), "gpu.json"); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one that says %q", c.new, err, c.says)
		}
	}
	if _, err := mig.ParseModel([]byte("{\n\"gpu\": ,"), "gpu.json"); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("error %v does not name the line", err)
	}
	if g, err := mig.Lookup("Refused"); err == nil {
		t.Errorf("%s was registered", g)
	}
}
