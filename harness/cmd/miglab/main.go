// Command miglab is the benchmark harness and reproducibility suite for scheduling
// on NVIDIA Multi-Instance GPUs: it generates workloads, schedules and referees
// them, and regenerates the tables and figures of the papers.
//
// Exit codes: 0 done, 1 a check, a claim or a cell of run failed, 2 bad input.
package main

import (
	"os"

	"github.com/spf13/cobra"

	_ "miglab/algorithms"
	_ "miglab/algorithms/corun"
	_ "miglab/algorithms/dispatch"
	_ "miglab/algorithms/placement"
	_ "miglab/algorithms/rl/agents"
	_ "miglab/bounds"
	"miglab/harness/cli"
	"miglab/harness/external"
	"miglab/profiling/command"
)

// release is the version that a release build sets, with -ldflags "-X main.release=v1.2.3".
var release string

func version() string { return cli.Version(release) }

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
		newSite(), newSuite(), newTrain(), newGym(), newCorunSimulation(),
	}
	root := cli.NewRoot("Benchmarks and reproductions for scheduling on Multi-Instance GPUs", version(),
		append(commands, command.All()...)...) // those that need a GPU
	cli.SetHelp(root, helpTexts, helpNumbers)
	return root
}
