// Package command defines the commands of miglab that need a GPU: profile, with a command for each experiment of
// [miglab/profiling/measure], execute, kernel and probe. It reads flags, opens the GPU, shows progress and chooses exit
// codes. The packages beside it measure and execute.
package command

import (
	"embed"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/profiling/kernels"
)

// helpTexts holds the description and the examples of each command, in a file named after it.
//
//go:embed help
var helpTexts embed.FS

// All returns the commands.
func All() []*cobra.Command {
	var list strings.Builder
	for _, p := range kernels.Programs() {
		fmt.Fprintf(&list, "  %-13s %s\n", p.Name, p.What)
	}
	all := []*cobra.Command{newProfile(), newExecute(), newKernel(), newProbe()}
	for _, c := range all {
		cli.SetHelp(c, helpTexts, strings.NewReplacer("{kernels}", strings.TrimSuffix(list.String(), "\n")))
	}
	return all
}

// readFile opens a file and passes it to read, with the path for error messages.
func readFile[T any](path string, read func(r io.Reader, path string) (T, error)) (v T, err error) {
	file, err := os.Open(path)
	if err != nil {
		return v, err
	}
	defer file.Close()
	return read(file, path)
}
