package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/run"
)

// addGPU adds the flag for a GPU model, whose costs may be replaced. Of a command with a folder of
// results it may be a model that only these have.
func addGPU(c *cobra.Command, to **mig.GPU, byDefault, usage string) {
	name := c.Flags().String("gpu", byDefault, usage+"; 'NAME?create=0.05&destroy=10x' has other costs: seconds for "+
		"every profile, or a multiple of the model's")
	checkArgs(c, func() (err error) {
		if *name == "" && !c.Flags().Changed("gpu") {
			return nil
		}
		*to, err = mig.LookupOrRead(*name)
		if _, unknown := errors.AsType[*nearest.UnknownError](err); unknown {
			for _, folder := range []string{"results", "with"} {
				if f := c.Flags().Lookup(folder); f != nil && f.Value.String() != "" {
					db, err := run.Open(f.Value.String())
					if err != nil {
						return err
					}
					defer db.Close()
				}
			}
			*to, err = mig.LookupOrRead(*name)
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

// flagError is the error about a command's flags, given that of the parser.
func flagError(c *cobra.Command, err error) error {
	if own, ok := errors.AsType[cli.ValueError](err); ok {
		return own
	}
	if missing, ok := errors.AsType[*pflag.NotExistError](err); ok && len(missing.GetSpecifiedName()) > 1 {
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, "--"+f.Name)
			}
		})
		unknown, _ := errors.AsType[*nearest.UnknownError](nearest.Unknown("flag",
			"--"+missing.GetSpecifiedName(), known))
		unknown.Known = nil // --help says more
		err = unknown
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if want := wants[wrong.GetFlag().Value.Type()]; want != "" {
			err = fmt.Errorf("--%s %s: %s", wrong.GetFlag().Name, wrong.GetValue(), want)
		}
	}
	return fmt.Errorf("%w; see %s --help", err, c.CommandPath())
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

// wants says what the flags of the parser's own types take.
var wants = map[string]string{
	"int": "a whole number", "int64": "a whole number", "uint64": "a whole number from 0", "float64": "a number",
	"bool": "true or false", "intSlice": "whole numbers, separated by commas",
	"stringToString": "name=value, separated by commas",
}
