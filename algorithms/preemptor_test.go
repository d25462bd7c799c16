package algorithms

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"miglab/algorithms/algotest"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// A part is a part of a task's run in these tests.
type part struct {
	task       int
	size       mig.Slices
	start, end mig.Seconds
}

// partsOf runs a scheduler on one A100 on which reconfigurations are free, and a restart takes 30 s.
func partsOf(t *testing.T, a algo.Stream, release []mig.Seconds, tasks ...map[mig.Slices]mig.Seconds) []part {
	t.Helper()
	p := algo.Problem{GPU: mig.MustLookup("A100"), Model: mig.Free, Restart: 30, Release: release}
	for i, seconds := range tasks {
		p.Tasks = append(p.Tasks, task.New(fmt.Sprint(i), seconds))
	}
	s, err := a.ScheduleStream(context.Background(), p, slices.Repeat([]int{1}, len(tasks)))
	if err != nil {
		t.Fatal(err)
	}
	if v := schedule.Check(p, s); v != nil {
		t.Fatal(v)
	}
	var out []part
	for _, pl := range s.Placements {
		out = append(out, part{pl.Task, pl.Instance.Size(), pl.Start, pl.End})
	}
	return out
}

func compareParts(t *testing.T, name string, got, want []part) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", name, got, want)
	}
}

// TestOptStaMovesUp has two tasks on an A100 that is cut in 4 and 3. When the first ends, the second has done a quarter
// of its 400 s on 3 slices. A restart later it does the rest, three quarters of 200 s, on 4 slices.
func TestOptStaMovesUp(t *testing.T) {
	fourAndThree := optSta{"optsta", func(g *mig.GPU) ([]mig.Partition, error) { return g.Partitions()[1:2], nil }}
	got := partsOf(t, fourAndThree, []mig.Seconds{0, 0}, map[mig.Slices]mig.Seconds{4: 100, 3: 150},
		map[mig.Slices]mig.Seconds{4: 200, 3: 400})
	compareParts(t, "optsta", got, []part{{0, 4, 0, 100}, {1, 3, 0, 100}, {1, 4, 130, 280}})
}

// TestOptStaTakesTheGivenPartition has one task, which takes the larger of 4 and 3.
func TestOptStaTakesTheGivenPartition(t *testing.T) {
	times := map[mig.Slices]mig.Seconds{7: 10, 4: 20, 3: 30}
	for id, want := range map[string]part{"optsta": {0, 7, 0, 10}, "optsta?p=4-3": {0, 4, 0, 20}} {
		compareParts(t, id, partsOf(t, streamNamed(t, id), []mig.Seconds{0}, times), []part{want})
	}
}

// TestOptStaTakesTheBestPartition has two tasks that no instance speeds up: side by side they end sooner than in turns.
func TestOptStaTakesTheBestPartition(t *testing.T) {
	all := map[mig.Slices]mig.Seconds{1: 50, 2: 50, 3: 50, 4: 50, 7: 50}
	for name, want := range map[string]mig.Seconds{"optsta": 50, "nopart": 100} {
		var last mig.Seconds
		for _, p := range partsOf(t, streamNamed(t, name), []mig.Seconds{0, 0}, all, all) {
			last = max(last, p.end)
		}
		if last != want {
			t.Errorf("%s ends at %v s, want %v", name, last, want)
		}
	}
}

func streamNamed(t *testing.T, id string) algo.Stream {
	t.Helper()
	a, err := algo.Make[algo.Stream](algo.MustParse(id))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestNoPartNeverShares draws streams. Every task has a whole GPU, and those of a GPU follow each other.
func TestNoPartNeverShares(t *testing.T) {
	ran := 0
	for seed := range uint64(200) {
		p := drawStream(rand.New(rand.NewPCG(seed, 23)))
		s, err := algotest.Stream.Run(t.Context(), algo.MustParse("nopart"), p)
		if infeasible(algo.MustParse("nopart"), p.Problem) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		ran++
		free := make([]mig.Seconds, p.GPUs())
		slices.SortFunc(s.Placements, func(a, b schedule.Placement) int { return cmp.Compare(a.Start, b.Start) })
		for _, pl := range s.Placements {
			if pl.Instance.Size() != p.GPU.ComputeSlices || pl.Start < free[pl.GPU] {
				t.Fatalf("seed %d: %+v on GPU %d, which is busy until %v s", seed, pl, pl.GPU, free[pl.GPU])
			}
			free[pl.GPU] = pl.End
		}
		if len(s.Placements) != len(p.Tasks) {
			t.Fatalf("seed %d: %d runs of %d tasks", seed, len(s.Placements), len(p.Tasks))
		}
	}
	if ran < 100 {
		t.Errorf("only %d streams", ran)
	}
}

// TestMISOProfiles lets a second task join the first after 100 of its 400 s. Under MPS both stand still for 30 s, and
// then for a restart of 30 s. On 4 slices the second is as fast as on the whole GPU, so that it gets them; it ends
// first. A restart later the first has the whole GPU again. The oracle does the same without the run under MPS.
func TestMISOProfiles(t *testing.T) {
	first := map[mig.Slices]mig.Seconds{7: 400, 4: 400, 3: 800}
	second := map[mig.Slices]mig.Seconds{7: 100, 4: 100, 3: 400}
	for id, pause := range map[string]mig.Seconds{"miso-stream?error=0": 60, "miso-stream?error=0&profile=5": 35, "miso-oracle": 30} {
		got := partsOf(t, streamNamed(t, id), []mig.Seconds{0, 100}, first, second)
		from := 100 + pause // when both run
		// The first does 300 of its 400 s from then on: 100 s on 3 slices are worth 50 s.
		compareParts(t, id, got, []part{{0, 7, 0, 100}, {1, 4, from, from + 100}, {0, 3, from, from + 100}, {0, 7, from + 130, from + 380}})
	}
}

// TestMISOWaitsItsTurn has one task that fits the whole GPU alone, and two that would fit beside the first.
func TestMISOWaitsItsTurn(t *testing.T) {
	small := map[mig.Slices]mig.Seconds{7: 100, 4: 100, 3: 100}
	got := partsOf(t, streamNamed(t, "miso-oracle"), []mig.Seconds{0, 10, 20}, small, map[mig.Slices]mig.Seconds{7: 50}, small)
	compareParts(t, "miso-oracle", got, []part{{0, 7, 0, 100}, {1, 7, 100, 150}, {2, 7, 150, 250}})
}

// Where tasks cannot be stopped, MISO shares no GPU.
func TestMISOWithoutRestarts(t *testing.T) {
	small := map[mig.Slices]mig.Seconds{7: 100, 4: 100, 3: 100}
	p := algo.Problem{GPU: mig.MustLookup("A100"), Model: mig.Free, Tasks: task.Batch{task.New("a", small), task.New("b", small)}}
	s, err := streamNamed(t, "miso-stream").ScheduleStream(t.Context(), p, []int{2})
	if err != nil || s.Makespan() != 200 {
		t.Errorf("it ends at %v s, %v; want 200 s", s.Makespan(), err)
	}
}

// TestPredictionErrors compares what MISO predicts with the truth. The errors have the published mean and deviation, up
// and down; the oracle has none.
func TestPredictionErrors(t *testing.T) {
	sizes := mig.MustLookup("A100").Sizes()
	var tasks task.Batch
	for i := range 400 {
		tasks = append(tasks, task.New(fmt.Sprint(i), map[mig.Slices]mig.Seconds{1: 900, 2: 500, 3: 200, 4: 150, 7: 100}))
	}
	m, err := algo.Make[algo.Stream](algo.MustParse("miso-stream"))
	if err != nil {
		t.Fatal(err)
	}
	sum, squares, up, n := 0.0, 0.0, 0, 0
	for i, predicted := range m.(misoStream).predict(tasks, sizes) {
		for _, s := range sizes {
			off := float64(predicted.On(s)-tasks[i].On(s)) / 200 // the longest on 3, 4 and 7 slices
			if off > 0 {
				up++
			}
			off = max(off, -off)
			sum, squares, n = sum+off, squares+off*off, n+1
		}
	}
	mean := sum / float64(n)
	variance := squares/float64(n) - mean*mean
	if mean < 0.0155 || mean > 0.0165 || variance < 0.0030*0.0030 || variance > 0.0034*0.0034 || up < n*2/5 || up > n*3/5 {
		t.Errorf("mean %v, variance %v, %d of %d up; want 0.016, 0.0032^2, half", mean, variance, up, n)
	}
	if !slices.Equal(misoStream{name: "miso-oracle"}.predict(tasks, sizes), tasks) {
		t.Error("the oracle is wrong")
	}
}

// TestTasksThatAreNeverBegun: a scheduler that leaves tasks waiting with no event ahead is a mistake in the program. It
// does not run for ever.
func TestTasksThatAreNeverBegun(t *testing.T) {
	p := algo.Problem{GPU: mig.MustLookup("A100"), Tasks: task.Batch{task.New("a", map[mig.Slices]mig.Seconds{1: 5})}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	_, err := newPreemptor(p).run(ctx, []int{1}, func() {})
	t.Error(err)
}
