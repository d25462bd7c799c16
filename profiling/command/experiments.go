package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"miglab/datasets"
	"miglab/harness/atomicfile"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/task"
	"miglab/profiling/kernels"
	"miglab/profiling/launch"
	"miglab/profiling/measure"
	"miglab/profiling/tables"
	"miglab/reports"
)

// An experiment is a command of miglab profile.
type experiment struct {
	// name is the name of the command; empty for miglab profile itself.
	name string
	// noun names the things that progress counts.
	noun           string
	short, example string
	// kernels says that it measures the kernels of a manifest.
	kernels bool
	// modes are the ways to give a kernel a part of a GPU, the default first: [mig.SourceMIG], modeExisting and
	// [mig.SourcePartition].
	modes []string
	// flags registers flags of its own and returns the run of the experiment once they are parsed.
	flags func(*pflag.FlagSet) measurement
}

// A measurement runs an experiment, prints its table to out and returns the number of its rows.
type measurement func(ctx context.Context, b *measure.Bench, out io.Writer) (rows int, err error)

// modeExisting is the mode in which only MIG instances that exist are used.
const modeExisting = "mig-existing"

// experiments has miglab profile itself first.
var experiments = []experiment{
	{
		noun: "runs", kernels: true,
		modes: []string{mig.SourceMIG, modeExisting, mig.SourcePartition},
		short: "Measure kernels on every instance size of a real GPU",
		flags: func(f *pflag.FlagSet) measurement {
			scaling := scalingFlags(f)
			return func(ctx context.Context, b *measure.Bench, out io.Writer) (int, error) {
				if b.Partitions != nil {
					return scaling(ctx, b, out)
				}
				return measure.Measure(ctx, b, measure.Sweep, func(runs []measure.Run, whole bool) error {
					return saveProfile(b.Dir, measure.Summarize(runs), out, whole)
				})
			}
		},
	},
	{
		name: "corun", noun: "groups", kernels: true, modes: []string{mig.SourcePartition},
		short: "Measure kernels that share a GPU, for the co-run model",
		flags: func(f *pflag.FlagSet) measurement {
			c := corunFlags{}
			f.StringSliceVar(&c.splits, "splits", []string{"64:64"},
				"numbers of multiprocessors of the jobs, joined by colons, or all for each")
			f.StringVar(&c.against, "against", "", "run each kernel beside this one at each intensity")
			f.IntSliceVar(&c.intensities, "intensities", []int{25, 50, 75, 100},
				"shares of the time in percent in which the other kernel runs")
			f.UintVar(&c.sample, "sample", 0, "draw so many of the groups; 0 means all")
			return measureGroups(c.groups)
		},
	},
	{
		name: "isolation", noun: "runs", kernels: true, modes: []string{mig.SourceMIG, modeExisting},
		short:   "Measure kernels alone and beside one or two others on the same GPU",
		example: "  sudo miglab profile isolation --kernels rodinia --set rodinia=/opt/rodinia",
		flags: func(*pflag.FlagSet) measurement {
			return tabled(measure.Isolation, "isolation", ofRows(tables.Isolation))
		},
	},
	{
		name: "reconfiguration", noun: "rounds", modes: []string{mig.SourceMIG},
		short: "Measure what creating and destroying instances costs, one by one and at once",
		example: "  sudo miglab profile reconfiguration --out results/profile/a100\n" +
			"  sudo miglab profile reconfiguration --repetitions 100",
		flags: func(*pflag.FlagSet) measurement {
			table := func(b *measure.Bench, rows []datasets.ReconfigurationTime) reports.Table {
				return tables.Reconfiguration(rows, b.Session.Identity().Model)
			}
			return tabled(measure.Reconfiguration, "reconfiguration", table)
		},
	},
}

// tabled returns the run of an experiment whose rows become one table, which is printed and stands beside their file.
func tabled[Row any](plan measure.Planner[Row], name string,
	table func(*measure.Bench, []Row) reports.Table,
) measurement {
	return func(ctx context.Context, b *measure.Bench, out io.Writer) (int, error) {
		return measure.Measure(ctx, b, plan, func(rows []Row, _ bool) error {
			t := table(b, rows)
			return errors.Join(t.Save(filepath.Join(b.Dir, name+"-table")), t.Text(out))
		})
	}
}

// ofRows returns a table for tabled that depends on the rows alone.
func ofRows[Row any](table func([]Row) reports.Table) func(*measure.Bench, []Row) reports.Table {
	return func(_ *measure.Bench, rows []Row) reports.Table { return table(rows) }
}

// measureGroups returns the run of groups that depend on the bench.
func measureGroups(groups func(*measure.Bench) ([]measure.Group, error)) measurement {
	plan := func(_ context.Context, b *measure.Bench) (*measure.Plan[datasets.OverlapRate], error) {
		all, err := groups(b)
		if err != nil {
			return nil, err
		}
		return measure.Overlap(b, b.Partitions, all)
	}
	return tabled(plan, "overlap", ofRows(tables.Overlap))
}

// corunFlags say which kernels share a GPU.
type corunFlags struct {
	splits      []string
	against     string
	intensities []int
	sample      uint
}

// groups returns groups of kernels with the splits' numbers of multiprocessors.
func (c *corunFlags) groups(b *measure.Bench) ([]measure.Group, error) {
	names := nearest.Names(b.Kernels, func(k launch.Kernel) string { return k.Name })
	all := b.Partitions.Multiprocessors()
	var splits [][]int
	most := len(names)
	if c.against != "" {
		most = 2
	}
	for _, text := range c.splits {
		split, err := parseSplit(text, all, most)
		if err != nil {
			return nil, err
		}
		splits = append(splits, split)
	}
	if c.against == "" {
		return measure.AloneToo(measure.Combine(names, splits, int(c.sample), b.Seed), all), nil
	}
	if _, err := kernels.Lookup(c.against); err != nil {
		return nil, fmt.Errorf("--against: %w", err)
	}
	for _, i := range c.intensities {
		if i < 1 || i > 100 {
			return nil, fmt.Errorf("--intensities %d: a share of the time is from 1 to 100 percent", i)
		}
	}
	return measure.AloneToo(measure.Against(names, c.against, c.intensities, splits), all), nil
}

// parseSplit reads the numbers of multiprocessors of a split for at most a number of kernels; 0 means unlimited.
func parseSplit(split string, all, kernels int) ([]int, error) {
	var shares []int
	var err error
	sum := 0
	for field := range strings.SplitSeq(split, ":") {
		n := 0
		if field != datasets.All {
			var wrong error
			if n, wrong = strconv.Atoi(field); wrong != nil || n < 1 {
				err = cmp.Or(err, fmt.Errorf("%q is not a number of multiprocessors, nor %s", field, datasets.All))
			}
		}
		shares, sum = append(shares, n), sum+n
	}
	switch {
	case err != nil:
	case len(shares) < 2:
		err = errors.New("at least two numbers, joined by colons")
	case sum > 0 && slices.Contains(shares, 0):
		err = fmt.Errorf("give %s for each job or for none", datasets.All)
	case sum > all:
		err = fmt.Errorf("together %d multiprocessors, and the GPU has %d", sum, all)
	case len(shares) > kernels:
		err = fmt.Errorf("%d numbers for %d kernels", len(shares), kernels)
	default:
		return shares, nil
	}
	return nil, fmt.Errorf("--splits %s: %w", split, err)
}

// scalingFlags registers the flags of scaling, which measures each kernel alone on several numbers of multiprocessors.
func scalingFlags(f *pflag.FlagSet) measurement {
	counts := f.IntSlice("sms", nil, "numbers of multiprocessors (sm-partition; default: every eighth and all)")
	return measureGroups(func(b *measure.Bench) ([]measure.Group, error) {
		all := b.Partitions.Multiprocessors()
		if len(*counts) == 0 {
			for n := 8; n < all; n += 8 {
				*counts = append(*counts, n)
			}
			*counts = append(*counts, all)
		}
		var groups []measure.Group
		for _, n := range *counts {
			if n < 1 || n > all {
				return nil, fmt.Errorf("--sms %d: the GPU has %d multiprocessors", n, all)
			}
			for _, k := range b.Kernels {
				groups = append(groups, measure.Group{{Kernel: k.Name, Intensity: 100, SMs: n}})
			}
		}
		return groups, nil
	})
}

// saveProfile writes the table of a profile. If it is whole, it also writes the dataset, the speedups and the table of
// monotonicity.
func saveProfile(dir string, p *measure.Profile, out io.Writer, whole bool) error {
	file := func(name string) string { return filepath.Join(dir, name) }
	table := tables.Profile(p)
	err := table.Save(file("table"))
	tasks, _ := p.Tasks()
	if err != nil || !whole || len(tasks) == 0 {
		if err == nil && whole {
			err = &measure.FailedError{Remedy: "no kernel ran on every size, so that there is no dataset"}
		}
		return errors.Join(err, table.Text(out))
	}
	const name = "tasks.csv"
	title := fmt.Sprintf("%s, %s", p.Runs[0].Name, p.Runs[0].Source)
	monotonicity := tables.Monotonicity("Monotonicity, "+title, p.GPU, tasks)
	if err := errors.Join(
		atomicfile.WriteFile(file("kernels.csv"), func(w io.Writer) error {
			return datasets.WriteHardware(w, p.Kernels())
		}),
		atomicfile.WriteFile(file(name), func(w io.Writer) error {
			return task.WriteStream(w, p.GPU, task.OneBatch(tasks))
		}),
		reports.SaveFigure(file("speedup"), reports.Speedups(title, p.GPU, tasks, 4, true)),
		monotonicity.Save(file("monotonicity")),
		table.Text(out), monotonicity.Text(out),
	); err != nil {
		return err
	}
	use := ""
	if p.GPU.Origin != "" {
		use = "; with --gpu " + file("gpu.json")
	}
	_, err = fmt.Fprintf(out, "%d kernels on %s; dataset profile:%s%s\n", len(tasks), p.GPU, file(name), use)
	return err
}
