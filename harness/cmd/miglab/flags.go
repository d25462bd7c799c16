package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/run"
)

// value is the value of a flag that is read and checked with the command line.
type value[T any] struct {
	name, text string
	to         *T
	read       func(string) (T, error)
}

func (v *value[T]) Set(text string) error {
	x, err := v.read(text)
	if err != nil {
		return valueError{fmt.Errorf("--%s %s: %w", v.name, text, err)}
	}
	*v.to, v.text = x, text
	return nil
}

func (v *value[T]) String() string { return v.text }

func (v *value[T]) Type() string {
	if _, ok := any(v.to).(*int); ok {
		return "int"
	}
	return "string"
}

// addFlag adds a flag that read reads; without a default, *to stays as it is. It panics on a
// default that is wrong, which is a mistake in the program.
func addFlag[T any](c *cobra.Command, to *T, name, byDefault string, read func(string) (T, error), usage string) {
	v := &value[T]{name: name, to: to, read: read}
	if byDefault != "" {
		if err := v.Set(byDefault); err != nil {
			panic(err)
		}
	}
	c.Flags().Var(v, name, usage)
}

// addGPU adds the flag for a GPU model. Of a command with a folder of results it may be a model
// that only these have.
func addGPU(c *cobra.Command, to **mig.GPU, byDefault, usage string) {
	later, complete := false, false // the name is looked up again when the command line is complete
	addFlag(c, to, "gpu", byDefault, func(text string) (*mig.GPU, error) {
		g, err := mig.LookupOrRead(text)
		_, unknown := errors.AsType[*nearest.UnknownError](err)
		if later = unknown && !complete && c.Flags().Lookup("results") != nil; later {
			err = nil
		}
		return g, err
	}, usage)
	completeFlag(c, "gpu", func(typed string) (out []string) {
		for _, g := range mig.GPUs() {
			if strings.HasPrefix(g.Name, strings.ToUpper(typed)) {
				out = append(out, g.Name)
			}
		}
		return out
	})
	checkArgs(c, func() error {
		if complete = true; !later {
			return nil
		}
		for _, folder := range []string{"results", "with"} {
			if f := c.Flags().Lookup(folder); f != nil && f.Value.String() != "" {
				db, err := run.Open(f.Value.String())
				if err != nil {
					return err
				}
				defer db.Close()
			}
		}
		if err := c.Flags().Set("gpu", c.Flags().Lookup("gpu").Value.String()); err != nil {
			return flagError(c, err)
		}
		return nil
	})
}

// checkArgs adds a check that is made when the whole command line has been read.
func checkArgs(c *cobra.Command, check func() error) {
	first := c.Args
	if first == nil {
		first = arguments(0, 0, "")
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if err := first(c, args); err != nil {
			return err
		}
		return check()
	}
}

// valueError is the error of a [value], which says all there is to say.
type valueError struct{ error }

// flagError is the error about a command's flags, given that of the parser.
func flagError(c *cobra.Command, err error) error {
	if own, ok := errors.AsType[valueError](err); ok {
		return own
	}
	if missing, ok := errors.AsType[*pflag.NotExistError](err); ok && len(missing.GetSpecifiedName()) > 1 {
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, "--"+f.Name)
			}
		})
		unknown, _ := errors.AsType[*nearest.UnknownError](nearest.Unknown("flag", "--"+missing.GetSpecifiedName(), known))
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

// atLeast reads whole numbers.
func atLeast(least int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		switch {
		case err != nil:
			return 0, errors.New("not a whole number")
		case n < least:
			return 0, fmt.Errorf("at least %d", least)
		}
		return n, nil
	}
}

// wholeNumber reads a whole number from least to most.
func wholeNumber(least, most int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := atLeast(least)(text)
		if err == nil && n > most {
			err = fmt.Errorf("at most %d", most)
		}
		return n, err
	}
}

// oneOf reads one of the names of a kind.
func oneOf(kind string, names []string) func(string) (string, error) {
	return func(text string) (string, error) {
		if !slices.Contains(names, text) {
			return "", nearest.Unknown(kind, text, names)
		}
		return text, nil
	}
}

// duration reads a time above zero, for example 30s or 5m.
func duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, errors.New("a time above zero, for example 30s or 5m")
	}
	return d, nil
}

// require marks flags that must be given.
func require(c *cobra.Command, names ...string) {
	for _, name := range names {
		if err := c.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
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
