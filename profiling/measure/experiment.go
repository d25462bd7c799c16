package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"miglab/reports"
)

// ModeExisting is the mode in which only MIG instances that exist are used.
const ModeExisting = "mig-existing"

// An Experiment is a command of miglab profile.
type Experiment struct {
	// Name names the command, and the files of its rows and of its table; empty for miglab profile itself.
	Name string
	Noun string // names the things that progress counts
	// Short says in one line what the command does. Example has the examples of its help; empty for one without flags.
	Short, Example string
	Kernels        bool // says that it measures the kernels of a manifest
	// Modes are the ways to give a kernel a part of a GPU, the default first: [mig.SourceMIG], [ModeExisting] and
	// [mig.SourcePartition].
	Modes []string
	// Run runs the experiment; nil for one whose flags decide how it runs.
	Run Runner
}

// A Runner runs an experiment, prints its table to out and returns the number of its rows.
type Runner func(ctx context.Context, b *Bench, out io.Writer) (rows int, err error)

var experiments []Experiment

// Register makes an experiment a command of miglab profile, and returns it. It panics if the name is taken.
func Register(x Experiment) Experiment {
	if slices.ContainsFunc(experiments, func(o Experiment) bool { return o.Name == x.Name }) {
		panic(fmt.Sprintf("measure: %q is registered twice", x.Name))
	}
	x.Example = cmp.Or(x.Example, "  sudo miglab profile "+x.Name)
	experiments = append(experiments, x)
	return x
}

// Experiments returns the registered experiments.
func Experiments() []Experiment { return slices.Clone(experiments) }

// Tabled returns the [Runner] of a plan whose rows become one table, which is printed and stands beside their file.
func Tabled[Row any](plan Planner[Row], name string, table func(*Bench, []Row) reports.Table) Runner {
	return func(ctx context.Context, b *Bench, out io.Writer) (int, error) {
		return Measure(ctx, b, plan, func(rows []Row, _ bool) error {
			t := table(b, rows)
			return errors.Join(t.Save(filepath.Join(b.Dir, name+"-table")), t.Text(out))
		})
	}
}
