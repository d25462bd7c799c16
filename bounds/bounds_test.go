package bounds_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "miglab/bounds"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// knownBatch is a batch of testdata with what is known about it; 0 where nothing is.
type knownBatch struct {
	Name       string
	GPU        string
	Area       mig.Seconds `json:"area_s"`
	LBound     mig.Seconds `json:"l_bound_s"`
	Sequential mig.Seconds `json:"sequential_s"`
	Parallel   mig.Seconds `json:"parallel_s"`
	Tasks      []map[mig.Slices]mig.Seconds
}

func readKnown(t *testing.T, file string) []knownBatch {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Batches []knownBatch }
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	if len(f.Batches) == 0 {
		t.Fatalf("%s holds no batches", file)
	}
	return f.Batches
}

func (k *knownBatch) problem() algo.Problem {
	p := algo.Problem{GPU: mig.MustLookup(k.GPU)}
	for i, seconds := range k.Tasks {
		p.Tasks = append(p.Tasks, task.New(fmt.Sprint("task", i), seconds))
	}
	return p
}

// only returns a batch of tasks that fit one size.
func only(size mig.Slices, seconds ...mig.Seconds) task.Batch {
	var b task.Batch
	for i, d := range seconds {
		b = append(b, task.New(fmt.Sprintf("%d slices, number %d", size, i), map[mig.Slices]mig.Seconds{size: d}))
	}
	return b
}

func near(a, b mig.Seconds) bool {
	return math.Abs(float64(a-b)) <= 1e-9*math.Max(1, math.Abs(float64(b)))
}

// drawBatch draws tasks that often have equal times, scale in any way and may not
// fit small instances.
func drawBatch(t *rapid.T, g *mig.GPU, least, most int) task.Batch {
	n := rapid.IntRange(least, most).Draw(t, "tasks")
	var b task.Batch
	for i := range n {
		x := task.Task{Name: fmt.Sprint("task", i)}
		fits := rapid.IntRange(0, len(g.Sizes())-1).Draw(t, "smallest size that fits")
		for k, s := range g.Sizes() {
			if k >= fits {
				x.Set(s, mig.Seconds(rapid.IntRange(1, 40).Draw(t, "tenths"))/10)
			}
		}
		b = append(b, x)
	}
	return b
}

// drawState adds a start partition and release times to some problems.
func drawState(t *rapid.T, p *algo.Problem) {
	if rapid.Bool().Draw(t, "with start") {
		for g := range p.GPUs() {
			part := rapid.SampledFrom(p.GPU.Partitions()).Draw(t, "start")
			for _, in := range part {
				busy := mig.Seconds(rapid.IntRange(0, 20).Draw(t, "busy until")) / 10
				p.Start = append(p.Start, schedule.Existing{GPU: g, Instance: in, BusyUntil: busy})
			}
		}
	}
	if rapid.Bool().Draw(t, "with releases") {
		for range p.Tasks {
			p.Release = append(p.Release, mig.Seconds(rapid.IntRange(0, 20).Draw(t, "release"))/10)
		}
	}
}

// randomBatch draws tasks with durations of 1 to 100 s on one slice whose
// speedup at each further slice is between none and linear.
func randomBatch(g *mig.GPU, seed uint64, n int) task.Batch {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	var b task.Batch
	for i := range n {
		x := task.Task{Name: fmt.Sprint("task", i)}
		d := 1 + 99*r.Float64()
		for s := mig.Slices(1); s <= mig.MaxSize; s++ {
			if g.Profile(s) != nil {
				x.Set(s, mig.Seconds(d))
			}
			d *= (float64(s) + r.Float64()) / float64(s+1)
		}
		b = append(b, x)
	}
	return b
}

// bound computes a registered bound.
func bound(t interface{ Fatal(...any) }, name string, p algo.Problem) mig.Seconds {
	b, err := algo.Make[algo.Bound](algo.MustParse(name))
	if err != nil {
		t.Fatal(err)
	}
	v, err := b.Bound(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func names() []string {
	var out []string
	for _, s := range algo.All(algo.TrackBound) {
		out = append(out, s.Name)
	}
	return out
}

// TestRegisteredBounds: the bounds of the page are there, and commands know which of them are proven.
func TestRegisteredBounds(t *testing.T) {
	for name, proven := range map[string]bool{"area": true, "certified": true, "l-bound": false, "optimum-free": false} {
		if spec := algo.MustParse(name).Spec; spec.Track != algo.TrackBound || spec.Proven != proven {
			t.Errorf("%s is of track %s; proven for every problem: %v", name, spec.Track, spec.Proven)
		}
	}
}

func TestBoundsRefuseBatchesWithoutASchedule(t *testing.T) {
	g := mig.MustLookup("A30")
	for _, name := range names() {
		b, err := algo.Make[algo.Bound](algo.MustParse(name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Bound(context.Background(), algo.Problem{GPU: g}); err == nil {
			t.Errorf("%s bounds an empty batch", name)
		}
		_, err = b.Bound(context.Background(), algo.Problem{GPU: g, Tasks: append(only(4, 1), only(7, 1)...)})
		if err == nil || !strings.Contains(err.Error(), "(number 2)") {
			t.Errorf("%s of a task that does not fit: error %v, want one for number 2", name, err)
		}
	}
}

func TestBoundsDoNotDependOnTheOrderOfTasks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom(mig.GPUs()).Draw(t, "GPU")
		p := algo.Problem{GPU: g, Tasks: drawBatch(t, g, 1, 4)}
		q := p
		q.Tasks = rapid.Permutation(p.Tasks).Draw(t, "order")
		for _, name := range names() {
			if a, b := bound(t, name, p), bound(t, name, q); !near(a, b) {
				t.Fatalf("%s is %v or %v, by order", name, a, b)
			}
		}
	})
}

func TestBoundsScaleWithTimesWithoutReconfiguration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom(mig.GPUs()).Draw(t, "GPU")
		p := algo.Problem{GPU: g, Model: mig.Free, Tasks: drawBatch(t, g, 1, 4)}
		twice := p
		twice.Tasks = slices.Clone(p.Tasks)
		for i := range twice.Tasks {
			for _, s := range g.Sizes() {
				twice.Tasks[i].Set(s, 2*p.Tasks[i].On(s))
			}
		}
		for _, name := range []string{"area", "certified", "optimum-free"} {
			if a, b := bound(t, name, p), bound(t, name, twice); !near(2*a, b) {
				t.Fatalf("%s: %v, and %v of times twice as long", name, a, b)
			}
		}
	})
}
