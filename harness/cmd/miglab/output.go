package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"miglab/harness/atomicfile"
	"miglab/harness/cli"
	"miglab/harness/nearest"
	"miglab/reports"
)

// extensions are those of the files of each format.
var extensions = map[string]string{
	"text": ".txt", "json": ".json", "jsonl": ".jsonl", "csv": ".csv", "markdown": ".md", "latex": ".tex",
	"svg": ".svg", "png": ".png", "pdf": ".pdf",
}

// An output is a file that a command writes, and its format.
type output struct {
	path, format string
	// chosen is the flag --format; nil if the command does not have it.
	chosen *pflag.Flag
}

// register adds the flag that names the file. The name's extension says the format; it is the first, if the
// name has no extension. A name of another format, or of an input, is refused before the command begins.
func (o *output) register(c *cobra.Command, flag, usage string, formats ...string) {
	o.format = formats[0]
	c.Flags().StringVar(&o.path, flag, "", usage)
	before := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if before != nil {
			if err := before(c, args); err != nil {
				return err
			}
		}
		if err := o.check(c, flag, formats); err != nil || o.printed() {
			return err
		}
		return keepInputs(c, args, "--"+flag, o.path)
	}
}

// registerFormat adds --format, which says the format of any name.
func (o *output) registerFormat(c *cobra.Command, formats ...string) {
	usage := strings.Join(formats, ", ") + "; by default that of the name of the file, or " + formats[0]
	cli.AddFlag(c, &o.format, "format", formats[0], cli.OneOf("format", formats), usage)
	o.chosen = c.Flags().Lookup("format")
}

// extension returns the extension of a file name in lower case, and the format that it means.
func extension(path string) (string, string) {
	ending := strings.ToLower(filepath.Ext(strings.TrimLeft(filepath.Base(path), ".")))
	for format, own := range extensions {
		if ending == own || ending == "."+format {
			return ending, format
		}
	}
	return ending, ""
}

// check settles the format.
func (o *output) check(c *cobra.Command, flag string, formats []string) error {
	ending, named := extension(o.path)
	given := o.chosen != nil && o.chosen.Changed
	switch {
	case len(ending) < 2 || given && named == "":
		return nil
	case !slices.Contains(formats, named):
		known := nearest.Names(formats, func(format string) string { return extensions[format] })
		return fmt.Errorf("--%s %s: %s does not write %s; it writes %s",
			flag, o.path, c.Name(), ending, strings.Join(known, ", "))
	case given && named != o.format:
		return fmt.Errorf("--format %s --%s %s: they name two formats; leave --format out, or give the file "+
			"another extension",
			o.format, flag, o.path)
	}
	o.format = named
	return nil
}

// keepInputs refuses a file to write if the command also reads it: a file that an argument or another flag names, alone
// or in a list, or as FILE in "profile:FILE?top=5", or a file of a folder of results.
func keepInputs(c *cobra.Command, args []string, what, path string) error {
	out, err := os.Stat(path)
	if err != nil {
		return nil // it will be a new file
	}
	values := slices.Clone(args)
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = append(values, list.GetSlice()...)
		} else if "--"+f.Name != what {
			values = append(values, strings.Split(f.Value.String(), ",")...)
		}
	})
	for _, value := range values {
		_, file, _ := strings.Cut(value, ":")
		file, _, _ = strings.Cut(file, "?")
		inputs := []string{value, file}
		for _, name := range []string{"submission.json", "results*.db"} {
			own, _ := filepath.Glob(filepath.Join(value, name)) // a bad pattern names no folder
			inputs = append(inputs, own...)
		}
		for _, input := range inputs {
			if in, err := os.Stat(input); err == nil && os.SameFile(in, out) && out.Mode().IsRegular() {
				return fmt.Errorf("%s %s: %s reads this file, and would replace it; name another one", what, path,
					c.Name())
			}
		}
	}
	return nil
}

// printed reports whether the output is standard output.
func (o *output) printed() bool { return slices.Contains([]string{"", "-", "/dev/stdout"}, o.path) }

// isFile reports whether the output is, or will be, a regular file.
func (o *output) isFile() bool {
	info, err := os.Stat(o.path)
	return !o.printed() && (err != nil || info.Mode().IsRegular())
}

// registerTimeline adds the flag for a drawing of what algorithms do over time.
func (o *output) registerTimeline(c *cobra.Command, of string) {
	o.register(c, "timeline", "file to draw "+of+" over time in: slices in use, what waits, and late jobs, "+
		".svg, .png or .pdf", reports.FigureFormats...)
}

// draw writes a figure.
func (o *output) draw(c *cobra.Command, f reports.Figure) error {
	return o.emit(c, func(w io.Writer) error { return reports.Encode(w, o.format, f) })
}

// emit writes to the file as a whole, or to standard output.
func (o *output) emit(c *cobra.Command, write func(io.Writer) error) error {
	if !o.printed() {
		return atomicfile.WriteFile(o.path, write)
	}
	w := bufio.NewWriter(c.OutOrStdout())
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// terminalWidth is how many columns the terminal has that w is: COLUMNS, if that is set, or what the
// terminal says; 0 if w is none.
func terminalWidth(w io.Writer) int {
	out, ok := w.(*cli.Output)
	if !ok || !term.IsTerminal(int(out.File.Fd())) {
		return 0
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	n, _, _ := term.GetSize(int(out.File.Fd())) // 0 if it does not say
	return n
}
