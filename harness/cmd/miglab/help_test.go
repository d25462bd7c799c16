package main

import (
	"io/fs"
	"testing"

	"github.com/spf13/cobra"
)

// Every file of help is the text of one command.
func TestHelpTextsAreShown(t *testing.T) {
	shown := map[string]int{}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		shown[c.Long]++
		shown[c.Example]++
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRoot())
	files, err := fs.ReadDir(helpTexts, "help")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if n := shown[helpText(f.Name())]; n != 1 {
			t.Errorf("help/%s is the text of %d commands", f.Name(), n)
		}
	}
}
