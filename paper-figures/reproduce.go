package figures

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"miglab/harness/atomicfile"
	"miglab/harness/filehash"
	"miglab/harness/run"
	"miglab/reports"
)

// Reproduction says what to reproduce and where to write it.
type Reproduction struct {
	// Engine returns the engine that computes cells. It is called only if an artefact is
	// not done.
	Engine func() (*run.Engine, error)
	Papers []Paper
	// Dir is the folder for results.
	Dir   string
	Scale Scale
	// Only selects artefacts; nil selects all.
	Only func(paper, artefact string) bool
}

// A stamp records a finished artefact. Results depend only on the program, so an artefact is
// done if the same program wrote its stamp and its files are unchanged.
type stamp struct {
	// Program identifies the program, and Quick the scale.
	Program string            `json:"program"`
	Quick   bool              `json:"quick"`
	Files   map[string]string `json:"files"` // SHA-256 by path below Dir
	Record  Record            `json:"record"`
}

// job is an artefact that is being reproduced.
type job struct {
	paper    *Paper
	artefact Artefact
	needs    needs
	stamp    *stamp
}

// folder returns the folder below Dir for the artefact's files. Wall times do not go into
// the paper's folder, which has the same bytes after every run.
func (r *Record) folder() string {
	if r.Timed {
		return "."
	}
	return r.Paper
}

// Cells lists the cells of the selected artefacts, including those that are done. It
// computes and writes nothing.
func (r *Reproduction) Cells() ([]run.Cell, error) {
	var cells []run.Cell
	for i := range r.Papers {
		p := &r.Papers[i]
		for _, a := range p.Artefacts {
			if !r.keeps(p.Name, a.Name) {
				continue
			}
			j := job{paper: p, artefact: a}
			own, err := j.plan(r.Scale)
			if err != nil {
				return nil, err
			}
			cells = append(cells, own...)
		}
	}
	return cells, nil
}

func (r *Reproduction) keeps(paper, artefact string) bool {
	return r.Only == nil || r.Only(paper, artefact)
}

// plan runs Build for the first time and returns the cells that it asks for.
func (j *job) plan(scale Scale) ([]run.Cell, error) {
	d, o, err := j.paper.declare(&j.artefact, scale)
	if err != nil {
		return nil, err
	}
	if err := Match(o.declaration(j.paper.Name, j.artefact.Name), j.paper.claims().Of(j.artefact.Name)); err != nil {
		return nil, err
	}
	j.needs = d.needs
	return j.needs.cells()
}

// claims returns the paper's claims; a paper without a data file has none.
func (p *Paper) claims() *Claims { return cmp.Or(p.Claims, &Claims{}) }

// declare runs the Build of an artefact for the first time.
func (p *Paper) declare(a *Artefact, scale Scale) (*Data, *Output, error) {
	d := &Data{Scale: scale, Claims: p.claims(), artefact: a.Name, planning: true}
	o, err := a.Build(d)
	if err != nil {
		return nil, nil, fmt.Errorf("%s/%s: %w", p.Name, a.Name, err)
	}
	return d, o, nil
}

// Declarations lists what the artefacts say about their claims, in the order of the paper.
func (p *Paper) Declarations() ([]Declaration, error) {
	var out []Declaration
	for i := range p.Artefacts {
		_, o, err := p.declare(&p.Artefacts[i], Scale{})
		if err != nil {
			return nil, err
		}
		out = append(out, o.declaration(p.Name, p.Artefacts[i].Name))
	}
	return out, nil
}

// Check returns an error unless every claim belongs to an artefact that measures it, every
// measured key is a claim, and every cause names an artefact of the paper as its evidence.
func (p *Paper) Check() error {
	decs, err := p.Declarations()
	if err != nil {
		return err
	}
	return p.claims().Check(p.Name, decs)
}

// Check is [Paper.Check] for declarations that are at hand.
func (c *Claims) Check(paper string, decs []Declaration) error {
	known := map[string]bool{}
	for _, dec := range decs {
		known[dec.Artefact] = true
		if err := Match(dec, c.Of(dec.Artefact)); err != nil {
			return err
		}
	}
	for i := range c.All {
		if a := c.All[i].Artefact; !known[a] {
			return &KeyError{paper, a, c.All[i].Name, "belongs to an artefact that does not exist"}
		}
	}
	for _, e := range c.Explanations {
		if _, artefact, _ := strings.Cut(e.Evidence, "/"); e.Evidence != paper+"/"+artefact || !known[artefact] {
			return &KeyError{paper, e.Artefact, e.Claim, fmt.Sprintf("has the evidence %q in causes.csv, which is no artefact of the paper", e.Evidence)}
		}
	}
	return nil
}

// Run computes what is missing and writes tables, figures, the manifest and what is rendered
// from it. It returns the manifest, and how many artefacts are not done because Only does not
// select them. It does not touch artefacts that are done.
func (r *Reproduction) Run(ctx context.Context) (m *Manifest, left int, err error) {
	all, open, err := r.jobs()
	if err != nil {
		return nil, 0, err
	}
	if len(open) > 0 {
		if err := r.compute(ctx, open); err != nil {
			return nil, 0, err
		}
	}
	m = &Manifest{Quick: r.Scale.Quick}
	for _, j := range all {
		if n := len(m.Papers); n == 0 || m.Papers[n-1].Name != j.paper.Name {
			p := j.paper
			m.Papers = append(m.Papers, PaperRecord{Name: p.Name, Title: p.Title, Cite: p.Cite, Terms: p.Terms})
		}
		if j.stamp == nil {
			m.Left++
			continue
		}
		p := &m.Papers[len(m.Papers)-1]
		p.Artefacts = append(p.Artefacts, j.stamp.Record)
	}
	return m, m.Left, m.render(r.Dir)
}

// jobs lists all artefacts, and those that are selected and not done. It removes temporary
// files that a killed run left.
func (r *Reproduction) jobs() (all, open []*job, err error) {
	program, err := Program()
	if err != nil {
		return nil, nil, err
	}
	folders := []string{r.Dir, filepath.Join(r.Dir, "stamps")}
	for i := range r.Papers {
		p := &r.Papers[i]
		folders = append(folders, filepath.Join(r.Dir, p.Name))
		for _, a := range p.Artefacts {
			j := &job{paper: p, artefact: a}
			if j.stamp, err = r.readStamp(j, program); err != nil {
				return nil, nil, err
			}
			all = append(all, j)
			if j.stamp == nil && r.keeps(p.Name, a.Name) {
				open = append(open, j)
			}
		}
	}
	for _, dir := range folders {
		if err := atomicfile.Sweep(dir); err != nil {
			return nil, nil, err
		}
	}
	return all, open, nil
}

// compute computes the cells of artefacts and builds them.
func (r *Reproduction) compute(ctx context.Context, open []*job) error {
	var cells []run.Cell
	for _, j := range open {
		own, err := j.plan(r.Scale)
		if err != nil {
			return err
		}
		cells = append(cells, own...)
	}
	engine, err := r.Engine()
	if err != nil {
		return err
	}
	results, err := engine.Run(ctx, cells)
	if err != nil {
		return err
	}
	var g errgroup.Group
	g.SetLimit(cmp.Or(engine.Workers, runtime.GOMAXPROCS(0)))
	for _, j := range open {
		g.Go(func() error {
			if err := r.build(ctx, j, engine, results); err != nil {
				return fmt.Errorf("%s/%s: %w", j.paper.Name, j.artefact.Name, err)
			}
			return nil
		})
	}
	return g.Wait()
}

func (r *Reproduction) stampPath(j *job) string {
	return filepath.Join(r.Dir, "stamps", j.paper.Name+"-"+j.artefact.Name+".json")
}

// readStamp returns the artefact's stamp, or nil if another program or scale wrote it, or if
// one of its files has changed since.
func (r *Reproduction) readStamp(j *job, program string) (*stamp, error) {
	raw, err := os.ReadFile(r.stampPath(j))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s stamp
	if json.Unmarshal(raw, &s) != nil || s.Program != program || s.Quick != r.Scale.Quick {
		return nil, nil
	}
	for file, want := range s.Files {
		if got, err := filehash.SHA256(filepath.Join(r.Dir, file)); err != nil || got != want {
			return nil, nil
		}
	}
	return &s, nil
}

// build runs Build with results, judges, and writes the artefact's files and stamp.
func (r *Reproduction) build(ctx context.Context, j *job, engine *run.Engine, results run.Results) error {
	d := &Data{
		Scale: r.Scale, Claims: j.paper.claims(), artefact: j.artefact.Name, needs: j.needs,
		ctx: ctx, engine: engine, results: results,
	}
	o, err := j.artefact.Build(d)
	if err := cmp.Or(d.Err(), err); err != nil {
		return err
	}
	claims := d.Claims.Of(j.artefact.Name)
	if err := Match(o.declaration(j.paper.Name, j.artefact.Name), claims); err != nil {
		return err
	}
	record := Record{Paper: j.paper.Name, Artefact: j.artefact.Name, Title: j.artefact.Title, Timed: j.artefact.Timed}
	record.Rows = d.judge(claims, o)
	record.Readings = summarizeReadings(o.Readings, record.Rows)
	tables := o.Tables
	if len(record.Rows) > 0 && len(o.Readings) > 0 {
		tables = append(tables, Table{record.Artefact + "-claims", claimsTable(record.Title, record.Rows)})
	}
	if len(record.Readings) > 1 {
		tables = append(tables, Table{record.Artefact + "-readings", readingsTable(record.Title, record.Readings)})
	}
	files, err := r.save(&record, tables, o.Figures)
	if err != nil {
		return err
	}
	program, err := Program()
	if err != nil {
		return err
	}
	j.stamp = &stamp{Program: program, Quick: r.Scale.Quick, Files: files, Record: record}
	return writeJSON(r.stampPath(j), j.stamp)
}

// save writes tables and figures, adds them to the record, and returns the SHA-256 of each
// file by its path below Dir.
func (r *Reproduction) save(record *Record, tables []Table, plots []Figure) (map[string]string, error) {
	var files []string
	for _, t := range tables {
		file := filepath.Join(record.folder(), t.File)
		if !record.Timed {
			record.Tables = append(record.Tables, t.File)
		}
		if err := t.Table.Save(filepath.Join(r.Dir, file)); err != nil {
			return nil, fmt.Errorf("%s: %w", t.File, err)
		}
		files = append(files, file+".txt", file+".csv", file+".md", file+".tex")
	}
	for _, f := range plots {
		file := filepath.Join(record.folder(), f.File)
		record.Figures = append(record.Figures, FigureRecord{f.File, f.Title})
		if err := reports.SaveFigure(filepath.Join(r.Dir, file), f.Figure); err != nil {
			return nil, fmt.Errorf("%s: %w", f.File, err)
		}
		files = append(files, file+".svg", file+".png")
	}
	sums := map[string]string{}
	for _, f := range files {
		sum, err := filehash.SHA256(filepath.Join(r.Dir, f))
		if err != nil {
			return nil, err
		}
		sums[f] = sum
	}
	return sums, nil
}

func writeJSON(path string, value any) error {
	return atomicfile.WriteFile(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(value)
	})
}

func writeIfChanged(path, content string) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == content {
		return nil
	}
	return atomicfile.WriteFile(path, func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	})
}

// Program identifies this program by the SHA-256 of its file, in hexadecimal, because
// another build may compute something else.
func Program() (string, error) { return hashProgram() }

var hashProgram = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	return filehash.SHA256(path)
})

// Names returns the artefacts of the papers as paper/artefact.
func Names(papers []Paper) []string {
	var out []string
	for _, p := range papers {
		for _, a := range p.Artefacts {
			out = append(out, p.Name+"/"+a.Name)
		}
	}
	slices.Sort(out)
	return out
}
