package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/paper-figures"
)

func newCite() *cobra.Command {
	return &cobra.Command{
		Use:   "cite [PAPER|ALGORITHM|DATASET...]",
		Short: "Print BibTeX of miglab and of what a result rests on",
		Args:  cobra.ArbitraryArgs,
		RunE:  func(c *cobra.Command, names []string) error { return writeCitations(c.OutOrStdout(), names) },
	}
}

// writeCitations writes the entry of miglab, with a note on where the named algorithms and datasets are from, and those
// of the papers that are named; of all papers if nothing is named.
func writeCitations(w io.Writer, names []string) error {
	notes := []string{"version " + version()}
	var papers []string
	for _, name := range names {
		note, paper, err := citation(name)
		if err != nil {
			return err
		}
		papers = append(papers, paper)
		if note != "" {
			notes = append(notes, note)
		}
	}
	for i, r := range figures.References() {
		note := ""
		if i == 0 {
			note = strings.Join(notes, "; ")
		} else if len(names) > 0 && !slices.Contains(papers, r.Name) {
			continue
		}
		if err := r.WriteBibTeX(w, note); err != nil {
			return err
		}
	}
	return nil
}

// citation returns where an algorithm or a dataset is from, and the name of the paper that is named, or that the
// dataset is from. One name may mean both a paper and an algorithm.
func citation(name string) (note, paper string, err error) {
	all := figures.References()
	named := slices.IndexFunc(all, func(r figures.Reference) bool { return r.Name == name || r.Key == name })
	if named >= 0 {
		paper = all[named].Name
	}
	a, noAlgorithm := algo.Parse(name)
	if noAlgorithm == nil && a.Spec.Cite != "" {
		return fmt.Sprintf("algorithm %s, version %d: %s", a.ID, a.Spec.Version, a.Spec.Cite), paper, nil
	}
	d, err := datasets.Parse(name)
	if err != nil && (noAlgorithm == nil || paper != "") {
		return "", paper, nil
	}
	if err != nil {
		return "", "", fmt.Errorf("%w; %w", noAlgorithm, err)
	}
	family, _, _ := strings.Cut(d.ID(), "?")
	workloads, _, _ := strings.Cut(family, "/")
	for _, r := range all[1:] {
		if r.Datasets == workloads {
			paper = r.Name
		}
	}
	for _, f := range datasets.List() {
		if listed, _, _ := strings.Cut(f.Name, "?"); listed == family {
			return fmt.Sprintf("dataset %s: %s", d.ID(), f.Source), paper, nil
		}
	}
	return "dataset " + d.ID(), paper, nil
}
