package cli

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

// SetHelp sets the help of a command and of its subcommands from their files in texts, named by [HelpFile]. A file has
// a description, the line "Examples:" and examples. fill replaces placeholders in it.
func SetHelp(c *cobra.Command, texts embed.FS, fill *strings.Replacer) {
	if raw, err := texts.ReadFile(HelpFile(c)); err == nil {
		long, examples, _ := strings.Cut(fill.Replace(string(raw)), "Examples:\n")
		c.Long, c.Example = strings.TrimSuffix(long, "\n\n"), strings.TrimSuffix(examples, "\n")
	}
	for _, sub := range c.Commands() {
		SetHelp(sub, texts, fill)
	}
}

// HelpFile returns the name of a command's help file. For example, miglab suite run has help/suite-run.txt.
func HelpFile(c *cobra.Command) string {
	return "help/" + strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "miglab "), " ", "-") + ".txt"
}
