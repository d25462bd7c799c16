package gym

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"miglab/bounds"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/schedule"
	"miglab/harness/store"
	"miglab/harness/task"
	"miglab/harness/track"
)

// instanceOf returns an instance of a dataset as the batch track has it.
func instanceOf(t *testing.T, dataset string, index int) schedule.Problem {
	t.Helper()
	gpu := mig.MustLookup("A100")
	in, err := datasets.InstanceOf[task.Batches](datasets.MustParse(dataset), gpu, index)
	if err != nil {
		t.Fatal(err)
	}
	return schedule.Problem{GPU: gpu, Tasks: in.Tasks}
}

// TestFactsOfADataset compares the facts with what the harness computes for the same instances.
func TestFactsOfADataset(t *testing.T) {
	for _, name := range []string{"own", "batch"} {
		v := begun(t, name, `{"dataset":"WIDETIMES?n=6","tasks":6,"bound":true,"far":true}`, 2, 1)
		if want := []string{"instance", "certified_bound_s", "far_makespan_s"}; !slices.Equal(v.facts, want) {
			t.Fatalf("facts %v, want %v", v.facts, want)
		}
		v.orders[0], v.orders[1] = orderKeep, orderBegin
		if err := v.apply(); err != nil {
			t.Fatal(err)
		}
		for i, instance := range []int{0, 3} {
			p := instanceOf(t, "WIDETIMES?n=6", instance)
			bound, err := bounds.Certified(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			far, err := algo.MustParse("far").Schedule(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			want := []float64{float64(instance), float64(bound), float64(far.Makespan())}
			if got := v.known[3*i : 3*i+3]; !slices.Equal(got, want) {
				t.Errorf("%s, environment %d: facts %v, want %v", name, i, got, want)
			}
		}
		v.orders[0], v.orders[1] = orderBegin, orderSeed
		if err := v.apply(); err != nil {
			t.Fatal(err)
		}
		if v.known[3] != 1 || v.known[0] != 2 {
			t.Errorf("%s: after a seed for the second environment the instances are %v and %v, want 2 and 1", name, v.known[0], v.known[3])
		}
	}
}

// No makespan is below the bound, even where episodes begin on a GPU at work.
func TestBoundsOfSampledBatches(t *testing.T) {
	for name, options := range map[string]string{
		"own":   `{"tasks":4,"start":0.7,"bound":true,"far":true}`,
		"batch": `{"tasks":4,"random_start":true,"bound":true,"far":true}`,
	} {
		v := begun(t, name, options, 1, 1)
		rng := rand.New(rand.NewPCG(1, 1))
		e := v.envs[0].(*batch)
		busy := 0
		for range 200 {
			bound, far := v.known[0], v.known[1]
			if len(e.problem.Start) > 0 {
				busy++
			}
			for v.done[0] = false; !v.done[0]; {
				v.choose(rng)
				v.must(t, orderStep)
			}
			if v := schedule.Check(e.problem, e.Device().Schedule()); len(v) > 0 {
				t.Fatalf("%s: %v", name, v)
			}
			if !(bound > 0 && bound <= v.measured[0]*(1+1e-9) && bound <= far*(1+1e-9)) {
				t.Errorf("%s: bound %v, makespan %v, FAR's %v", name, bound, v.measured[0], far)
			}
			v.must(t, orderBegin)
		}
		if busy == 0 {
			t.Errorf("%s: no episode began on a GPU at work", name)
		}
	}
}

// TestAnswersAreRanked has a file of answers computed as any algorithm's: the results have the
// makespans that the environment measured.
func TestAnswersAreRanked(t *testing.T) {
	const n = 5
	_, err := exec.LookPath("python3")
	if err != nil && os.Getenv("MIGLAB_REQUIRE_EXTERNAL") != "1" {
		t.Skip(err)
	}
	t.Setenv("PYTHONPATH", "../python")
	for _, name := range []string{"own", "batch"} {
		v := begun(t, name, `{"dataset":"POORSCALING?n=5","tasks":5,"answers":true}`, 2, 1)
		file := bytes.NewBufferString(`{"type":"hello","protocol":1,"name":"random","version":2}` + "\n")
		rng := rand.New(rand.NewPCG(1, 1))
		makespans := map[int]float64{}
		for len(makespans) < n+1 {
			instances := slices.Clone(v.known)
			v.choose(rng)
			v.must(t, orderStepAndBegin)
			file.Write(v.answers)
			for i, done := range v.done {
				if done {
					makespans[int(instances[i])] = v.measured[i]
				}
			}
		}
		path := filepath.Join(t.TempDir(), "random.jsonl")
		if err := os.WriteFile(path, file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		db, err := store.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		span, err := run.SpanOf(new(mig.Catalog), store.Series{Track: algo.TrackBatch, Dataset: "POORSCALING?n=5", GPU: "A100", Algorithm: "exec:python3 -B -m miglab.replay " + path}, n)
		if err != nil {
			t.Fatal(err)
		}
		e := run.Engine{Store: db}
		if err := e.Run(t.Context(), []run.Span{span}); err != nil {
			t.Fatal(err)
		}
		got, err := span.Values(db, track.MetricMakespan)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range got {
			if got[i] != makespans[i] {
				t.Errorf("%s: instance %d has the makespan %v, want %v as in the environment", name, i, got[i], makespans[i])
			}
		}
	}
}

func TestInstancesThatEnvironmentsCannotTake(t *testing.T) {
	for options, want := range map[string]string{
		`{"dataset":"WIDETIMES?n=20"}`:        "instance 0 of drl/WIDETIMES?n=20: own environment: 20 tasks; there is room for 14, the option tasks",
		`{"dataset":"WIDETIMES?batches=3"}`:   "it has 3 batches",
		`{"dataset":"mfi/uniform?load=85"}`:   "dataset \"mfi/uniform",
		`{"dataset":"rodinia","gpu":"H100"}`:  "rodinia",
		`{"workload":"WIDETIMES","tasks":14}`: "",
	} {
		v := openVector(t, "own", options, 1, 1)
		err := v.tell(orderBegin)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", options, err, want)
		}
	}
}
