package algorithms

import (
	"context"

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
// Trivially, a batch begins when the last task of the one before has ended
// (FAR 4.1). Otherwise every second schedule runs backwards, from small instances
// to large ones, and each instance starts as soon as its own slices are free; on
// the way an instance that the last batch left is used again without
// reconfiguration (FAR 4.2). For a reversed schedule that is the paper's
// slice-by-slice shift of the whole block; a forward one is not held up by the one
// slice that comes last. With moveswap, tasks of the new batch are then moved and
// swapped by the rules of phase 3, where the slices' idle time between the batches
// counts towards the margin (FAR 4.3). What does not make the batch end earlier,
// timed after the batches before it, is taken back. In the end all batches are
// timed together: an early operation of a batch can then delay a late one of the
// batch before by tenths of a second.
//
// The counters are the moves and swaps of the concatenation alone.
type farConcat struct {
	mode  string
	first direction
}

func (f farConcat) ScheduleStream(ctx context.Context, p algo.Problem, lengths []int) (schedule.Schedule, error) {
	t := newTimeline(p)
	var plan []use
	state := newTimeline(p) // what the batches so far leave
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
			best := state.after(batch)
			best.add(tree.uses(d, 0), 0)
			if b > 0 {
				r := &refinement{plan: tree, end: loads(state, best, tree, d), movesOnly: f.mode == "move"}
				kept := 0
				r.improve(refinementIterations, func() {
					now := state.after(batch)
					now.add(tree.uses(d, 0), 0)
					if now.out.Makespan() < best.out.Makespan() {
						best, kept = now, len(r.log)
					}
				})
				r.undo(kept)
				m, s := r.count()
				moves, swaps = moves+m, swaps+s
			}
			state = best
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

// after returns an empty timeline for a problem that begins with what another one
// leaves: the instances that exist, when the slices of the others became free, and
// when the last operation ended.
func (t *timeline) after(p algo.Problem) *timeline {
	next := newTimeline(p)
	copy(next.channel, t.channel)
	for s, i := range t.last {
		if i < 0 {
			continue
		}
		u := &t.uses[i]
		if s > 0 && t.last[s-1] == i {
			next.last[s] = int32(len(next.uses)) - 1
			continue
		}
		next.last[s] = int32(len(next.uses))
		next.uses = append(next.uses, timedUse{use: use{gpu: u.gpu, in: u.in}, state: u.state, at: u.at, successor: -1})
	}
	return next
}

// loads returns, by compute slice of all GPUs, until when a plan keeps it that
// follows on a state; found is the plan's timeline. Reversed, everything ends on
// the root, so that the slices' ends do not tell which of them holds the others
// up; there it is the state's end on the slice plus all the slice's tasks.
func loads(state, found *timeline, plan *treePlan, d direction) []float64 {
	p := &found.p
	if d == forward {
		return sliceEnds(*p, &found.out)
	}
	k, m := int(p.GPU.ComputeSlices), int(p.GPU.MemorySlices)
	end := make([]float64, k*p.GPUs())
	for i := range end {
		if u := state.last[i/k*m+i%k]; u >= 0 {
			end[i] = float64(state.uses[u].at)
		}
	}
	n := len(plan.forest.tree)
	for node, list := range plan.lists {
		var total float64
		for _, t := range list {
			total += t.time
		}
		in := plan.forest.tree[node%n].Instance
		for c := range k {
			if in.Mask()>>c&1 == 1 {
				end[node/n*k+c] += total
			}
		}
	}
	return end
}
