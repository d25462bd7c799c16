package algorithms

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"miglab/algorithms/plan"
	"miglab/harness/algo"
	"miglab/harness/heap"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/spec"
)

var (
	_ = algo.Register(algo.Spec{
		Name: "fixpart", Version: 1, Cite: "FAR 6.5, FIXPART(P)",
		Summary: "one fixed partition; tasks in order of arrival on the first free instance",
		Params:  []algo.Param{partitionParam(allOnes, "ones: all of size 1")},
		New:     algo.NewBatch(func(a algo.Args) (algo.Batch, error) { return fixPart{a["p"]}, nil }),
	})
	_ = algo.Register(algo.Spec{
		Name: "fixpartbest", Version: 1, Cite: "FAR 6.5, FIXPARTBEST",
		Summary: "the best FIXPART of all partitions",
		New:     algo.NewBatch(func(algo.Args) (algo.Batch, error) { return fixPartBest{}, nil }),
	})
	_ = algo.Register(algo.Spec{
		Name: "nomig", Version: 1, Cite: "DRL 5.3, NOMIG",
		Summary: "one task after the other on the whole GPU",
		New:     algo.NewBatch(func(algo.Args) (algo.Batch, error) { return noMIG{}, nil }),
	})
)

// partitionParam returns the parameter p, which names a partition or has one more value, its default.
func partitionParam(other, meaning string) algo.Param {
	return algo.Param{
		Name: "p", Default: other, Doc: "the partition, sizes from left to right; " + meaning,
		Type: spec.Names("partition", "a partition", "", func() []string {
			return append(mig.PartitionNames(), other)
		}, mig.NamesPartition),
	}
}

// fixPart is FIXPART(P) of FAR 6.5. The GPU keeps one partition, and tasks go, in order of arrival, to the instance
// that is free first. A task that does not fit this instance goes to the first free instance that it fits; the paper
// has no such task. With several GPUs, each has the partition. As in the paper, the choice of the instance ignores the
// creation of the partition, which takes little more than a second in all.
type fixPart struct{ partition string }

// allOnes names the partition into instances of size 1, which is the last partition of every GPU.
const allOnes = "ones"

func (f fixPart) Schedule(ctx context.Context, p algo.Problem) (schedule.Schedule, error) {
	part, err := f.resolve(p.GPU)
	if err != nil {
		return schedule.Schedule{}, err
	}
	return runFixpart(ctx, p, "fixpart", part)
}

// CheckGPU refuses a model without the partition.
func (f fixPart) CheckGPU(g *mig.GPU) error {
	_, err := f.resolve(g)
	return err
}

// resolve returns the partition of a model, or an error if the model has no such partition.
func (f fixPart) resolve(g *mig.GPU) (mig.Partition, error) {
	if f.partition == allOnes {
		return g.Partitions()[len(g.Partitions())-1], nil
	}
	return g.ParsePartition(f.partition)
}

func runFixpart(ctx context.Context, p algo.Problem, name string, part mig.Partition) (schedule.Schedule, error) {
	uses, err := planFixpart(ctx, p, name, part)
	if err != nil {
		return schedule.Schedule{}, err
	}
	return plan.Schedule(p, uses), nil
}

// planFixpart assigns the tasks to the partition's instances as FIXPART does. The error is an [*algo.InfeasibleError]
// of the named algorithm, or the context's error.
func planFixpart(ctx context.Context, p algo.Problem, name string, part mig.Partition) ([]plan.Use, error) {
	n := p.GPUs() * len(part)
	uses := make([]plan.Use, n)
	free := make(heap.Heap[float64], 0, n) // instances by the time at which they are free
	for g := range p.GPUs() {
		for _, in := range part {
			i := len(free)
			uses[i] = plan.Use{GPU: g, Instance: in, Tasks: make([]plan.Task, 0, len(p.Tasks)/n+1)}
			free.Push(heap.Item[float64]{ID: int32(i)})
		}
	}
	var skipped []heap.Item[float64]
	for k := range p.Tasks {
		if k%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		task := &p.Tasks[k]
		skipped = skipped[:0]
		for {
			if len(free) == 0 {
				return nil, &algo.InfeasibleError{
					Algorithm: name, Task: task.Name,
					Reason: fmt.Sprintf("fits no instance of partition %s of %s", part, p.GPU),
				}
			}
			e := free.Pop()
			u := &uses[e.ID]
			d := float64(task.On(u.Instance.Size()))
			if math.IsInf(d, 1) {
				skipped = append(skipped, e)
				continue
			}
			u.Tasks = append(u.Tasks, plan.Task{Seconds: d, Index: int32(k)})
			e.Key = max(e.Key, float64(p.ReleaseOf(k))) + d
			free.Push(e)
			break
		}
		for _, e := range skipped {
			free.Push(e)
		}
	}
	return uses, nil
}

// fixPartBest is FIXPARTBEST of FAR 6.5: the partition whose FIXPART schedule has
// the lowest makespan; of equal ones the first in the order of FAR Fig. 1.
type fixPartBest struct{}

func (fixPartBest) Schedule(ctx context.Context, p algo.Problem) (schedule.Schedule, error) {
	t := plan.NewTimer(p, plan.Start(p))
	var best []plan.Use
	var firstErr error
	least := math.Inf(1)
	for _, part := range p.GPU.Partitions() {
		uses, err := planFixpart(ctx, p, "fixpartbest", part)
		if err != nil {
			firstErr = cmp.Or(firstErr, err)
			continue
		}
		makespan := t.Time(uses)
		if best == nil || makespan < least {
			best, least = uses, makespan
		}
	}
	if err := ctx.Err(); err != nil || best == nil {
		return schedule.Schedule{}, cmp.Or(err, firstErr)
	}
	return plan.Schedule(p, best), nil
}

// noMIG runs every task on all slices. The referee requires an instance, so the schedule contains one creation.
type noMIG struct{}

func (noMIG) Schedule(ctx context.Context, p algo.Problem) (schedule.Schedule, error) {
	return runFixpart(ctx, p, "nomig", p.GPU.Partitions()[0])
}
