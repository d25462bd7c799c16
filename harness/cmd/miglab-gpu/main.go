// Command miglab-gpu is miglab with the commands alone that need a GPU: a quarter of the size, to be copied to a machine that
// has only a driver.
package main

import (
	"os"

	_ "miglab/algorithms" // which execute runs
	"miglab/harness/cli"
	"miglab/profiling/command"
)

// release is as in command miglab.
var release string

func main() {
	os.Exit(cli.Main(cli.NewRoot("The commands of miglab that need a GPU", cli.Version(release), command.All()...), os.Args[1:]))
}
