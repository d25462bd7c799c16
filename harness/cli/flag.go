package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"miglab/harness/nearest"
)

// value implements [pflag.Value] for a flag that is read and checked with the command line.
type value[T any] struct {
	name, text string
	to         *T
	read       func(string) (T, error)
}

func (v *value[T]) Set(text string) error {
	x, err := v.read(text)
	if err != nil {
		return ValueError{fmt.Errorf("--%s %s: %w", v.name, text, err)}
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

// AddFlag adds a flag whose text read converts. An empty byDefault leaves *to unchanged. AddFlag panics if read refuses
// byDefault, which is a mistake in the program.
func AddFlag[T any](c *cobra.Command, to *T, name, byDefault string, read func(string) (T, error), usage string) {
	v := &value[T]{name: name, to: to, read: read}
	if byDefault != "" {
		if err := v.Set(byDefault); err != nil {
			panic(err)
		}
	}
	c.Flags().Var(v, name, usage)
}

// AddFolder adds a flag for a folder. It refuses "-", the sign for standard output.
func AddFolder(c *cobra.Command, to *string, name, byDefault, usage string) {
	AddFlag(c, to, name, byDefault, func(text string) (string, error) {
		if text == "-" {
			return "", errors.New("it is a folder and not standard output; ./- is the folder of this name")
		}
		return text, nil
	}, usage)
}

// ValueError is the error of a flag's value. Its text names the flag and what would be right.
type ValueError struct{ error }

// Unwrap returns the error.
func (e ValueError) Unwrap() error { return e.error }

// AtLeast reads whole numbers from least to 1,000,000,000. Larger counts would take too much time and memory.
func AtLeast(least int) func(string) (int, error) { return WholeNumber(least, 1_000_000_000) }

// WholeNumber reads a whole number from least to most.
func WholeNumber(least, most int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		switch {
		case err != nil:
			return 0, errors.New("not a whole number")
		case n < least:
			return 0, fmt.Errorf("at least %d", least)
		case n > most:
			return 0, fmt.Errorf("at most %d", most)
		}
		return n, nil
	}
}

// OneOf reads one of the names of a kind.
func OneOf[N ~string](kind string, names []N) func(string) (N, error) {
	return func(text string) (N, error) {
		return nearest.Find(kind, text, names, func(n N) string { return string(n) })
	}
}

// CheckValues returns an error if a flag's list has an empty part. Of several such flags, it names the first by name.
func CheckValues(c *cobra.Command, _ []string) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		list, ok := f.Value.(pflag.SliceValue)
		if err == nil && ok && (len(list.GetSlice()) == 0 || slices.Contains(list.GetSlice(), "")) {
			err = fmt.Errorf("--%s %s: a part of the list is empty; leave out the flag to choose nothing", f.Name,
				strconv.Quote(strings.Join(list.GetSlice(), ",")))
		}
	})
	return err
}

// CheckArgs adds a check that runs once the whole command line has been read.
func CheckArgs(c *cobra.Command, check func() error) {
	first := c.Args
	if first == nil {
		first = Arguments(0, 0, "")
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if err := first(c, args); err != nil {
			return err
		}
		return check()
	}
}

// ReadDuration reads a time above zero, for example 30s or 5m.
func ReadDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, errors.New("a time above zero, for example 30s or 5m")
	}
	return d, nil
}

// RequireFlags makes flags of a command required.
func RequireFlags(c *cobra.Command, names ...string) {
	CheckArgs(c, func() error {
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
