package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"miglab/bounds"
	"miglab/harness/nearest"
	"miglab/reports"
)

func newBound() *cobra.Command {
	var pf problemFlags
	var format string
	c := &cobra.Command{
		Use:   "bound",
		Short: "Lower bounds on the makespan of a batch",
		Long: "bound prints the area bound (FAR 6.4, proven), l_bound as published (DRL 5.2, not a valid bound) and the\n" +
			"certified bound (proven under the chosen reconfiguration model), in seconds.",
		Example: "  miglab bound --gpu A100 --tasks tasks.csv\n  miglab bound --gpu A30 --tasks tasks.csv --format json",
		RunE: func(c *cobra.Command, _ []string) error {
			if format != "text" && format != "json" {
				return nearest.Unknown("format", format, []string{"json", "text"})
			}
			p, err := pf.problem()
			if err != nil {
				return err
			}
			area, err := bounds.Area(p)
			if err != nil {
				return err
			}
			published, err := bounds.LBound(p)
			if err != nil {
				return err
			}
			certified, err := bounds.Certified(p)
			if err != nil {
				return err
			}
			if format == "json" {
				e := json.NewEncoder(c.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(struct {
					Area      float64 `json:"area_s"`
					LBound    float64 `json:"l_bound_as_published_s"`
					Certified float64 `json:"certified_s"`
				}{float64(area), float64(published), float64(certified)})
			}
			t := reports.Table{
				Columns: []reports.Column{{Name: "bound"}, {Name: "seconds", Right: true}, {Name: "proven"}, {Name: "source"}},
				Rows: [][]string{
					{"area", fmt.Sprintf("%.6f", area), "yes", "FAR 6.4"},
					{"l_bound", fmt.Sprintf("%.6f", published), "no, it can exceed the optimum", "DRL 5.2"},
					{"certified", fmt.Sprintf("%.6f", certified), "yes", "package bounds"},
				},
			}
			return t.Text(c.OutOrStdout())
		},
	}
	pf.register(c)
	c.Flags().StringVar(&format, "format", "text", "text or json")
	return c
}
