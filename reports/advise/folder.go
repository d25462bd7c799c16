package advise

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"miglab/harness/atomicfile"
	"miglab/harness/layout"
	"miglab/harness/task"
	"miglab/reports"
)

// Write writes the page into a folder, and files for other tools:
//
//   - advice.md with its chart, load.svg
//   - requests.csv, the trace as the dataset requests: reads it
//   - mig-parted.yaml and gres.conf, the best fixed geometry or, for a snapshot, the instances that hold its requests
//   - devices.csv, the order of the devices of a GPU
//   - left.csv, the requests of a snapshot that do not fit
//
// Write first removes files of an earlier page that this page may not have. It passes on the errors of [Check] and of
// the file system.
func (p *Page) Write(folder string) error {
	if err := Check(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for _, name := range written[2:] {
		if err := os.Remove(filepath.Join(folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, f := range p.files() {
		if err := atomicfile.WriteFile(filepath.Join(folder, f.name), f.write); err != nil {
			return err
		}
	}
	return nil
}

// written are the files of a folder. The first is its mark: it ends with a line that begins with madeBy.
var written = []string{
	"advice.md", "requests.csv", "load.svg", "mig-parted.yaml", "gres.conf", "devices.csv", "left.csv",
	"rejected.csv",
}

// madeBy begins the last line of the page.
const madeBy = "Made by `miglab advise "

// Check returns an error if a folder has files that Write would replace and that it did not write.
func Check(folder string) error {
	page, err := os.ReadFile(filepath.Join(folder, written[0]))
	if err == nil && strings.Contains(string(page), "\n"+madeBy) {
		return nil
	}
	for _, name := range written {
		path := filepath.Join(folder, name)
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s was not written by miglab advise and would be replaced; name another folder", path)
		}
	}
	return nil
}

// A file is a file of the folder.
type file struct {
	name  string
	write func(io.Writer) error
}

// files returns the files of the folder.
func (p *Page) files() []file {
	requests := p.Advice.Question.Requests.Requests
	out := []file{
		{"advice.md", p.Markdown},
		{"requests.csv", func(w io.Writer) error { return task.WriteRequests(w, requests) }},
	}
	for _, s := range p.sections() {
		if s.figure != nil {
			svg := func(w io.Writer) error { return reports.Encode(w, "svg", s.figure) }
			out = append(out, file{s.name + ".svg", svg})
		}
	}
	var comment string
	if p.Advice.Question.Snapshot {
		out = append(out, file{"left.csv", p.misfits})
		comment = fmt.Sprintf("The instances of %d GPUs that hold the requests of a snapshot", p.Advice.GPUs)
	} else {
		out = append(out, file{"devices.csv", p.devices})
		fixed := p.Advice.Fixed
		comment = fmt.Sprintf("The best fixed geometry found for %d GPUs: a mean delay of %s", fixed.GPUs,
			estimate(fixed.Mean))
		missing := p.missing(fixed)
		if missing != "" {
			comment += "\nIt lacks " + missing + ": Slurm rejects jobs that ask for these."
		}
	}
	kinds, nodes, line := p.layouts()
	comment += "\n" + line + " Write the names of your nodes. --pernode says how many GPUs a node has.\n" +
		"For each node: nvidia-mig-parted apply -f mig-parted.yaml -c advice-1, or the label " +
		"nvidia.com/mig.config=advice-1\nMade by " + p.Command
	if len(kinds) > 0 {
		out = append(out,
			file{"mig-parted.yaml", func(w io.Writer) error { return layout.WriteMigParted(w, comment, kinds) }},
			file{"gres.conf", func(w io.Writer) error { return layout.WriteGres(w, comment, nodes, p.Types) }})
	}
	return out
}

// misfits writes the requests of a snapshot that do not fit.
func (p *Page) misfits(w io.Writer) error {
	t := reports.Table{Columns: reports.Right("line").Left("profile").Right("gpus")}
	for _, i := range p.Advice.Held.Omitted {
		q := &p.Advice.Question.Requests.Requests[i]
		switch {
		case q.Gang != nil:
			t.Row(p.line(i), q.Gang, 1)
		case p.Advice.Question.IsWhole(q):
			t.Row(p.line(i), p.name(p.Advice.Whole), q.Instances())
		default:
			t.Row(p.line(i), q.Profile, 1)
		}
	}
	return t.Encode(w, "csv")
}

// devices writes the devices of a GPU in their order.
func (p *Page) devices(w io.Writer) error {
	t := reports.Table{Columns: reports.Right("position").Left("profile").Right("start")}
	for i, place := range p.Advice.Order.Places {
		t.Row(i, place.Profile, int(place.Start))
	}
	return t.Encode(w, "csv")
}
