package main

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
)

// Every file of help belongs to a command, and a line of its paragraphs has at most 119 characters.
func TestHelpTextsAreShown(t *testing.T) {
	shown := map[string]bool{}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		shown[cli.HelpFile(c)] = c.Long+c.Example != ""
		for line := range strings.Lines(c.Long) {
			if n := utf8.RuneCountInString(line); n > 120 && !strings.HasPrefix(line, "  ") {
				t.Errorf("%s has a line of %d characters: %s", cli.HelpFile(c), n-1, line)
			}
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRoot())
	for folder, least := range map[string]int{".": 20, "../../../profiling/command": 4} {
		files, err := filepath.Glob(filepath.Join(folder, "help", "*"))
		if err != nil || len(files) < least {
			t.Fatalf("%d files in %s, %v", len(files), folder, err)
		}
		for _, f := range files {
			if !shown["help/"+filepath.Base(f)] {
				t.Errorf("%s is of no command", f)
			}
		}
	}
}
