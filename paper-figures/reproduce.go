package figures

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"miglab/datasets"
	"miglab/harness/atomicfile"
	"miglab/harness/nearest"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/wholefile"
	"miglab/harness/work"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/render"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// Reproduction says what to reproduce and where to write it.
type Reproduction struct {
	// Engine computes cells. Its store remembers which artefacts are done, too.
	Engine *run.Engine
	Papers []Paper
	// Dir is the folder for results.
	Dir   string
	Scale Scale
	// Hardware has measurements on GPUs.
	Hardware datasets.HardwareSet
	// Inputs identifies what the results depend on beside the program; usually it is empty.
	Inputs string
	// Only selects artefacts; nil selects all.
	Only func(paper, artefact string) bool
}

// A stamp is the record of a finished artefact.
type stamp struct {
	Files  map[string]string `json:"files"` // SHA-256 by path below Dir
	Record manifest.Artefact `json:"record"`
}

// job is an artefact that is being reproduced.
type job struct {
	paper    *Paper
	artefact Artefact
	needs    needs
	// record is nil until the artefact is done.
	record *manifest.Artefact
}

// Cells lists the cells of the selected artefacts, including those that are done. It computes none.
func (r *Reproduction) Cells() ([]run.Span, error) {
	return r.plan(slices.DeleteFunc(r.jobs(), func(j *job) bool { return !r.keeps(j) }))
}

func (r *Reproduction) jobs() (out []*job) {
	for i := range r.Papers {
		for _, a := range r.Papers[i].Artefacts {
			out = append(out, &job{paper: &r.Papers[i], artefact: a})
		}
	}
	return out
}

func (r *Reproduction) keeps(j *job) bool {
	return r.Only == nil || r.Only(j.paper.Name, j.artefact.Name)
}

// plan runs the Build of artefacts for the first time and lists the cells that they ask for.
func (r *Reproduction) plan(jobs []*job) (cells []run.Span, err error) {
	for _, j := range jobs {
		d, err := r.declare(j.paper, &j.artefact)
		if err != nil {
			return nil, err
		}
		j.needs = d.needs
		own, err := d.needs.cells()
		if err != nil {
			return nil, err
		}
		cells = append(cells, own...)
	}
	return cells, nil
}

// data returns what the Build of an artefact gets, without results.
func (r *Reproduction) data(p *Paper, a *Artefact) *Data {
	return &Data{
		Scale: r.Scale, Claims: p.Claims, Title: a.Title, Hardware: r.Hardware, TrainingRun: p.TrainingRun,
		artefact: a.Name, others: p.Artefacts,
	}
}

// declare runs the Build of an artefact for the first time.
func (r *Reproduction) declare(p *Paper, a *Artefact) (*Data, error) {
	d := r.data(p, a)
	d.planning, d.needs = true, needs{at: map[store.Series]*need{}}
	if err := a.build(d); err != nil {
		return nil, fmt.Errorf("%s/%s: %w", p.Name, a.Name, err)
	}
	return d, nil
}

// Run computes missing cells and writes tables, figures, the manifest and its pages. It returns the manifest. Artefacts
// that are done stay as they are.
func (r *Reproduction) Run(ctx context.Context) (*manifest.Manifest, error) {
	all := r.jobs()
	if err := r.compute(ctx, all); err != nil {
		return nil, err
	}
	m := &manifest.Manifest{Quick: r.Scale.Quick}
	for i := range r.Papers {
		p := &r.Papers[i]
		record := manifest.Paper{Name: p.Name, Introduction: p.Introduction, Link: p.Link, Terms: p.Terms}
		for _, j := range all {
			switch {
			case j.paper != p:
			case j.record == nil:
				m.Left++
			default:
				record.Artefacts = append(record.Artefacts, *j.record)
			}
		}
		if err := addEvidence(&record, p.Claims); err != nil {
			return nil, err
		}
		if !r.Scale.Quick {
			conclude(&record, p.Claims)
		}
		m.Papers = append(m.Papers, record)
	}
	return m, render.Write(r.Dir, m)
}

// compute finds the records of the artefacts that are done, and computes and builds those that are
// selected and not done. It removes temporary files that a killed run left.
func (r *Reproduction) compute(ctx context.Context, all []*job) error {
	for _, folder := range append([]string{"."}, Map(r.Papers, func(p Paper) string { return p.Name })...) {
		if err := atomicfile.Sweep(filepath.Join(r.Dir, folder)); err != nil {
			return err
		}
	}
	program, err := Program()
	if err != nil {
		return err
	}
	var open []*job
	var units []work.Unit
	log := work.NewLog(r.Engine.Store, "")
	for _, j := range all {
		u := r.unit(j, program)
		done, err := log.Find(&u)
		if err != nil {
			return err
		}
		if done == nil && r.keeps(j) {
			open, units = append(open, j), append(units, u)
		}
	}
	cells, err := r.plan(open)
	if err != nil || len(open) == 0 {
		return err
	}
	if err := r.Engine.Run(ctx, cells); err != nil {
		return err
	}
	runner := work.Runner{Log: log, Workers: r.Engine.Workers, Progress: r.Engine.Progress}
	_, err = runner.Run(ctx, units)
	return err
}

// unit returns the work of an artefact. Its result depends only on the program, the inputs and the scale. A file that
// has changed since is written again.
func (r *Reproduction) unit(j *job, program string) work.Unit {
	name := j.paper.Name + "/" + j.artefact.Name
	return work.Unit{
		Key:    "artefact " + name,
		Digest: fmt.Sprintf("%s%s quick=%t", program, r.Inputs, r.Scale.Quick),
		Do: func(ctx context.Context) (any, error) {
			s, err := r.build(ctx, j)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			return s, nil
		},
		Holds: func(raw json.RawMessage) bool {
			var s stamp
			if json.Unmarshal(raw, &s) != nil {
				return false
			}
			for file, want := range s.Files {
				if got, err := wholefile.SHA256(filepath.Join(r.Dir, file)); err != nil || got != want {
					return false
				}
			}
			j.record = &s.Record
			return true
		},
	}
}

// build runs Build with results, judges, and writes the artefact's files.
func (r *Reproduction) build(ctx context.Context, j *job) (*stamp, error) {
	d := r.data(j.paper, &j.artefact)
	d.needs, d.ctx, d.db, d.values = j.needs, ctx, r.Engine.Store, map[valuesKey][]float64{}
	if err := j.artefact.build(d); err != nil {
		return nil, err
	}
	record := d.record(j.paper.Name, &j.artefact)
	files, err := r.save(&record, &d.Output)
	if err != nil {
		return nil, err
	}
	j.record = &record
	return &stamp{files, record}, nil
}

// record judges an output. It has no tables and figures yet.
func (d *Data) record(paper string, a *Artefact) manifest.Artefact {
	rows := d.judge(d.Claims.Of(a.Name))
	return manifest.Artefact{
		Paper: paper, Name: a.Name, Title: a.Title, Timed: a.Timed, Rows: rows, Tests: d.tests(a.Name),
		Readings: summarizeReadings(d.Readings, rows),
	}
}

// save adds tables and figures to an artefact, and writes the figures and the tables of wall times, which the manifest
// lacks. It returns the SHA-256 of each file below Dir.
func (r *Reproduction) save(a *manifest.Artefact, o *Output) (map[string]string, error) {
	var files []string
	for _, t := range o.Tables {
		if !a.Timed {
			a.Tables = append(a.Tables, *t)
			continue
		}
		a.TimedTables = append(a.TimedTables, t.File)
		file := filepath.Join(a.Folder(), t.File)
		if err := t.Table.Save(filepath.Join(r.Dir, file)); err != nil {
			return nil, fmt.Errorf("%s: %w", t.File, err)
		}
		files = append(files, file+".csv", file+".md", file+".tex")
	}
	for _, f := range o.Figures {
		file := filepath.Join(a.Folder(), f.File)
		a.Figures = append(a.Figures, manifest.Figure{File: f.File, Title: f.Title})
		if err := reports.SaveFigure(filepath.Join(r.Dir, file), f.Figure); err != nil {
			return nil, fmt.Errorf("%s: %w", f.File, err)
		}
		files = append(files, Map(reports.FigureFormats, func(format string) string { return file + "." + format })...)
	}
	sums := map[string]string{}
	for _, f := range files {
		sum, err := wholefile.SHA256(filepath.Join(r.Dir, f))
		if err != nil {
			return nil, err
		}
		sums[f] = sum
	}
	return sums, nil
}

// Program is the SHA-256 of this program's file, because another build may compute something else.
var Program = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	return wholefile.SHA256(path)
})

// Names returns the artefacts of the papers as paper/artefact.
func Names(papers []Paper) (out []string) {
	for _, p := range papers {
		out = append(out, Map(p.Artefacts, func(a Artefact) string { return p.Name + "/" + a.Name })...)
	}
	slices.Sort(out)
	return out
}

// Select returns a function for [Reproduction.Only]. It selects the artefacts of the papers that are also in only; see
// [Names]. An empty list selects everything. Unknown names are a [*nearest.UnknownError].
func Select(all []Paper, papers, only []string) (func(paper, artefact string) bool, error) {
	check := func(kind string, chosen, known []string) error {
		for _, name := range chosen {
			if !slices.Contains(known, name) {
				return nearest.Unknown(kind, name, known)
			}
		}
		return nil
	}
	known := Map(all, func(p Paper) string { return p.Name })
	if err := cmp.Or(check("paper", papers, known), check("artefact", only, Names(all))); err != nil {
		return nil, err
	}
	return func(p, a string) bool {
		return (len(papers) == 0 || slices.Contains(papers, p)) && (len(only) == 0 || slices.Contains(only, p+"/"+a))
	}, nil
}

// settled lists the verdicts that are the same under any reading.
var settled = []verdict.Verdict{verdict.NotRunnable, verdict.Input, verdict.Consistent}

// summarizeReadings summarizes each reading of an artefact.
func summarizeReadings(readings []Reading, rows []manifest.Row) (out []manifest.ReadingSummary) {
	for i, r := range readings {
		s := manifest.ReadingSummary{
			Name: cmp.Or(r.Name, DefaultReading), Basis: r.from.Basis, Part: !r.from.Weight.Counts(),
		}
		for _, row := range rows {
			judged := row.Measured != nil && !slices.Contains(settled, row.Verdict)
			if judged && row.Reading == s.Name && row.Default == (i == 0) {
				s.Add(&row)
			}
		}
		if s.Judged > 0 {
			out = append(out, s)
		}
	}
	return out
}
