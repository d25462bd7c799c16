// Command miglab is the benchmark harness and reproducibility suite for scheduling on NVIDIA Multi-Instance GPUs: it
// generates workloads, schedules and referees them, and regenerates the tables and figures of the papers.
//
// Each file has a command: it reads flags, calls other packages and prints. Package cli has the exit codes.
package main

import (
	"embed"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	_ "miglab/algorithms"
	_ "miglab/algorithms/corun"
	_ "miglab/algorithms/dispatch"
	_ "miglab/algorithms/placement"
	_ "miglab/algorithms/rl/agents"
	"miglab/bounds"
	"miglab/harness/cli"
	"miglab/harness/external"
	"miglab/profiling/command"
)

// release is the version that a release build sets, with -ldflags "-X main.release=v1.2.3".
var release string

func version() string { return cli.Version(release) }

// helpTexts has the description and the examples of each command, in a file named after it.
//
//go:embed help
var helpTexts embed.FS

// helpNumbers replaces the placeholders in helpTexts.
var helpNumbers = strings.NewReplacer("{searched}", strconv.Itoa(bounds.MaxSearched))

func main() { os.Exit(commandLine(os.Args[1:])) }

// commandLine runs the command line and returns the exit code.
func commandLine(args []string) int {
	defer external.Close()
	return cli.Main(newRoot(), args)
}

func newRoot() *cobra.Command {
	commands := []*cobra.Command{
		newList(), newGenerate(), newImport(), newAdvise(), newSchedule(), newCheck(), newBound(), newRun(),
		newExport(), newReproduce(), newReadme(), newLeaderboard(), newCompare(), newCite(), newAudit(), newVerify(),
		newSite(), newSuite(), newTrain(), newGym(), newCorun(),
	}
	root := cli.NewRoot("Benchmarks and reproductions for scheduling on Multi-Instance GPUs", version(),
		append(commands, command.All()...)...) // command.All has the commands that need a GPU
	cli.SetHelp(root, helpTexts, helpNumbers)
	return root
}
