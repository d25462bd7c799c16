package measure_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/kernel"
	"miglab/profiling/measure"
)

// share is an instance that knows its percentage.
func share(percent float64) profiling.Instance {
	return profiling.Instance{UUID: fmt.Sprint(percent)}
}

// inverse takes 12 s on the whole GPU and as much longer as the share is smaller; the
// kernel half reports half of it, as one would that times itself.
var inverse = launch(func(ctx context.Context, k *kernel.Kernel, on profiling.Instance) (kernel.Outcome, error) {
	var percent mig.Seconds
	fmt.Sscan(on.UUID, &percent)
	out, err := lasting(ctx, 1200/percent)
	if k.Name == "half" {
		out.Seconds /= 2
	}
	return out, err
})

func TestCorun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ks := kernels(1, "whole", "half")
		mixes := []measure.Mix{
			{{&ks[0], 60}, {&ks[1], 40}},
			{{&ks[1], 12.5}, {&ks[0], 25}, {&ks[0], 50}, {&ks[1], 100}},
			{{&ks[0], 50}},
			{{&ks[0], 60}, {&ks[1], 40}},
		}
		var progress []int
		rows, err := corun(t.Context(), t, share, ks, mixes, measure.Bench{
			Repetitions: 3, Launcher: inverse, Progress: func(done, all int) { progress = append(progress, all-done) },
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range rows {
			got = append(got, fmt.Sprint(r.Mix, ",", r.Job, ",", r.Kernel, ",", r.Percent, ",", r.Runs, ",", r.Seconds, ",", r.Wall, ",", r.Total))
			if r.Source != "mps-sm-limit" || r.Date != "2000-01-01" {
				t.Errorf("%+v", r)
			}
		}
		if want := []string{
			"half:100,1,half,100,3,6,12,12",
			"whole:100,1,whole,100,3,12,12,12",
			"whole:50,1,whole,50,3,24,24,24",
			"whole:60 half:40,1,whole,60,3,20,20,30",
			"whole:60 half:40,2,half,40,3,15,30,30",
			"half:12.5 whole:25 whole:50 half:100,1,half,12.5,3,48,96,96",
			"half:12.5 whole:25 whole:50 half:100,2,whole,25,3,48,48,96",
			"half:12.5 whole:25 whole:50 half:100,3,whole,50,3,24,24,96",
			"half:12.5 whole:25 whole:50 half:100,4,half,100,3,6,12,96",
		}; !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
		if len(progress) != 1+3*5 || progress[15] != 0 {
			t.Errorf("progress %v", progress)
		}
		table := measure.CorunTable(rows)
		if want := "Mixes under MPS against their jobs one by one; NVIDIA A30 (fake), source: mps-sm-limit"; table.Title != want {
			t.Errorf("title %q, want %q", table.Title, want)
		}
		var w strings.Builder
		if err := table.Encode(&w, "csv"); err != nil {
			t.Fatal(err)
		}
		want := `mix,total [s],one by one [s],relative throughput,slowdown of each job
whole:60 half:40,30.000,24.000,0.80,1.67 2.50
half:12.5 whole:25 whole:50 half:100,96.000,48.000,0.50,8.00 4.00 2.00 1.00
`
		if w.String() != want {
			t.Errorf("got\n%s", w.String())
		}
	})
}

// The jobs of a mix start at the same instant, and the mixes take turns, to and fro.
func TestCorunOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var starts []string
		at := map[time.Time][]string{}
		l := launch(func(ctx context.Context, k *kernel.Kernel, on profiling.Instance) (kernel.Outcome, error) {
			out, err := inverse(ctx, k, on)
			return out, err
		})
		ks := kernels(1, "a", "b")
		noted := func(percent float64) profiling.Instance {
			at[time.Now()] = append(at[time.Now()], fmt.Sprint(percent))
			if jobs := at[time.Now()]; len(jobs) == 1 {
				starts = append(starts, jobs[0])
			}
			return share(percent)
		}
		if _, err := corun(t.Context(), t, noted, ks, []measure.Mix{{{&ks[0], 60}, {&ks[1], 40}}}, measure.Bench{Repetitions: 2, Launcher: l}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(starts, " "); got != "100 100 60 60 100 100" || len(at) != 6 {
			t.Errorf("%s: %v", got, at)
		}
	})
}

func TestCorunLeavesOutWhatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		l := launch(func(ctx context.Context, k *kernel.Kernel, on profiling.Instance) (kernel.Outcome, error) {
			out, err := inverse(ctx, k, on)
			if k.Name == "bad" && on.UUID != "100" {
				if runs++; runs == 2 { // the mix is left out with its good run
					out.Status, out.Detail, out.Seconds = kernel.OutOfMemory, "out of memory", inf
				}
			}
			return out, err
		})
		ks := kernels(0, "good", "bad")
		rows, err := corun(t.Context(), t, share, ks, []measure.Mix{{{&ks[0], 60}, {&ks[1], 40}}, {{&ks[0], 50}, {&ks[0], 50}}}, measure.Bench{Launcher: l})
		failed, ok := errors.AsType[*measure.FailedError](err)
		if !ok || !slices.Equal(failed.Failures, []measure.Failure{{"bad", "at 40 % in the mix good:60 bad:40", kernel.OutOfMemory, "out of memory"}}) || runs != 2 {
			t.Errorf("%v, %d runs", err, runs)
		}
		if len(rows) != 4 || rows[0].Runs != measure.Repetitions || rows[2].Mix != "good:50 good:50" {
			t.Errorf("%+v", rows)
		}
	})
}

// Without a number that is asked for, a kernel alone runs as often as its manifest says,
// and a mix as often as the most of its kernels.
func TestCorunRepeatsAsTheManifestSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ks := append(kernels(2, "a"), kernels(5, "b")...)
		ks = append(ks, kernels(0, "c")...)
		mixes := []measure.Mix{{{&ks[0], 50}, {&ks[1], 50}}, {{&ks[0], 50}, {&ks[2], 50}}, {{&ks[0], 50}}}
		var progress []int
		rows, err := corun(t.Context(), t, share, ks, mixes, measure.Bench{
			Launcher: inverse, Progress: func(done, all int) { progress = append(progress, all-done) },
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range rows {
			got = append(got, fmt.Sprintf("%s %d", r.Mix, r.Runs))
		}
		want := []string{"a:100 2", "a:50 2", "b:100 5", "c:100 10", "a:50 b:50 5", "a:50 b:50 5", "a:50 c:50 10", "a:50 c:50 10"}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if len(progress) != 35 || progress[34] != 0 {
			t.Errorf("progress %v", progress)
		}
	})
}

func TestCorunWarmsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log []string
		l := launch(func(ctx context.Context, k *kernel.Kernel, on profiling.Instance) (kernel.Outcome, error) {
			log = append(log, k.Name+"@"+on.UUID)
			return lasting(ctx, 1)
		})
		ks := kernels(2, "a", "b")
		ks[1].Warmup = 1500 * time.Millisecond
		rows, err := corun(t.Context(), t, share, ks, []measure.Mix{{{&ks[1], 50}}, {{&ks[0], 50}}}, measure.Bench{Launcher: l})
		if err != nil || rows[0].Runs != 2 {
			t.Errorf("%+v, %v", rows, err)
		}
		// b runs twice to warm up before it is measured, and a does not want to.
		if want := "b@100 b@100 b@100 a@100 b@50 a@50 a@50 b@50 a@100 b@100"; strings.Join(log, " ") != want {
			t.Errorf("ran %v, want %s", log, want)
		}
	})
}

// What fails alone takes its mixes along, so that rows are always a table of
// datasets/hardware; what does not fit is not tried.
func TestCorunLeavesOutMixesOfWhatFailsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		runs := map[string]int{}
		l := launch(func(ctx context.Context, k *kernel.Kernel, on profiling.Instance) (kernel.Outcome, error) {
			mu.Lock()
			runs[k.Name]++
			tired := k.Name == "tired" && on.UUID == "100" && runs[k.Name] > 3
			mu.Unlock()
			out, err := lasting(ctx, 1)
			if k.Name == "cold" || tired {
				out.Status, out.Detail, out.Seconds = kernel.Crash, "exit status 1", inf
			}
			return out, err
		})
		ks := kernels(5, "good", "cold", "tired", "big", "huge")
		ks[1].Warmup, ks[3].MinMemoryMB, ks[4].MinMemoryMB = 1, 25721, 25770 // 24 GiB are 25769.8 MB
		ks[0].MinMemoryMB = 48
		var mixes []measure.Mix
		for i := range ks[1:] {
			mixes = append(mixes, measure.Mix{{&ks[0], 40}, {&ks[i+1], 60}})
		}
		mixes = append(mixes, measure.Mix{{&ks[3], 40}, {&ks[3], 60}})
		last := 0
		rows, err := corun(t.Context(), t, share, ks, mixes, measure.Bench{Launcher: l, Progress: func(done, all int) { last = all - done }})
		failed, ok := errors.AsType[*measure.FailedError](err)
		want := []measure.Failure{
			{"cold", "at 100 % in the mix cold:100", kernel.Crash, "warming up: exit status 1"},
			{"huge", "at 100 % in the mix huge:100", kernel.OutOfMemory, "not tried: the mix needs 25770 MB, and the GPU has 25769 MB"},
			{"big", "at 40 % in the mix big:40 big:60", kernel.OutOfMemory, "not tried: the mix needs 51442 MB, and the GPU has 25769 MB"},
			{"tired", "at 100 % in the mix tired:100", kernel.Crash, "exit status 1"},
		}
		if !ok || !slices.Equal(failed.Failures, want) {
			t.Errorf("%v", err)
		}
		if runs["cold"] != 1 || runs["huge"] != 0 || last != 0 {
			t.Errorf("runs %v, %d left", runs, last)
		}
		var got []string
		for _, r := range rows {
			got = append(got, r.Mix)
		}
		if want := []string{"big:100", "good:100", "good:40 big:60", "good:40 big:60"}; !slices.Equal(got, want) {
			t.Errorf("rows of %q, want %q", got, want)
		}
	})
}
