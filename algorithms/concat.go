package algorithms

import (
	"context"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

var _ = algo.Register(algo.Spec{
	Name: "far-concat", Version: 1, Track: algo.TrackStream, Cite: "FAR 4",
	Summary: "FAR for every batch, every second schedule reversed so that neighbours overlap",
	Params: []algo.Param{
		{
			Name: "mode", Default: "moveswap", Values: []string{"trivial", "reverse", "move", "moveswap"},
			Doc: "start after the last task (trivial), overlap, or overlap and move, or move and swap, tasks",
		},
		{
			Name: "first", Default: "forward", Values: []string{"forward", "reversed"},
			Doc: "direction of the first batch; with mode=trivial all are forward",
		},
	},
	Stream: func(a algo.Args) (algo.Stream, error) {
		return farConcat{a["mode"], direction(a["first"] == "reversed")}, nil
	},
})

// farConcat appends the FAR schedules of successive batches (FAR 4).
//
// Trivially, a batch begins when the last task of the one before has ended
// (FAR 4.1). Otherwise every second schedule runs backwards, from small instances
// to large ones, and each instance starts as soon as its own slices are free; on
// the way an instance that the last batch left is used again without
// reconfiguration (FAR 4.2). For a reversed schedule that is the paper's
// slice-by-slice shift of the whole block; a forward one is not held up by the one
// slice that comes last. With moveswap, tasks of the new batch are then moved and
// swapped by the rules of phase 3, where the slices' idle time between the batches
// counts towards the margin (FAR 4.3), and what does not make the batch end
// earlier is taken back.
//
// The counters are the moves and swaps of the concatenation alone.
type farConcat struct {
	mode  string
	first direction
}

func (f farConcat) ScheduleStream(ctx context.Context, p algo.Problem, lengths []int) (schedule.Schedule, error) {
	t := newTimeline(p)
	var plan []use
	state := p.Start // the instances that the last batch leaves
	moves, swaps := 0, 0
	from := 0
	for b, n := range lengths {
		if err := ctx.Err(); err != nil {
			return schedule.Schedule{}, err
		}
		batch := p
		batch.Tasks, batch.Start = p.Tasks[from:from+n], nil
		if p.Release != nil {
			batch.Release = p.Release[from : from+n]
		}
		tree := farPlan(batch)
		alone := run(batch, tree.asFound())
		refineFAR(batch, tree, &alone)
		if f.mode == "trivial" {
			t.add(tree.uses(forward, from), t.out.Makespan())
			from += n
			continue
		}
		d := direction(bool(f.first) != (b%2 == 1))
		if f.searches() {
			batch.Start = state
			best := newTimeline(batch)
			best.add(tree.uses(d, 0), 0)
			if b > 0 {
				r := &refinement{plan: tree, end: loads(batch, tree, d), movesOnly: f.mode == "move"}
				kept := 0
				r.improve(refinementIterations, func() {
					now := newTimeline(batch)
					now.add(tree.uses(d, 0), 0)
					if now.out.Makespan() < best.out.Makespan() {
						best, kept = now, len(r.log)
					}
				})
				r.undo(kept)
				m, s := r.count()
				moves, swaps = moves+m, swaps+s
			}
			state = best.left()
		}
		plan = append(plan, tree.uses(d, from)...)
		from += n
	}
	t.add(plan, 0)
	if f.searches() {
		t.out.Counters = map[string]int{"moves": moves, "swaps": swaps}
	}
	return t.out, nil
}

// searches reports whether tasks are moved.
func (f farConcat) searches() bool { return f.mode == "move" || f.mode == "moveswap" }

// left returns the instances that exist when everything has run.
func (t *timeline) left() []schedule.Existing {
	var out []schedule.Existing
	for s, i := range t.last {
		if i < 0 || s > 0 && t.last[s-1] == i {
			continue
		}
		if u := &t.uses[i]; u.state == finished {
			out = append(out, schedule.Existing{GPU: u.gpu, Instance: u.in, BusyUntil: u.at})
		}
	}
	return out
}

// loads returns, by compute slice of all GPUs, when a plan that follows on the
// instances in p.Start keeps it until. Reversed, everything ends on the root, so
// that the slices' ends do not tell which of them holds the others up; there it is
// what was before on the slice plus all its tasks.
func loads(p algo.Problem, plan *treePlan, d direction) []float64 {
	if d == forward {
		s := run(p, plan.uses(forward, 0))
		return sliceEnds(p, &s)
	}
	k := int(p.GPU.ComputeSlices)
	end := make([]float64, k*p.GPUs())
	add := func(gpu int, in mig.Instance, by float64) {
		for c := range k {
			if in.Mask()>>c&1 == 1 {
				end[gpu*k+c] += by
			}
		}
	}
	for _, e := range p.Start {
		add(e.GPU, e.Instance, float64(e.BusyUntil))
	}
	n := len(plan.forest.tree)
	for node, list := range plan.lists {
		var total float64
		for _, t := range list {
			total += t.time
		}
		add(node/n, plan.forest.tree[node%n].Instance, total)
	}
	return end
}
