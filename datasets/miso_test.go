package datasets

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/task"
)

func misoInstance(t *testing.T, spec string, index int) task.Batches {
	t.Helper()
	in, err := InstanceOf[task.Batches](MustParse(spec), mig.MustLookup("A100"), index)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// TestMISOStreamHasThePublishedJobs compares the jobs of a stream with the published ones: each is there once, trains
// for its duration on the whole GPU, and on other sizes as long as its iterations say.
func TestMISOStreamHasThePublishedJobs(t *testing.T) {
	kernels := map[string]task.Task{}
	for _, k := range batch(tables()[misoA100]) {
		kernels[k.Name] = k
	}
	if len(kernels) != 32 || len(misoJobs()) != 100 {
		t.Fatalf("%d kernels, %d jobs", len(kernels), len(misoJobs()))
	}
	var got, want []string
	for _, job := range misoInstance(t, "miso/stream", 3).Tasks {
		_, name, _ := strings.Cut(job.Name, "-")
		got = append(got, fmt.Sprintf("%s %.6f", job.Name, job.On(7)))
		for _, s := range mig.MustLookup("A100").Sizes() {
			if k := kernels[name]; math.Abs(float64(job.On(s)/job.On(7)-k.On(s)/k.On(7))) > 1e-12 && k.Fits(s) || job.Fits(s) != k.Fits(s) {
				t.Errorf("%s takes %v s on %d slices and %v s on 7; an iteration takes %v and %v s", job.Name, job.On(s), s, job.On(7), k.On(s), k.On(7))
			}
		}
	}
	for i, j := range misoJobs() {
		want = append(want, fmt.Sprintf("%03d-%s %.6f", i+1, j.Kernel, float64(j.Trace)))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the jobs are %v, want %v", got, want)
	}
}

// TestMISOStreamArrives compares the mean gaps of many streams with those asked for.
func TestMISOStreamArrives(t *testing.T) {
	for _, c := range []struct {
		spec         string
		early, later float64
	}{{"miso/stream", 30, 60}, {"miso/stream?gap=10", 5, 10}} {
		early, later := 0.0, 0.0
		const n = 200
		for i := range n {
			in := misoInstance(t, c.spec, i)
			if !slices.IsSorted(in.Arrivals) || in.Restart != 30 || len(in.Lengths) != 100 {
				t.Fatalf("%s: arrivals %v, restart %v s, lengths %v", c.spec, in.Arrivals, in.Restart, in.Lengths)
			}
			early += float64(in.Arrivals[33]) / 34 / n
			later += float64(in.Arrivals[99]-in.Arrivals[33]) / 66 / n
		}
		if math.Abs(early/c.early-1) > 0.02 || math.Abs(later/c.later-1) > 0.02 {
			t.Errorf("%s: %v s and then %v s apart, want %v and %v", c.spec, early, later, c.early, c.later)
		}
	}
}

// Some jobs of a batch need more memory than a slice has, and the pairs of network and batch size are all drawn.
func TestMISOJobs(t *testing.T) {
	drawn, misfits := map[string]bool{}, 0
	for i := range 50 {
		for _, job := range misoInstance(t, "miso/jobs", i).Tasks {
			_, name, _ := strings.Cut(job.Name, "-")
			drawn[name] = true
			if !job.Fits(1) {
				misfits++
			}
		}
	}
	// 11 of 32 do not fit one slice.
	if share := float64(misfits) / (50 * 14); len(drawn) != 32 || share < 0.29 || share > 0.40 {
		t.Errorf("%d kernels, of which %v do not fit one slice", len(drawn), share)
	}
}

func TestMISOIsForA100(t *testing.T) {
	for _, spec := range []string{"miso/jobs", "miso/stream"} {
		if _, err := InstanceOf[task.Batches](MustParse(spec), mig.MustLookup("A100?create=10x"), 0); err != nil {
			t.Errorf("%s with other costs: %v", spec, err)
		}
		for _, gpu := range []string{"A30", "A100-80GB", "H100"} {
			_, err := InstanceOf[task.Batches](MustParse(spec), mig.MustLookup(gpu), 0)
			if _, ok := errors.AsType[*UnmeasuredError](err); !ok || !strings.Contains(fmt.Sprint(err), "measured on A100") {
				t.Errorf("%s on %s: %v", spec, gpu, err)
			}
		}
	}
}

func TestMISORefuses(t *testing.T) {
	for spec, want := range map[string]string{
		"miso/jobs?n=0": "n=0", "miso/jobs?gap=60": "gap", "miso/stream?gap=0": "gap=0", "miso/stream?restart=-1": "restart=-1",
	} {
		if _, err := Parse(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// A tasks file has no place for restarts; the error says what to write instead.
func TestMISOStreamIsWrittenWithoutRestarts(t *testing.T) {
	var text strings.Builder
	if err := misoInstance(t, "miso/stream", 0).WriteCSV(&text, mig.MustLookup("A100")); err == nil || !strings.Contains(err.Error(), "restart=0") {
		t.Errorf("with restarts: %v", err)
	}
	if err := misoInstance(t, "miso/stream?restart=0", 0).WriteCSV(&text, mig.MustLookup("A100")); err != nil {
		t.Error(err)
	}
}
