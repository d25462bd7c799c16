package mig_test

import (
	"strings"
	"testing"

	"miglab/harness/mig"
)

func TestCostsAfterTheName(t *testing.T) {
	var models mig.Catalog
	for text, want := range map[string]struct {
		name string
		// create and destroy are for the instances of 4 slices.
		create, destroy mig.Seconds
	}{
		"A100?create=0.05&destroy=0.12":      {"A100?create=0.05&destroy=0.12", 0.05, 0.12},
		"a100-40gb?destroy=.120&create=5e-2": {"A100?create=0.05&destroy=0.12", 0.05, 0.12},
		"A100?create=10x&destroy=0.5x":       {"A100?create=10x&destroy=0.5x", 2.1, 0.105},
		"A100?destroy=-0":                    {"A100?destroy=0", 0.21, 0},
		"A100?create=0x&destroy=1x":          {"A100?create=0", 0, 0.21},
		"A100?create=1x":                     {"A100", 0.21, 0.21},
		"A30?create=2":                       {"A30?create=2", 2, 0.1},
	} {
		g, err := models.Lookup(text)
		if err != nil || g.Name != want.name {
			t.Errorf("%s is %v, %v; want %s", text, g, err, want.name)
			continue
		}
		if p := g.Profile(4); p.Create != want.create || p.Destroy != want.destroy {
			t.Errorf("%s: %v s to create, %v s to destroy; want %v and %v", text, p.Create, p.Destroy, want.create, want.destroy)
		}
		base := mig.MustLookup(strings.Split(want.name, "?")[0])
		if g.Board() != base.Name || len(g.Partitions()) != len(base.Partitions()) || len(g.Tree()) != len(base.Tree()) {
			t.Errorf("%s is on %s; it has %d partitions", text, g.Board(), len(g.Partitions()))
		}
		if again, err := models.Lookup(g.Name); err != nil || again != g {
			t.Errorf("%s again: %p, %v; want %p", g.Name, again, err, g)
		}
		if again, err := models.Parse(g.JSON(), "a database"); g != base && (err != nil || again != g) {
			t.Errorf("what %s wrote: %p, %v; want %p", g, again, err, g)
		}
	}
	if p := mig.MustLookup("A100").Profile(4); p.Create != 0.21 || p.Destroy != 0.21 {
		t.Errorf("the model of the table now has %+v", p)
	}
}

func TestNamesWithCostsBelongToModelsLikeAnother(t *testing.T) {
	for _, c := range []struct{ old, new, says string }{
		{`"gpu": "Costly"`, `"gpu": "Costly?create=1"`, "exactly if it is like another model"},
		{`"gpu": "Costly"`, `"gpu": "Costly", "like": "A100"`, "exactly if it is like another model"},
		{`"gpu": "Costly"`, `"gpu": "Costly?create=1", "like": "A100"`, "exactly if it is like another model"},
		{`"gpu": "Costly"`, `"gpu": "Costly?size=1", "like": "Costly"`, `unknown parameter "size"`},
		{`"gpu": "Costly"`, `"gpu": "../x?create=1", "like": "../x"`, `"../x" cannot name it`},
	} {
		text := strings.Replace(half(t, "Costly"), c.old, c.new, 1)
		if _, err := new(mig.Catalog).Parse([]byte(text), "gpu.json"); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one that says %q", c.new, err, c.says)
		}
	}
}

func TestModelsWithCostsKeepTheUnitOfTheDriver(t *testing.T) {
	base := mig.MustLookup("RTX-PRO-6000")
	g, err := new(mig.Catalog).Lookup("RTX-PRO-6000?create=0.05")
	if err != nil {
		t.Fatal(err)
	}
	if g.DriverSlices != base.DriverSlices {
		t.Errorf("a memory slice is %d of the driver's; want %d", g.DriverSlices, base.DriverSlices)
	}
}
