package main

import (
	"os"

	"github.com/spf13/cobra"

	"miglab/algorithms/rl/gym"
	"miglab/harness/cli"
)

func newGym() *cobra.Command {
	return &cobra.Command{
		Use:   "gym",
		Short: "Serve the environments for learning over a pipe, to Python or any other language",
		RunE: func(c *cobra.Command, _ []string) error {
			// Serve does not look at the context while it waits for input.
			_, err := cli.Interruptible(c.Context(), func() (struct{}, error) {
				return struct{}{}, gym.Serve(os.Stdin, c.OutOrStdout())
			})
			return err
		},
	}
}
