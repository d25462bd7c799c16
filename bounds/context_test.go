package bounds_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	"miglab/bounds"
	"miglab/bounds/certificate"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// An ending context ends when it has been looked at twice.
type ending struct {
	context.Context
	looks atomic.Int64
}

func (c *ending) Err() error {
	if c.looks.Add(1) > 1 {
		return context.Canceled
	}
	return nil
}

// Everything that can take long ends soon after its context. The slowest terms of Prove are those of many tasks on
// several GPUs, and of as many tasks as chains take.
func TestBoundsEndWithTheirContext(t *testing.T) {
	g := mig.MustLookup("A100")
	long := algo.Problem{GPU: mig.MustLookup("H100")}
	for i := range bounds.MaxSearched {
		long.Tasks = append(long.Tasks, task.New(fmt.Sprint("task", i), map[mig.Slices]mig.Seconds{1: 0.1 + mig.Seconds(i)/7, 2: 0.09, 3: 0.08, 4: 0.07}))
	}
	a80 := mig.MustLookup("A100-80GB")
	in, err := datasets.InstanceOf[task.Requests](datasets.MustParse("mfi/uniform?gpus=10&lifespan=steady&rho=1.3"), a80, 0)
	if err != nil {
		t.Fatal(err)
	}
	prove := func(p algo.Problem) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := bounds.Prove(ctx, p, unknown)
			return err
		}
	}
	for _, c := range []struct {
		name        string
		spent, most int64 // looks at the context before the run, and in all
		run         func(context.Context) error
	}{
		{"a search", 0, 10, func(ctx context.Context) error {
			_, err := bounds.Exact(ctx, long, oneByOne(long))
			return err
		}},
		{"300 tasks on 4 GPUs", 0, 100, prove(algo.Problem{GPU: g, Count: 4, Tasks: randomBatch(g, 1, 300)})},
		{"as many tasks as chains take", 0, 100, prove(algo.Problem{GPU: g, Tasks: randomBatch(g, 1, bounds.MaxChainTasks)})},
		{"the optimum on 2 GPUs", 1, 10, func(ctx context.Context) error {
			_, err := bounds.OptimumFree(ctx, algo.Problem{GPU: g, Count: 2, Tasks: randomBatch(g, 1, 6)})
			return err
		}},
		{"accepted requests", 0, 10, func(ctx context.Context) error {
			_, err := bounds.AcceptedAtMost(ctx, a80, in.GPUs, in.Requests)
			return err
		}},
	} {
		ctx := &ending{Context: t.Context()}
		ctx.looks.Store(c.spent)
		if err := c.run(ctx); !errors.Is(err, context.Canceled) || ctx.looks.Load() > c.most {
			t.Errorf("%s: %v after %d looks at the context, want its error after at most %d", c.name, err, ctx.looks.Load(), c.most)
		}
	}
}

// Whenever a context ends, Exact returns its error: chains that end early are no bound.
func TestExactReturnsTheErrorOfItsContext(t *testing.T) {
	p := algo.Problem{GPU: mig.MustLookup("A100"), Tasks: randomBatch(mig.MustLookup("A100"), 1, 13)}
	known, err := algo.MustParse("lns").Schedule(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	// looks runs Exact with a context that ends when it has been looked at more than a number of times.
	looks := func(most int64) (int64, error) {
		ctx := &ending{Context: t.Context()}
		ctx.looks.Store(1 - most)
		c, err := bounds.Exact(ctx, p, known)
		if err == nil && ctx.Err() == nil && certificate.Verify(p, c) != nil {
			t.Errorf("a false certificate: %v by %v, and %v s are known", c.Lower, c.Witness.Kind, c.Makespan)
		}
		return ctx.looks.Load() - (1 - most), err
	}
	all, err := looks(math.MaxInt32)
	if err != nil || all < 20 {
		t.Fatalf("Exact looks at its context %d times, error %v", all, err)
	}
	for most := range all - 1 { // the last look is the test's
		if _, err := looks(most); !errors.Is(err, context.Canceled) {
			t.Errorf("the context ends at look %d of %d: error %v, want the context's", most, all, err)
		}
	}
}
