package main

import (
	"io/fs"
	"testing"

	"github.com/spf13/cobra"
)

// Every file of help belongs to a command.
func TestHelpTextsAreShown(t *testing.T) {
	shown := map[string]bool{}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		shown[helpFile(c)] = c.Long+c.Example != ""
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRoot())
	files, err := fs.Glob(helpTexts, "help/*")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		if !shown[f] {
			t.Errorf("%s is of no command", f)
		}
	}
}
