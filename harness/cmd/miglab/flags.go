package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/run"
)

// addGPU adds the flag for a GPU model, whose costs may be replaced, and which becomes one of the catalog. It may also
// be a model that only the results of one of the folders have; "" is no folder.
func addGPU(c *cobra.Command, to **mig.GPU, models *mig.Catalog, byDefault, usage string, folders ...*string) {
	name := c.Flags().String("gpu", byDefault, usage+"; 'NAME?create=0.05&destroy=10x' has other costs: seconds for "+
		"every profile, or a multiple of the model's; 'A100?idle=75.4' gives results an energy (watts)")
	checkArgs(c, func() (err error) {
		if *name == "" && !c.Flags().Changed("gpu") {
			return nil
		}
		*to, err = models.LookupOrRead(*name)
		for _, folder := range folders {
			_, unknown := errors.AsType[*nearest.UnknownError](err)
			if !unknown || *folder == "" {
				continue
			}
			db, failed := run.Open(*folder, models)
			if failed != nil {
				return failed
			}
			defer db.Close()
			*to, err = models.LookupOrRead(*name)
		}
		if err != nil {
			err = fmt.Errorf("--gpu %s: %w", *name, err)
		}
		return err
	})
}

// checkArgs adds a check that is made when the whole command line has been read.
func checkArgs(c *cobra.Command, check func() error) {
	first := c.Args
	if first == nil {
		first = cli.Arguments(0, 0, "")
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if err := first(c, args); err != nil {
			return err
		}
		return check()
	}
}

// readDuration reads a time above zero, for example 30s or 5m.
func readDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, errors.New("a time above zero, for example 30s or 5m")
	}
	return d, nil
}

// requireFlags says which flags must be given.
func requireFlags(c *cobra.Command, names ...string) {
	checkArgs(c, func() error {
		var missing []string
		for _, name := range names {
			if !c.Flags().Changed(name) {
				missing = append(missing, "--"+name)
			}
		}
		if missing == nil {
			return nil
		}
		return fmt.Errorf("%s needs %s; see %s --help", c.Name(), strings.Join(missing, " and "), c.CommandPath())
	})
}
