package algorithms

import (
	"context"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/schedule"
)

var _ = algo.Register(algo.Spec{
	Name: "far-concat", Version: 2, Track: algo.TrackStream, Cite: "FAR 4",
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
	New: func(a algo.Args) (algo.Stream, error) {
		return farConcat{a["mode"], direction(a["first"] == "reversed")}, nil
	},
})

// farConcat appends the FAR schedules of successive batches (FAR 4).
//
// With mode=trivial, a batch begins when the last task of the batch before it has
// ended (FAR 4.1). Otherwise every second schedule runs backwards, from small
// instances to large ones, and each instance starts as soon as its own slices are
// free. An instance that the last batch left is used again without reconfiguration
// (FAR 4.2). For a reversed schedule, this is the paper's slice-by-slice shift of the
// whole block. A forward schedule does not have to wait for the last slice.
//
// With move and moveswap, the rules of phase 3 then move and swap tasks of the new
// batch, where the idle time of slices between batches counts towards the margin
// (FAR 4.3). Changes that do not make the batch end earlier are undone.
//
// At the end all batches are timed together. An early operation of a batch can then
// delay a late operation of the batch before it by tenths of a second.
//
// The counters are the moves and swaps of the concatenation alone.
type farConcat struct {
	mode  string
	first direction
}

func (f farConcat) ScheduleStream(ctx context.Context, p algo.Problem, lengths []int) (schedule.Schedule, error) {
	all := newTiming(p, firstAsked)
	all.begin(remnants(p))
	var plan []use
	state := leftToRight(remnants(p)) // what the batches so far leave
	moves, swaps := 0, 0
	from := 0
	for b, n := range lengths {
		if err := ctx.Err(); err != nil {
			return schedule.Schedule{}, err
		}
		batch := batchOf(p, from, n)
		own := farPlan(batch)
		refineFAR(batch, own)
		if f.mode == "trivial" {
			all.add(numberedFrom(from, own.uses(forward)), all.run())
			from += n
			continue
		}
		d := direction(bool(f.first) != (b%2 == 1))
		if f.searches() {
			var r *refinement
			state, r = f.follow(batch, state, own, d, b > 0)
			m, s := r.count()
			moves, swaps = moves+m, swaps+s
		}
		plan = append(plan, numberedFrom(from, own.uses(d))...)
		from += n
	}
	all.add(plan, 0)
	all.run()
	out := all.schedule()
	if f.searches() {
		out.Counters = map[string]int{"moves": moves, "swaps": swaps}
	}
	return out, nil
}

func (f farConcat) searches() bool { return f.mode == "move" || f.mode == "moveswap" }

// follow puts a batch's plan after the batches that leave a state. It returns what
// the batch leaves. If refine is set, it moves and swaps tasks of the plan.
func (f farConcat) follow(batch algo.Problem, state []remnant, plan *treePlan, d direction, refine bool) ([]remnant, *refinement) {
	t := newTiming(batch, firstAsked)
	least := t.time(state, plan.uses(d))
	after, kept := t.leaves(), 0
	r := &refinement{plan: plan, movesOnly: f.mode == "move"}
	if refine {
		r.end = sliceLoads(state, t, plan, d)
		r.improve(func() {
			if makespan := t.time(state, plan.uses(d)); makespan < least {
				least, after, kept = makespan, t.leaves(), len(r.log)
			}
		})
		r.undo(kept)
	}
	return leftToRight(after), r
}

// batchOf returns the problem of n tasks of a stream. It begins with empty GPUs.
func batchOf(p algo.Problem, from, n int) algo.Problem {
	p.Tasks, p.Start = p.Tasks[from:from+n], nil
	if p.Release != nil {
		p.Release = p.Release[from : from+n]
	}
	return p
}

// numberedFrom returns a batch's plan with the tasks' numbers in the stream.
func numberedFrom(from int, plan []use) []use {
	for i := range plan {
		plan[i].tasks = slices.Clone(plan[i].tasks)
		for j := range plan[i].tasks {
			plan[i].tasks[j].task += int32(from)
		}
	}
	return plan
}

// leftToRight sorts the instances of each GPU by slice. The order decides which of
// several simultaneous destructions goes first.
func leftToRight(holds []remnant) []remnant {
	for g := range holds {
		slices.SortFunc(holds[g].exist, func(a, b schedule.Existing) int { return int(a.Instance.Start - b.Instance.Start) })
	}
	return holds
}

// sliceLoads returns, by compute slice of all GPUs, until when a plan that starts from
// a state needs the slice; found is the plan's timing. A reversed plan ends on the root,
// so that all slices end together. For it, the result is the end of the slice in the
// state plus the durations of all tasks on the slice.
func sliceLoads(state []remnant, found *timing, plan *treePlan, d direction) []float64 {
	if d == forward {
		return found.sliceEnds()
	}
	k := int(found.p.GPU.ComputeSlices)
	var end []float64
	for g := range state {
		free := state[g].freeAt()
		end = append(end, free[:k]...)
	}
	for node, list := range plan.lists {
		var total float64
		for _, t := range list {
			total += t.time
		}
		g, v := plan.tree.at(int32(node))
		mask := plan.tree.nodes[v].Mask()
		for c := range k {
			if mask>>c&1 == 1 {
				end[g*k+c] += total
			}
		}
	}
	return end
}
