package measure_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"miglab/datasets"
	"miglab/profiling"
	"miglab/profiling/devicetest"
	"miglab/profiling/launch"
	"miglab/profiling/measure"
)

// ground is a GPU on which an iteration takes a second, and which notes what ran.
type ground struct {
	sms int
	ran []string
	// rate changes what a job reports.
	rate func(group string, job int, r *measure.Window)
	err  error
}

func (g *ground) Multiprocessors() int { return cmp.Or(g.sms, 132) }

func (g *ground) Together(_ context.Context, group measure.Group, window time.Duration) ([]measure.Window, error) {
	g.ran = append(g.ran, group.String())
	out := make([]measure.Window, len(group))
	for i, p := range group {
		now := time.Now()
		out[i] = measure.Window{
			Status: launch.OK, SMs: p.SMs, Iterations: 2, Begin: now, Finish: now.Add(2 * time.Second), Overlap: 1,
		}
		if g.rate != nil {
			g.rate(group.String(), i, &out[i])
		}
	}
	return out, g.err
}

// overlap measures groups on a device into a folder, and returns the rows that the folder then has.
func overlap(t *testing.T, d *devicetest.GPU, g *ground, groups []measure.Group, dir string, repetitions int) ([]datasets.OverlapRate, error) {
	t.Helper()
	b := measure.Bench{Dir: dir, Session: ofItsOwn(t, d), Repetitions: repetitions}
	_, err := measure.Measure(t.Context(), &b, func(_ context.Context, b *measure.Bench) (*measure.Plan[datasets.OverlapRate], error) {
		return measure.Overlap(b, g, groups)
	}, nil)
	return first(hardware(t, dir, "overlap").Overlap), errors.Join(err, b.Session.Close())
}

var someGroups = []measure.Group{
	{{Kernel: "a", SMs: 16}},
	{{Kernel: "a", SMs: 16}, {Kernel: "b", SMs: 24}},
	{{Kernel: "a", SMs: 16}}, // again
	{{Kernel: "b", SMs: 24}},
}

// Rounds go back and forth. What the folder has is not measured again, and more repetitions add to it.
func TestOverlapGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, dir, d := &ground{}, t.TempDir(), devicetest.New(a30)
		rows, err := overlap(t, d, g, someGroups, dir, 2)
		if want := []string{"a:16", "a:16 b:24", "b:24", "b:24", "a:16 b:24", "a:16"}; err != nil || len(rows) != 8 || !slices.Equal(g.ran, want) {
			t.Errorf("%d rows, %q, %v", len(rows), g.ran, err)
		}
		if r := rows[5]; r.Kernel != "b" || r.SMs != 24 || r.Of != 132 || r.Iteration != 1 || r.Job != 2 || r.Run != 1 || r.Date != "2000-01-01" {
			t.Errorf("%+v", r)
		}
		time.Sleep(24 * time.Hour)
		g.ran = nil
		rows, err = overlap(t, d, g, append(someGroups, measure.Group{{"c", 132}}), dir, 3)
		if want := []string{"c:132", "c:132", "a:16", "a:16 b:24", "b:24", "c:132"}; err != nil || len(rows) != 15 || !slices.Equal(g.ran, want) {
			t.Errorf("%d rows, %q, %v", len(rows), g.ran, err)
		}
		if rows[0].Date != "2000-01-01" || rows[2].Run != 3 || rows[2].Date != "2000-01-02" {
			t.Errorf("%+v, %+v", rows[0], rows[2])
		}
		// Rows of a part of the GPU with other multiprocessors are not mixed.
		if _, err := overlap(t, d, &ground{sms: 60}, someGroups, dir, 9); err == nil ||
			!strings.Contains(err.Error(), "has runs of 132 multiprocessors; this is 60 multiprocessors: measure into another folder") {
			t.Errorf("%v", err)
		}
	})
}

// Rates after another warm-up or of smaller inputs are not taken for those that are asked for.
func TestOverlapRefusesRatesOfOtherOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		measureWith := func(warmUp time.Duration, small bool) error {
			b := measure.Bench{Dir: dir, Partitions: &measure.Partitions{Watch: &profiling.Watch{}, WarmUp: warmUp, Small: small}}
			_, err := measure.Measure(t.Context(), &b, func(_ context.Context, b *measure.Bench) (*measure.Plan[datasets.OverlapRate], error) {
				return measure.Overlap(b, &ground{}, someGroups)
			}, nil)
			return err
		}
		if err := errors.Join(measureWith(100*time.Millisecond, false), measureWith(100*time.Millisecond, false)); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{measureWith(time.Second, false), measureWith(100*time.Millisecond, true)} {
			if err == nil || !strings.Contains(err.Error(), "measure into another folder (--out)") {
				t.Errorf("%v", err)
			}
		}
	})
}

// A group of which a job fails, or whose windows do not overlap, has no rows of that run and
// is not run again. The next call tries it again.
func TestOverlapFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, dir, d := &ground{}, t.TempDir(), devicetest.New(a30)
		g.rate = func(group string, job int, r *measure.Window) {
			switch {
			case group == "b:24":
				r.Status, r.Detail = launch.OutOfMemory, "too little\nmemory"
			case group == "a:16 b:24" && job == 1:
				r.Overlap = 0.5
			}
		}
		rows, err := overlap(t, d, g, someGroups, dir, 2)
		failed, ok := errors.AsType[*measure.FailedError](err)
		if !ok || len(rows) != 2 || len(g.ran) != 4 || len(failed.Failures) != 2 ||
			failed.Failures[0].String() != "b in the group a:16 b:24: wrong (the others ran in only 50 % of its window; give a longer window)" ||
			failed.Failures[1].String() != "b in the group b:24: oom (too little memory)" {
			t.Errorf("%d rows, %q, %v", len(rows), g.ran, err)
		}
		// An error of the GPU ends it, with the rows that there are.
		lost := &ground{err: profiling.ErrLost}
		if rows, err := overlap(t, d, lost, someGroups, dir, 1); !errors.Is(err, profiling.ErrLost) || len(rows) != 2 {
			t.Errorf("%d rows, %v", len(rows), err)
		}
		g.ran, g.rate = nil, nil
		if rows, err := overlap(t, d, g, someGroups, dir, 2); err != nil || len(rows) != 8 || len(g.ran) != 4 {
			t.Errorf("%d rows, %q, %v", len(rows), g.ran, err)
		}
		// The rows of runs that went well stay.
		g.rate = func(_ string, _ int, r *measure.Window) { r.Status = launch.Crash }
		if rows, err := overlap(t, d, g, someGroups, dir, 3); err == nil || len(rows) != 8 {
			t.Errorf("%d rows, %v", len(rows), err)
		}
	})
}

// The load of a row is that of its window: ten samples in the second of the window, and not the thirty of the run.
func TestOverlapLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &ground{rate: func(_ string, _ int, r *measure.Window) {
			time.Sleep(time.Second)
			r.Begin = time.Now()
			time.Sleep(time.Second)
			r.Finish = time.Now()
			time.Sleep(time.Second)
		}}
		rows, err := overlap(t, devicetest.New(a30), g, someGroups[:1], t.TempDir(), 1)
		if err != nil || rows[0].Samples < 9 || rows[0].Samples > 11 || rows[0].Throttle == "unknown" {
			t.Errorf("%+v, %v", rows, err)
		}
	})
}

// A window overlaps as long as all jobs run: from 3 to 11 of the window from 2 to 12.
func TestShareOfAWindow(t *testing.T) {
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	for want, group := range map[[2]float64][]measure.Window{
		{0.8, 1}: {{Begin: at(2), Finish: at(12), Stopped: at(20)}, {Started: at(3), Begin: at(3), Finish: at(10), Stopped: at(11)}},
		{0, 0}:   {{Started: at(2), Begin: at(2), Finish: at(4), Stopped: at(4)}, {Started: at(5), Begin: at(5), Finish: at(6), Stopped: at(6)}},
	} {
		measure.SetOverlaps(group)
		if got := [2]float64{group[0].Overlap, group[1].Overlap}; got != want {
			t.Errorf("%v, want %v", got, want)
		}
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
		{"a:8 a:16, a:8 b:16, a:8 c:16, b:8 b:16, b:8 c:16, c:8 c:16", measure.Combine(names, [][]int{{8, 16}}, 0)},
		{"a:all b:all c:all", measure.Combine(names, [][]int{{0, 0, 0}}, 5)},
		{"a:all, a:132, b:all, b:132, a:all a:all, a:all b:all, b:all b:all", measure.AloneToo(measure.Combine(names[:2], [][]int{{0, 0}}, 0), 132)},
	} {
		if text(c.got) != c.want {
			t.Errorf("%s, want %s", text(c.got), c.want)
		}
	}
	if pairs := measure.Combine(strings.Fields("a b c d e f g h i j"), [][]int{{8, 16}}, 0); len(pairs) != 55 {
		t.Errorf("%d pairs of ten kernels, want 55", len(pairs))
	}
	some := measure.Combine(names, [][]int{{8, 16}, {16, 8}}, 4)
	if len(some) != 4 || text(some) != text(measure.Combine(names, [][]int{{8, 16}, {16, 8}}, 4)) || text(some) == text(measure.Combine(names, [][]int{{8, 16}, {16, 8}}, 0)[:4]) {
		t.Errorf("a draw of four: %s", text(some))
	}
}
