// Package algotest is the test suite that the algorithms of every track run through.
//
// [Suite.Test] draws problems and runs each registered algorithm of a track on them, in a subtest with the algorithm's
// name. It checks that the referee accepts every answer, that the algorithm leaves the problem as it is, that the same
// problem gives the same answer, also to several callers at once, and that an algorithm answers with an
// [*algo.InfeasibleError] only where it may. [Golden] compares answers with golden files.
//
// A package of algorithms calls them from its tests. The tests of this package run every algorithm, bound and dataset
// of the program on GPU models outside its table, and with a context that ends. Each track has a value here: [Batch],
// [Stream], [Placement], [Dispatch] and [Corun].
package algotest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/nearest"
)

// A Track says how the algorithms of a track are run and judged. P is a problem of the track and A an answer to it.
type Track[P, A any] struct {
	Name string
	// Run returns an algorithm's answer to a problem.
	Run func(ctx context.Context, a algo.Algorithm, p P) (A, error)
	// Check is the referee. It returns an error if the answer is not legal.
	Check func(p P, answer A) error
}

// A Suite tests the algorithms of a package.
type Suite[P, A any] struct {
	Track[P, A]
	Specs []algo.Spec // the algorithms under test; nil means all of the track
	// Problems is the number of problems to draw. The seeds are 0, 1, 2, ...
	Problems int
	Draw     func(rng *rand.Rand) P // draws a problem
	// Algorithms lists the IDs of the algorithms that run on a problem; nil means all [Variants] of the track.
	Algorithms func(p P, rng *rand.Rand) []string
	// Infeasible reports whether an algorithm may have no answer to a problem; nil means that all have one.
	Infeasible func(a algo.Algorithm, p P) bool
}

// Variants returns the registered algorithms of a track: each with its defaults, and
// with every other value of each parameter that lists its values, one at a time.
func Variants(track string) []algo.Algorithm {
	var out []algo.Algorithm
	for _, s := range algo.All(track) {
		for _, id := range VariantsOf(s) {
			out = append(out, algo.MustParse(id))
		}
	}
	return out
}

// VariantsOf returns the IDs of one algorithm's variants, the defaults first.
func VariantsOf(s algo.Spec) []string {
	ids := []string{s.Name}
	for _, p := range s.Params {
		for _, v := range p.Values {
			if v != p.Default {
				ids = append(ids, s.Name+"?"+p.Name+"="+v)
			}
		}
	}
	return ids
}

// Test runs each algorithm under test through the suite, in a subtest with its name.
func (s *Suite[P, A]) Test(t *testing.T) {
	t.Helper()
	specs := s.Specs
	if specs == nil {
		specs = algo.All(s.Name)
	}
	if len(specs) == 0 {
		t.Fatalf("no algorithm of track %s is registered", s.Name)
	}
	trials := make([]trial[P], s.Problems)
	for i := range trials {
		stream := func() *rand.Rand { return rand.New(rand.NewPCG(uint64(i), 10)) }
		rng := stream()
		trials[i] = trial[P]{problem: s.Draw(rng), same: s.Draw(stream())}
		trials[i].ids = s.algorithms(trials[i].problem, rng)
	}
	for _, spec := range specs {
		t.Run(spec.Name, func(t *testing.T) {
			if ran, err := s.test(spec, trials); err != nil {
				t.Error(err)
			} else if ran == 0 {
				t.Error("the algorithm runs on no problem")
			}
		})
	}
}

// A trial is a problem and the IDs of the algorithms that run on it. No algorithm gets same, an equal problem.
type trial[P any] struct {
	problem, same P
	ids           []string
}

// test runs one algorithm's variants on all problems and returns how many answers it checked.
func (s *Suite[P, A]) test(spec algo.Spec, trials []trial[P]) (int64, error) {
	repeatEvery := deep.N(8, 32) // on every so many problems an algorithm runs several times
	var ran atomic.Int64
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range trials {
		g.Go(func() error {
			for _, id := range trials[i].ids {
				a := algo.MustParse(id)
				if a.Spec.Name != spec.Name {
					continue
				}
				ran.Add(1)
				if err := s.conform(a, &trials[i], i%repeatEvery == 0); err != nil {
					return fmt.Errorf("problem %d%s, %s: %w", i, onGPU(trials[i].problem), id, err)
				}
			}
			return nil
		})
	}
	err := g.Wait()
	return ran.Load(), err
}

func (s *Suite[P, A]) algorithms(p P, rng *rand.Rand) []string {
	if s.Algorithms != nil {
		return s.Algorithms(p, rng)
	}
	return nearest.Names(Variants(s.Name), func(a algo.Algorithm) string { return a.ID })
}

// onGPU says on which GPU model a problem is; "" for problems without the field GPU.
func onGPU(problem any) string {
	v := reflect.ValueOf(problem)
	if v.Kind() != reflect.Struct || !v.FieldByName("GPU").IsValid() {
		return ""
	}
	return fmt.Sprintf(" on %v", v.FieldByName("GPU"))
}

// conform runs an algorithm on a problem; repeat asks for more answers to compare. A panic is an error.
func (s *Suite[P, A]) conform(a algo.Algorithm, tr *trial[P], repeat bool) (err error) {
	defer func() {
		if v := recover(); v != nil {
			_, stack, _ := strings.Cut(string(debug.Stack()), "\npanic(")
			err = fmt.Errorf("panic: %v\n%.600s", v, stack)
		}
	}()
	p := tr.problem
	answer, err := s.Run(context.Background(), a, p)
	if !reflect.DeepEqual(p, tr.same) {
		return fmt.Errorf("the algorithm has changed the problem from %#v to %#v; let it change a copy", tr.same, p)
	}
	if infeasible, ok := errors.AsType[*algo.InfeasibleError](err); ok {
		return s.mayRefuse(a, p, infeasible)
	}
	if err != nil {
		return fmt.Errorf("the suite wants an answer to every problem, or an InfeasibleError: %w", err)
	}
	if err := s.Check(p, answer); err != nil {
		return err
	}
	if repeat {
		return s.repeat(a, p, answer)
	}
	return nil
}

// mayRefuse returns nil if the algorithm may have no answer to the problem. Otherwise the error says what to change.
func (s *Suite[P, A]) mayRefuse(a algo.Algorithm, p P, refusal *algo.InfeasibleError) error {
	switch {
	case s.Infeasible == nil:
		return fmt.Errorf("%w; the suite wants an answer to every problem of track %s", refusal, s.Name)
	case refusal.Algorithm != a.Spec.Name:
		return fmt.Errorf("the error names %q, not the algorithm: %w", refusal.Algorithm, refusal)
	case s.Infeasible(a, p):
		return nil
	}
	return fmt.Errorf("%w\n\tThe suite tries every GPU model, also those without halves, and wants an answer here, for "+
		"example on the whole GPU. If the rules of %s allow none, add a case for it to the function that the suite has "+
		"as Infeasible", refusal, a.Spec.Name)
}

// repeat runs an algorithm several times at once and compares the answers with its first answer.
func (tr *Track[P, A]) repeat(a algo.Algorithm, p P, answer A) error {
	var g errgroup.Group
	for range 3 {
		g.Go(func() error {
			again, err := tr.Run(context.Background(), a, p)
			if err != nil {
				return err
			}
			if !reflect.DeepEqual(answer, again) {
				return fmt.Errorf("the same problem gives %+v and then %+v; an answer may depend on the problem and the "+
					"parameters only", answer, again)
			}
			return nil
		})
	}
	return g.Wait()
}
