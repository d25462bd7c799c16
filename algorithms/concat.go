package algorithms

import (
	"context"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"miglab/algorithms/plan"
	"miglab/harness/algo"
	"miglab/harness/schedule"
	"miglab/harness/spec"
)

var _ = algo.Register(algo.Spec{
	Name: "far-concat", Version: 3, Cite: "FAR 4",
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
		{
			Name: "iterations", Default: strconv.Itoa(refinementIterations), Type: spec.Whole(1, 1_000_000),
			Doc: "iterations of moves and swaps between two batches at most",
		},
		{
			Name: "margin", Default: "durations", Values: []string{"durations", "shifted"},
			Doc: "durations adds up tasks for the margin of moves and swaps; shifted times the batch with its " +
				"reconfigurations after every change, and counts in shifted_us, in microseconds, when the last two " +
				"batches end if nothing is reconfigured between them",
		},
		keepParam,
	},
	New: algo.NewStream(func(a algo.Args) (algo.Stream, error) {
		return farConcat{
			mode: a["mode"], first: direction(a["first"] == "reversed"),
			iterations: a.Int("iterations"), keep: keepRule(a["keep"] == "last"),
			shifted: a["margin"] == "shifted",
		}, nil
	}),
})

// farConcat appends the FAR schedules of successive batches (FAR 4).
//
// With mode=trivial, a batch begins when the last task of the batch before it has ended (FAR 4.1). Otherwise every
// second schedule runs backwards, from small instances to large ones, and each instance starts as soon as its own
// slices are free. An instance that the last batch left is used again without reconfiguration (FAR 4.2). For a reversed
// schedule, this is the paper's slice-by-slice shift of the block. A forward schedule need not wait for the last slice.
//
// With move and moveswap, the rules of phase 3 then move and swap tasks of the new batch, where the idle time of slices
// between batches counts towards the margin (FAR 4.3). With keep=best, the changes after the plan that ends first are
// undone.
//
// At the end all batches are timed together. An early operation of a batch can then delay a late operation of the batch
// before it by tenths of a second. The counters are the moves and swaps between batches and, with margin=shifted,
// shifted_us.
//
// The script concat_test of the released code, which made FAR Tables 7 and 8, has at most 20 iterations, times the new
// batch after every change, and undoes no change, neither in a batch nor between batches: iterations=20, margin=shifted
// and keep=last. Timing with reconfigurations moves the ends of slices by tenths of a second, so that a task can move
// to another slice and back until the iterations are used up. The script does not reconfigure between two batches,
// which no GPU can do; margin=shifted counts its makespans.
type farConcat struct {
	mode       string
	first      direction
	iterations int
	shifted    bool // the parameter margin
	keep       keepRule
}

// An endState is the state of the GPUs after the batches so far.
type endState struct {
	gpus plan.State
	last []float64 // by compute slice of all GPUs, when its last task ends, in seconds
}

func (f farConcat) ScheduleStream(ctx context.Context, p algo.Problem, lengths []int) (schedule.Schedule, error) {
	all := plan.NewTimer(p, plan.Start(p))
	state := endState{plan.Start(p).LeftToRight(), make([]float64, int(p.GPU.ComputeSlices)*p.GPUs())}
	counters := map[string]int{}
	var before block
	from := 0
	for b, n := range lengths {
		if err := ctx.Err(); err != nil {
			return schedule.Schedule{}, err
		}
		batch, gpus := nextBatch(p, state.gpus, from, n)
		state.gpus = gpus
		begin := lastRelease(p, from, n)
		for s := range state.last {
			state.last[s] = max(state.last[s], begin)
		}
		planned := farPlan(ctx, batch)
		refineFAR(ctx, batch, planned, f.keep)
		d := direction(bool(f.first) != (b%2 == 1))
		if f.mode == "trivial" {
			d, begin = forward, max(all.Run(), begin)
		}
		if f.mode == "move" || f.mode == "moveswap" {
			var r *refinement
			state, r = f.concatenate(ctx, batch, state, planned, d, b > 0)
			moves, swaps := r.count()
			counters["moves"] += moves
			counters["swaps"] += swaps
		}
		if f.shifted {
			own := newBlock(batch, planned)
			counters["shifted_us"] = int(math.Round(f.jointEnd(before, own) * 1e6))
			before = own
		}
		all.Add(numberedFrom(from, planned.uses(d)), begin)
		from += n
	}
	all.Run()
	out := all.Schedule()
	out.Counters = counters
	return out, ctx.Err()
}

// concatenate puts a planned batch after the batches that left a state, and returns the state after the batch. If
// refine is set, it moves and swaps tasks of the planned batch.
func (f farConcat) concatenate(
	ctx context.Context, batch algo.Problem, state endState, planned *treePlan, d direction, refine bool,
) (endState, *refinement) {
	t := plan.NewTimer(batch, state.gpus)
	least := t.Time(planned.uses(d))
	after, kept := newEndState(t), 0
	r := &refinement{plan: planned, movesOnly: f.mode == "move", iterations: f.iterations}
	if refine {
		r.end = f.sliceEnds(batch, state, planned, d)
		if f.shifted {
			r.retime = func() []float64 { return f.sliceEnds(batch, state, planned, d) }
		}
		r.improve(ctx, func() {
			makespan := t.Time(planned.uses(d))
			if makespan < least || f.keep == keepLast {
				least, after, kept = makespan, newEndState(t), len(r.log)
			}
		})
		r.undo(kept)
	}
	for i, end := range state.last {
		after.last[i] = max(after.last[i], end)
	}
	return after, r
}

func newEndState(t *plan.Timer) endState { return endState{t.State().LeftToRight(), t.SliceEnds()} }

// lastRelease returns when the last of n tasks is released, in seconds.
func lastRelease(p algo.Problem, from, n int) float64 {
	last := 0.0
	for i := from; i < from+n; i++ {
		last = max(last, float64(p.ReleaseOf(i)))
	}
	return last
}

// nextBatch returns the problem of n tasks of a stream, without start instances and release times, and the state of the
// GPUs from which it is planned. In this state no slice is free before the last of the tasks is released.
func nextBatch(p algo.Problem, gpus plan.State, from, n int) (algo.Problem, plan.State) {
	batch := p
	batch.Tasks, batch.Start, batch.Release = p.Tasks[from:from+n], nil, nil
	return batch, gpus.NotBefore(lastRelease(p, from, n))
}

// numberedFrom adds from to the task numbers of a plan. It returns the plan with the tasks' numbers in the stream.
func numberedFrom(from int, uses []plan.Use) []plan.Use {
	for i := range uses {
		uses[i].Tasks = slices.Clone(uses[i].Tasks)
		for j := range uses[i].Tasks {
			uses[i].Tasks[j].Index += int32(from)
		}
	}
	return uses
}

// sliceEnds returns, by compute slice of all GPUs, when the slice's last task of a planned batch from the state ends.
// A reversed batch ends on the root, so that all slices would end together: for it, sliceEnds adds the slice's time in
// the batch to its time in the state, as the parameter margin says.
func (f farConcat) sliceEnds(batch algo.Problem, state endState, planned *treePlan, d direction) []float64 {
	switch {
	case d == forward:
		return timedEnds(batch, state.gpus, planned)
	case f.shifted:
		ends := timedEnds(batch, plan.Start(batch), planned)
		floats.Add(ends, state.last)
		return ends
	default:
		return summedEnds(batch, state.gpus, planned)
	}
}

// timedEnds returns when each slice's last task ends if the batch runs forward from a state, with its reconfigurations.
func timedEnds(batch algo.Problem, gpus plan.State, planned *treePlan) []float64 {
	t := plan.NewTimer(batch, gpus)
	t.Time(planned.uses(forward))
	return t.SliceEnds()
}

// summedEnds returns when each slice is free in a state plus the durations of all tasks of the batch on the slice.
func summedEnds(batch algo.Problem, gpus plan.State, planned *treePlan) []float64 {
	t := plan.NewTimer(batch, gpus)
	k := int(batch.GPU.ComputeSlices)
	var end []float64
	for s := range batch.GPUs() * k {
		_, free := t.Slice(s/k, s%k)
		end = append(end, free)
	}
	for node, list := range planned.lists {
		var total float64
		for _, task := range list {
			total += task.Seconds
		}
		planned.delay(int32(node), total, end)
	}
	return end
}

// A block is a batch's plan, timed forward by itself as in concat_test of the released code. Times are in seconds.
type block struct {
	first, makespan float64   // first is when its first task begins; 0 without tasks
	ends            []float64 // by compute slice, when its last task ends
}

func newBlock(batch algo.Problem, planned *treePlan) block {
	t := plan.NewTimer(batch, plan.Start(batch))
	b := block{makespan: t.Time(planned.uses(forward)), ends: t.SliceEnds()}
	for i, pl := range t.Schedule().Placements {
		if i == 0 || float64(pl.Start) < b.first {
			b.first = float64(pl.Start)
		}
	}
	return b
}

// jointEnd returns when a block ends that is shifted behind another block. A trivial concatenation runs it forward
// after the other block's last task. Otherwise it runs backwards, where the time before its first task is not needed,
// and begins as early as its slices allow.
func (f farConcat) jointEnd(before, own block) float64 {
	if f.mode == "trivial" || before.ends == nil {
		return before.makespan + own.makespan
	}
	return floats.Max(floats.AddTo(make([]float64, len(own.ends)), before.ends, own.ends)) - own.first
}
