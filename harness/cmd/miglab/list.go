package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"miglab/algorithms/rl/train"
	"miglab/algorithms/rl/train/curve"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/spec"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// A catalogue lists the things of one kind, a row each.
type catalogue struct {
	reports.Table
	// brief is the number of columns in the text of a list. Other formats and the text about one thing have all
	// columns.
	brief  int
	params [][]spec.Param // the parameters of the thing of each row; nil if things of this kind have none
	// fits reports whether the thing of a row is for a track; nil if things of this kind are for no track.
	fits func(row int, t *track.Track) bool
}

// kinds are the kinds of things that miglab list knows, in the order in which it prints them.
var kinds = []struct {
	name string
	read func() (catalogue, error)
}{
	{"algorithms", listAlgorithms},
	{"agents", listAgents},
	{"datasets", listDatasets},
	{"gpus", listGPUs},
	{"papers", listPapers},
}

func kindNames() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

func newList() *cobra.Command {
	var l listFlags
	c := &cobra.Command{
		Use:   "list [" + strings.Join(kindNames(), "|") + "] [NAME]",
		Short: "List what there is, or say all about one thing",
		Args:  cli.Arguments(0, 2, "a kind and a name"),
		RunE:  l.run,
	}
	cli.AddFlag(c, &l.track, "track", "", track.Parse,
		"only algorithms or datasets of this track: "+strings.Join(track.Names(), ", "))
	formats := append(slices.Clone(reports.TableFormats), gpuFormat)
	cli.AddFlag(c, &l.format, "format", "text", cli.OneOf("format", formats), strings.Join(formats, ", "))
	return c
}

// gpuFormat is the format of the files that --gpu reads.
const gpuFormat = "gpu"

// listFlags are the flags of list.
type listFlags struct {
	track  *track.Track
	format string
}

func (l *listFlags) run(c *cobra.Command, args []string) error {
	if l.track != nil && (len(args) == 0 || args[0] != "algorithms" && args[0] != "datasets") {
		return fmt.Errorf("--track: algorithms and datasets have one; try miglab list algorithms --track %s",
			l.track.Name)
	}
	switch {
	case l.format == gpuFormat:
		return writeModel(c.OutOrStdout(), args)
	case len(args) == 0 && l.format != "text":
		return fmt.Errorf("--format %s: one kind at a time, as in miglab list %s --format %[1]s", l.format,
			kinds[0].name)
	case len(args) == 0:
		return writeOverview(c.OutOrStdout())
	}
	return l.kind(c.OutOrStdout(), args)
}

// kind lists the things of the kind in the first argument, or shows the thing in the second argument.
func (l *listFlags) kind(w io.Writer, args []string) error {
	names := kindNames()
	i := slices.Index(names, args[0])
	if i < 0 {
		return nearest.Unknown("list", args[0], names)
	}
	all, err := kinds[i].read()
	switch {
	case err != nil:
		return err
	case len(args) > 1:
		return l.show(w, &all, args[0], args[1])
	}
	return l.list(w, &all)
}

// overviewWidth is the width of the overview if the width of the terminal is unknown.
const overviewWidth = 100

// writeOverview writes the names of all things on one screen.
func writeOverview(w io.Writer) error {
	t := reports.Table{
		Columns: reports.Left("kind", "of", "names"),
		Notes: []string{
			"miglab list algorithms says what each one does, and so do the other kinds. miglab train trains agents.",
			"miglab list datasets drl/WIDETIMES says all about one thing.",
		},
	}
	for _, k := range kinds {
		switch k.name { // two kinds that take long to read
		case "agents":
			t.Row(k.name, "", fmt.Sprintf("%d; miglab list %s", len(train.Recipes()), k.name))
			continue
		case "papers":
			t.Row(k.name, "", strings.Join(nearest.Names(figures.References()[1:],
				func(r figures.Reference) string { return r.Name }), " "))
			continue
		}
		all, err := k.read()
		if err != nil {
			return err
		}
		groups, names := groupNames(k.name, all.Rows)
		for i, group := range groups {
			kind := ""
			if i == 0 {
				kind = k.name
			}
			t.Row(kind, group, strings.Join(names[group], " "))
		}
	}
	return t.TextWithin(w, cmp.Or(cli.TerminalWidth(w), overviewWidth))
}

// groupNames groups the names in the first column: algorithms by track, and datasets by the part of the name up to the
// slash. Other kinds are one group with the name "".
func groupNames(kind string, rows [][]string) (groups []string, names map[string][]string) {
	if kind == "algorithms" {
		groups = nearest.Names(track.All(), func(t *track.Track) string { return t.Name })
	}
	names = map[string][]string{}
	for _, row := range rows {
		group, name := "", row[0]
		switch kind {
		case "algorithms":
			group = row[1]
		case "datasets":
			if before, after, ok := strings.Cut(row[0], "/"); ok {
				group, name = before+"/", after
			}
		}
		if !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
		if !slices.Contains(names[group], name) {
			names[group] = append(names[group], name)
		}
	}
	return groups, names
}

// writeModel writes a GPU model as a file that --gpu reads.
func writeModel(w io.Writer, args []string) error {
	if len(args) != 2 || args[0] != "gpus" {
		return errors.New("--format gpu: only a GPU model has it, as in miglab list gpus A100 --format gpu")
	}
	g, err := new(mig.Catalog).LookupOrRead(args[1])
	if err == nil {
		_, err = w.Write(g.JSON())
	}
	return err
}

// list writes the rows of the track.
func (l *listFlags) list(w io.Writer, all *catalogue) error {
	t := all.Table
	t.Rows = nil
	for i, row := range all.Rows {
		if l.track == nil || all.fits(i, l.track) {
			t.Rows = append(t.Rows, slices.Clone(row))
		}
	}
	if l.format != "text" {
		return t.Encode(w, l.format)
	}
	t.Columns = t.Columns[:all.brief]
	for i := range t.Rows {
		t.Rows[i] = t.Rows[i][:all.brief]
	}
	return t.TextWithin(w, cli.TerminalWidth(w))
}

// show writes all columns of the rows of one name.
func (l *listFlags) show(w io.Writer, all *catalogue, kind, name string) error {
	var at []int
	var names []string
	for i, row := range all.Rows {
		names = append(names, row[0])
		if row[0] == name {
			at = append(at, i)
		}
	}
	switch {
	case len(at) == 0:
		return nearest.Unknown(strings.TrimSuffix(kind, "s"), name, names)
	case len(at) > 1 || l.format != "text":
		t := reports.Table{Columns: all.Columns}
		for _, i := range at {
			t.Rows = append(t.Rows, all.Rows[i])
		}
		return t.Encode(w, l.format)
	}
	t := reports.Table{Columns: reports.Left(strings.TrimSuffix(kind, "s"), name)}
	for j, cell := range all.Rows[at[0]] {
		if j > 0 && cell != "" {
			t.Rows = append(t.Rows, []string{all.Columns[j].Name, cell})
		}
	}
	if err := t.TextWithin(w, cli.TerminalWidth(w)); err != nil {
		return err
	}
	if all.params == nil || len(all.params[at[0]]) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	p := reports.Table{Columns: reports.Left("parameter", "default", "values", "what it is")}
	for _, param := range all.params[at[0]] {
		values := cmp.Or(strings.Join(param.Values, " "), param.Type.Want)
		p.Rows = append(p.Rows, []string{param.Name, param.Default, values, param.Doc})
	}
	return p.TextWithin(w, cli.TerminalWidth(w))
}

// newCatalogue returns a catalogue without rows.
func newCatalogue(title string, brief int, columns ...string) catalogue {
	return catalogue{Table: reports.Table{Title: title, Columns: reports.Left(columns...)}, brief: brief}
}

func listAlgorithms() (catalogue, error) {
	c := newCatalogue("Algorithms", 3, "name", "track", "what it does", "version", "source", "parameters")
	c.fits = func(row int, t *track.Track) bool { return c.Rows[row][1] == t.Name }
	for _, s := range algo.All("") {
		c.Rows = append(c.Rows,
			[]string{s.Name, s.Track, s.Summary, fmt.Sprint(s.Version), s.Cite, spec.Help(s.Params)})
		c.params = append(c.params, s.Params)
	}
	return c, nil
}

func listAgents() (catalogue, error) {
	c := newCatalogue("Agents", 8, "name", "learner", "steps", "updates", "seeds", "curve", "score", "what it is")
	for _, r := range train.Recipes() {
		trend := ""
		runs := curve.Shipped()[r.Name]
		if runs != nil {
			trend = curve.TrendOf(runs).Word()
		}
		c.Rows = append(c.Rows, []string{
			r.Name, r.Learner, fmt.Sprint(r.Steps), fmt.Sprint(r.Updates), strings.Trim(fmt.Sprint(r.Seeds), "[]"),
			trend, r.Score, r.Doc,
		})
	}
	return c, nil
}

func listDatasets() (catalogue, error) {
	c := newCatalogue("Datasets", 2, "name", "what it is", "parameters", "source")
	families := datasets.List()
	c.fits = func(row int, t *track.Track) bool { return isForTrack(&families[row], t) }
	for _, d := range families {
		c.Rows = append(c.Rows, []string{d.Name, d.Doc, spec.Help(d.Params), d.Source})
		c.params = append(c.params, d.Params)
	}
	return c, nil
}

// isForTrack reports whether a track takes the first instance of a family on the first GPU model that has one. The kind
// of a file has the name of its contents, such as "jobs file".
func isForTrack(f *datasets.Family, t *track.Track) bool {
	if f.File != "" {
		return strings.Contains(f.File, t.Data)
	}
	dataset, err := datasets.Parse(f.Name)
	if err != nil {
		return false
	}
	for _, g := range mig.GPUs() {
		in, err := dataset.Instance(g, 0)
		if err == nil {
			return in.Kind() == t.Data
		}
	}
	return false
}

func listGPUs() (catalogue, error) {
	c := newCatalogue("GPUs", 6, "name", "slices", "sizes", "profiles", "partitions", "create/destroy times",
		"other profiles", "assumed besides", "partition names")
	named := func(all []*mig.Profile) string { return strings.Join(nearest.Names(all, (*mig.Profile).String), " ") }
	for _, g := range mig.GPUs() {
		c.Rows = append(c.Rows, []string{
			g.Name, fmt.Sprint(g.ComputeSlices), strings.Trim(fmt.Sprint(g.Sizes()), "[]"), named(g.Profiles),
			fmt.Sprint(len(g.Partitions())), g.CostSource, named(g.Others), g.Assumed,
			strings.Join(nearest.Names(g.Partitions(), mig.Partition.String), " "),
		})
	}
	return c, nil
}

func listPapers() (catalogue, error) {
	c := newCatalogue("Papers", 3, "name", "artefact", "what it shows")
	all, err := papers()
	for _, p := range all {
		for _, a := range p.Artefacts {
			c.Rows = append(c.Rows, []string{p.Name, a.Name, a.Title})
		}
	}
	return c, err
}
