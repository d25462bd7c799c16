package cli

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

// SetHelp gives a command, and those below it, the texts of the files of the folder help that are named after them:
// a description, the line "Examples:" and examples. It replaces what fill says.
func SetHelp(c *cobra.Command, texts embed.FS, fill *strings.Replacer) {
	if raw, err := texts.ReadFile(HelpFile(c)); err == nil {
		long, examples, _ := strings.Cut(fill.Replace(string(raw)), "Examples:\n")
		c.Long, c.Example = strings.TrimSuffix(long, "\n\n"), strings.TrimSuffix(examples, "\n")
	}
	for _, sub := range c.Commands() {
		SetHelp(sub, texts, fill)
	}
}

// HelpFile returns the name of a command's file: miglab suite run has help/suite-run.txt.
func HelpFile(c *cobra.Command) string {
	return "help/" + strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "miglab "), " ", "-") + ".txt"
}
