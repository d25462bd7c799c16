package measure_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"miglab/datasets"
	"miglab/profiling"
	"miglab/profiling/kernel"
	"miglab/profiling/measure"
)

// ground is a GPU on which an iteration takes a second, and which notes what ran.
type ground struct {
	about measure.About
	ran   []string
	// rate changes what a job reports.
	rate func(group string, job int, r *measure.Rate)
	err  error
}

func (g *ground) About() measure.About { return g.about }

func (g *ground) Together(_ context.Context, group measure.Group, window time.Duration) ([]measure.Rate, error) {
	g.ran = append(g.ran, group.String())
	out := make([]measure.Rate, len(group))
	for i, p := range group {
		now := time.Now()
		out[i] = measure.Rate{Status: kernel.OK, UUID: "u", SMs: p.SMs, Iterations: 2, Window: 2 * time.Second, Overlap: 1, From: now, To: now.Add(time.Second)}
		if g.rate != nil {
			g.rate(group.String(), i, &out[i])
		}
	}
	return out, g.err
}

func newGround() *ground {
	return &ground{about: measure.About{
		Provenance: datasets.Provenance{GPU: "H200", Name: "NVIDIA H200", Driver: "570.1", Source: datasets.SourcePartition, Date: "2026-11-22"}, SMs: 132,
	}}
}

var someGroups = []measure.Group{
	{{Kernel: "a", Intensity: 100, SMs: 16}},
	{{Kernel: "a", Intensity: 100, SMs: 16}, {Kernel: "b", Intensity: 50, SMs: 24}},
	{{Kernel: "a", Intensity: 100, SMs: 16}}, // again
	{{Kernel: "b", Intensity: 100, SMs: 24}},
}

// Rounds go back and forth. What is in the file is not measured again, and more repetitions
// add to it.
func TestOverlapGoesOn(t *testing.T) {
	g, file := newGround(), filepath.Join(t.TempDir(), "out", "overlap.csv")
	rows, err := measure.Overlap(t.Context(), g, someGroups, file, measure.OverlapOptions{Repetitions: 2})
	if want := []string{"a:16", "a:16 b@50:24", "b:24", "b:24", "a:16 b@50:24", "a:16"}; err != nil || len(rows) != 8 || !slices.Equal(g.ran, want) {
		t.Errorf("%d rows, %q, %v", len(rows), g.ran, err)
	}
	if r := rows[2]; r.Kernel != "b" || r.Intensity != 50 || r.SMs != 24 || r.Of != 132 || r.Iteration != 1 || r.Job != 2 || r.Throttle != "unknown" {
		t.Errorf("%+v", r)
	}
	g.ran, g.about.Date = nil, "2026-11-23"
	rows, err = measure.Overlap(t.Context(), g, append(someGroups, measure.Group{{"c", 100, 132}}), file, measure.OverlapOptions{Repetitions: 3})
	if want := []string{"c:132", "c:132", "a:16", "a:16 b@50:24", "b:24", "c:132"}; err != nil || len(rows) != 15 || !slices.Equal(g.ran, want) {
		t.Errorf("%d rows, %q, %v", len(rows), g.ran, err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if again, err := datasets.ReadOverlap(f, file); err != nil || !slices.Equal(again, rows) {
		t.Errorf("the file has other rows: %v", err)
	}
	// Rows of another GPU, driver, source or instance are not mixed.
	for want, change := range map[string]func(*ground){
		"measure into another folder":     func(g *ground) { g.about.Driver = "580.1" },
		"rows of 132 multiprocessors":     func(g *ground) { g.about.SMs = 60 },
		"this is source: mps-sm-limit, N": func(g *ground) { g.about.Source = datasets.SourceMPS },
	} {
		other := newGround()
		change(other)
		if _, err := measure.Overlap(t.Context(), other, someGroups, file, measure.OverlapOptions{Repetitions: 9}); err == nil || !strings.Contains(err.Error(), want) || len(other.ran) > 0 {
			t.Errorf("%v, want %q; %q ran", err, want, other.ran)
		}
	}
}

// Rows of another card of the same model are not mixed either.
func TestOverlapOfAnotherCard(t *testing.T) {
	file := filepath.Join(t.TempDir(), "overlap.csv")
	if _, err := measure.Overlap(t.Context(), newGround(), someGroups, file, measure.OverlapOptions{Repetitions: 1}); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other := newGround()
	other.rate = func(_ string, _ int, r *measure.Rate) { r.UUID = "another" }
	_, err = measure.Overlap(t.Context(), other, someGroups, file, measure.OverlapOptions{Repetitions: 2})
	if err == nil || !strings.Contains(err.Error(), "has rows of the GPU u; this is another") {
		t.Errorf("%v", err)
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the file changed, %v", err)
	}
}

// A group of which a job fails, or whose windows do not overlap, has no rows and is not run
// again; the others have.
func TestOverlapFailures(t *testing.T) {
	g, file := newGround(), filepath.Join(t.TempDir(), "overlap.csv")
	g.rate = func(group string, job int, r *measure.Rate) {
		switch {
		case group == "b:24":
			*r = measure.Rate{Status: kernel.OutOfMemory, Detail: "too little\nmemory"}
		case group == "a:16 b@50:24" && job == 1:
			r.Overlap = 0.5
		}
	}
	rows, err := measure.Overlap(t.Context(), g, someGroups, file, measure.OverlapOptions{Repetitions: 2})
	failed, ok := errors.AsType[*measure.FailedError](err)
	if !ok || len(rows) != 2 || len(g.ran) != 4 || len(failed.Failures) != 2 ||
		failed.Failures[0].String() != "b in the group a:16 b@50:24: wrong (the others ran in only 50 % of its window; give a longer window)" ||
		failed.Failures[1].String() != "b in the group b:24: oom (too little memory)" {
		t.Errorf("%d rows, %q, %v", len(rows), g.ran, err)
	}
	// An error of the GPU ends it, with the rows that there are.
	g = newGround()
	g.err = profiling.ErrLost
	if rows, err := measure.Overlap(t.Context(), g, someGroups[3:], file, measure.OverlapOptions{Repetitions: 1}); !errors.Is(err, profiling.ErrLost) || len(rows) != 2 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// The load of a row is that of its window.
func TestOverlapLoad(t *testing.T) {
	g := newGround()
	w := profiling.NewWatch(func() {})
	g.about.Watch = w
	from := time.Now()
	for i := range 4 {
		w.Add(profiling.Sample{At: from.Add(time.Duration(i) * time.Second), SMClock: 1000 * i})
	}
	g.rate = func(_ string, _ int, r *measure.Rate) { r.From, r.To = from.Add(time.Second), from.Add(2*time.Second) }
	rows, err := measure.Overlap(t.Context(), g, someGroups[:1], filepath.Join(t.TempDir(), "overlap.csv"), measure.OverlapOptions{Repetitions: 1})
	if err != nil || rows[0].Samples != 2 || rows[0].ClockMin != 1000 || rows[0].ClockMax != 2000 {
		t.Errorf("%+v, %v", rows, err)
	}
}

// What is measured: each job of a group also alone, with as many multiprocessors and with all.
func TestGroups(t *testing.T) {
	text := func(groups []measure.Group) string {
		var out []string
		for _, g := range groups {
			out = append(out, g.String())
		}
		return strings.Join(out, ", ")
	}
	names := []string{"a", "b", "c"}
	for _, c := range []struct {
		want string
		got  []measure.Group
	}{
		{"a:8, b:8, c:8, a:132, b:132, c:132", measure.Scaling(names, []int{8, 132})},
		{"a:8 a:16, a:8 b:16, a:8 c:16, b:8 b:16, b:8 c:16, c:8 c:16", measure.Combine(names, [][]int{{8, 16}}, 0, 1)},
		{"a:all b:all c:all", measure.Combine(names, [][]int{{0, 0, 0}}, 5, 1)},
		{"a:8 b@25:16, a:8 b:16", measure.Against(names[:1], "b", []int{25, 100}, [][]int{{8, 16}})},
		{"a:8, a:132, b:16, b:132, a:8 b@25:16", measure.AloneToo(measure.Against(names[:1], "b", []int{25}, [][]int{{8, 16}}), 132)},
		{"a:all, a:132, b:all, b:132, a:all a:all, a:all b:all, b:all b:all", measure.AloneToo(measure.Combine(names[:2], [][]int{{0, 0}}, 0, 1), 132)},
	} {
		if text(c.got) != c.want {
			t.Errorf("%s, want %s", text(c.got), c.want)
		}
	}
	if pairs := measure.Combine(strings.Fields("a b c d e f g h i j"), [][]int{{8, 16}}, 0, 1); len(pairs) != 55 {
		t.Errorf("%d pairs of ten kernels, want 55", len(pairs))
	}
	some := measure.Combine(names, [][]int{{8, 16}, {16, 8}}, 4, 1)
	if len(some) != 4 || text(some) != text(measure.Combine(names, [][]int{{8, 16}, {16, 8}}, 4, 1)) || text(some) == text(measure.Combine(names, [][]int{{8, 16}, {16, 8}}, 4, 2)) {
		t.Errorf("a draw of four: %s", text(some))
	}
}

// A job that runs half of the time takes twice as long for an iteration, of which half is rest.
func TestOverlapTableLeavesOutRests(t *testing.T) {
	alone := datasets.OverlapRate{Group: "b:16", Job: 1, Kernel: "b", Intensity: 100, SMs: 16, Of: 132, Run: 1, Iteration: 0.001}
	other := datasets.OverlapRate{Group: "a:8 b@50:16", Job: 1, Kernel: "a", Intensity: 100, SMs: 8, Of: 132, Run: 1, Iteration: 0.001}
	half := datasets.OverlapRate{Group: other.Group, Job: 2, Kernel: "b", Intensity: 50, SMs: 16, Of: 132, Run: 1, Iteration: 0.003}
	table := measure.OverlapTable([]datasets.OverlapRate{alone, other, half})
	if got := table.Rows[2][5]; got != "1.50" { // 3 ms, of which 1.5 ms are work, over 1 ms
		t.Errorf("b at half its intensity takes %s of its time alone, want 1.50", got)
	}
}
