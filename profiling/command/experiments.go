package command

import (
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
	"miglab/profiling/launch"
	"miglab/profiling/measure"
	"miglab/reports"
)

// An experiment is a command of miglab profile.
type experiment struct {
	measure.Experiment
	// flags registers flags of its own and returns the run of the experiment once they are parsed; nil without flags.
	flags func(*pflag.FlagSet) measure.Runner
}

// ownExperiments are the experiments of this package, miglab profile itself first.
var ownExperiments = []experiment{
	{
		Experiment: measure.Experiment{
			Noun: "runs", Kernels: true, Modes: []string{mig.SourceMIG, measure.ModeExisting},
			Short: "Measure kernels on every instance size of a real GPU",
			Run: func(ctx context.Context, b *measure.Bench, out io.Writer) (int, error) {
				return measure.Measure(ctx, b, measure.Sweep, func(runs []measure.Run, whole bool) error {
					return saveProfile(b.Dir, measure.Summarize(b.Session.Identity().Model, runs), out, whole)
				})
			},
		},
	},
	{
		Experiment: measure.Experiment{
			Name: "corun", Noun: "groups", Kernels: true, Modes: []string{mig.SourcePartition},
			Short: "Measure kernels alone and sharing a GPU, for the co-run model",
		},
		flags: func(f *pflag.FlagSet) measure.Runner {
			c := corunFlags{}
			f.StringSliceVar(&c.splits, "splits", []string{"64:64"},
				"numbers of multiprocessors of the jobs, joined by colons, or all for each; one number: each kernel alone")
			f.UintVar(&c.sample, "sample", 0, "draw so many of the groups; 0 means all")
			plan := func(_ context.Context, b *measure.Bench) (*measure.Plan[datasets.OverlapRate], error) {
				all, err := c.groups(b)
				if err != nil {
					return nil, err
				}
				return measure.Overlap(b, b.Partitions, all)
			}
			return measure.Tabled(plan, "overlap", measure.OverlapTable)
		},
	},
}

// experiments returns the commands of miglab profile, itself first.
func experiments() []experiment {
	all := slices.Clone(ownExperiments)
	for _, x := range measure.Experiments() {
		all = append(all, experiment{Experiment: x})
	}
	return all
}

// corunFlags say which kernels share a GPU.
type corunFlags struct {
	splits []string
	sample uint
}

// groups returns groups of kernels with the splits' numbers of multiprocessors.
func (c *corunFlags) groups(b *measure.Bench) ([]measure.Group, error) {
	names := nearest.Names(b.Kernels, func(k launch.Kernel) string { return k.Name })
	all := b.Partitions.Multiprocessors()
	var splits [][]int
	for _, text := range c.splits {
		split, err := parseSplit(text, all, len(names))
		if err != nil {
			return nil, err
		}
		splits = append(splits, split)
	}
	return measure.AloneToo(measure.Combine(names, splits, int(c.sample)), all), nil
}

// parseSplit reads a split into at most a number of shares of all multiprocessors. It returns the number of each; 0
// means unlimited.
func parseSplit(split string, all, most int) ([]int, error) {
	var shares []int
	sum := 0
	for field := range strings.SplitSeq(split, ":") {
		n, err := strconv.Atoi(field)
		if field == datasets.All {
			n = 0
		} else if err != nil || n < 1 {
			return nil, fmt.Errorf("--splits %s: %q is not a number of multiprocessors, nor %s", split, field,
				datasets.All)
		}
		shares, sum = append(shares, n), sum+n
	}
	var err error
	switch {
	case sum > 0 && slices.Contains(shares, 0):
		err = fmt.Errorf("give %s for each job or for none", datasets.All)
	case sum > all:
		err = fmt.Errorf("together %d multiprocessors, and the GPU has %d", sum, all)
	case len(shares) > most:
		err = fmt.Errorf("%d numbers for %d kernels", len(shares), most)
	default:
		return shares, nil
	}
	return nil, fmt.Errorf("--splits %s: %w", split, err)
}

// saveProfile writes the table of a profile. If it is whole, it also writes the dataset and the speedups.
func saveProfile(dir string, p *measure.Profile, out io.Writer, whole bool) error {
	file := func(name string) string { return filepath.Join(dir, name) }
	table := p.Table()
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
	if err := errors.Join(
		atomicfile.WriteFile(file("kernels.csv"), func(w io.Writer) error {
			return datasets.WriteHardware(w, p.Kernels())
		}),
		atomicfile.WriteFile(file(name), func(w io.Writer) error {
			return task.WriteStream(w, p.GPU, task.OneBatch(tasks))
		}),
		reports.SaveFigure(file("speedup"), reports.Speedups(title, p.GPU, tasks, 4, true)),
		table.Text(out),
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
