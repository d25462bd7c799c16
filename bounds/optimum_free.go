package bounds

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
)

// MaxOptimumFreeTasks is the largest batch that [OptimumFree] takes. Such a batch
// takes milliseconds on an A100, and each further task about five times as long.
const MaxOptimumFreeTasks = 6

// OptimumFree returns the optimal makespan in seconds of the moldable problem without reconfiguration costs
// ([mig.Free]), whatever the problem's model. The approximation factors of FAR 5 refer to it: 7/4 on one A30, 15/8 on
// two, 2 on A100 and H100. If reconfiguration costs something, the value is a lower bound.
//
// EXACT, by branch and bound over sequences of (task, instance). A task starts at its release, or when the tasks before
// it in the sequence and a busy start instance free the slices of its instance, whichever is later: a semi-active
// schedule. Only sequences ordered by (start, task number) are visited, and no task starts at or after an instant by
// which another could have run completely (an active schedule).
//
// PROOF that an optimum is among them. Replaying the tasks of an optimal schedule in this way, in the order of their
// starts, delays none of them: the tasks before it that share its slices end no later than they did. There are finitely
// many replays, so one of the optimal schedules has the least sum of starts. (1) Its replay does not change it, as an
// earlier start would lower the sum. At equal starts the order does not matter, because durations are positive and such
// tasks share no slice. So its sequence by (start, task number) is visited. (2) Suppose that task i is next in it and
// starts at b, and that a task j which is not yet placed could run on some instance from x to e <= b, where x is no
// earlier than the last start, j's release and the ends of the tasks placed on those slices. Moving j there disturbs
// neither the tasks placed before nor those after, which start at b or later. It lowers the sum of starts, because
// x < b, and delays no end: a contradiction.
//
// The search cuts off sequences that cannot be better than the best one found: the least areas of the remaining tasks
// do not fit on the slices before its end, or a remaining task cannot end before it. It skips an instance if swapping
// two GPUs, or two sibling subtrees of the same shape, maps the instance to an earlier one and changes no slice's free
// instant. Such a swap maps schedules to schedules with the same starts.
//
// The error says what is wrong with the tasks (see [task.Batch.Validate]) or that there are too many, or it is that of
// ctx.
func OptimumFree(ctx context.Context, p algo.Problem) (mig.Seconds, error) {
	if err := p.Tasks.Validate(p.GPU); err != nil {
		return 0, err
	}
	if n := len(p.Tasks); n > MaxOptimumFreeTasks {
		return 0, fmt.Errorf("optimum-free takes at most %d tasks; the batch has %d", MaxOptimumFreeTasks, n)
	}
	s := newFreeSearch(ctx, &p)
	s.extend(freeNode{left: 1<<len(p.Tasks) - 1})
	if s.err != nil {
		return 0, s.err
	}
	return s.best, nil
}

type freeInstance struct {
	size mig.Slices
	mask mig.Mask
	// twins are the pairs of sibling subtrees of the same shape whose later one contains the instance.
	twins []twin
}

// A twin is a pair of subtrees, by their first memory slices, and their length.
type twin struct{ earlier, later, length int }

var freeInstances = mig.Derived(func(g *mig.GPU) []freeInstance {
	tree := g.Tree()
	var out []freeInstance
	for _, n := range tree {
		in := freeInstance{size: n.Size(), mask: n.Mask()}
		for a := n; a.Parent >= 0; a = tree[a.Parent] {
			for _, c := range tree[a.Parent].Children {
				b := tree[c]
				if b.Start < a.Start && sameShape(tree, a, b) {
					in.twins = append(in.twins, twin{int(b.Start), int(a.Start), int(a.Profile.Length)})
				}
			}
		}
		out = append(out, in)
	}
	return out
})

func sameShape(tree []mig.Node, a, b mig.Node) bool {
	return a.Profile == b.Profile && slices.EqualFunc(a.Children, b.Children, func(i, j int) bool {
		return tree[i].Start-a.Start == tree[j].Start-b.Start && sameShape(tree, tree[i], tree[j])
	})
}

type freeSearch struct {
	ctx       context.Context
	problem   *algo.Problem
	instances []freeInstance
	// area is each task's least area.
	area []mig.Seconds
	// gpus says from when each memory slice of each GPU is free.
	gpus    []bySlice
	choices [MaxOptimumFreeTasks][]freeChoice
	best    mig.Seconds
	visited int
	err     error
}

// A freeNode is a sequence of placements. The search holds when they free the slices.
type freeNode struct {
	// left is the set of remaining tasks.
	left uint
	// start and task are those of the last placement.
	start mig.Seconds
	task  int
	// end is the makespan so far.
	end mig.Seconds
	// depth is the number of placements.
	depth int
}

// A freeChoice is a placement that may come next.
type freeChoice struct {
	task, gpu  int
	instance   *freeInstance
	start, end mig.Seconds
}

func newFreeSearch(ctx context.Context, p *algo.Problem) *freeSearch {
	s := &freeSearch{
		ctx: ctx, problem: p, instances: freeInstances(p.GPU), gpus: make([]bySlice, p.GPUs()),
		area: make([]mig.Seconds, len(p.Tasks)), best: mig.Seconds(math.Inf(1)),
	}
	for _, e := range p.Start {
		s.gpus[e.GPU].set(e.Instance.Mask(), e.BusyUntil)
	}
	for i := range p.Tasks {
		s.area[i] = mig.Seconds(p.Tasks[i].Work(p.GPU.Sizes()))
	}
	return s
}

// extend visits the sequences that begin with the node's sequence.
func (s *freeSearch) extend(n freeNode) {
	if s.visited++; s.visited%4096 == 0 && s.err == nil {
		s.err = s.ctx.Err()
	}
	if s.err != nil {
		return
	}
	if n.left == 0 {
		s.best = min(s.best, n.end)
		return
	}
	if s.full(n) {
		return
	}
	for _, c := range s.next(n) {
		if max(n.end, c.end) >= s.best {
			continue
		}
		before := s.gpus[c.gpu]
		s.gpus[c.gpu].set(c.instance.mask, c.end)
		s.extend(freeNode{n.left &^ (1 << c.task), c.start, c.task, max(n.end, c.end), n.depth + 1})
		s.gpus[c.gpu] = before
	}
}

// full reports whether the least areas of the remaining tasks do not fit on the compute slices before the best makespan
// found. None of them starts before the last start. A start instance may be busy for longer. An instance occupies at
// least as many of the first ComputeSlices memory slices as its size says.
func (s *freeSearch) full(n freeNode) bool {
	var needed, room mig.Seconds
	for i := range s.area {
		if n.left>>i&1 != 0 {
			needed += s.area[i]
		}
	}
	for g := range s.gpus {
		for _, until := range s.gpus[g][:s.problem.GPU.ComputeSlices] {
			room += max(0, s.best-max(until, n.start))
		}
	}
	return needed >= room
}

// next returns the placements that may follow, ordered by their ends. It returns none if a
// remaining task cannot end before the best makespan found.
func (s *freeSearch) next(n freeNode) []freeChoice {
	choices := s.choices[n.depth][:0]
	earliestEnd := mig.Seconds(math.Inf(1))
	for i := range s.area {
		if n.left>>i&1 == 0 {
			continue
		}
		taskEnd := mig.Seconds(math.Inf(1))
		for g := range s.gpus {
			until := &s.gpus[g]
			if slices.Contains(s.gpus[:g], *until) {
				continue
			}
			for k := range s.instances {
				in := &s.instances[k]
				t := s.problem.Tasks[i].On(in.size)
				if math.IsInf(float64(t), 1) || in.redundant(until) {
					continue
				}
				start := max(s.problem.ReleaseOf(i), until.latest(in.mask))
				taskEnd = min(taskEnd, max(start, n.start)+t)
				if start > n.start || (start == n.start && i >= n.task) {
					choices = append(choices, freeChoice{i, g, in, start, start + t})
				}
			}
		}
		if taskEnd >= s.best {
			return nil
		}
		earliestEnd = min(earliestEnd, taskEnd)
	}
	s.choices[n.depth] = choices
	choices = slices.DeleteFunc(choices, func(c freeChoice) bool { return c.start >= earliestEnd || c.end >= s.best })
	slices.SortFunc(choices, func(a, b freeChoice) int {
		return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.task, b.task))
	})
	return choices
}

// redundant reports whether a swap of two subtrees with the same free instants maps the instance to an earlier one.
func (in *freeInstance) redundant(until *bySlice) bool {
	for _, t := range in.twins {
		if slices.Equal(until[t.earlier:t.earlier+t.length], until[t.later:t.later+t.length]) {
			return true
		}
	}
	return false
}

var _ = register("optimum-free", 1, false, "the optimum that FAR 5 refers to",
	fmt.Sprintf("optimum without reconfiguration costs, of at most %d tasks; exact", MaxOptimumFreeTasks), OptimumFree)
