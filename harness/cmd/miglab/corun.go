package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"miglab/datasets"
	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/sim/corun"
	"miglab/reports"
)

func newCorun() *cobra.Command {
	var jobs []string
	var setup corun.Setup
	c := &cobra.Command{
		Use:   "corun",
		Short: "Simulate programs that share a GPU on a given partition by MIG and MPS",
		RunE: func(c *cobra.Command, _ []string) error {
			names := strings.Join(jobs, "+")
			if strings.Contains(names, "&") { // It would begin a parameter.
				return fmt.Errorf("--jobs %s: a program's name has no &", names)
			}
			spec, err := datasets.Parse("corun/mix?jobs=" + names)
			if err != nil {
				return err
			}
			in, err := datasets.InstanceOf[corun.Window](spec, mig.MustLookup("A100"), 0)
			if err != nil {
				return err
			}
			t, err := groupTable(in, setup)
			if err != nil {
				return err
			}
			return t.Text(c.OutOrStdout())
		},
	}
	c.Flags().StringSliceVar(&jobs, "jobs", nil,
		"programs of the hierarchical paper's Table IV, separated by commas, one for each slot")
	cli.AddFlag(c, &setup, "setup", "", corun.Parse, "partition as in the paper's Table VII")
	cli.RequireFlags(c, "jobs", "setup")
	return c
}

// groupTable runs the window's jobs as one group and returns a table of their times.
func groupTable(w corun.Window, s corun.Setup) (t reports.Table, err error) {
	group := corun.Group{Setup: s}
	for i := range w.Jobs {
		group.Jobs = append(group.Jobs, i)
	}
	result, err := corun.Measure(w, corun.Plan{group})
	if err != nil {
		return t, err
	}
	t = reports.Table{
		Title:   "Simulated on " + s.String(),
		Columns: reports.Left("program", "class", "parameters").Right("alone [s]", "in the group [s]", "slowdown"),
		Notes: []string{fmt.Sprintf("simulated, not measured: %.3f s, one after the other %.3f s; relative throughput "+
			"%.3f; fairness %.3f",
			float64(result.Makespan), float64(result.TimeSharing), result.Throughput(), result.Fairness())},
	}
	for i := range w.Jobs {
		p := &w.Jobs[i]
		parameters := "drawn"
		if p.Fitted {
			parameters = "fitted"
		}
		slowdown := result.Slowdowns[i]
		t.Row(p.Name, p.Class, parameters, reports.Cells(3, float64(p.Solo), float64(p.Solo)*slowdown, slowdown))
	}
	return t, nil
}
