package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"miglab/harness/atomicfile"
	"miglab/harness/nearest"
)

// A File is a file that a command writes. Register adds its flag.
type File struct {
	// Path is the name of the file. "", "-" and "/dev/stdout" mean standard output.
	Path       string
	Format     string      // the format of the file, such as json
	formatFlag *pflag.Flag // the flag --format; nil if the command does not have it
}

// Register adds the flag that names the file. The file has the format of the name's extension, or the first of the
// formats if the name has none. The command refuses names of other formats and names of its inputs before it begins.
func (f *File) Register(c *cobra.Command, flag, usage string, formats ...string) {
	f.Format = formats[0]
	c.Flags().StringVar(&f.Path, flag, "", usage)
	before := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if before != nil {
			if err := before(c, args); err != nil {
				return err
			}
		}
		if err := f.check(c, flag, formats); err != nil || f.Printed() {
			return err
		}
		return KeepInputs(c, args, "--"+flag, f.Path)
	}
}

// RegisterFormat adds --format, for names without an extension of a known format.
func (f *File) RegisterFormat(c *cobra.Command, formats ...string) {
	usage := strings.Join(formats, ", ") + "; by default that of the name of the file, or " + formats[0]
	AddFlag(c, &f.Format, "format", formats[0], OneOf("format", formats), usage)
	f.formatFlag = c.Flags().Lookup("format")
}

// extensions has the extension of the files of each format.
var extensions = map[string]string{
	"text": ".txt", "json": ".json", "jsonl": ".jsonl", "csv": ".csv", "markdown": ".md", "latex": ".tex",
	"svg": ".svg", "pdf": ".pdf",
}

// extension returns the extension of a file name in lower case and its format; "" for an unknown one.
func extension(path string) (string, string) {
	ending := strings.ToLower(filepath.Ext(strings.TrimLeft(filepath.Base(path), ".")))
	for format, own := range extensions {
		if ending == own || ending == "."+format {
			return ending, format
		}
	}
	return ending, ""
}

// check sets the format from the name of the file. It returns an error if the command cannot write that format.
func (f *File) check(c *cobra.Command, flag string, formats []string) error {
	ending, named := extension(f.Path)
	given := f.formatFlag != nil && f.formatFlag.Changed
	switch {
	case len(ending) < 2 || given && named == "":
		return nil
	case !slices.Contains(formats, named):
		known := nearest.Names(formats, func(format string) string { return extensions[format] })
		return fmt.Errorf("--%s %s: %s does not write %s; it writes %s",
			flag, f.Path, c.Name(), ending, strings.Join(known, ", "))
	case given && named != f.Format:
		return fmt.Errorf("--format %s --%s %s: they name two formats; leave --format out, or give the file "+
			"another extension",
			f.Format, flag, f.Path)
	}
	f.Format = named
	return nil
}

// KeepInputs refuses to overwrite a file that the command reads. An input is a file that an argument or another flag
// names, alone, in a list, or as FILE in "profile:FILE?top=5", and a file in a folder of results. what names the flag
// of path in the error.
func KeepInputs(c *cobra.Command, args []string, what, path string) error {
	out, err := os.Stat(path)
	if err != nil {
		return nil // it will be a new file
	}
	values := slices.Clone(args)
	c.Flags().VisitAll(func(flag *pflag.Flag) {
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = append(values, list.GetSlice()...)
		} else if "--"+flag.Name != what {
			values = append(values, strings.Split(flag.Value.String(), ",")...)
		}
	})
	for _, value := range values {
		_, file, _ := strings.Cut(value, ":")
		file, _, _ = strings.Cut(file, "?")
		databases, _ := filepath.Glob(filepath.Join(value, "results*.db")) // skips bad patterns
		for _, input := range append(databases, value, file) {
			in, err := os.Stat(input)
			if err == nil && os.SameFile(in, out) && out.Mode().IsRegular() {
				return fmt.Errorf("%s %s: %s reads this file, and would replace it; name another one", what, path,
					c.Name())
			}
		}
	}
	return nil
}

// Printed reports whether the file is standard output.
func (f *File) Printed() bool { return slices.Contains([]string{"", "-", "/dev/stdout"}, f.Path) }

// IsRegular reports whether the file is, or will be, a regular file.
func (f *File) IsRegular() bool {
	info, err := os.Stat(f.Path)
	return !f.Printed() && (err != nil || info.Mode().IsRegular())
}

// Emit writes the file. A file that is not standard output is replaced once it is complete.
func (f *File) Emit(c *cobra.Command, write func(io.Writer) error) error {
	if !f.Printed() {
		return atomicfile.WriteFile(f.Path, write)
	}
	w := bufio.NewWriter(c.OutOrStdout())
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}
