package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"miglab/bounds"
	"miglab/bounds/certificate"
	"miglab/datasets"
	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/task"
	"miglab/harness/track"
	"miglab/reports"
)

// requestFlags name an instance of requests. A command with these flags also has [problemFlags] and needs one of
// --tasks and --dataset.
type requestFlags struct {
	dataset  string
	instance int
}

func (f *requestFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.dataset, "dataset", "",
		"dataset of requests instead of --tasks, for the placement track (miglab list datasets; requests:FILE for a "+
			"file)")
	cli.AddFlag(c, &f.instance, "instance", "0", cli.AtLeast(0), "instance of the dataset")
}

// given reports whether the command is about requests. It returns an error for flags that exclude each other. batch
// has the names of flags for tasks only.
func (f *requestFlags) given(c *cobra.Command, batch ...string) (bool, error) {
	flags := c.Flags()
	switch {
	case flags.Changed("tasks") && flags.Changed("dataset"):
		return false, errors.New("--tasks and --dataset exclude each other: " +
			"give the tasks of a batch, or a dataset of requests")
	case !flags.Changed("tasks") && !flags.Changed("dataset"):
		return false, fmt.Errorf("%s needs --tasks, or --dataset for requests; see %s --help", c.Name(),
			c.CommandPath())
	case !flags.Changed("dataset") && flags.Changed("instance"):
		return false, errors.New("--instance has a meaning with --dataset only")
	case !flags.Changed("dataset"):
		return false, nil
	}
	for _, name := range append(batch, "gpus", "reconfiguration") {
		if flags.Changed(name) {
			return false,
				fmt.Errorf("--%s has a meaning with --tasks only; a dataset of requests says how many GPUs there "+
					"are, and nothing is reconfigured", name)
		}
	}
	return true, nil
}

// requests reads the instance for a GPU model. Without --gpu, the model is the usual one of the placement track.
func (f *requestFlags) requests(c *cobra.Command, g *mig.GPU) (*mig.GPU, task.Requests, error) {
	if !c.Flags().Changed("gpu") {
		g = mig.MustLookup(track.Placement.GPU)
	}
	spec, err := datasets.Parse(f.dataset)
	if err != nil {
		return g, task.Requests{}, err
	}
	in, err := datasets.InstanceOf[task.Requests](spec, g, f.instance)
	if err == nil && in.Waiting != task.Reject {
		err = fmt.Errorf("%s: all requests that wait are accepted; miglab run --track placement computes bounds on "+
			"how long they take, and miglab export --track offline has them", f.dataset)
	}
	return g, in, err
}

// writeAcceptance prints an upper bound on the requests that a scheduler can accept or, as JSON, its certificate.
func writeAcceptance(c *cobra.Command, f *requestFlags, g *mig.GPU, format string) error {
	g, in, err := f.requests(c, g)
	if err != nil {
		return err
	}
	instants, err := bounds.ProveOffline(c.Context(), g, in.GPUs, in.Requests)
	if err != nil {
		return err
	}
	claim, err := certificate.NewAcceptance(g, in.GPUs, in.Requests, instants)
	if err != nil {
		return err
	}
	if format == "json" {
		return new(cli.File).Emit(c, func(w io.Writer) error { return certificate.EncodeAcceptance(w, claim) })
	}
	t := reports.Table{
		Columns: reports.Left("what").Right("value").Left("by"),
		Rows: [][]string{
			{"requests", fmt.Sprint(claim.Requests), f.dataset},
			{"GPUs", fmt.Sprint(claim.GPUs), g.Name},
			{"accepted at most", fmt.Sprint(claim.AtMost), fmt.Sprintf("prices in %d slots", len(claim.Instants))},
			{"acceptance at most", fmt.Sprintf("%.4f", float64(claim.AtMost)/float64(claim.Requests)), ""},
		},
	}
	return t.Text(c.OutOrStdout())
}

// checkAcceptance verifies a certificate of [writeAcceptance].
func checkAcceptance(c *cobra.Command, f *requestFlags, g *mig.GPU, path string) error {
	g, in, err := f.requests(c, g)
	if err != nil {
		return err
	}
	claim, err := cli.Interruptible(c.Context(), func() (certificate.Acceptance, error) {
		return readFile(path, certificate.DecodeAcceptance)
	})
	if err != nil {
		return err
	}
	if err := certificate.VerifyAcceptance(g, in.GPUs, in.Requests, claim); err != nil {
		return cli.FailedError{Err: fmt.Errorf("%s is refused: %w", path, err)}
	}
	fmt.Fprintf(c.OutOrStdout(), "ok: at most %d of %d requests can be accepted on %s\n", claim.AtMost,
		claim.Requests, cli.Count(claim.GPUs, "GPUs"))
	return nil
}
