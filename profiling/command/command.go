// Package command has the commands of miglab that need a GPU: profile with a command for each experiment of
// [miglab/profiling/measure], execute and kernel. It reads flags, opens the GPU, shows progress and chooses exit
// codes; what is done is in the packages beside it.
package command

import (
	"embed"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// All returns the commands.
func All() []*cobra.Command {
	return []*cobra.Command{newProfile(), newExecute(), newKernel(), newProbe()}
}

// helpTexts has the long descriptions and the examples of commands, a file each.
//
//go:embed help
var helpTexts embed.FS

// helpText returns a text without its last line break. It panics if there is none.
func helpText(file string) string {
	raw, err := helpTexts.ReadFile("help/" + file)
	if err != nil {
		panic(err)
	}
	return strings.TrimSuffix(string(raw), "\n")
}

// readFile opens a file and has it read. read is told the path for its errors.
func readFile[T any](path string, read func(r io.Reader, path string) (T, error)) (v T, err error) {
	file, err := os.Open(path)
	if err != nil {
		return v, err
	}
	defer file.Close()
	return read(file, path)
}
