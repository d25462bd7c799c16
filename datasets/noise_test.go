package datasets_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/task"
	"miglab/harness/track"
)

// batches returns an instance of a dataset of tasks.
func batches(t *testing.T, spec string, gpu string, index int) task.Batches {
	t.Helper()
	b, err := datasets.InstanceOf[task.Batches](datasets.MustParse(spec), mig.MustLookup(gpu), index)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A noise of sigma multiplies the true durations by exp(sigma z), and z has mean 0 and deviation 1.
func TestEstimatesErrByTheNoise(t *testing.T) {
	exact := batches(t, "WIDETIMES?n=2000", "A100", 3)
	little, much := batches(t, "WIDETIMES?n=2000&noise=0.1", "A100", 3), batches(t, "WIDETIMES?n=2000&noise=0.5", "A100?create=0", 3)
	if !reflect.DeepEqual(exact.Tasks, little.Tasks) || !reflect.DeepEqual(exact.Tasks, much.Tasks) || exact.Estimates != nil {
		t.Fatal("noise changes the true durations")
	}
	sum, squares, n := 0.0, 0.0, 0.0
	for i := range exact.Tasks {
		for _, size := range mig.MustLookup("A100").Sizes() {
			truth := float64(exact.Tasks[i].On(size))
			z := math.Log(float64(much.Estimates[i].On(size))/truth) / 0.5
			if same := math.Log(float64(little.Estimates[i].On(size))/truth) / 0.1; math.Abs(same-z) > 1e-9 {
				t.Fatalf("task %d errs by %v and by %v deviations", i, same, z)
			}
			sum, squares, n = sum+z, squares+z*z, n+1
		}
	}
	if mean, deviation := sum/n, math.Sqrt(squares/n); math.Abs(mean) > 0.04 || math.Abs(deviation-1) > 0.03 {
		t.Errorf("mean %v and deviation %v of %v draws", mean, deviation, n)
	}
	if other := batches(t, "WIDETIMES?n=2000&noise=0.1", "A100", 4); other.Estimates[0].On(1) == little.Estimates[0].On(1) {
		t.Error("two instances have the same estimate")
	}
	var b strings.Builder
	if err := much.WriteCSV(&b, mig.MustLookup("A100")); err == nil {
		t.Error("a file of tasks hides that they are estimated")
	}
}

func TestEveryFamilyOfTasksHasNoise(t *testing.T) {
	seen := 0
	for _, f := range datasets.List() {
		spec := f.Name
		if f.File != "" {
			continue
		}
		for _, gpu := range []string{"A100", "A30", "A100-80GB", "H200"} {
			in, err := datasets.MustParse(spec).Instance(mig.MustLookup(gpu), 0)
			exact, ok := in.(task.Batches)
			if err != nil || !ok {
				continue
			}
			if exact.Restart > 0 {
				if _, err := datasets.MustParse(spec+"?noise=0.2").Instance(mig.MustLookup(gpu), 0); err == nil {
					t.Errorf("%s: tasks that can be stopped have estimates", spec)
				}
				spec += "?restart=0"
			}
			seen++
			if !f.Tasks {
				t.Fatalf("%s has tasks and does not say so", f.Name)
			}
			join := "?"
			if strings.Contains(spec, "?") {
				join = "&"
			}
			b := batches(t, spec+join+"noise=0.2", gpu, 0)
			if !reflect.DeepEqual(b.Tasks, exact.Tasks) || len(b.Estimates) != len(b.Tasks) || b.Estimates.Validate(mig.MustLookup(gpu)) != nil {
				t.Errorf("%s on %s: %d estimates of %d tasks", spec, gpu, len(b.Estimates), len(b.Tasks))
			}
			if id := datasets.MustParse(spec + join + "noise=0").ID(); id != datasets.MustParse(spec).ID() {
				t.Errorf("without noise it is %s", id)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d datasets have tasks", seen)
	}
}

func TestContentTellsNoisesApart(t *testing.T) {
	seen := map[string]string{}
	for _, spec := range []string{"WIDETIMES", "WIDETIMES?noise=0.1", "WIDETIMES?noise=0.2", "WIDETIMES?noise=0.1&rho=0.5", "WIDETIMES?rho=0.5"} {
		content, err := run.Content(track.Batch, spec, mig.MustLookup("A100"))
		if err != nil || seen[content] != "" {
			t.Errorf("%s has the content of %q, %v", spec, seen[content], err)
		}
		seen[content] = spec
	}
	if datasets.RegimeOf("WIDETIMES?noise=0.1&rho=0.5") != task.Timed {
		t.Error("noise changes the regime")
	}
}
