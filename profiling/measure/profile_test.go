package measure_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/task"
	"miglab/profiling/launch"
	"miglab/profiling/measure"
)

// ran is a run of a kernel on A100 that took so long.
func ran(name string, size mig.Slices, repetition int, s mig.Seconds) measure.Run {
	return measure.Run{
		GPU: "A100", Name: "NVIDIA A100-SXM4-40GB", UUID: "GPU-1", Driver: "570.1", Source: mig.SourceMIG, Suite: "suite", Kernel: name,
		Size: size, Repetition: repetition, Status: launch.OK, Seconds: s, Started: fmt.Sprintf("2026-11-21T09:30:%02dZ", repetition),
		Load: datasets.Load{Samples: 1, Throttle: "none"},
	}
}

// ended is a run that did not go well.
func ended(name string, size mig.Slices, repetition int, status launch.Status, detail string) measure.Run {
	r := ran(name, size, repetition, 0)
	r.Status, r.Detail = status, detail
	return r
}

// onAll are runs of a kernel on all sizes of A100, of 70 s on a slice in all.
func onAll(name string) []measure.Run {
	var out []measure.Run
	for _, size := range a100.Sizes() {
		out = append(out, ran(name, size, 1, 70/mig.Seconds(size)))
	}
	return out
}

// mixedRuns has every kind of kernel: one whole, one that does not fit a size, and those
// that have no place in a dataset.
func mixedRuns() []measure.Run {
	out := append(onAll("whole"), ran("whole", 1, 2, 71), ran("whole", 1, 3, 75), ran("whole", 7, 2, 10.5))
	out = append(out, onAll("large")...)
	out = append(out, ended("large", 1, 2, launch.OutOfMemory, "out of memory"))
	out = append(out, onAll("half")[:3]...)
	out = append(out, onAll("fails")...)
	out = append(out, ended("fails", 3, 2, launch.Crash, "exit status 1"))
	for _, size := range a100.Sizes() {
		out = append(out, ended("huge", size, 1, launch.OutOfMemory, "not tried"))
	}
	out[1].OtherProcesses = 2
	out[0].Throttle, out[1].Throttle = "power-cap+sw-thermal", "power-cap"
	out[2].Load = datasets.Load{Throttle: "unknown"}
	slices.SortStableFunc(out, func(a, b measure.Run) int { // as a sweep's are, by kernel and size
		return cmp.Or(cmp.Compare(slices.Index(mixed, a.Kernel), slices.Index(mixed, b.Kernel)), cmp.Compare(a.Size, b.Size))
	})
	return out
}

var mixed = strings.Fields("whole large half fails huge")

func TestSummarize(t *testing.T) {
	p := measure.Summarize(a100, mixedRuns())
	if p.GPU != a100 || len(p.Results) != 5+5+3+5+5 {
		t.Fatalf("%v, %d results", p.GPU, len(p.Results))
	}
	r := p.Results[0]
	// 70, 71, 75: the mean is 72, the squared deviations 4 + 1 + 9 make 7 over two, and
	// Student's t for two degrees of freedom is 4.302653.
	half := 4.302653 * math.Sqrt(7) / math.Sqrt(3)
	if r.Kernel != "whole" || r.Size != 1 || r.Status != launch.OK || r.Runs != 3 || r.Seconds() != 71 || r.Times.Mean != 72 ||
		math.Abs(r.Times.StdDev-math.Sqrt(7)) > 1e-12 || math.Abs(r.Times.Low-(72-half)) > 1e-5 || math.Abs(r.Times.High-(72+half)) > 1e-5 ||
		math.Abs(r.Spread()-100*math.Sqrt(7)/72) > 1e-12 {
		t.Errorf("%+v", r)
	}
	if r := p.Results[4]; r.Size != 7 || r.Seconds() != 10.25 {
		t.Errorf("%+v", r)
	}
	if r := p.Results[5]; r.Kernel != "large" || r.Status != launch.OutOfMemory || r.Seconds() != inf || r.Runs != 2 {
		t.Errorf("%+v", r)
	}
	if r := p.Results[15]; r.Kernel != "fails" || r.Size != 3 || r.Status != launch.Crash || !math.IsNaN(float64(r.Seconds())) {
		t.Errorf("%+v", r)
	}
}

func TestWarnings(t *testing.T) {
	want := []string{
		"half is left out of the dataset: it has no runs on 4 slices, has no runs on 7 slices",
		"fails is left out of the dataset: it ended in crash on 3 slices",
		"huge is left out of the dataset: it fits no instance",
		"whole on 1 slice is unsteady: its times spread 3.7 %, more than 2 %",
		"whole on 7 slices is unsteady: its times spread 3.4 %, more than 2 %",
		"other processes used the GPU beside 1 of 28 runs",
		"clocks were lowered (power-cap) during 2 of 28 runs",
		"clocks were lowered (sw-thermal) during 1 of 28 runs",
		"nothing was sampled during 1 of 28 runs",
	}
	p := measure.Summarize(a100, mixedRuns())
	if got := p.Warnings(); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	table := p.Table()
	if got := table.Notes; !reflect.DeepEqual(got, want) || table.Title != "Times of kernels by instance size; NVIDIA A100-SXM4-40GB, source: mig" {
		t.Errorf("%q, notes %q", table.Title, got)
	}
}

// What is measured is a dataset: tasks by their medians.
func TestProfileIsADataset(t *testing.T) {
	p := measure.Summarize(a100, mixedRuns())
	file := filepath.Join(t.TempDir(), "tasks.csv")
	tasks, left := p.Tasks()
	var w bytes.Buffer
	if err := task.WriteStream(&w, a100, task.OneBatch(tasks)); err != nil {
		t.Fatal(err)
	}
	want := "task,t1,t2,t3,t4,t7\nwhole,71,35,23.333333333333332,17.5,10.25\nlarge,inf,35,23.333333333333332,17.5,10\n"
	if w.String() != want {
		t.Errorf("got %s", &w)
	}
	if err := os.WriteFile(file, w.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	in, err := datasets.InstanceOf[task.Batches](datasets.MustParse("profile:"+file), a100, 0)
	if err != nil || in.Tasks.Hash() != tasks.Hash() || len(left) != 3 {
		t.Errorf("%v, %v, %v", in, err, left)
	}
}

func TestKernelsCanBeKept(t *testing.T) {
	runs := mixedRuns()
	runs[2].Started = "2026-11-22T09:30:01Z"
	p := measure.Summarize(a100, runs)
	var w bytes.Buffer
	if err := datasets.WriteHardware(&w, p.Kernels()); err != nil {
		t.Fatal(err)
	}
	h, err := datasets.ReadHardware(fstest.MapFS{"mine.kernels.csv": {Data: w.Bytes()}})
	if err != nil {
		t.Fatal(err)
	}
	from := datasets.Provenance{GPU: "A100", Name: "NVIDIA A100-SXM4-40GB", Driver: "570.1", Source: "mig", Date: "2026-11-22"}
	got := h.Kernels[0].Rows
	if len(got) != 10 || got[5] != (datasets.KernelTime{Provenance: from, Suite: "suite", Kernel: "large", Size: 1, Mean: inf, Runs: 2}) ||
		got[1] != (datasets.KernelTime{Provenance: from, Suite: "suite", Kernel: "whole", Size: 2, Mean: 35, Runs: 1}) {
		t.Errorf("%+v", got)
	}
	if r := got[0]; r.Kernel != "whole" || r.Mean != 72 || math.Abs(float64(r.StdDev)-math.Sqrt(7)) > 1e-12 || r.Runs != 3 {
		t.Errorf("%+v", r)
	}
}

func TestProfileTable(t *testing.T) {
	p := measure.Summarize(a100, []measure.Run{
		ran("lud", 1, 1, 70), ran("lud", 1, 2, 71), ran("lud", 1, 3, 75), ran("lud", 2, 1, 1), ended("bfs", 1, 1, launch.OutOfMemory, ""), ended("bfs", 2, 1, launch.Crash, ""),
	})
	for i := range p.Results[:2] {
		p.Results[i].Time = launch.Wall
	}
	got := p.Table()
	if !slices.ContainsFunc(got.Notes, func(n string) bool { return strings.Contains(n, "times from different sources are not comparable") }) {
		t.Errorf("notes %q", got.Notes)
	}
	want := [][]string{
		{"lud", "wall", "1", "ok", "3", "71.0000", "72.0000", "2.6458", "[65.4276, 78.5724]", "3.67"},
		{"lud", "wall", "2", "ok", "1", "1.0000", "1.0000", "0.0000", "[–, –]", "0.00"},
		{"bfs", "–", "1", "oom", "1", "inf", "–", "–", "–", "–"},
		{"bfs", "–", "2", "crash", "1", "–", "–", "–", "–", "–"},
	}
	if !reflect.DeepEqual(got.Rows, want) {
		t.Errorf("%q", got.Rows)
	}
}
