// Command miglab-gpu is miglab with only the commands that need a GPU. It is a quarter of the size of miglab, for
// machines that have only a driver.
package main

import (
	"os"

	_ "miglab/algorithms" // for the command execute
	"miglab/harness/cli"
	"miglab/profiling/command"
)

// release is the version that a release build sets, as in command miglab.
var release string

func main() {
	root := cli.NewRoot("The commands of miglab that need a GPU", cli.Version(release), command.All()...)
	os.Exit(cli.Main(root, os.Args[1:]))
}
