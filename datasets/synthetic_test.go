package datasets_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/task"
)

func instance(t interface {
	Helper()
	Fatalf(string, ...any)
}, spec, gpu string, index int,
) task.Batches {
	t.Helper()
	in, err := datasets.InstanceOf[task.Batches](datasets.MustParse(spec), mig.MustLookup(gpu), index)
	if err != nil {
		t.Fatalf("instance %d of %s on %s: %v", index, spec, gpu, err)
	}
	return in
}

// nameless returns the batch without the names of its tasks.
func nameless(b task.Batch) task.Batch {
	b = slices.Clone(b)
	for i := range b {
		b[i].Name = ""
	}
	return b
}

func TestInstancesAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom(mig.GPUs()).Draw(t, "gpu")
		name := rapid.SampledFrom([]string{"far/POORSCALING+WIDETIMES", "far/MIXEDSCALING+NARROWTIMES", "drl/GOODSCALING", "drl/WIDETIMES"}).Draw(t, "name")
		n := rapid.IntRange(1, 120).Draw(t, "n")
		batches := rapid.IntRange(1, 4).Draw(t, "batches")
		gen := rapid.SampledFrom([]string{"paper", "released", "released-train"}).Draw(t, "gen")
		index := rapid.IntRange(0, 1_000_000).Draw(t, "index")
		in := instance(t, fmt.Sprintf("%s?n=%d&batches=%d&gen=%s", name, n, batches, gen), g.Name, index)
		if err := in.Tasks.Validate(g); err != nil {
			t.Fatal(err)
		}
		if len(in.Tasks) != n*batches || !slices.Equal(in.Lengths, slices.Repeat([]int{n}, batches)) {
			t.Fatalf("%d tasks in batches %v", len(in.Tasks), in.Lengths)
		}
		low := mig.Seconds(1)
		if name == "far/MIXEDSCALING+NARROWTIMES" || name == "drl/GOODSCALING" {
			low = 90
		}
		for i := range in.Tasks {
			last := mig.Seconds(100)
			for _, s := range g.Sizes() {
				d := in.Tasks[i].On(s)
				if d > last || s == 1 && d < low {
					t.Fatalf("%s takes %v s on %d slices, and %v before (t_min = %v)", in.Tasks[i].Name, d, s, last, low)
				}
				last = d
			}
		}
	})
}

func TestConsecutiveStreamsOverlap(t *testing.T) {
	const single, pairs = "far/MIXEDSCALING+WIDETIMES?n=10", "far/MIXEDSCALING+WIDETIMES?n=10&batches=2"
	for _, i := range []int{0, 1, 999} {
		first, second := instance(t, pairs, "A100", i), instance(t, pairs, "A100", i+1)
		if !slices.Equal(first.Tasks[10:], second.Tasks[:10]) {
			t.Errorf("instances %d and %d share no batch", i, i+1)
		}
		for k := range 2 {
			alone := instance(t, single, "A100", i+k)
			if !slices.Equal(nameless(first.Tasks[10*k:10*k+10]), nameless(alone.Tasks)) {
				t.Errorf("batch %d of stream %d is not instance %d", k, i, i+k)
			}
		}
		want := []string{fmt.Sprintf("b%04d-t01", i+1), fmt.Sprintf("b%04d-t10", i+2)}
		if got := []string{first.Tasks[0].Name, first.Tasks[19].Name}; !slices.Equal(got, want) {
			t.Errorf("first and last task are %v, want %v", got, want)
		}
	}
}

// TestRepeatedBatchesAreCopies has what concat_test joins: a batch with a copy of itself.
func TestRepeatedBatchesAreCopies(t *testing.T) {
	const alone = "far/POORSCALING+NARROWTIMES?n=10&gen=released"
	in := instance(t, alone+"&batches=2&repeat=3", "A100", 4)
	if want := slices.Repeat([]int{10}, 6); !slices.Equal(in.Lengths, want) {
		t.Fatalf("batches of %v tasks, want %v", in.Lengths, want)
	}
	names := map[string]bool{}
	for i := range 6 {
		batch := in.Tasks[10*i : 10*i+10]
		if want := instance(t, alone, "A100", 4+i/3); !slices.Equal(nameless(batch), nameless(want.Tasks)) {
			t.Errorf("batch %d is not instance %d", i, 4+i/3)
		}
		for k := range batch {
			names[batch[k].Name] = true
		}
	}
	if len(names) != 60 || !names["b0005-t01"] || !names["b0005.2-t01"] || !names["b0006.3-t10"] {
		t.Errorf("%d names, want 60: %v", len(names), names)
	}
}

// TestMemoryBoundTasksAreCountedByClass counts the tasks with t(2) < t(1)/2. A
// memory-bound one misses that only where its r is clipped to 0, so that the most
// over many instances is their number, the sum of floor(psup n_s) for s > 1.
func TestMemoryBoundTasksAreCountedByClass(t *testing.T) {
	for _, c := range []struct {
		spec, gpu string
		want      int
	}{
		{"far/GOODSCALING+WIDETIMES", "A100", 0},
		{"far/GOODSCALING+WIDETIMES?psup=50", "A100", 4 + 3},  // n_s = 8, 7
		{"far/MIXEDSCALING+WIDETIMES?psup=50", "A100", 4 * 1}, // n_s = 3
		{"far/POORSCALING+NARROWTIMES?psup=100", "A30", 7},    // n_s = 8, 7
		{"drl/GOODSCALING?gen=released", "A100", 5 + 5},       // n_s = 7, psup = 75
		{"drl/POORSCALING", "A100", 1},                        // n_s = 7, psup = 25
		{"drl/WIDETIMES", "A100", 1 + 1 + 1 + 1},              // n_s = 3, 3, 3, 2, psup = 50
		{"drl/MIXSCALINGUNIFORM", "A30", 2 + 2},               // n_s = 5, 5, 4, psup = 50
		{"drl/MIXSCALINGEXTREME", "A100", 3},                  // n_s = 6, 1, 0, 1, 6, psup = 50
	} {
		most := 0
		for i := range 200 {
			b, super := instance(t, c.spec, c.gpu, i).Tasks, 0
			for j := range b {
				if b[j].On(2) < b[j].On(1)/2 {
					super++
				}
			}
			most = max(most, super)
		}
		if most != c.want {
			t.Errorf("%s on %s: up to %d memory-bound tasks, want %d", c.spec, c.gpu, most, c.want)
		}
	}
}

// TestClassesArriveInRandomOrder would fail if tasks came class by class.
func TestClassesArriveInRandomOrder(t *testing.T) {
	g := mig.MustLookup("A100")
	sum, n := 0.0, 0
	for i := range 500 {
		b := instance(t, "far/MIXSCALINGEXTREME+NARROWTIMES?n=20", "A100", i).Tasks
		for j := range b {
			if b[j].On(1)/b[j].On(g.ComputeSlices) > 4 { // scales up to all slices
				sum += float64(j)
				n++
			}
		}
	}
	if n < 4000 || math.Abs(sum/float64(n)-9.5) > 0.4 {
		t.Errorf("the %d tasks that scale well have mean position %v, want 9.5", n, sum/float64(n))
	}
}

func TestNamesHaveTheSameLength(t *testing.T) {
	for n, want := range map[int][]string{
		1: {"t01", "t01"}, 99: {"t01", "t99"}, 100: {"t001", "t100"}, 1000: {"t0001", "t1000"},
	} {
		b := instance(t, fmt.Sprintf("WIDETIMES?n=%d", n), "A30", 0).Tasks
		if got := []string{b[0].Name, b[n-1].Name}; !slices.Equal(got, want) {
			t.Errorf("n = %d: names from %v, want %v", n, got, want)
		}
	}
}

// By rho, the arrivals of many tasks bring that share of what the GPU can work; the tasks are those
// of the stream without arrivals, and openb's arrivals are its submissions.
func TestArrivals(t *testing.T) {
	for _, rho := range []float64{0.5, 2} {
		for _, gpu := range []string{"A100", "A30"} {
			name := fmt.Sprintf("drl/WIDETIMES?n=4&batches=1000&rho=%v", rho)
			in, plain := instance(t, name, gpu, 3), instance(t, "drl/WIDETIMES?n=4&batches=1000", gpu, 3)
			if !slices.Equal(in.Tasks, plain.Tasks) || plain.Arrivals != nil || plain.Releases() != nil {
				t.Fatalf("%s on %s: other tasks, or arrivals without rho", name, gpu)
			}
			g, work := mig.MustLookup(gpu), 0.0
			for _, x := range in.Tasks {
				least := math.Inf(1)
				for _, size := range g.Sizes() {
					least = min(least, float64(size)*float64(x.On(size)))
				}
				work += least
			}
			last := float64(in.Arrivals[len(in.Arrivals)-1])
			if load := work / last / float64(g.ComputeSlices); math.Abs(load/rho-1) > 0.06 { // four standard errors of 4000 intervals
				t.Errorf("%s on %s: a load of %v", name, gpu, load)
			}
			if !slices.IsSorted(in.Arrivals) || in.Arrivals[0] <= 0 || slices.Equal(in.Arrivals, instance(t, name, gpu, 4).Arrivals) {
				t.Errorf("%s on %s: arrivals begin with %v", name, gpu, in.Arrivals[:3])
			}
		}
	}
	trace := instance(t, "openb/stream?arrivals=trace&n=20", "A100", 5)
	if trace.Arrivals[0] != 0 || !slices.IsSorted(trace.Arrivals) || len(trace.Arrivals) != len(trace.Tasks) || trace.Arrivals[len(trace.Arrivals)-1] > 86400 {
		t.Errorf("the trace's arrivals are %v", trace.Arrivals)
	}
}
