package measure_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/devicetest"
	"miglab/profiling/launch"
	"miglab/profiling/measure"
)

// The whole file, in virtual time from midnight on: which follows from the times of the
// kernels and of creating (0.11, 0.12, 0.13 s) and destroying (0.10 s) on A30.
func TestSweepRecordsEveryRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := devicetest.New(a30)
		l := &devicetest.Launcher{GPUs: []*devicetest.GPU{g}, Times: map[string]map[mig.Slices]mig.Seconds{
			"lud": seconds(a30, 4, 2, 1), "bfs": seconds(a30, inf, 30, 20.5),
		}}
		instances := map[int]string{} // an instance at the same place has the same UUID again
		for _, size := range a30.Sizes() {
			i, err := g.Create(mig.Instance{Profile: a30.Profile(size)})
			if err == nil {
				err = g.Destroy(i.ID)
			}
			if err != nil {
				t.Fatal(err)
			}
			instances[int(size)] = i.UUID
		}
		time.Sleep(time.Until(time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC)))
		dir := t.TempDir()
		_, err := sweep(t.Context(), t, open(t, g), kernels(2, "lud", "bfs"), dir, measure.Bench{Launcher: l})
		if err != nil {
			t.Fatal(err)
		}
		const header = "gpu,gpu_name,gpu_uuid,driver,source,mode,instance,suite,kernel,size_class,time_source,size,sms,repetition,status,seconds,started," +
			"samples,sm_clock_min_mhz,sm_clock_mean_mhz,sm_clock_max_mhz,power_mean_w,power_max_w,temperature_max_c,throttle," +
			"other_processes,result,detail\n"
		// The GPU is fast while a kernel runs, and slow before and after it.
		row := func(name string, size, sms, repetition int, rest string) string {
			var seconds float64
			fmt.Sscanf(rest, "ok,%g,", &seconds)
			conditions := fmt.Sprintf("%d,1410,1410,1410,250,250,60,power-cap,0,,", int(10*seconds))
			if strings.HasPrefix(rest, "oom") {
				conditions = "0,0,0,0,0,0,0,unknown,0,,out of memory"
			}
			return fmt.Sprintf("A30,NVIDIA A30 (fake),%s,0.0 (fake),mig,created,%s,suite,%s,small,,%d,%d,%d,%s,%s\n", uuid(t, g), instances[size], name, size, sms, repetition, rest, conditions)
		}
		want := []string{
			row("lud", 1, 14, 1, "ok,4,2000-01-02T00:00:00Z"),     // made at 0.11 s
			row("bfs", 1, 14, 1, "oom,+Inf,2000-01-02T00:00:04Z"), // at 4.11, gone 4.21, made 4.34
			row("lud", 4, 56, 1, "ok,1,2000-01-02T00:00:04Z"),     // to 5.34
			row("bfs", 4, 56, 1, "ok,20.5,2000-01-02T00:00:05Z"),  // to 25.84, 25.94, 26.06
			row("lud", 2, 28, 1, "ok,2,2000-01-02T00:00:26Z"),     // to 28.06
			row("bfs", 2, 28, 1, "ok,30,2000-01-02T00:00:28Z"),    // to 58.06, 58.16, 58.28
			row("bfs", 2, 28, 2, "ok,30,2000-01-02T00:00:58Z"),    // to 88.28
			row("lud", 2, 28, 2, "ok,2,2000-01-02T00:01:28Z"),     // to 90.28, 90.38, 90.51
			row("bfs", 4, 56, 2, "ok,20.5,2000-01-02T00:01:30Z"),  // to 111.01
			row("lud", 4, 56, 2, "ok,1,2000-01-02T00:01:51Z"),     // to 112.01, 112.11, 112.22
			row("lud", 1, 14, 2, "ok,4,2000-01-02T00:01:52Z"),
		}
		got := slices.Collect(strings.Lines(read(t, dir)))
		slices.Sort(want) // by kernel, size and repetition
		sorted := slices.Sorted(slices.Values(got[1:]))
		if got[0] != header || !slices.Equal(sorted, want) {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if text := places(t, dir); text != "1:bfs@1 1:bfs@2 2:bfs@2 1:bfs@4 2:bfs@4 1:lud@1 2:lud@1 1:lud@2 2:lud@2 1:lud@4 2:lud@4" {
			t.Errorf("the order is %s", text)
		}
	})
}

func TestSweepTakesEverySizeOnceARoundOnOneInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made []string
		g := devicetest.New(a100, devicetest.Watch(func(s devicetest.Stage, in mig.Instance) {
			if s == devicetest.Created {
				made = append(made, in.String())
			}
		}))
		_, err := sweep(t.Context(), t, open(t, g), kernels(0, "a", "b"), t.TempDir(), measure.Bench{Launcher: aSecond})
		if err != nil {
			t.Fatal(err)
		}
		if len(made) != measure.Repetitions*5 {
			t.Fatalf("%d instances", len(made))
		}
		orders := map[string]bool{}
		for round := range slices.Chunk(made, 5) {
			sorted := slices.Sorted(slices.Values(round))
			if want := "[1@0 2@0 3@0 4@0 7@0]"; fmt.Sprint(sorted) != want {
				t.Errorf("a round made %v", round)
			}
			orders[fmt.Sprint(round)] = true
		}
		if len(orders) < 6 {
			t.Errorf("10 rounds had %d orders: %v", len(orders), orders)
		}
		for pair := range slices.Chunk(made, 10) {
			back := slices.Clone(pair[5:])
			slices.Reverse(back)
			if !slices.Equal(pair[:5], back) {
				t.Errorf("the second round is not the first backwards: %v", pair)
			}
		}
	})
}

// A GPU that gets 0.05 % slower every second: 10 minutes of measuring take the times
// up by a third, and their ratios stay.
func TestSweepResistsDrift(t *testing.T) {
	times := map[string]map[mig.Slices]mig.Seconds{"a": seconds(a100, 8, 5, 3, 2, 1), "b": seconds(a100, 3, 3, 3, 3, 3)}
	sweep := func(perSecond float64) *measure.Profile {
		var p *measure.Profile
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			l := launchFunc(func(ctx context.Context, k *launch.Kernel, on profiling.Instance) (launch.Outcome, error) {
				return lasting(ctx, times[k.Name][on.Size()]*mig.Seconds(1+perSecond*time.Since(begin).Seconds()))
			})
			var err error
			p, err = sweep(t.Context(), t, open(t, devicetest.New(a100)), kernels(10, "a", "b"), t.TempDir(), measure.Bench{Launcher: l})
			if err != nil {
				t.Fatal(err)
			}
		})
		return p
	}
	steady, drifting := sweep(0), sweep(0.0005)
	grown := drifting.Runs[9] // the tenth of a on a slice
	if now := float64(grown.Seconds / times[grown.Kernel][grown.Size]); now < 1.15 {
		t.Fatalf("the drift is only %v", now)
	}
	for i, r := range drifting.Results {
		whole := drifting.Results[4+i/5*5]
		got := float64(r.Seconds() / whole.Seconds())
		want := float64(steady.Results[i].Seconds() / steady.Results[4+i/5*5].Seconds())
		if got < 0.995*want || got > 1.005*want {
			t.Errorf("%s on %d: ratio %v, without drift %v", r.Kernel, r.Size, got, want)
		}
	}
}

func TestSweepWarmsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log []string
		l := launchFunc(func(ctx context.Context, k *launch.Kernel, on profiling.Instance) (launch.Outcome, error) {
			log = append(log, fmt.Sprintf("%s@%d", k.Name, on.Size()))
			return lasting(ctx, 1)
		})
		ks := kernels(3, "a", "b", "c")
		ks[0].Warmup = 2500 * time.Millisecond
		ks[1].Warmup = time.Nanosecond
		if _, err := sweep(t.Context(), t, open(t, devicetest.New(a30)), ks, t.TempDir(), measure.Bench{Launcher: l}); err != nil {
			t.Fatal(err)
		}
		var on2 []string
		for _, r := range log {
			if name, ok := strings.CutSuffix(r, "@2"); ok {
				on2 = append(on2, name)
			}
		}
		// a has three warm-ups first, b one; in later rounds it is the first on the new
		// instance that has them: c, which wants none, in the second, a in the third.
		if got, want := strings.Join(on2, ""), "aaaa"+"bb"+"c"+"c"+"b"+"a"+"aaaa"+"b"+"c"; got != want {
			t.Errorf("ran %s, want %s", got, want)
		}
	})
}

func TestSweepKeepsGoingWhenKernelsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := devicetest.New(a30)
		ks := kernels(3, "good", "oom", "crash", "hang", "wrong", "big", "cold", "absurd")
		ks[3].Timeout = 5 * time.Second
		ks[5].MinMemoryMB = 6001
		ks[6].Warmup = 1
		fake := &devicetest.Launcher{
			GPUs:  []*devicetest.GPU{g},
			Times: map[string]map[mig.Slices]mig.Seconds{"good": seconds(a30, 4, 2, 1), "oom": seconds(a30, inf, inf, 7), "hang": seconds(a30, 1e6, 1e6, 1e6), "big": seconds(a30, 1, 1, 1)},
		}
		runs := map[string]int{}
		l := launchFunc(func(ctx context.Context, k *launch.Kernel, on profiling.Instance) (launch.Outcome, error) {
			at := fmt.Sprintf("%s@%d", k.Name, on.Size())
			runs[at]++
			switch {
			case k.Name == "wrong" && on.Size() == 2 && runs[at] == 2:
				return launch.Outcome{Status: launch.Wrong, Seconds: inf, Start: time.Now(), Detail: "nothing\nmatches \"x, y\""}, nil
			case k.Name == "cold" && on.Size() == 4:
				return launch.Outcome{Status: launch.Crash, Seconds: inf, Start: time.Now(), Detail: "cold"}, nil
			case k.Name == "crash":
				return launch.Outcome{Status: launch.Crash, Seconds: inf, Start: time.Now(), Detail: "exit status 139"}, nil
			case k.Name == "absurd":
				return lasting(ctx, 1e13)
			case k.Name == "wrong" || k.Name == "cold":
				return lasting(ctx, 1)
			}
			return fake.Launch(ctx, k, on)
		})
		dir := t.TempDir()
		var progress []string
		o := measure.Bench{Launcher: l, Progress: func(done, all int) { progress = append(progress, fmt.Sprintf("%d/%d", done, all)) }}
		p, err := sweep(t.Context(), t, open(t, g), ks, dir, o)
		failed, ok := errors.AsType[*measure.FailedError](err)
		if !ok {
			t.Fatal(err)
		}
		var said []string
		for _, f := range failed.Failures {
			said = append(said, f.String())
		}
		slices.Sort(said)
		want := []string{
			"absurd on 1 slice: wrong (1e+13 s is not a time)",
			"absurd on 2 slices: wrong (1e+13 s is not a time)",
			"absurd on 4 slices: wrong (1e+13 s is not a time)",
			"cold on 4 slices: crash (warming up: cold)",
			"crash on 1 slice: crash (exit status 139)",
			"crash on 2 slices: crash (exit status 139)",
			"crash on 4 slices: crash (exit status 139)",
			"hang on 1 slice: timeout (killed after 5s)",
			"hang on 2 slices: timeout (killed after 5s)",
			"hang on 4 slices: timeout (killed after 5s)",
			`wrong on 2 slices: wrong (nothing matches "x, y")`,
		}
		if !slices.Equal(said, want) {
			t.Errorf("failures %q", said)
		}
		if !strings.Contains(err.Error(), `wrong on 2 slices: wrong (nothing matches "x, y")`) || !strings.Contains(err.Error(), "the same command runs them again") {
			t.Errorf("%v", err)
		}
		for at, want := range map[string]int{
			"good@1": 3, "good@2": 3, "good@4": 3, "oom@1": 1, "oom@2": 1, "oom@4": 3, "crash@1": 1, "hang@2": 1, "wrong@1": 3, "wrong@2": 2,
			"big@1": 0, "big@2": 3, "big@4": 3, "cold@1": 5, "cold@4": 1, "absurd@1": 1,
		} {
			if runs[at] != want {
				t.Errorf("%s ran %d times, want %d", at, runs[at], want)
			}
		}
		i := slices.IndexFunc(p.Runs, func(r measure.Run) bool { return r.Kernel == "big" && r.Size == 1 })
		if r := p.Runs[i]; r.Status != launch.OutOfMemory || r.Seconds != inf || r.Started != "" || r.Detail != "not tried: it needs 6001 MB, and 1g.6gb has 6000 MB" {
			t.Errorf("%+v", r)
		}
		if progress[0] != "0/72" || progress[len(progress)-1] != "72/72" {
			t.Errorf("progress %v", progress)
		}
		// What failed is tried again, and nothing else.
		clear(runs)
		if _, err := sweep(t.Context(), t, open(t, g), ks, dir, o); err == nil || runs["good@1"] > 0 || runs["oom@1"] > 0 || runs["crash@1"] != 1 || runs["wrong@2"] != 2 {
			t.Errorf("again: %v, ran %v", err, runs)
		}
	})
}

func TestSweepStopsWhenTheGPUIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := devicetest.New(a30)
		s := open(t, g)
		fake := &devicetest.Launcher{GPUs: []*devicetest.GPU{g}, Times: map[string]map[mig.Slices]mig.Seconds{"a": seconds(a30, 4, 2, 1), "b": seconds(a30, 4, 2, 1)}}
		n := 0
		l := launchFunc(func(ctx context.Context, k *launch.Kernel, on profiling.Instance) (launch.Outcome, error) {
			if n++; n == 4 {
				time.AfterFunc(100*time.Millisecond, g.Lose)
			}
			return fake.Launch(ctx, k, on)
		})
		dir := t.TempDir()
		ks := kernels(2, "a", "b")
		p, err := sweep(t.Context(), t, s, ks, dir, measure.Bench{Launcher: l})
		if !errors.Is(err, profiling.ErrLost) {
			t.Fatal(err)
		}
		// What the GPU did to the fourth run is not the kernel's fault.
		if len(p.Runs) != 3 || n != 4 {
			t.Errorf("%d launches, %s", n, places(t, dir))
		}
		g.Reset()
		if p, err = sweep(t.Context(), t, open(t, devicetest.New(a30)), ks, dir, measure.Bench{Launcher: aSecond}); err != nil || len(p.Runs) != 12 {
			t.Errorf("after the reset: %d runs, %v", len(p.Runs), err)
		}
	})
}

func TestSweepStopsWhenItCannotMakeAnInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := devicetest.New(a30)
		g.FailCreate(1, profiling.ErrInsufficient)
		p, err := sweep(t.Context(), t, open(t, g), kernels(2, "a"), t.TempDir(), measure.Bench{Launcher: aSecond})
		if !errors.Is(err, profiling.ErrInsufficient) || len(p.Runs) != 1 {
			t.Errorf("%d runs, %v", len(p.Runs), err)
		}
	})
}

func TestSweepRefusesKernels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for want, ks := range map[string][]launch.Kernel{
			`kernels.yaml:2: kernel "a" is described twice; names must differ`:            kernels(1, "a", "a"),
			`kernels.yaml:1: kernel "a": "of  two" has line breaks or superfluous spaces`: {{Name: "a", Suite: "of  two", File: "kernels.yaml", Line: 1}},
			`there are no kernels to measure`:                                             nil,
		} {
			if _, err := sweep(t.Context(), t, open(t, devicetest.New(a30)), ks, t.TempDir(), measure.Bench{Launcher: aSecond}); err == nil || err.Error() != want {
				t.Errorf("%v\nwant %s", err, want)
			}
		}
	})
}

// What may change between two sweeps into one folder: the choice of kernels, and how often.
func TestSweepAddsToAFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := open(t, devicetest.New(a30))
		for _, c := range []struct {
			kernels []string
			o       measure.Bench
			runs    int
		}{
			{[]string{"a"}, measure.Bench{}, 3},
			{[]string{"b"}, measure.Bench{Repetitions: 2}, 9},
			{[]string{"b", "a"}, measure.Bench{}, 9},
			{[]string{"b", "a"}, measure.Bench{Repetitions: 2}, 12},
		} {
			c.o.Launcher = aSecond
			p, err := sweep(t.Context(), t, s, kernels(1, c.kernels...), dir, c.o)
			if err != nil || len(p.Runs) != c.runs || p.Results[0].Kernel != "a" {
				t.Errorf("%v: %d runs, %v", c.kernels, len(p.Runs), err)
			}
		}
		// A kernel that failed is no failure of a sweep over others.
		crash := launchFunc(func(ctx context.Context, k *launch.Kernel, on profiling.Instance) (launch.Outcome, error) {
			return launch.Outcome{Status: launch.Crash}, nil
		})
		if _, err := sweep(t.Context(), t, s, kernels(1, "c"), dir, measure.Bench{Launcher: crash}); err == nil {
			t.Error("c crashed")
		}
		if p, err := sweep(t.Context(), t, s, kernels(1, "a"), dir, measure.Bench{Launcher: crash}); err != nil || len(p.Runs) != 12 {
			t.Errorf("%d runs, %v", len(p.Runs), err)
		}
	})
}

// A kernel may get another workdir, more time or more runs, and its runs stay comparable.
func TestDescribeFollowsWhatARunDoes(t *testing.T) {
	whole := func() launch.Kernel {
		k := kernels(1, "a")[0]
		k.Data = []launch.Data{{Path: "graph", SHA256: "ab"}}
		k.Time = launch.TimeSource{Kind: launch.Regexp, Pattern: regexp.MustCompile("time: (.*)"), Unit: 1e-3}
		return k
	}
	k := whole()
	first := measure.Describe(&k)
	for i, change := range []func(*launch.Kernel){
		func(k *launch.Kernel) { k.Suite = "other" },
		func(k *launch.Kernel) { k.SizeClass = "large" },
		func(k *launch.Kernel) { k.Argv = []string{"./a", "-n"} },
		func(k *launch.Kernel) { k.Data[0].SHA256 = "cd" },
		func(k *launch.Kernel) { k.Expect = regexp.MustCompile("PASS") },
		func(k *launch.Kernel) { k.PrintsDevice = true },
		func(k *launch.Kernel) { k.Time.Kind = launch.Wall },
		func(k *launch.Kernel) { k.Time.Pattern = regexp.MustCompile("(.*) s") },
		func(k *launch.Kernel) { k.Time.Unit = 1 },
		func(k *launch.Kernel) { k.Time.Row = "bfs" },
		func(k *launch.Kernel) { k.Warmup = time.Second },
		func(k *launch.Kernel) { k.MinMemoryMB = 1 },
		func(k *launch.Kernel) { k.OwnFolder = true },
	} {
		k := whole()
		change(&k)
		if measure.Describe(&k) == first {
			t.Errorf("change %d makes no difference", i)
		}
	}
	// The program was built again, and does something else.
	k.Argv[0] = filepath.Join(t.TempDir(), "program")
	var built []string
	for _, content := range []string{"one", "two", "one"} {
		if err := os.WriteFile(k.Argv[0], []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		built = append(built, measure.Describe(&k))
	}
	if built[0] == built[1] || built[0] != built[2] {
		t.Errorf("the descriptions of a program built three times are %q", built)
	}
	k = whole()
	k.Dir, k.Timeout, k.Repetitions, k.File, k.Line = "/opt", time.Hour, 3, "f", 9
	if measure.Describe(&k) != first {
		t.Error("another folder makes another kernel")
	}
}

// Times after another warm-up, and sizes that were not tried for want of memory, are not taken for those of the manifest.
func TestSweepRefusesRunsOfAnotherManifest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, change := range []func(*launch.Kernel){
			func(k *launch.Kernel) { k.Warmup = time.Second },
			func(k *launch.Kernel) { k.MinMemoryMB = 7000 },
			func(k *launch.Kernel) { k.OwnFolder = true },
		} {
			dir, s, ks := t.TempDir(), ofItsOwn(t, devicetest.New(a30)), kernels(1, "a")
			_, err := sweep(t.Context(), t, s, ks, dir, measure.Bench{Launcher: aSecond})
			change(&ks[0])
			_, changed := sweep(t.Context(), t, s, ks, dir, measure.Bench{Launcher: aSecond})
			if err := errors.Join(err, s.Close()); err != nil || changed == nil || !strings.Contains(changed.Error(), "kernel a (kernels.yaml:1) has changed since it ran") {
				t.Errorf("%+v: %v, %v", ks[0], changed, err)
			}
		}
	})
}

// The program's own launcher: processes, which see the instance and no other.
func TestSweepRunsPrograms(t *testing.T) {
	all, err := launch.Read(strings.NewReader(`version: 1
suite: shell
kernels:
  - name: echo
    argv: [sh, -c, 'echo "device $CUDA_VISIBLE_DEVICES, time: 250 ms"']
    repetitions: 2
    expect: {regexp: "device MIG-[^ ]+,"}
    time: {source: regexp, pattern: "time: ([0-9]+)", unit: ms}
`), "kernels.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := sweep(t.Context(), t, open(t, devicetest.New(a30, devicetest.Scale(0))), all, t.TempDir(), measure.Bench{})
	if err != nil || len(p.Runs) != 6 || p.Runs[5].Seconds != 0.25 {
		t.Errorf("%+v, %v", p, err)
	}
}
