package algotest_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	_ "miglab/algorithms"
	"miglab/algorithms/algotest"
	_ "miglab/algorithms/corun"
	_ "miglab/algorithms/dispatch"
	_ "miglab/algorithms/placement"
	_ "miglab/algorithms/rl/agents"
	"miglab/bounds"
	"miglab/bounds/certificate"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// registered returns every algorithm of a track. A search has the least budget
// that its parameters allow.
func registered(t *testing.T, track string) []algo.Algorithm {
	t.Helper()
	var out []algo.Algorithm
	for _, s := range algo.All(track) {
		a := algo.MustParse(s.Name)
		for _, p := range s.Params {
			if less, err := algo.Parse(s.Name + "?" + p.Name + "=2"); err == nil && less.Budget() != a.Budget() {
				a = less
			}
		}
		out = append(out, a)
	}
	if len(out) == 0 {
		t.Fatalf("no algorithm of track %s is registered", track)
	}
	return out
}

// A batchCase is a problem and what is known about it.
type batchCase struct {
	t    *testing.T
	name string
	p    algo.Problem
	// valid is nil if the problem has schedules. everywhere says that every task fits every size.
	valid      error
	everywhere bool
	// best is the shortest schedule that the referee takes, and shortest its makespan.
	best     schedule.Schedule
	shortest mig.Seconds
	// refused has the algorithms that refused a problem where every task fits every size.
	refused map[string]bool
}

// TestEveryModel runs every algorithm and every bound of batches and streams on models that are not
// in the program's table, with what is likely to go wrong. The referee takes every answer, and no
// bound exceeds one.
func TestEveryModel(t *testing.T) {
	all := append(registered(t, algo.TrackBatch), registered(t, algo.TrackStream)...)
	limits := registered(t, algo.TrackBound)
	answered, refused := map[string]int{}, map[string]bool{}
	n, each := 0, deep.N(2, 6)
	for m, g := range models(t) {
		for kind := range kinds {
			for i := range each { // the 9 models together have all settings of each kind
				n++
				setting := (m + kind + i*settings/each) % settings
				rng := rand.New(rand.NewPCG(uint64(n), 41))
				c := newBatchCase(t, draw(rng, g, kind, setting), fmt.Sprintf("%s, %s, setting %d", g, kinds[kind].name, setting))
				c.refused = refused
				for _, a := range all {
					if c.run(a, rng) {
						answered[a.ID]++
					}
				}
				for _, a := range limits {
					c.bound(a)
				}
				c.exact()
			}
		}
	}
	for _, a := range all {
		if answered[a.ID] < 5 {
			t.Errorf("%s answers %d of %d problems", a.ID, answered[a.ID], n)
		}
	}
}

func newBatchCase(t *testing.T, p algo.Problem, name string) *batchCase {
	c := &batchCase{t: t, name: name, p: p, valid: p.Tasks.Validate(p.GPU), everywhere: true, shortest: mig.Seconds(inf)}
	for i := range p.Tasks {
		for _, s := range p.GPU.Sizes() {
			c.everywhere = c.everywhere && p.Tasks[i].Fits(s)
		}
	}
	return c
}

func (c *batchCase) errorf(format string, args ...any) {
	c.t.Helper()
	c.t.Errorf("%s, %d GPUs, %v, %d start instances, releases %t: %s",
		c.name, c.p.GPUs(), c.p.Model, len(c.p.Start), c.p.Release != nil, fmt.Sprintf(format, args...))
}

// run judges an algorithm's answer and reports whether it has one.
func (c *batchCase) run(a algo.Algorithm, rng *rand.Rand) (answers bool) {
	var s schedule.Schedule
	first := rng.IntN(len(c.p.Tasks) + 1)
	err := guarded(c.t, func(ctx context.Context) (err error) {
		if a.Spec.Track == algo.TrackBatch {
			s, err = algotest.Batch.Run(ctx, a, c.p)
		} else {
			s, err = algotest.Stream.Run(ctx, a, algotest.StreamProblem{Problem: c.p, Lengths: []int{first, 0, len(c.p.Tasks) - first}})
		}
		return err
	})
	fits := a.CheckFit(c.p)
	switch {
	case errors.Is(err, errHung):
		c.t.Fatalf("%s: %s: %v", c.name, a.ID, err)
	case err == nil && fits != nil:
		c.errorf("%s answers, and %v", a.ID, fits)
	case err == nil:
		return c.judge(a, s)
	default:
		c.fault(a, err, fits)
	}
	return false
}

// fault judges the error of an algorithm. fits is that of [algo.Algorithm.CheckFit].
func (c *batchCase) fault(a algo.Algorithm, err, fits error) {
	infeasible, isInfeasible := errors.AsType[*algo.InfeasibleError](err)
	_, isUnsupported := errors.AsType[*algo.UnsupportedError](err)
	switch {
	case isInfeasible && infeasible.Algorithm != a.Spec.Name:
		c.errorf("the error of %s names %q: %v", a.ID, infeasible.Algorithm, err)
	case fits != nil && !isInfeasible:
		c.errorf("%s: %v; want an InfeasibleError, as %v", a.ID, err, fits)
	case isInfeasible && !c.everywhere:
		// Its rules leave a task without a place.
	case isUnsupported && (c.p.GPUs() > 1 || c.p.GPU.Name != "S4" && c.p.GPU.Name != "S7" || c.p.GPU.Name == "S4" && strings.HasPrefix(a.ID, "rl-")):
		// It was trained for other GPUs.
	case isInfeasible && c.refused[a.ID]:
		// It has been reported for another problem.
	case isInfeasible:
		c.refused[a.ID] = true
		c.errorf("%s: %v\n\tEvery task fits every size of this GPU model. The test tries models that have no halves or no "+
			"size 1, too, and wants an answer on each, for example on the whole GPU; only this refusal of %[1]s is shown", a.ID, err)
	default:
		c.errorf("%s: %v", a.ID, err)
	}
}

// judge has the referee check a schedule.
func (c *batchCase) judge(a algo.Algorithm, s schedule.Schedule) bool {
	if err := algotest.Batch.Check(c.p, s); err != nil {
		if c.valid == nil || len(c.p.Tasks) == 0 {
			c.errorf("%s: %v", a.ID, err)
		}
		return false
	}
	if m := s.Makespan(); m < c.shortest {
		c.best, c.shortest = s, m
	}
	return true
}

// publishedBound is the ID of the one bound that is not valid: the DRL paper's, as printed.
const publishedBound = "l-bound"

// bound compares a bound with the shortest schedule.
func (c *batchCase) bound(a algo.Algorithm) {
	var bound mig.Seconds
	err := guarded(c.t, func(ctx context.Context) error {
		b, err := algo.Make[algo.Bound](a)
		if err == nil {
			bound, err = b.Bound(ctx, c.p)
		}
		return err
	})
	_, panicked := errors.AsType[panicError](err)
	mayRefuse := a.ID == "optimum-free" &&
		(len(c.p.Tasks) > bounds.MaxOptimumFreeTasks || c.p.Start != nil || c.p.Release != nil)
	switch {
	case panicked, errors.Is(err, errHung):
		c.errorf("%s: %v", a.ID, err)
	case c.valid != nil && (err == nil || err.Error() != c.valid.Error()):
		c.errorf("%s is %v s, %v; want the error %v", a.ID, bound, err, c.valid)
	case c.valid == nil && err != nil && !mayRefuse:
		c.errorf("%s: %v", a.ID, err)
	case err == nil && (!(bound > 0) || math.IsInf(float64(bound), 1)):
		c.errorf("%s is %v s", a.ID, bound)
	case err == nil && a.ID != publishedBound && bound > c.shortest*(1+1e-9):
		c.errorf("%s is %v s, and a schedule of %s takes %v s", a.ID, bound, c.best.Algorithm, c.shortest)
	}
}

// exact looks for the optimum of few tasks, and has the certificate verified.
func (c *batchCase) exact() {
	if c.valid != nil || len(c.p.Tasks) > 5 {
		return
	}
	if math.IsInf(float64(c.shortest), 1) {
		c.errorf("no algorithm has an answer")
		return
	}
	var r certificate.Certificate
	err := guarded(c.t, func(ctx context.Context) (err error) {
		if r, err = bounds.Exact(ctx, c.p, c.best); err == nil {
			err = certificate.Verify(c.p, r)
		}
		return err
	})
	if err == nil {
		err = algotest.Batch.Check(c.p, r.Schedule)
	}
	if m := r.Schedule.Makespan(); err != nil || m > c.shortest || r.Lower > m*(1+1e-9) {
		c.errorf("exact: %v to %v s, and %s takes %v s; %v", r.Lower, m, c.best.Algorithm, c.shortest, err)
	}
}
