package measure

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/session"
	"miglab/reports"
)

var _ = Register(Experiment{
	Name: "reconfiguration", Noun: "rounds", Modes: []string{mig.SourceMIG},
	Short: "Measure what creating and destroying instances costs, one by one and at once",
	Example: "  sudo miglab profile reconfiguration --out results/profile/a100\n" +
		"  sudo miglab profile reconfiguration --repetitions 100",
	Run: Tabled(Reconfiguration, "reconfiguration", func(b *Bench, rows []datasets.ReconfigurationTime) reports.Table {
		return ReconfigurationTable(rows, b.Session.Identity().Model)
	}),
})

// The operations of a [datasets.ReconfigurationTime].
const (
	create  = "create"
	destroy = "destroy"
)

// Reconfiguration plans to measure how long creating and destroying instances takes and whether the driver does
// several operations at once (FAR 2.1, Table 1). The GPU must have no instances.
//
// A run is a round, which creates all instances of a partition and destroys them again, either one after the other or
// all at once, each in a thread of its own. The partitions have a single instance, one partition for each size; as many
// instances of a size as the GPU holds, if several; and the most different sizes (the first such partition that is
// maximal and useful: 4-2-1 on the 7-slice models, 2-1-1 on A30). Rows are ordered by partition, threads, size and
// operation. The time of a single operation begins with the first call to the driver and includes the calls that the
// driver refused because it was busy. Total is the time of all operations, including what the session does before each.
func Reconfiguration(_ context.Context, b *Bench) (*Plan[datasets.ReconfigurationTime], error) {
	g := b.Session.Identity().Model
	p := newPlan(b, "reconfiguration", reconfigurationRows)
	for number := range cmp.Or(b.Repetitions, Repetitions) {
		for i, partition := range partitions(g) {
			for _, threads := range slices.Compact([]int{1, len(partition)}) {
				p.add(fmt.Sprintf("%02d %s by %d", i+1, partition, threads), number+1, nil,
					func(ctx context.Context) (*finishedRun[any], error) {
						begin := time.Now()
						r, err := b.runRound(ctx, partition, threads)
						if err != nil {
							return nil, fmt.Errorf("partition %s: %w", partition, err)
						}
						return b.finish(r, begin, time.Now()), nil
					})
			}
		}
	}
	return p, nil
}

// partitions returns the partitions of [Reconfiguration].
func partitions(g *mig.GPU) []mig.Partition {
	var single, filled []mig.Partition
	for _, size := range g.Sizes() {
		single = append(single, mig.Partition{firstInstance(g, size)})
		if many := fill(g, size); len(many) > 1 {
			filled = append(filled, many)
		}
	}
	different := func(p mig.Partition) int { return len(Sizes(p, mig.Instance.Size)) }
	mixed := slices.MaxFunc(g.Useful(), func(a, b mig.Partition) int { return different(a) - different(b) })
	return append(append(single, filled...), mixed)
}

// fill returns as many instances of a size as a partition holds.
func fill(g *mig.GPU, size mig.Slices) mig.Partition {
	var most mig.Partition
	for _, p := range g.Partitions() {
		same := slices.DeleteFunc(slices.Clone(p), func(in mig.Instance) bool { return in.Size() != size })
		if len(same) > len(most) {
			most = same
		}
	}
	return most
}

// Sizes returns the different sizes in a list, ascending.
func Sizes[T any](all []T, size func(T) mig.Slices) []mig.Slices {
	var out []mig.Slices
	for _, x := range all {
		out = append(out, size(x))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A roundRecord is what a round measured.
type roundRecord struct {
	Partition string
	// Sizes are the instances' sizes.
	Sizes   []mig.Slices
	Threads int
	// Took is by operation.
	Took map[string]operationTimes
}

// An operationTimes holds how long an operation took in a round.
type operationTimes struct {
	// Seconds and Attempts are by instance.
	Seconds, Attempts []float64
	// Total is from the first start to the last end.
	Total float64
	Load  datasets.Load
}

// runRound creates the instances of a partition and destroys them.
func (b *Bench) runRound(ctx context.Context, partition mig.Partition, threads int) (*roundRecord, error) {
	made := make([]profiling.Instance, len(partition))
	created, err := b.operate(partition, threads, func(i int) (e session.Effort, err error) {
		made[i], e, err = b.Session.Create(ctx, partition[i])
		return e, err
	})
	if err != nil {
		return nil, err
	}
	destroyed, err := b.operate(partition, threads, func(i int) (session.Effort, error) {
		return b.Session.Destroy(ctx, made[i])
	})
	r := &roundRecord{Partition: partition.String(), Threads: threads}
	r.Took = map[string]operationTimes{create: created, destroy: destroyed}
	for _, in := range partition {
		r.Sizes = append(r.Sizes, in.Size())
	}
	return r, err
}

// operate does an operation on each instance of a partition.
func (b *Bench) operate(p mig.Partition, threads int, do func(i int) (session.Effort, error)) (operationTimes, error) {
	var g errgroup.Group
	g.SetLimit(threads)
	efforts := make([]session.Effort, len(p))
	begin := time.Now()
	for i := range p {
		g.Go(func() (err error) {
			efforts[i], err = do(i)
			return err
		})
	}
	err := g.Wait()
	end := time.Now()
	took := operationTimes{Total: end.Sub(begin).Seconds(), Load: b.watch.Between(begin, end)}
	for _, e := range efforts {
		took.Seconds, took.Attempts = append(took.Seconds, e.Took.Seconds()), append(took.Attempts, float64(e.Attempts))
	}
	return took, err
}

func reconfigurationRows(
	from datasets.Provenance, _ datasets.Load, rounds []roundRecord,
) (out []datasets.ReconfigurationTime) {
	for _, size := range slices.Compact(slices.Sorted(slices.Values(rounds[0].Sizes))) {
		for _, operation := range []string{create, destroy} {
			var took, total, attempts []float64
			var loads []datasets.Load
			for _, r := range rounds {
				o := r.Took[operation]
				total, loads = append(total, o.Total), append(loads, o.Load)
				for i := range r.Sizes {
					if r.Sizes[i] == size {
						took, attempts = append(took, o.Seconds[i]), append(attempts, o.Attempts[i])
					}
				}
			}
			s := summarize(took)
			out = append(out, datasets.ReconfigurationTime{
				Provenance: from, Partition: rounds[0].Partition, Size: size, Operation: operation,
				Threads: rounds[0].Threads, Runs: s.N,
				Mean: mig.Seconds(s.Mean), StdDev: mig.Seconds(s.StdDev), Min: mig.Seconds(s.Min),
				Max:   mig.Seconds(s.Max),
				Total: mig.Seconds(summarize(total).Mean), Attempts: summarize(attempts).Mean,
				Load: profiling.Join(loads...),
			})
		}
	}
	return out
}

// ReconfigurationTable compares measured times with the GPU's model (FAR Table 1). The ratio of a round is the time of
// all operations at once over their time one by one. It is 1 if the driver serialises them, as FAR 2.1 found, and 1
// over their number if it runs them in parallel. There must be a row, and all must be from one GPU of the model.
func ReconfigurationTable(rows []datasets.ReconfigurationTime, g *mig.GPU) reports.Table {
	t := reports.Table{
		Title: TitleWithSource("Seconds to create and to destroy instances", rows[0].Provenance),
		Columns: reports.Left("round").Right("size").Left("operation").PlusMinus("mean [s]").
			Right("model [s]", "one by one [s]", "all at once [s]", "ratio"),
		Notes: []string{
			"model: what schedulers reckon with, " + g.CostSource,
			"ratio: the round with all operations at once over the round with one by one; 1 where the driver " +
				"serialises them",
		},
	}
	for _, r := range rows {
		if r.Threads != 1 {
			continue
		}
		model := g.Profile(r.Size).Create
		if r.Operation == destroy {
			model = g.Profile(r.Size).Destroy
		}
		together, ratio := reports.Missing, reports.Missing
		for _, all := range rows {
			if all.Threads > 1 && all.Partition == r.Partition && all.Size == r.Size && all.Operation == r.Operation {
				together, ratio = reports.Fixed(float64(all.Total), 3), reports.Fixed(float64(all.Total/r.Total), 2)
			}
		}
		t.Row(r.Partition, r.Size, r.Operation, reports.Cells(3, float64(r.Mean), float64(r.StdDev)),
			reports.Fixed(float64(model), 2), reports.Fixed(float64(r.Total), 3), together, ratio)
	}
	return t
}
