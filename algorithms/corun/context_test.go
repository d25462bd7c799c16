package corun

import (
	"context"
	"errors"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// A lookedAt is a context that ends after some looks at it.
type lookedAt struct {
	context.Context
	looks int
}

func (c *lookedAt) Err() error {
	if c.looks--; c.looks < 0 {
		return context.Canceled
	}
	return nil
}

// A scheduler whose context ends, at once or while it divides many jobs, has no plan.
func TestSchedulersEndWithTheirContext(t *testing.T) {
	w := corun.Window{Concurrency: 2}
	for i := range 16 {
		w.Jobs = append(w.Jobs, task.Program{Name: "j", Class: task.Unscalable, Solo: mig.Seconds(1 + i), Serial: 1, Parallelism: 1})
	}
	for _, s := range algo.All(algo.TrackCorun) {
		plan, err := algotest.Corun.Run(&lookedAt{Context: t.Context()}, algo.MustParse(s.Name), w)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %d groups, %v; want %v: let it return ctx.Err()", s.Name, len(plan), err, context.Canceled)
		}
	}
	d := newDivider(&w, corun.MIGShared)
	ctx := &lookedAt{Context: t.Context(), looks: 3}
	if groups := d.divide(ctx, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}); groups != nil || ctx.looks < -5 {
		t.Errorf("%d groups, %d looks after the end", len(groups), -ctx.looks)
	}
}
