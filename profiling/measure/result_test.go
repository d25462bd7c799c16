package measure_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/devicetest"
	"miglab/profiling/launch"
	"miglab/profiling/measure"
)

// computing runs kernels for a second. What they compute depends on the size they run on; size 0
// is no GPU, where an empty result is a crash.
func computing(results map[string]map[mig.Slices]string, idle *int) launchFunc {
	return func(ctx context.Context, k *launch.Kernel, on profiling.Instance) (launch.Outcome, error) {
		size := mig.Slices(0)
		if on.Profile != nil {
			size = on.Size()
		} else {
			*idle++
		}
		out, err := lasting(ctx, 1)
		if out.Result = results[k.Name][size]; out.Result == "" && size == 0 {
			out.Status = launch.Crash
		}
		return out, err
	}
}

// A program that prints what is expected of it but did nothing, everywhere or on one size, is wrong.
func TestResultsAreCompared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := devicetest.New(a30)
		idle := 0
		l := computing(map[string]map[mig.Slices]string{
			"fine":     {0: "nothing", 1: "42", 2: "42", 4: "42"},
			"crashes":  {1: "42", 2: "42", 4: "42"},
			"never":    {0: "nothing", 1: "nothing", 2: "nothing", 4: "nothing"},
			"small":    {0: "nothing", 1: "nothing", 2: "42", 4: "42"},
			"rounding": {0: "nothing", 1: "42", 2: "42", 4: "43"},
		}, &idle)
		all := kernels(2, "fine", "crashes", "never", "small", "rounding", "silent")
		for i := range all[:5] {
			all[i].Result = launch.ResultSource{Pattern: regexp.MustCompile("=(.*)")}
		}
		dir := t.TempDir()
		s := open(t, g)
		p, err := sweep(t.Context(), t, s, all, dir, measure.Bench{Launcher: l})
		var failed *measure.FailedError
		if !errors.As(err, &failed) {
			t.Fatalf("%v", err)
		}
		var said []string
		for _, f := range failed.Failures {
			said = append(said, f.String())
		}
		got := strings.Join(said, "\n")
		for _, want := range []string{
			"never on 1 slice: wrong (its result is the same as without a GPU)",
			"never on 2 slices: wrong (its result is the same as without a GPU)",
			"never on 4 slices: wrong (its result is the same as without a GPU)",
			"small on 1 slice: wrong (its result is the same as without a GPU)",
			"rounding on 4 slices: wrong (its result differs from that of the kernel's first run: 43, not 42)",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("it says\n%s\nwithout %s", got, want)
			}
		}
		if len(said) != 5 {
			t.Errorf("it says\n%s", got)
		}
		tasks, _ := p.Tasks()
		if len(tasks) != 3 || tasks[0].Name != "crashes" || tasks[1].Name != "fine" || tasks[2].Name != "silent" {
			t.Errorf("datasets get %v", tasks)
		}
		if idle != 5 {
			t.Errorf("%d runs without a GPU, want one for each kernel with a result", idle)
		}

		// A later call knows the results of the earlier one.
		for i := range all {
			all[i].Repetitions = 3
		}
		p, err = sweep(t.Context(), t, s, all[:1], dir, measure.Bench{Launcher: computing(map[string]map[mig.Slices]string{
			"fine": {1: "42", 2: "41", 4: "42"},
		}, &idle)})
		if err == nil || !strings.Contains(err.Error(), "fine on 2 slices: wrong (its result differs") {
			t.Errorf("later: %v, %d runs", err, len(p.Runs))
		}
	})
}
