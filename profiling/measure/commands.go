package measure

import (
	"cmp"
	"slices"

	"github.com/spf13/pflag"

	"miglab/profiling/kernel"
)

// A Command is an experiment as a command of miglab profile.
type Command struct {
	// Name is that of the command; empty for miglab profile itself.
	Name string
	// Noun is what progress counts.
	Noun           string
	Short, Example string
	// Kernels says that it measures the kernels of a manifest.
	Kernels bool
	// Partitions says that it can also measure kernels on parts of the multiprocessors (--mode sm-partition).
	Partitions bool
	// Check refuses, before a GPU is touched, what the mode or the kernels cannot do; it may be nil.
	Check func(f *pflag.FlagSet, mode string, all []kernel.Kernel) error
	// Plan registers flags of its own and returns what plans the experiment once they are parsed.
	Plan func(*pflag.FlagSet) Planner
}

var commands []Command

func register(c Command) bool {
	commands = append(commands, c)
	return true
}

// Commands returns the experiments by name.
func Commands() []Command {
	slices.SortFunc(commands, func(a, b Command) int { return cmp.Compare(a.Name, b.Name) })
	return commands
}
