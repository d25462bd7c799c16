package measure_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/devicetest"
	"miglab/profiling/launch"
	"miglab/profiling/measure"
	"miglab/profiling/session"
)

// The paper's example is that of size 4.
func TestCasesFollowTheExampleOfFAR(t *testing.T) {
	for _, c := range []struct {
		gpu  *mig.GPU
		size mig.Slices
		want string
	}{
		{a100, 4, "alone | 3@4 | 2@4 1@6 | 1@4 1@5"},
		{a100, 3, "alone | 3@4 | 2@4 1@6 | 1@4 1@5"},
		{a100, 2, "alone | 3@4 | 2@2 3@4 | 1@2 3@4 | 2@2 2@4 | 2@2 1@4 | 1@2 1@3"},
		{a100, 1, "alone | 3@4 | 2@2 3@4 | 1@1 3@4 | 2@2 2@4 | 1@1 2@2 | 1@1 1@2"},
		{a30, 2, "alone | 2@2 | 1@2 1@3"},
		{a30, 1, "alone | 2@2 | 1@1 2@2 | 1@1 1@2"},
		{a30, 4, "alone"},
	} {
		var got []string
		at := measure.First(c.gpu, c.size)
		for _, p := range measure.Cases(c.gpu.Partitions(), at) {
			var on []string
			taken := at.Mask()
			for _, in := range p {
				if in.Mask()&taken != 0 {
					t.Errorf("%s beside %s: %s overlaps", at, c.gpu, in)
				}
				taken |= in.Mask()
				on = append(on, in.String())
			}
			got = append(got, cmp.Or(strings.Join(on, " "), "alone"))
		}
		if s := strings.Join(got, " | "); s != c.want {
			t.Errorf("%s, size %d: %s, want %s", c.gpu, c.size, s, c.want)
		}
	}
}

func TestIsolation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := devicetest.New(a30)
		// b restarts often while a runs; big does not fit one slice, and is never drawn for one.
		l := &devicetest.Launcher{
			GPUs: []*devicetest.GPU{g}, Slowdown: map[string]float64{"a": 0.02},
			Times: map[string]map[mig.Slices]mig.Seconds{"a": seconds(a30, 40, 20, 10), "b": seconds(a30, 3, 2, 1), "big": seconds(a30, inf, 7, 5)},
		}
		var progress [2]int
		o := measure.Bench{Repetitions: 2, Launcher: l, Progress: func(done, all int) { progress = [2]int{done, all} }}
		rows, err := isolation(t.Context(), t, open(t, g), kernels(1, "a", "b", "big"), o)
		if err != nil {
			t.Fatal(err)
		}
		if progress != [2]int{34, 34} {
			t.Errorf("progress %v", progress)
		}
		from := datasets.Provenance{GPU: "A30", Name: "NVIDIA A30 (fake)", Driver: "0.0 (fake)", Source: "mig", Date: "2000-01-01"}
		beside := map[string]int{}
		for _, r := range rows {
			want := map[string]map[mig.Slices]mig.Seconds{"a": {1: 40, 2: 20}, "b": {1: 3, 2: 2}, "big": {2: 7}}[r.Kernel][r.Size]
			n := len(strings.Fields(r.Beside))
			difference := 0.0
			if r.Kernel == "a" {
				difference = 2 * float64(n)
				want *= mig.Seconds(1 + difference/100)
			}
			if r.Provenance != from || r.Runs != 2 || !near(r.Median, want) || math.Abs(r.Difference-difference) > 1e-6 {
				t.Errorf("%+v, want %v s", r, want)
			}
			if strings.Contains(r.Beside, "big:1") || strings.Contains(r.Beside, r.Kernel+":") {
				t.Errorf("%s beside %s", r.Kernel, r.Beside)
			}
			beside[fmt.Sprintf("%s@%d", r.Kernel, r.Size)]++
		}
		// big is measured on two slices alone, where two others stand beside it, too.
		if want := map[string]int{"a@1": 4, "a@2": 3, "b@1": 4, "b@2": 3, "big@2": 3}; !reflect.DeepEqual(beside, want) {
			t.Errorf("cases %v", beside)
		}
		again, err := isolation(t.Context(), t, open(t, devicetest.New(a30)), kernels(1, "a", "b", "big"), measure.Bench{
			Repetitions: 1, Launcher: launchFunc(func(ctx context.Context, k *launch.Kernel, on profiling.Instance) (launch.Outcome, error) {
				if k.Name == "big" && on.Size() == 1 {
					return launch.Outcome{Status: launch.OutOfMemory}, nil
				}
				return lasting(ctx, 1)
			}),
		})
		if err != nil || !slices.EqualFunc(rows, again, func(a, b datasets.IsolationTime) bool { return a.Kernel == b.Kernel && a.Beside == b.Beside }) {
			t.Errorf("other times drew other kernels: %v, %v", again, err)
		}
		table := measure.IsolationTable(nil, rows)
		if want := [][]string{{"a", "4.00", "4.00"}, {"b", "0.00", "0.00"}, {"big", "–", "0.00"}}; !reflect.DeepEqual(table.Rows, want) || table.Columns[2].Name != "2" ||
			table.Title != "Largest difference in percent between kernels alone and beside others; NVIDIA A30 (fake), source: mig" ||
			!slices.Equal(table.Notes, []string{"instances share PCIe and the power limit, which MIG does not partition"}) {
			t.Errorf("%+v", table)
		}
	})
}

// Without a number that is asked for, kernels are measured as often as their manifests say.
func TestIsolationRepeatsAsTheManifestSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ks := append(append(kernels(2, "a"), kernels(3, "b")...), kernels(0, "c")...)
		want := map[string]int{"a": 2, "b": 3, "c": measure.Repetitions}
		last := [2]int{}
		rows, err := isolation(t.Context(), t, open(t, devicetest.New(a30)), ks, measure.Bench{Launcher: aSecond, Progress: func(done, all int) { last = [2]int{done, all} }})
		if err != nil || len(rows) != 3*7 || last != [2]int{15 * 7, 15 * 7} {
			t.Errorf("%d rows, progress %v, %v", len(rows), last, err)
		}
		for _, r := range rows {
			if r.Runs != want[r.Kernel] {
				t.Errorf("%s on %d beside %q: %d runs, want %d", r.Kernel, r.Size, r.Beside, r.Runs, want[r.Kernel])
			}
		}
	})
}

// While a kernel is measured, those beside it start anew; nothing runs beside it afterwards.
func TestIsolationKeepsNeighboursBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type span struct{ from, to time.Duration }
		begin := time.Now()
		var mu sync.Mutex
		running := map[string][]span{}
		l := launchFunc(func(ctx context.Context, k *launch.Kernel, on profiling.Instance) (launch.Outcome, error) {
			from := time.Since(begin)
			out, err := lasting(ctx, map[string]mig.Seconds{"long": 10, "short": 3}[k.Name])
			at := fmt.Sprintf("%s@%s", k.Name, on.Instance)
			mu.Lock()
			defer mu.Unlock()
			running[at] = append(running[at], span{from, time.Since(begin)})
			return out, err
		})
		rows, err := isolation(t.Context(), t, open(t, devicetest.New(a30)), kernels(1, "long", "short"), measure.Bench{Repetitions: 1, Launcher: l})
		if err != nil {
			t.Fatal(err)
		}
		// long on 2@0 runs to warm up, alone, and beside short on 2@2.
		measured := running["long@2@0"][2]
		var besides []span
		for _, s := range running["short@2@2"] {
			if s.from < measured.to && s.to > measured.from {
				besides = append(besides, s)
			}
		}
		want := []span{}
		start := measured.from - measure.HeadStart
		for n := range 4 {
			want = append(want, span{start + time.Duration(n)*3*time.Second, min(start+time.Duration(n+1)*3*time.Second, measured.to)})
		}
		if !slices.Equal(besides, want) {
			t.Errorf("measured %v beside %v, want %v", measured, besides, want)
		}
		if i := slices.IndexFunc(rows, func(r datasets.IsolationTime) bool {
			return r.Kernel == "long" && r.Size == 2 && r.Beside == "short:2@2"
		}); i < 0 || rows[i].Median != 10 {
			t.Errorf("%+v", rows)
		}
	})
}

// A GPU that gets 0.2 % slower every second would make what comes later in a repetition look disturbed.
func TestIsolationResistsDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		l := launchFunc(func(ctx context.Context, k *launch.Kernel, on profiling.Instance) (launch.Outcome, error) {
			return lasting(ctx, mig.Seconds(1+0.002*time.Since(begin).Seconds()))
		})
		rows, err := isolation(t.Context(), t, open(t, devicetest.New(a30)), kernels(1, "a", "b"), measure.Bench{Repetitions: 4, Launcher: l})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if math.Abs(r.Difference) > 0.1 {
				t.Errorf("%s on %d beside %q: %v %%", r.Kernel, r.Size, r.Beside, r.Difference)
			}
		}
	})
}

func TestIsolationLeavesOutWhatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		runs := map[string]int{}
		l := launchFunc(func(ctx context.Context, k *launch.Kernel, on profiling.Instance) (launch.Outcome, error) {
			at := fmt.Sprintf("%s@%s", k.Name, on.Instance)
			mu.Lock()
			runs[at]++
			n := runs[at]
			mu.Unlock()
			out, err := lasting(ctx, 2)
			switch {
			case k.Name == "never", at == "later@2@2" && n == 1, at == "measured@2@0" && n == 3:
				out.Status, out.Detail, out.Seconds = launch.Crash, "exit status 1", inf
			}
			return out, err
		})
		ks := kernels(1, "measured", "later", "never")
		rows, err := isolation(t.Context(), t, open(t, devicetest.New(a30)), ks, measure.Bench{Repetitions: 3, Launcher: l})
		failed, ok := errors.AsType[*measure.FailedError](err)
		want := []measure.Failure{
			{"never", "on 1 slice", launch.Crash, "warming up: exit status 1"},
			{"never", "on 2 slices", launch.Crash, "warming up: exit status 1"},
			{"later", "on 2 slices beside measured:1@0", launch.Crash, "exit status 1"},
			{"measured", "on 2 slices beside later:2@2", launch.Crash, "exit status 1"},
		}
		if !ok || !slices.Equal(failed.Failures, want) {
			t.Fatalf("%v", err)
		}
		var got []string
		for _, r := range rows {
			if r.Kernel == "measured" {
				got = append(got, fmt.Sprintf("%d beside %q", r.Size, r.Beside))
			}
			if r.Kernel == "never" || strings.Contains(r.Beside, "never") || r.Runs != 3 {
				t.Errorf("%+v", r)
			}
		}
		if want := []string{`1 beside ""`, `1 beside "later:1@1 later:1@2"`, `1 beside "later:1@1 later:2@2"`, `2 beside ""`, `2 beside "later:1@2 later:1@3"`}; !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	})
}

// existing is a GPU on which only some instances exist, as in the mode mig-existing.
type existing struct {
	*devicetest.GPU
	all mig.Partition
}

func (g existing) Existing() []mig.Instance { return g.all }

func (g existing) Create(at mig.Instance) (profiling.Instance, error) {
	if !slices.Contains(g.all, at) {
		return profiling.Instance{}, &profiling.DeviceError{Op: "use " + at.String(), Err: profiling.ErrInsufficient}
	}
	return g.GPU.Create(at)
}

// On existing instances, kernels are measured on each size that exists, beside the others.
func TestIsolationOnExistingInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := existing{GPU: devicetest.New(a100), all: mig.Partition{
			{Profile: a100.Profile(4)}, {Profile: a100.Profile(2), Start: 4}, {Profile: a100.Profile(1), Start: 6},
		}}
		s, err := session.Open(t.Context(), g, session.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := isolation(t.Context(), t, s, kernels(1, "a", "b"), measure.Bench{Launcher: aSecond})
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range rows {
			if r.Kernel == "a" {
				got = append(got, fmt.Sprintf("%d beside %q", r.Size, r.Beside))
			}
		}
		want := []string{
			`1 beside ""`, `1 beside "b:4@0 b:2@4"`, `1 beside "b:4@0"`, `2 beside ""`, `2 beside "b:4@0 b:1@6"`, `2 beside "b:4@0"`,
			`4 beside ""`, `4 beside "b:2@4 b:1@6"`, `4 beside "b:2@4"`,
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	})
}

// stuck is a GPU of which destroys fail from one on: the driver says what it says of instances of somebody else.
type stuck struct {
	*devicetest.GPU
	left atomic.Int32
}

func (g *stuck) Destroy(id int) error {
	if g.left.Add(-1) < 0 {
		return &profiling.DeviceError{Op: "destroy instance", Err: profiling.ErrPermission}
	}
	return g.GPU.Destroy(id)
}

// Whichever destroy is the first to fail, the run ends with its error, and Close removes all instances once the driver
// lets it.
func TestIsolationSurvivesDestroysThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for n, failed := int32(0), true; failed; n++ {
			g := &stuck{GPU: devicetest.New(a30)}
			g.left.Store(n)
			s, err := session.Open(t.Context(), g, session.Options{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			_, err = isolation(t.Context(), t, s, kernels(2, "a", "b"), measure.Bench{Launcher: aSecond})
			if failed = g.left.Load() < 0; failed != errors.Is(err, profiling.ErrPermission) || !failed && err != nil {
				t.Errorf("destroy %d: %v", n, err)
			}
			g.left.Store(math.MaxInt32)
			left, unknown := g.Instances()
			closed := s.Close()
			if after, err := g.Instances(); failed && len(left) == 0 || len(after) > 0 || errors.Join(unknown, closed, err) != nil {
				t.Errorf("destroy %d: left %v and after Close %v, %v", n, left, after, errors.Join(unknown, closed, err))
			}
			if n > 100 {
				t.Fatal("destroys have no end")
			}
		}
	})
}
