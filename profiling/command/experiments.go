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

// An experiment is a command of miglab profile, or miglab profile itself.
type experiment struct {
	measure.Experiment
	// flags registers the flags that only this experiment has, and returns a runner that reads them when it runs. It is
	// nil for an experiment without such flags, which has a Run.
	flags func(*pflag.FlagSet) measure.Runner
}

// experimentsHere are the experiments that package measure does not register. The first is miglab profile itself.
var experimentsHere = []experiment{
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

// experiments returns all experiments, miglab profile itself first.
func experiments() []experiment {
	all := slices.Clone(experimentsHere)
	for _, x := range measure.Experiments() {
		all = append(all, experiment{Experiment: x})
	}
	return all
}

// corunFlags says which groups of kernels share a GPU.
type corunFlags struct {
	splits []string
	sample uint
}

// groups returns the groups of kernels for all splits, and each kernel of a group alone.
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

// parseSplit reads a split of the GPU's sms multiprocessors between at most the given number of jobs. It returns the
// multiprocessors of each job; 0 means no limit.
func parseSplit(split string, sms, jobs int) ([]int, error) {
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
	case sum > sms:
		err = fmt.Errorf("together %d multiprocessors, and the GPU has %d", sum, sms)
	case len(shares) > jobs:
		err = fmt.Errorf("%d numbers for %d kernels", len(shares), jobs)
	default:
		return shares, nil
	}
	return nil, fmt.Errorf("--splits %s: %w", split, err)
}

// saveProfile writes and prints the table of a profile. If the profile is whole, it also writes the dataset.
func saveProfile(dir string, p *measure.Profile, out io.Writer, whole bool) error {
	table := p.Table()
	err := table.Save(filepath.Join(dir, "table"))
	tasks, _ := p.Tasks()
	switch {
	case err != nil || !whole:
	case len(tasks) == 0:
		err = &measure.FailedError{Remedy: "no kernel ran on every size, so that there is no dataset"}
	default:
		err = saveDataset(dir, p, tasks)
	}
	if err = errors.Join(err, table.Text(out)); err != nil || !whole {
		return err
	}
	use := ""
	if p.GPU.Origin != "" {
		use = "; with --gpu " + filepath.Join(dir, "gpu.json")
	}
	_, err = fmt.Fprintf(out, "%d kernels on %s; dataset profile:%s%s\n", len(tasks), p.GPU,
		filepath.Join(dir, tasksFile), use)
	return err
}

// tasksFile is the name of a dataset's file.
const tasksFile = "tasks.csv"

// saveDataset writes the dataset of the tasks, all measured times, and a figure of speedups with four tasks in a panel.
func saveDataset(dir string, p *measure.Profile, tasks task.Batch) error {
	title := fmt.Sprintf("%s, %s", p.Runs[0].Name, p.Runs[0].Source)
	return errors.Join(
		atomicfile.WriteFile(filepath.Join(dir, "kernels.csv"), func(w io.Writer) error {
			return datasets.WriteHardware(w, p.Kernels())
		}),
		atomicfile.WriteFile(filepath.Join(dir, tasksFile), func(w io.Writer) error {
			return task.WriteStream(w, p.GPU, task.OneBatch(tasks))
		}),
		reports.SaveFigure(filepath.Join(dir, "speedup"), reports.Speedups(title, p.GPU, tasks, 4, true)),
	)
}
