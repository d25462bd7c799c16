package figures

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/store"
	"miglab/harness/task"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/reports"
)

// A Paper is a publication and the parts of it that are reproduced.
type Paper struct {
	// Name is the paper's name in claims and on the command line, for example far.
	Name string
	// Introduction has the fields of references.csv that begin the paper's page.
	manifest.Introduction
	// Link is the paper's address; empty if it has none.
	Link string
	// Terms are explained at the end of the paper's page.
	Terms []manifest.Term
	// Claims are the published numbers.
	Claims *claim.Set
	// Artefacts are in the order of the paper.
	Artefacts []Artefact
}

// Load returns a paper from its artefacts, its line of references.csv and its data files: the files of [claim.Load],
// and terms.csv, which may be missing.
func Load(name string, files fs.FS, artefacts ...Artefact) (Paper, error) {
	p := Paper{Name: name, Artefacts: artefacts}
	references := References()
	line := slices.IndexFunc(references, func(r Reference) bool { return r.Name == name })
	if line < 0 {
		return p, fmt.Errorf("references.csv has no line for the paper %q", name)
	}
	p.Introduction, p.Link = references[line].Introduction, references[line].Link()
	var err error
	if p.Claims, err = claim.Load(name, files); err != nil {
		return p, err
	}
	err = claim.EachRow(name, files, "terms.csv", func(t *manifest.Term) (column string, err error) {
		p.Terms = append(p.Terms, *t)
		return "", nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return p, err
}

// An Artefact is a table, a figure or a group of numbers of a paper.
type Artefact struct {
	// Name is the artefact's name in claims and files, for example table4.
	Name string
	// Title names the contents.
	Title string
	Build Build
	// Timed marks an artefact about wall times: its files differ from run to run.
	Timed bool
}

// Show returns an artefact whose files are the same in each run.
func Show(name, title string, build Build) Artefact {
	return Artefact{Name: name, Title: title, Build: build}
}

// Draw returns an artefact of one figure that needs no results. Its file has the artefact's name.
func Draw(name, title, caption string, f reports.Figure) Artefact {
	return Show(name, title, func(d *Data) { d.Figure(name, caption, f) })
}

// Time returns an artefact about wall times.
func Time(name, title string, build Build) Artefact {
	return Artefact{Name: name, Title: title, Build: build, Timed: true}
}

// Build asks Data for results, and adds readings, tables and figures of an artefact to its [Output]. It runs twice:
// first on a Data that only notes the cells that it asks for, then on a Data with their results. It must ask for the
// same cells both times.
type Build func(*Data)

// A Scale says how many of the paper's replicates a run computes. The zero value computes all of them.
type Scale struct {
	// Quick computes at most quickReplicates and gives no verdicts.
	Quick bool
}

// quickReplicates is enough to check that everything works.
const quickReplicates = 5

// Replicates returns how many replicates to compute where the paper has the given number.
func (s Scale) Replicates(paper int) int {
	if s.Quick {
		return min(paper, quickReplicates)
	}
	return paper
}

// Dataset returns the canonical form of a dataset that is fixed in the program.
func Dataset(spec string) string { return datasets.MustParse(spec).ID() }

// Instance returns an instance of a dataset that is fixed in the program. It panics for an unknown index.
func Instance[T task.Payload](dataset, gpu string, index int) T {
	return spec.Must(datasets.InstanceOf[T](datasets.MustParse(dataset), mig.MustLookup(gpu), index))
}

// Tasks returns the tasks of an instance of a dataset that is fixed in the program.
func Tasks(dataset, gpu string, index int) task.Batch {
	return Instance[task.Batches](dataset, gpu, index).Tasks
}

// Series returns the series of an algorithm, by its canonical ID, on one GPU.
func Series(track, dataset, gpu, id string, model mig.Reconfiguration) store.Series {
	return store.Series{Track: track, Dataset: dataset, GPU: gpu, Count: 1, Algorithm: id, Model: model.String()}
}

// Values are measurements by the cell of a claim.
type Values map[claim.Cell]Measurement

// A Reading is one interpretation of the paper's method, applied to a whole artefact.
type Reading struct {
	// Name identifies the reading in claims.csv. An empty name means [DefaultReading].
	Name string
	// Values has the values of the claims that the reading concerns; the default reading has all that can be measured.
	// Cells that are no claim have values that only conclusions need.
	Values Values
	// from is the reading's line of readings.csv.
	from claim.Reading
}

// build runs Build, and adds the lines of readings.csv and the missing claims of claims.csv to its output.
func (a *Artefact) build(d *Data) error {
	if a.Build(d); d.err != nil {
		return d.err
	}
	o := &d.Output
	for i := range o.Readings {
		name := cmp.Or(o.Readings[i].Name, DefaultReading)
		line := d.Claims.Reading(a.Name, name)
		if line != nil {
			o.Readings[i].from = *line
		} else if d.Claims.Readings != nil {
			return &KeyError{"readings.csv", a.Name, name, "is a reading of the program and has no line"}
		}
	}
	if o.Missing == nil {
		o.Missing = map[claim.Cell]string{}
	}
	for _, c := range d.Claims.Of(a.Name) {
		if c.Missing != "" {
			o.Missing[c.Cell] = c.Missing
		}
	}
	return nil
}

// Output is the result of an artefact.
type Output struct {
	// Readings are judged against the artefact's claims. The first one is the default.
	Readings []Reading
	// Missing says why claims that need hardware or unpublished data cannot be run. claims.csv adds to it.
	Missing map[claim.Cell]string
	// InputUse says what the project uses numbers of the paper for, and Inputs has the values that
	// it uses. A value that the paper does not print is an error.
	InputUse string
	Inputs   map[claim.Cell]float64
	Tables   []*Table
	Figures  []manifest.Figure
}

// Under returns the values of a reading, to be set. It adds the reading if it is new.
func (o *Output) Under(reading string) Values {
	for _, r := range o.Readings {
		if r.Name == reading {
			return r.Values
		}
	}
	values := Values{}
	o.Readings = append(o.Readings, Reading{Name: reading, Values: values})
	return values
}

// Under yields each reading with its values, which the caller sets. The text of a reading is its name. A quick run
// skips readings that were found after the run, which decide nothing.
func Under[R fmt.Stringer](d *Data, readings []R) iter.Seq2[R, Values] {
	return func(yield func(R, Values) bool) {
		for _, r := range readings {
			line := d.Claims.Reading(d.artefact, cmp.Or(r.String(), DefaultReading))
			if d.Scale.Quick && line != nil && line.Weight == claim.PostHoc {
				continue
			}
			if !yield(r, d.Under(r.String())) {
				return
			}
		}
	}
}

// TakeInputs says what numbers of the paper are used for, and which values.
func (o *Output) TakeInputs(use string, inputs map[claim.Cell]float64) {
	o.InputUse, o.Inputs = use, inputs
}

// Table adds a table without rows, and returns it. Its files have the given name.
func (o *Output) Table(file, title string, columns reports.Columns, notes ...string) *Table {
	t := &Table{File: file, Table: reports.Table{Title: title, Columns: columns, Notes: notes}}
	o.Tables = append(o.Tables, t)
	return t
}

// Figure adds a figure.
func (o *Output) Figure(file, title string, f reports.Figure) {
	o.Figures = append(o.Figures, manifest.Figure{File: file, Title: title, Figure: f})
}

// Table is a table of an [Output].
type Table = manifest.Table

// Layout adds a reading to a table, arranged like the paper's: a row for each name, and the measured and the published
// value for each column, where the paper has a number. Columns are cells without a row. The table's file must have the
// name of the artefact.
func (d *Data) Layout(t *Table, rows []string, columns []claim.Cell, r Reading) {
	t.Notes = slices.Insert(t.Notes, 0, "measured (published)")
	for _, c := range columns {
		t.Columns = t.Columns.Beside(c.String(), c.String()+", published")
	}
	for _, name := range rows {
		t.RowAbout(claim.Selection{Row: name}, "", name, Map(columns, func(cell claim.Cell) []string {
			measured, published := reports.Missing, ""
			cell.Row = name
			c := d.Claims.Find(claim.Key{Artefact: t.File, Cell: cell})
			if c != nil {
				published = manifest.Digits(&c.Published, c.Decimals)
				if m, ok := r.Values[cell]; ok {
					measured = reports.Fixed(m.Value, c.Decimals)
				}
			}
			return []string{measured, published}
		}))
	}
}
