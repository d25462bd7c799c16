package datasets

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/task"
)

type seconds [mig.MaxSize + 1]float64 // as environments have it

// TestSamplerDrawsInstances gives the sampler an instance's stream.
func TestSamplerDrawsInstances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom(mig.GPUs()).Draw(t, "gpu")
		spec := rapid.SampledFrom([]string{
			"drl/WIDETIMES", "GOODSCALING?gen=released-train", "MIXSCALINGEXTREME?psup=30&leave=0.7", "far/POORSCALING+WIDETIMES",
		}).Draw(t, "spec")
		separator := "?"
		if strings.Contains(spec, "?") {
			separator = "&"
		}
		dataset := MustParse(fmt.Sprintf("%s%sn=%d", spec, separator, rapid.IntRange(1, 40).Draw(t, "n")))
		s := dataset.(named).Dataset.(synthetic)
		index := rapid.IntRange(0, 1000).Draw(t, "index")
		in, err := InstanceOf[task.Batches](dataset, g, index)
		if err != nil {
			t.Fatal(err)
		}
		sampler, err := Sampler[seconds](spec, g)
		if err != nil {
			t.Fatal(err)
		}
		tasks := make([]seconds, s.n)
		sampler(rand.New(s.stream(g, index)), tasks)
		for i := range tasks {
			for size := range mig.Slices(mig.MaxSize + 1) {
				want := math.Inf(1)
				switch {
				case size == 0:
					want = 0
				case slices.Contains(g.Sizes(), size):
					want = float64(in.Tasks[i].On(size))
				}
				if got := tasks[i][size]; got != want {
					t.Fatalf("task %d takes %v s on %d slices, the instance's %v", i, got, size, want)
				}
			}
		}
	})
}

func TestSamplingAllocatesNothing(t *testing.T) {
	g := mig.MustLookup("A100")
	s, err := Sampler[seconds]("drl/WIDETIMES?gen=released-train", g)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	tasks := make([]seconds, 14)
	if n := testing.AllocsPerRun(100, func() { s(rng, tasks) }); n > 0 {
		t.Errorf("a batch allocates %v times", n)
	}
	_, draw, err := DaySampler("deadline/relaxed", g)
	if err != nil {
		t.Fatal(err)
	}
	jobs := make([]task.Job, 0, 6000)
	if n := testing.AllocsPerRun(10, func() { jobs = draw(rng, jobs) }); n > 0 {
		t.Errorf("a day allocates %v times", n)
	}
}

func TestDaySamplerDrawsInstances(t *testing.T) {
	g := mig.MustLookup("A100")
	fleet, draw, err := DaySampler("deadline/tight?gpus=7+4-3", g)
	if err != nil {
		t.Fatal(err)
	}
	want := episode(t, "deadline/tight?gpus=7+4-3", 5)
	got := draw(rand.New(pcg("workload=deadline", 1, g, 5)), make([]task.Job, 3))
	if !slices.Equal(got, want.Jobs) {
		t.Errorf("%d jobs differ from the instance's %d", len(got), len(want.Jobs))
	}
	if len(fleet.Partitions) != 2 {
		t.Errorf("the fleet has %d GPUs, want 2", len(fleet.Partitions))
	}
}

func TestWhatCannotBeSampled(t *testing.T) {
	g := mig.MustLookup("A100")
	for _, spec := range []string{"rodinia", "drl/ADVERSARIAL4", "deadline/tight", "WIDETIME", "WIDETIMES?n=0", "WIDETIMES?n=20", "WIDETIMES?gen=released-train&rho=0.8", "far/POORSCALING+WIDETIMES?seed=2"} {
		if _, err := Sampler[seconds](spec, g); err == nil {
			t.Errorf("%s has a sampler", spec)
		}
	}
	for _, spec := range []string{"rodinia", "jobs:q.csv", "WIDETIMES", "deadline/tight?seed=x"} {
		if _, _, err := DaySampler(spec, g); err == nil {
			t.Errorf("%s has a sampler of days", spec)
		}
	}
	var unknown *nearest.UnknownError
	if _, err := Sampler[seconds]("drl/ADVERSARIAL2", g); !errors.As(err, &unknown) {
		t.Errorf("%v, want an UnknownError", err)
	}
	var unmeasured *UnmeasuredError
	if _, _, err := DaySampler("deadline/tight", mig.MustLookup("A30")); !errors.As(err, &unmeasured) {
		t.Errorf("%v, want an UnmeasuredError", err)
	}
}

// The papers say how tasks scale on two sets of sizes only.
func TestSamplerRefusesOtherSizes(t *testing.T) {
	g, err := new(mig.Catalog).Add(&mig.GPU{Name: "SAMPLED", Origin: "from a test", ComputeSlices: 1, MemorySlices: 1, Profiles: []*mig.Profile{
		{ID: 1, Size: 1, Length: 1, Starts: []mig.Slices{0}, Max: 1, MemoryGB: 1, Create: 1, Destroy: 1},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Sampler[seconds]("drl/WIDETIMES", g); err == nil || !strings.HasSuffix(err.Error(), "SAMPLED has [1]") {
		t.Errorf("a sampler for %s: %v", g, err)
	}
}
