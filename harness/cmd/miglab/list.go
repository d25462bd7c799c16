package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"miglab/algorithms/rl/train"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/spec"
	"miglab/reports"
)

// listed are the kinds of things that there are.
var listed = []string{"algorithms", "agents", "datasets", "gpus", "papers"}

func newList() *cobra.Command {
	kinds := listed
	return &cobra.Command{
		Use:       "list [" + strings.Join(listed, "|") + "]",
		Short:     "List what there is",
		Example:   "  miglab list\n  miglab list gpus",
		ValidArgs: kinds,
		Args:      arguments(0, 1, "one kind"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				kinds = args
			}
			for i, k := range kinds {
				t, err := listing(k)
				if err != nil {
					return err
				}
				if i > 0 {
					fmt.Fprintln(c.OutOrStdout())
				}
				if err := t.Text(c.OutOrStdout()); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func listing(kind string) (reports.Table, error) {
	var t reports.Table
	switch kind {
	case "algorithms":
		t.Title, t.Columns = "Algorithms", reports.Left("name", "track", "version", "what it does", "source", "parameters")
		for _, s := range algo.All("") {
			t.Rows = append(t.Rows, []string{s.Name, string(s.Track), fmt.Sprint(s.Version), s.Summary, s.Cite, spec.Help(s.Params)})
		}
	case "agents":
		t.Title, t.Columns = "Agents", reports.Left("name", "steps", "seeds", "score", "what it is")
		for _, r := range train.Recipes() {
			t.Rows = append(t.Rows, []string{r.Name, fmt.Sprint(r.Steps), strings.Trim(fmt.Sprint(r.Seeds), "[]"), r.Score, r.Doc})
		}
	case "datasets":
		t.Title, t.Columns = "Datasets", reports.Left("name", "what it is", "parameters", "source")
		for _, d := range datasets.List() {
			t.Rows = append(t.Rows, []string{d.Name, d.Summary, d.Parameters, d.Source})
		}
	case "gpus":
		t.Title, t.Columns = "GPUs", reports.Left("name", "slices", "sizes", "profiles", "partitions", "create/destroy times")
		for _, g := range mig.GPUs() {
			var profiles []string
			for _, p := range g.Profiles {
				profiles = append(profiles, p.String())
			}
			t.Rows = append(t.Rows, []string{
				g.Name, fmt.Sprint(g.ComputeSlices), strings.Trim(fmt.Sprint(g.Sizes()), "[]"), strings.Join(profiles, " "),
				fmt.Sprint(len(g.Partitions())), g.CostSource,
			})
		}
	case "papers":
		t.Title, t.Columns = "Papers", reports.Left("name", "artefact", "what it shows")
		ps, err := papers()
		if err != nil {
			return t, err
		}
		for _, p := range ps {
			for _, a := range p.Artefacts {
				t.Rows = append(t.Rows, []string{p.Name, a.Name, a.Title})
			}
		}
	default:
		return t, nearest.Unknown("list", kind, listed)
	}
	return t, nil
}
