package main

import (
	"embed"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"miglab/bounds"
	"miglab/datasets/traces"
)

// helpTexts has the description and the examples of each command, in a file named after it.
//
//go:embed help
var helpTexts embed.FS

// helpNumbers replaces what other packages know.
var helpNumbers = strings.NewReplacer("{formats}", traces.FormatHelp(), "{searched}", strconv.Itoa(bounds.MaxSearched))

// setHelp gives a command, and those below it, the texts of their files.
func setHelp(c *cobra.Command) {
	if raw, err := helpTexts.ReadFile(helpFile(c)); err == nil {
		long, examples, _ := strings.Cut(helpNumbers.Replace(string(raw)), "Examples:\n")
		c.Long, c.Example = strings.TrimSuffix(long, "\n\n"), strings.TrimSuffix(examples, "\n")
	}
	for _, sub := range c.Commands() {
		setHelp(sub)
	}
}

// helpFile returns the name of a command's file: miglab submit slurm has help/submit-slurm.txt.
func helpFile(c *cobra.Command) string {
	return "help/" + strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "miglab "), " ", "-") + ".txt"
}
