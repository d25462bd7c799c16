package figures

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/gocarina/gocsv"
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

// stamp records a finished artefact. Results depend only on the program and the cells, so an
// artefact is done if its stamp has the same digest.
type stamp struct {
	Digest string            `json:"digest"`
	Title  string            `json:"title"`
	Rows   []Row             `json:"rows"`
	Tables []string          `json:"tables"`
	Plots  []plot            `json:"plots"`
	Files  map[string]string `json:"files"` // SHA-256 by path below Dir
}

type plot struct{ File, Title string }

// job is an artefact that is being reproduced.
type job struct {
	paper    Paper
	artefact Artefact
	digest   string
	needs    map[run.Series]Need
	list     []Need
	stamp    *stamp
}

// cells lists the cells that the artefact needs.
func (j *job) cells() ([]run.Cell, error) {
	var out []run.Cell
	for _, n := range j.list {
		c, err := n.Series.Cells(n.First + n.N)
		if err != nil {
			return nil, err
		}
		out = append(out, c[n.First:]...)
	}
	return out, nil
}

// folder returns the folder below Dir for the artefact's files. Wall times do not go into
// the paper's folder, which has the same bytes after every run.
func (j *job) folder() string {
	if j.artefact.Timed {
		return "."
	}
	return j.paper.Name
}

// Cells lists the cells of the selected artefacts, including those that are done. It
// computes and writes nothing.
func (r *Reproduction) Cells() ([]run.Cell, error) {
	var cells []run.Cell
	for _, p := range r.Papers {
		for _, a := range p.Artefacts {
			if !r.keeps(p.Name, a.Name) {
				continue
			}
			j, err := r.job(p, a)
			if err != nil {
				return nil, err
			}
			own, err := j.cells()
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

// job lists what an artefact needs.
func (r *Reproduction) job(p Paper, a Artefact) (*job, error) {
	program, err := hashProgram()
	if err != nil {
		return nil, err
	}
	j := &job{paper: p, artefact: a, needs: map[run.Series]Need{}}
	h := sha256.New()
	fmt.Fprintln(h, program, r.Scale.Quick)
	if a.Needs != nil {
		if j.list, err = merged(a.Needs(r.Scale)); err != nil {
			return nil, fmt.Errorf("%s/%s: %w", p.Name, a.Name, err)
		}
	}
	for _, n := range j.list {
		j.needs[n.Series] = n
		fmt.Fprintln(h, n)
	}
	j.digest = hex.EncodeToString(h.Sum(nil))
	return j, nil
}

// merged returns one need for each series. If a series is listed several times, the largest
// number of instances counts.
func merged(needs []Need) ([]Need, error) {
	var out []Need
	at := map[run.Series]int{}
	for _, n := range needs {
		i, ok := at[n.Series]
		if !ok {
			at[n.Series] = len(out)
			out = append(out, n)
			continue
		}
		if out[i].First != n.First {
			return nil, fmt.Errorf("it needs %v from instance %d and from instance %d; use one first instance", n.Series, out[i].First, n.First)
		}
		out[i].N = max(out[i].N, n.N)
	}
	return out, nil
}

// Run computes what is missing and writes tables, figures, the reports of the papers and
// claims.csv. It returns the claims, and how many artefacts are not done because Only does
// not select them. It does not touch artefacts that are done.
func (r *Reproduction) Run(ctx context.Context) (rows []Row, left int, err error) {
	var all, open []*job
	var cells []run.Cell
	folders := []string{r.Dir, filepath.Join(r.Dir, "stamps")}
	for _, p := range r.Papers {
		folders = append(folders, filepath.Join(r.Dir, p.Name))
		for _, a := range p.Artefacts {
			j, err := r.job(p, a)
			if err != nil {
				return nil, 0, err
			}
			if j.stamp, err = r.readStamp(j); err != nil {
				return nil, 0, err
			}
			all = append(all, j)
			if j.stamp == nil && r.keeps(p.Name, a.Name) {
				open = append(open, j)
				own, err := j.cells()
				if err != nil {
					return nil, 0, err
				}
				cells = append(cells, own...)
			}
		}
	}
	for _, dir := range folders {
		if err := atomicfile.Sweep(dir); err != nil {
			return nil, 0, err
		}
	}
	if len(open) > 0 {
		engine, err := r.Engine()
		if err != nil {
			return nil, 0, err
		}
		results, err := engine.Run(ctx, cells)
		if err != nil {
			return nil, 0, err
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
		if err := g.Wait(); err != nil {
			return nil, 0, err
		}
	}
	return r.report(all)
}

func (r *Reproduction) stampPath(j *job) string {
	return filepath.Join(r.Dir, "stamps", j.paper.Name+"-"+j.artefact.Name+".json")
}

// readStamp returns the artefact's stamp, or nil if another program or scale wrote it, or if
// one of its files has changed since.
func (r *Reproduction) readStamp(j *job) (*stamp, error) {
	raw, err := os.ReadFile(r.stampPath(j))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s stamp
	if json.Unmarshal(raw, &s) != nil || s.Digest != j.digest {
		return nil, nil
	}
	for file, want := range s.Files {
		if got, err := filehash.SHA256(filepath.Join(r.Dir, file)); err != nil || got != want {
			return nil, nil
		}
	}
	return &s, nil
}

func (r *Reproduction) build(ctx context.Context, j *job, engine *run.Engine, results run.Results) error {
	d := &Data{Scale: r.Scale, ctx: ctx, engine: engine, results: results, needs: j.needs}
	out, err := j.artefact.Build(d)
	if err := cmp.Or(d.Err(), err); err != nil {
		return err
	}
	s := &stamp{Digest: j.digest, Title: j.artefact.Title, Files: map[string]string{}}
	for _, f := range out.Findings {
		if f.Verdict == Deviates && f.Reason == "" {
			return fmt.Errorf("%s deviates without a reason", f.Name)
		}
		s.Rows = append(s.Rows, f.Row())
	}
	var files []string
	for _, t := range out.Tables {
		file := filepath.Join(j.folder(), t.File)
		s.Tables = append(s.Tables, t.File)
		if err := t.Table.Save(filepath.Join(r.Dir, file)); err != nil {
			return fmt.Errorf("%s: %w", t.File, err)
		}
		files = append(files, file+".txt", file+".csv", file+".md", file+".tex")
	}
	for _, f := range out.Figures {
		file := filepath.Join(j.folder(), f.File)
		s.Plots = append(s.Plots, plot{f.File, f.Title})
		if err := reports.SaveFigure(filepath.Join(r.Dir, file), f.Figure); err != nil {
			return fmt.Errorf("%s: %w", f.File, err)
		}
		files = append(files, file+".svg", file+".png")
	}
	for _, f := range files {
		if s.Files[f], err = filehash.SHA256(filepath.Join(r.Dir, f)); err != nil {
			return err
		}
	}
	j.stamp = s
	return atomicfile.WriteFile(r.stampPath(j), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(s)
	})
}

// report writes claims.csv and a page for each paper, from all artefacts that are done.
func (r *Reproduction) report(jobs []*job) (rows []Row, left int, err error) {
	pages := map[string]*strings.Builder{}
	for _, j := range jobs {
		if j.stamp == nil {
			left++
			continue
		}
		rows = append(rows, j.stamp.Rows...)
		if j.artefact.Timed {
			continue
		}
		page := pages[j.paper.Name]
		if page == nil {
			page = &strings.Builder{}
			pages[j.paper.Name] = page
			fmt.Fprintf(page, "# %s\n\n%s\n\n", j.paper.Title, j.paper.Cite)
			if r.Scale.Quick {
				page.WriteString("A quick run on few replicates: no verdicts.\n\n")
			}
		}
		fmt.Fprintf(page, "## %s: %s\n\n", j.artefact.Name, j.artefact.Title)
		for _, f := range j.stamp.Plots {
			fmt.Fprintf(page, "![%s](%s.svg)\n\n", f.Title, f.File)
		}
		for _, t := range j.stamp.Tables {
			raw, err := os.ReadFile(filepath.Join(r.Dir, j.paper.Name, t+".md"))
			if err != nil {
				return nil, 0, err
			}
			page.Write(raw)
			page.WriteString("\n")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		err := writeIfChanged(filepath.Join(r.Dir, name, "README.md"), pages[name].String())
		if err != nil {
			return nil, 0, err
		}
	}
	csv, err := gocsv.MarshalString(&rows)
	if err != nil {
		return nil, 0, err
	}
	return rows, left, writeIfChanged(filepath.Join(r.Dir, "claims.csv"), csv)
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

// ReadRows reads claims.csv.
func ReadRows(claims []byte) ([]Row, error) {
	var rows []Row
	if err := gocsv.UnmarshalBytes(claims, &rows); err != nil {
		return nil, fmt.Errorf("claims.csv: %w", err)
	}
	return rows, nil
}

// Count returns how many rows have each verdict. It does not count other readings.
func Count(rows []Row) map[Verdict]int {
	n := map[Verdict]int{}
	for _, r := range rows {
		if !r.isReading() {
			n[r.Verdict]++
		}
	}
	return n
}

// Total adds up what [Count] counted.
func Total(n map[Verdict]int) int {
	sum := 0
	for _, c := range n {
		sum += c
	}
	return sum
}

func (r *Row) isReading() bool { return strings.Contains(r.Claim, " [") }

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
