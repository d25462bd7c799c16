package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/session"
	"miglab/reports"
)

// The operations of a [datasets.ReconfigurationTime].
const (
	create  = "create"
	destroy = "destroy"
)

// Reconfiguration measures how long creating and destroying instances takes and whether
// the driver does several operations at once (FAR 2.1, Table 1). The GPU must have no
// instances. Of the options it uses Repetitions and Progress, which count rounds, File and Warn.
//
// A round creates all instances of a partition and destroys them again, either one after
// the other or all at once, each in a thread of its own. The partitions are one instance
// of each size; as many of each size as the GPU holds; and one of mixed sizes, the first of
// the useful maximal partitions with most different sizes (4-2-1 on the 7-slice models,
// 2-1-1 on A30). Rows are ordered by partition, threads, size and operation. The time of a
// single operation begins with the first call to the driver and includes the calls that the
// driver refused because it was busy. Total is the time of all operations,
// including what the session does before each. Rounds that Options.File has are not repeated.
// With an error, the rows cover the rounds that were completed.
func Reconfiguration(ctx context.Context, s *session.Session, o Options) (_ []datasets.ReconfigurationTime, err error) {
	id := s.Identity()
	if id.Source != profiling.MIG {
		return nil, fmt.Errorf("reconfiguration can be measured only under MIG, not under %s", id.Source)
	}
	if id.Existing {
		return nil, errors.New("reconfiguration cannot be measured where no instance is made (mode mig-existing)")
	}
	from := Provenance(id)
	var rounds []*round
	for _, p := range reconfigured(id.Model) {
		for _, threads := range slices.Compact([]int{1, len(p)}) {
			rounds = append(rounds, &round{partition: p, threads: threads, done: map[int]roundRun{}})
		}
	}
	rows := func() []datasets.ReconfigurationTime {
		var out []datasets.ReconfigurationTime
		for _, r := range rounds {
			out = append(out, r.rows(from)...)
		}
		return out
	}
	x := experiment{Options: o, all: cmp.Or(o.Repetitions, Repetitions) * len(rounds)}
	kept, err := openLedger[roundRun](o.File, "reconfiguration", id, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, kept.close()) }()
	for _, r := range rounds {
		r.adopt(kept.finished(), x.all/len(rounds))
	}
	stop, err := x.observe(s.Device())
	if err != nil {
		return nil, err
	}
	defer stop()
	for i := range x.all {
		r, number := rounds[i%len(rounds)], i/len(rounds)
		if _, done := r.done[number]; !done {
			run, err := r.run(ctx, s, &x)
			if err == nil {
				run.Number = number + 1
				r.done[number] = run
				err = kept.add(run)
			}
			if err != nil {
				return rows(), fmt.Errorf("partition %s: %w", r.partition, err)
			}
		}
		x.step()
	}
	return rows(), nil
}

func reconfigured(g *mig.GPU) []mig.Partition {
	var one, full []mig.Partition
	for _, size := range g.Sizes() {
		p := g.Profile(size)
		one = append(one, mig.Partition{{Profile: p, Start: p.Starts[0]}})
		if many := fullOf(g, size); len(many) > 1 {
			full = append(full, many)
		}
	}
	mixed := slices.MaxFunc(g.Useful(), func(a, b mig.Partition) int { return len(sizesOf(a)) - len(sizesOf(b)) })
	return append(append(one, full...), mixed)
}

// fullOf returns as many instances of a size as a partition holds.
func fullOf(g *mig.GPU, size mig.Slices) mig.Partition {
	var most mig.Partition
	for _, p := range g.Partitions() {
		same := slices.DeleteFunc(slices.Clone(p), func(in mig.Instance) bool { return in.Size() != size })
		if len(same) > len(most) {
			most = same
		}
	}
	return most
}

// sizesOf returns the different sizes of a partition, ascending.
func sizesOf(p mig.Partition) []mig.Slices {
	var out []mig.Slices
	for _, in := range p {
		out = append(out, in.Size())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

type round struct {
	partition mig.Partition
	// threads is 1 or the number of instances.
	threads int
	// done has the completed rounds, by number from 0.
	done map[int]roundRun
}

// A roundRun is a completed round.
type roundRun struct {
	Partition       string
	Threads, Number int
	// Took is by operation.
	Took map[string]operated
}

// An operated is how long an operation took in a round.
type operated struct {
	// Seconds and Attempts are by instance.
	Seconds, Attempts []float64
	// Total is from the first start to the last end.
	Total float64
	Load  datasets.Load
}

// adopt takes over up to so many rounds of earlier calls.
func (r *round) adopt(runs []roundRun, most int) {
	for _, run := range runs {
		whole := func(o operated) bool { return len(o.Seconds) == len(r.partition) && len(o.Attempts) == len(o.Seconds) }
		if whole(run.Took[create]) && whole(run.Took[destroy]) && run.Partition == r.partition.String() && run.Threads == r.threads && run.Number <= most {
			r.done[run.Number-1] = run
		}
	}
}

// run runs the round once.
func (r *round) run(ctx context.Context, s *session.Session, x *experiment) (roundRun, error) {
	made := make([]profiling.Instance, len(r.partition))
	created, err := r.all(x, func(i int) (e session.Effort, err error) {
		made[i], e, err = s.Create(ctx, r.partition[i])
		return e, err
	})
	if err != nil {
		return roundRun{}, err
	}
	destroyed, err := r.all(x, func(i int) (session.Effort, error) { return s.Destroy(ctx, made[i]) })
	return roundRun{Partition: r.partition.String(), Threads: r.threads, Took: map[string]operated{create: created, destroy: destroyed}}, err
}

func (r *round) all(x *experiment, do func(i int) (session.Effort, error)) (operated, error) {
	var g errgroup.Group
	g.SetLimit(r.threads)
	efforts := make([]session.Effort, len(r.partition))
	begin := time.Now()
	for i := range r.partition {
		g.Go(func() (err error) {
			efforts[i], err = do(i)
			return err
		})
	}
	err := g.Wait()
	end := time.Now()
	took := operated{Total: end.Sub(begin).Seconds(), Load: x.load(begin, end)}
	for _, e := range efforts {
		took.Seconds, took.Attempts = append(took.Seconds, e.Took.Seconds()), append(took.Attempts, float64(e.Attempts))
	}
	return took, err
}

func (r *round) rows(from datasets.Provenance) []datasets.ReconfigurationTime {
	var out []datasets.ReconfigurationTime
	for _, size := range sizesOf(r.partition) {
		for _, operation := range []string{create, destroy} {
			var took, total, attempts []float64
			var loads []datasets.Load
			for _, number := range slices.Sorted(maps.Keys(r.done)) {
				o := r.done[number].Took[operation]
				total, loads = append(total, o.Total), append(loads, o.Load)
				for i, in := range r.partition {
					if in.Size() == size {
						took = append(took, o.Seconds[i])
						attempts = append(attempts, o.Attempts[i])
					}
				}
			}
			if len(took) == 0 {
				return nil
			}
			s := summarize(took)
			out = append(out, datasets.ReconfigurationTime{
				Provenance: from, Partition: r.partition.String(), Size: size, Operation: operation, Threads: r.threads, Runs: s.N,
				Mean: mig.Seconds(s.Mean), StdDev: mig.Seconds(s.StdDev), Min: mig.Seconds(s.Min), Max: mig.Seconds(s.Max),
				Total: mig.Seconds(summarize(total).Mean), Attempts: summarize(attempts).Mean, Load: joined(loads),
			})
		}
	}
	return out
}

// ReconfigurationTable compares measured times with those of the GPU's model (FAR Table
// 1). The ratio of a round is the time of all operations at once over their time one by
// one. It is 1 if the driver serialises them, as FAR 2.1 found, and 1 over their number if
// it runs them in parallel. All rows must be from one GPU of the model.
func ReconfigurationTable(rows []datasets.ReconfigurationTime, g *mig.GPU) reports.Table {
	t := reports.Table{
		Title: "Seconds to create and to destroy instances",
		Columns: reports.Left("round").Right("size").Left("operation").PlusMinus("mean [s]").
			Right("model [s]", "one by one [s]", "all at once [s]", "ratio"),
		Notes: []string{
			"model: what schedulers reckon with, " + g.CostSource,
			"ratio: the round with all operations at once over the round with one by one; 1 where the driver serialises them",
		},
	}
	if len(rows) > 0 {
		t.Title = Titled(t.Title, rows[0].Provenance)
	}
	for _, r := range rows {
		if r.Threads != 1 {
			continue
		}
		model := g.Profile(r.Size).Create
		if r.Operation == destroy {
			model = g.Profile(r.Size).Destroy
		}
		row := append([]string{r.Partition, fmt.Sprint(r.Size), r.Operation}, reports.PlusMinus(float64(r.Mean), float64(r.StdDev), 3)...)
		row = append(row, reports.Fixed(float64(model), 2), reports.Fixed(float64(r.Total), 3))
		together, ratio := reports.Missing, reports.Missing
		for _, all := range rows {
			if all.Threads > 1 && all.Partition == r.Partition && all.Size == r.Size && all.Operation == r.Operation {
				together, ratio = reports.Fixed(float64(all.Total), 3), reports.Fixed(float64(all.Total/r.Total), 2)
			}
		}
		t.Rows = append(t.Rows, append(row, together, ratio))
	}
	return t
}
