package corun

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"miglab/harness/algo"
	"miglab/harness/sim/corun"
)

// variants returns every registered scheduler with every value of every parameter.
func variants() []algo.Algorithm {
	var out []algo.Algorithm
	for _, s := range algo.All(algo.TrackCorun) {
		out = append(out, algo.MustParse(s.Name))
		for _, p := range s.Params {
			for _, v := range p.Values {
				if v != p.Default {
					out = append(out, algo.MustParse(s.Name+"?"+p.Name+"="+v))
				}
			}
		}
	}
	return out
}

func build(t *testing.T, a algo.Algorithm) algo.Corun {
	t.Helper()
	s, err := algo.Make[algo.Corun](a)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// measure runs a scheduler, and has the referee check and measure its plan.
func measure(t *testing.T, id string, w corun.Window) corun.Result {
	t.Helper()
	_, r := planned(t, algo.MustParse(id), w)
	return r
}

func planned(t *testing.T, a algo.Algorithm, w corun.Window) (corun.Plan, corun.Result) {
	t.Helper()
	plan, err := build(t, a).Plan(context.Background(), w)
	if err != nil {
		t.Fatalf("%s: %v", a.ID, err)
	}
	r, err := corun.Measure(w, plan)
	if err != nil {
		t.Fatalf("%s: %v", a.ID, err)
	}
	return plan, r
}

// TestConformance runs every scheduler on any window: the referee accepts the plan, no
// group is slower than its jobs one after the other, the window stays as it is, and the
// same window gives the same plan. Nobody beats exact.
func TestConformance(t *testing.T) {
	all := variants()
	if len(all) != 11 {
		t.Errorf("%d schedulers with their variants, want 11", len(all))
	}
	for i := range uint64(150) {
		w := randomWindow(rand.New(rand.NewPCG(i, 13)), 13)
		before := slices.Clone(w.Jobs)
		least := measure(t, "exact", w).Makespan
		for _, a := range all {
			plan, r := planned(t, a, w)
			if r.Slower > 0 {
				t.Errorf("window %d, %s: %d groups are slower than time sharing", i, a.ID, r.Slower)
			}
			if again, _ := planned(t, a, w); !reflect.DeepEqual(plan, again) {
				t.Errorf("window %d, %s: %v and then %v", i, a.ID, plan, again)
			}
			if r.Makespan < least*(1-1e-9) {
				t.Errorf("window %d, %s: %v s, and the optimum is %v s", i, a.ID, r.Makespan, least)
			}
		}
		if !slices.Equal(before, w.Jobs) {
			t.Fatalf("window %d has changed", i)
		}
	}
}

func TestBadWindows(t *testing.T) {
	job := paperWindow(1, 1).Jobs
	negative := slices.Clone(job)
	negative[0].Solo = -1
	for want, w := range map[string]corun.Window{
		"no jobs":       {Concurrency: 4},
		"up to 0 jobs":  {Jobs: job},
		"kappa is -0.1": {Jobs: job, Concurrency: 4, Model: corun.Model{Kappa: -0.1}},
		"job 0":         {Jobs: negative, Concurrency: 4},
	} {
		for _, a := range variants() {
			_, err := build(t, a).Plan(context.Background(), w)
			var invalid *corun.InvalidError
			if !errors.As(err, &invalid) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want an InvalidError with %q", a.ID, err, want)
			}
		}
	}
}

// TestLargeWindows are refused by those who search exhaustively and by nobody else.
func TestLargeWindows(t *testing.T) {
	w := paperWindow(1, maxDivide+1)
	for _, a := range variants() {
		_, err := build(t, a).Plan(context.Background(), w)
		if any := slices.Contains([]string{"time-sharing", "greedy", "local"}, a.ID); any != (err == nil) {
			t.Errorf("%s of %d jobs: %v", a.ID, len(w.Jobs), err)
		} else if err != nil && !strings.Contains(err.Error(), "21 jobs") {
			t.Errorf("%s: %v does not say how many jobs there are", a.ID, err)
		}
	}
	for _, jobs := range []int{60, 300} {
		w := paperWindow(2, jobs)
		if l, g := measure(t, "local", w).Makespan, measure(t, "greedy", w).Makespan; l > 0.95*g {
			t.Errorf("%d jobs: local takes %v s, greedy %v s", jobs, l, g)
		}
	}
}

func TestSchedulersAreSafeForConcurrentUse(t *testing.T) {
	w := paperWindow(3, 10)
	for _, a := range variants() {
		s := build(t, a)
		plans := make([]corun.Plan, 4)
		var g errgroup.Group
		for i := range plans {
			g.Go(func() (err error) {
				plans[i], err = s.Plan(context.Background(), w)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		for _, p := range plans {
			if !reflect.DeepEqual(p, plans[0]) {
				t.Errorf("%s: %v and %v", a.ID, p, plans[0])
			}
		}
	}
}

func TestLocalEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if plan, err := build(t, algo.MustParse("local")).Plan(ctx, paperWindow(1, 12)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", plan, err)
	}
}
