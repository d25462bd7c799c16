package main

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"miglab/harness/nearest"
	"miglab/paper-figures"
)

func newCite() *cobra.Command {
	return &cobra.Command{
		Use:   "cite [PAPER...]",
		Short: "Print BibTeX of miglab and of the papers",
		Args:  cobra.ArbitraryArgs,
		RunE:  func(c *cobra.Command, papers []string) error { return writeCitations(c.OutOrStdout(), papers) },
	}
}

// writeCitations writes the entries of miglab and of the named papers, or of all papers if the list is empty.
func writeCitations(w io.Writer, papers []string) error {
	all := figures.References() // miglab comes first
	names := nearest.Names(all[1:], func(r figures.Reference) string { return r.Name })
	for _, name := range papers {
		if !slices.Contains(names, name) {
			return nearest.Unknown("paper", name, names)
		}
	}
	for i, r := range all {
		note := ""
		if i == 0 {
			note = "version " + version()
		} else if len(papers) > 0 && !slices.Contains(papers, r.Name) {
			continue
		}
		if err := r.WriteBibTeX(w, note); err != nil {
			return err
		}
	}
	return nil
}
