package placement

import (
	"encoding/binary"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

var update = flag.Bool("update", false, "write testdata/golden.csv anew")

// variants returns every registered scheduler with every value of every parameter, one
// at a time.
func variants() []algo.Algorithm {
	var out []algo.Algorithm
	for _, s := range algo.All(algo.TrackPlacement) {
		out = append(out, algo.MustParse(s.Name))
		for _, p := range s.Params {
			for _, v := range p.Values {
				if v != p.Default {
					out = append(out, algo.MustParse(s.Name+"?"+p.Name+"="+v))
				}
			}
		}
	}
	return out
}

func build(t *testing.T, a algo.Algorithm, s sim.PlacementSetting) sim.Placer {
	t.Helper()
	p, err := algo.Constructor[algo.NewPlacer](a)(a.Args, s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// hashed remembers what was decided.
type hashed struct {
	sim.Placer
	sum uint64
}

func (h *hashed) Place(c *sim.Cluster, profile int) (sim.Spot, bool) {
	spot, ok := h.Placer.Place(c, profile)
	f := fnv.New64a()
	binary.Write(f, binary.LittleEndian, []uint64{h.sum, uint64(spot.GPU), uint64(spot.Start)}) // a hash takes all it gets
	if ok {
		f.Write([]byte{1})
	}
	h.sum = f.Sum64()
	return spot, ok
}

// TestDecisionsStay runs every scheduler on streams of every geometry. The engine
// checks each decision; the golden file holds a hash of all of them by version, and
// -update refuses to change that of a version.
func TestDecisionsStay(t *testing.T) {
	var b strings.Builder
	b.WriteString("algorithm,version,gpu,dataset,accepted,decisions\n")
	for _, a := range variants() {
		for _, gpu := range []string{"A100-80GB", "A30"} {
			for _, spec := range []string{"mfi/uniform?gpus=20&lifespan=steady&rho=1.3", "mfi/skew-small?gpus=70&lifespan=forever&load=110"} {
				g := mig.MustLookup(gpu)
				in, err := datasets.InstanceOf[task.Requests](datasets.MustParse(spec), g, 0)
				if err != nil {
					t.Fatal(err)
				}
				h := &hashed{Placer: build(t, a, sim.PlacementSetting{GPU: g, GPUs: in.GPUs, Demand: in.Demand})}
				r, err := sim.RunPlacement(g, in.GPUs, in.Requests, h, sim.SteadyWindow)
				if err != nil {
					t.Fatalf("%s on %s, %s: %v", a.ID, gpu, spec, err)
				}
				fmt.Fprintf(&b, "%s,%d,%s,%s,%d,%016x\n", a.ID, a.Spec.Version, gpu, spec, r.Accepted.Requests, h.sum)
			}
		}
	}
	file := filepath.Join("testdata", "golden.csv")
	before, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	// The key of a line ends where its results begin.
	results := map[string]string{}
	for line := range strings.Lines(string(before)) {
		fields := strings.SplitN(line, ",", 5)
		results[strings.Join(fields[:4], ",")] = fields[4]
	}
	for line := range strings.Lines(b.String()) {
		fields := strings.SplitN(line, ",", 5)
		key := strings.Join(fields[:4], ",")
		if want, ok := results[key]; ok && fields[4] != want {
			t.Errorf("%s: got %swant %sdecisions changed: raise Version, then run with -update", key, fields[4], want)
		} else if !ok && !*update {
			t.Errorf("%s is not in %s; run with -update", key, file)
		}
		delete(results, key)
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if len(results) > 0 {
		t.Errorf("%s has %d lines of no registered algorithm and version; run with -update", file, len(results))
	}
}

// TestNobodyRejectsWhatFits: only strict schedulers do.
func TestNobodyRejectsWhatFits(t *testing.T) {
	for _, a := range variants() {
		if a.Args["index"] == "strict" {
			continue
		}
		for _, g := range mig.GPUs() {
			in, err := datasets.InstanceOf[task.Requests](datasets.MustParse("mfi/bimodal?gpus=4&lifespan=steady&rho=1.3"), g, 1)
			if err != nil {
				t.Fatal(err)
			}
			p := build(t, a, sim.PlacementSetting{GPU: g, GPUs: in.GPUs, Demand: in.Demand})
			if _, err := sim.RunPlacement(g, in.GPUs, in.Requests, &eager{t, a.ID, p}, sim.SteadyWindow); err != nil {
				t.Fatal(err)
			}
		}
	}
}

type eager struct {
	t  *testing.T
	id string
	sim.Placer
}

func (e *eager) Place(c *sim.Cluster, profile int) (sim.Spot, bool) {
	spot, ok := e.Placer.Place(c, profile)
	for gpu := range c.GPUs() {
		if !ok && fits(c.Profiles()[profile], c.Mask(gpu)) {
			e.t.Fatalf("%s rejects %v, which fits GPU %d with the mask %08b", e.id, c.Profiles()[profile], gpu, c.Mask(gpu))
		}
	}
	return spot, ok
}

// walk lets a scheduler place profiles, by name, on A100-80GB GPUs from which nothing
// departs, and returns "gpu@start" for each, or "-".
func walk(t *testing.T, id string, gpus int, names ...string) string {
	t.Helper()
	g := mig.MustLookup("A100-80GB")
	requests := make([]task.Request, len(names))
	for i, name := range names {
		p, err := g.ProfileByName(name)
		if err != nil {
			t.Fatal(err)
		}
		requests[i] = task.Request{Arrival: i, Lifespan: task.Forever, Profile: p}
	}
	w := &walker{Placer: build(t, algo.MustParse(id), sim.PlacementSetting{GPU: g, GPUs: gpus})}
	if _, err := sim.RunPlacement(g, gpus, requests, w, sim.SteadyWindow); err != nil {
		t.Fatal(err)
	}
	return strings.Join(w.steps, " ")
}

type walker struct {
	sim.Placer
	steps []string
}

func (w *walker) Place(c *sim.Cluster, profile int) (sim.Spot, bool) {
	spot, ok := w.Placer.Place(c, profile)
	step := "-"
	if ok {
		step = fmt.Sprintf("%d@%d", spot.GPU, spot.Start)
	}
	w.steps = append(w.steps, step)
	return spot, ok
}

func TestWalks(t *testing.T) {
	const one, two, three, four, seven = "1g.10gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"
	const double = "1g.20gb"
	for _, c := range []struct {
		id   string
		gpus int
		ask  []string
		want string
	}{
		// GPU 0 has 7 free slices, but the only start of 4g is taken.
		{"ff", 2, []string{one, four, four}, "0@0 1@0 -"},
		{"ff?index=strict", 2, []string{one, four, four}, "0@0 - -"},
		{"ff", 2, []string{one, one, two, three, one}, "0@0 0@1 0@2 0@4 1@0"},
		{"rr", 3, []string{one, one, one, four, two}, "0@0 1@0 2@0 - 0@2"},
		{"rr", 3, []string{one, four, one, four}, "0@0 1@0 2@0 -"},
		// A rejecting GPU has had its turn.
		{"rr?index=strict", 3, []string{four, one, one, four, two}, "0@0 1@0 2@0 - 1@2"},
		// 1g goes to 6, 5, 4, then 3; 2g to 4; double memory to 6.
		{"bf-bi", 2, []string{one, one, one, one, two}, "0@6 0@5 0@4 0@3 0@0"},
		{"bf-bi", 2, []string{two, double, one, four}, "0@4 0@6 0@3 1@0"},
		{"bf-bi", 2, []string{three, two, four}, "0@4 0@2 1@0"},
		{"bf-bi?index=strict", 2, []string{three, two, four, seven}, "0@4 0@2 1@0 -"},
		{"bf-bi?index=strict", 2, []string{one, one, one, one, four}, "0@6 0@5 0@4 0@3 -"},
		{"bf-bi", 2, []string{one, one, one, one, four}, "0@6 0@5 0@4 0@3 1@0"},
		{"wf-bi", 2, []string{one, one, one, four, four}, "0@6 1@6 0@5 1@0 0@0"},
		{"wf-bi", 2, []string{seven, one, one}, "0@0 1@6 1@5"},
		// F({6}) is least: 1g@6 takes 1 + 2 + 4 slices of placements, 1g@0 another 4 of 2g
		// and 4g.
		{"mfi", 2, []string{one}, "0@6"},
		// Filling GPU 0 beside 1g@6 costs less than opening GPU 1.
		{"mfi", 2, []string{one, four, two}, "0@6 0@0 0@4"},
		{"mfi?tie=least-used", 2, []string{four, four}, "0@0 1@0"},
		// 1g@0 leaves a run of seven slices, 1g@6 one of six.
		{"hami-binpack", 2, []string{one, one, four}, "0@0 0@1 1@0"},
		{"hami-spread", 2, []string{one, one, four, three}, "0@0 1@0 - 0@4"},
	} {
		if got := walk(t, c.id, c.gpus, c.ask...); got != c.want {
			t.Errorf("%s, %d GPUs, %v: %s, want %s", c.id, c.gpus, c.ask, got, c.want)
		}
	}
}

func TestBestIndexOrder(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	starts := bestIndex(g)
	want := []string{"[6 5 4 3 2 1 0]", "[6 4 2 0]", "[4 2 0]", "[4 0]", "[0]", "[0]"}
	for i, p := range task.RequestProfiles(g) {
		if got := fmt.Sprint(starts(p)); got != want[i] {
			t.Errorf("%v: %s, want %s", p, got, want[i])
		}
	}
}
