package corun

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/sim/corun"
)

func variants() []algo.Algorithm { return algotest.Variants(algo.TrackCorun) }

// measure runs a scheduler, and has the referee check and measure its plan.
func measure(t *testing.T, id string, w corun.Window) corun.Result {
	t.Helper()
	_, r := planned(t, algo.MustParse(id), w)
	return r
}

func planned(t *testing.T, a algo.Algorithm, w corun.Window) (corun.Plan, corun.Result) {
	t.Helper()
	plan, err := algotest.Corun.Run(context.Background(), a, w)
	if err != nil {
		t.Fatalf("%s: %v", a.ID, err)
	}
	r, err := corun.Measure(w, plan)
	if err != nil {
		t.Fatalf("%s: %v", a.ID, err)
	}
	return plan, r
}

// TestPlanners runs every scheduler on any window. No group is slower than its jobs
// one after the other.
func TestPlanners(t *testing.T) {
	suite := algotest.Suite[corun.Window, corun.Plan]{
		Track: algotest.Corun, Problems: deep.N(20, 150),
		Draw: func(rng *rand.Rand) corun.Window { return randomWindow(rng, 13) },
	}
	suite.Check = func(w corun.Window, plan corun.Plan) error {
		r, err := corun.Measure(w, plan)
		if err == nil && r.Slower > 0 {
			err = fmt.Errorf("%d groups are slower than time sharing", r.Slower)
		}
		return err
	}
	suite.Test(t)
}

func TestNoPlannerBeatsExact(t *testing.T) {
	for i := range uint64(deep.N(15, 150)) {
		w := randomWindow(rand.New(rand.NewPCG(i, 13)), 13)
		least := measure(t, "exact", w).Makespan
		for _, a := range variants() {
			if _, r := planned(t, a, w); r.Makespan < least*(1-1e-9) {
				t.Errorf("window %d, %s: %v s, and the optimum is %v s", i, a.ID, r.Makespan, least)
			}
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
			_, err := algotest.Corun.Run(context.Background(), a, w)
			var invalid *corun.InvalidError
			if !errors.As(err, &invalid) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want an InvalidError with %q", a.ID, err, want)
			}
		}
	}
}

// TestLargeWindows: exhaustive searches refuse large windows and say how many jobs there are, and the
// others do not.
func TestLargeWindows(t *testing.T) {
	w := paperWindow(1, maxDivide+1)
	exhaustive := map[string]bool{
		"time-sharing": false, "greedy": false, "local": false,
		"exact": true, "mig-only": true, "mig-mps-default": true, "mps-only": true,
	}
	met := map[string]bool{}
	for _, a := range variants() {
		_, err := algotest.Corun.Run(context.Background(), a, w)
		refuses, known := exhaustive[a.Spec.Name]
		met[a.Spec.Name] = known
		if known && refuses != (err != nil) {
			t.Errorf("%s of %d jobs: %v", a.ID, len(w.Jobs), err)
		} else if err != nil && !strings.Contains(err.Error(), "21 jobs") {
			t.Errorf("%s: %v does not say how many jobs there are", a.ID, err)
		}
	}
	for name := range exhaustive {
		if !met[name] {
			t.Errorf("%s is no scheduler of the track", name)
		}
	}
	for _, jobs := range []int{deep.N(30, 60), 300}[:deep.N(1, 2)] {
		w := paperWindow(2, jobs)
		if l, g := measure(t, "local", w).Makespan, measure(t, "greedy", w).Makespan; l > 0.95*g {
			t.Errorf("%d jobs: local takes %v s, greedy %v s", jobs, l, g)
		}
	}
}
