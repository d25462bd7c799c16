package sweep

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"miglab/harness/atomicfile"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/strictjson"
	"miglab/harness/work"
)

// Format is the version of plan.json that this program writes and reads.
const Format = 5

// A Job is the work of a command: cells, or units.
type Job struct {
	Spans []run.Span
	Units []work.Unit
}

// A Plan says what a sweep computes.
type Plan struct {
	Format int `json:"format"`
	// Args is the command after the program's name. Dir is the folder in which it was given.
	Args []string `json:"args"`
	Dir  string   `json:"dir"`
	// Program is the SHA-256 of the program's file, in hexadecimal. Another program may
	// compute other results.
	Program string `json:"program"`
	// Count is the number of different cells, or of units.
	Count int `json:"count"`
	// Hash is the SHA-256 of the command and of all cells or units, in hexadecimal.
	Hash string `json:"hash"`
	// Tasks is the number of tasks. Some may be empty.
	Tasks int `json:"tasks"`
}

// New plans the work of a command, which must not be empty, for at most so many tasks. A cell listed twice counts once.
func New(args []string, dir, program string, j Job, tasks int) *Plan {
	p := &Plan{Format: Format, Args: args, Dir: dir, Program: program, Count: len(j.Units)}
	for _, s := range sharesOf(j.Spans, 1) {
		p.Count += s.cells[0] * len(s.series)
	}
	p.Hash = p.hash(j)
	p.Tasks = min(tasks, p.Count)
	return p
}

// hash identifies the command and what it computes. Cells in another order have another hash.
func (p *Plan) hash(j Job) string {
	h := sha256.New()
	e := json.NewEncoder(h) // the values are texts and numbers, which it can always write
	_ = e.Encode(p.Args)
	for _, u := range j.Units {
		_ = e.Encode([]string{u.Key, u.Digest})
	}
	for _, s := range j.Spans {
		_ = e.Encode([]any{s.Series, s.From, s.To, s.Split})
	}
	return hex.EncodeToString(h.Sum(nil))
}

// A share says how many cells of each of some series every task has to compute.
type share struct {
	series []store.Series
	cells  []int // by task
}

// sharesOf returns what each of so many tasks has to compute. Series on one dataset with the same instances are one
// share, because [run.ShardOf] is the same for every algorithm. A cell listed twice counts once.
func sharesOf(spans []run.Span, tasks int) map[string]*share {
	bySeries := map[store.Series][]run.Span{}
	for _, s := range spans {
		bySeries[s.Series] = append(bySeries[s.Series], s)
	}
	out := map[string]*share{}
	for series, all := range bySeries {
		slices.SortFunc(all, func(a, b run.Span) int {
			return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Split, b.Split))
		})
		key := fmt.Appendf(nil, "%q %q %q", series.Dataset, series.Content, series.GPU)
		for _, s := range all {
			key = fmt.Append(key, " ", s.From, " ", s.To, " ", s.Split)
		}
		of := out[string(key)]
		if of == nil {
			of = &share{cells: make([]int, tasks)}
			out[string(key)] = of
			for k, s := range all {
				for i := s.From; i < s.To; i++ {
					listed := slices.ContainsFunc(all[:k], func(e run.Span) bool { return e.Has(i) })
					if s.Has(i) && !listed {
						of.cells[run.ShardOf(series, i, tasks)]++
					}
				}
			}
		}
		of.series = append(of.series, series)
	}
	return out
}

// Name names the sweep: the same command for the same cells has the same name.
func (p *Plan) Name() string { return p.Hash[:12] }

const planFile = "plan.json"

// Write writes plan.json into a folder, which is made.
func (p *Plan) Write(folder string) error {
	return atomicfile.WriteFile(filepath.Join(folder, planFile), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return e.Encode(p)
	})
}

// ReadPlan reads plan.json. It is an error if it is not as [Plan.Write] writes it.
func ReadPlan(folder string) (*Plan, error) {
	path := filepath.Join(folder, planFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p := new(Plan)
	if err = strictjson.Unmarshal(text, p); err == nil {
		err = p.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// check judges what a file said.
func (p *Plan) check() error {
	if p.Format != Format {
		return fmt.Errorf("it has format %d and this program reads format %d; use the program that planned "+
			"the sweep, or plan it again", p.Format, Format)
	}
	if raw, err := hex.DecodeString(p.Hash); err != nil || len(raw) != sha256.Size {
		return fmt.Errorf("the hash %q is not of 64 hexadecimal digits", p.Hash)
	}
	if p.Tasks < 1 || p.Tasks > p.Count {
		return fmt.Errorf("it has %d tasks for %d cells or units", p.Tasks, p.Count)
	}
	return nil
}

// checkJob returns an error if the command does not compute what was planned.
func (p *Plan) checkJob(j Job) error {
	if p.hash(j) != p.Hash {
		return fmt.Errorf("the command has other cells than the %d that were planned; an algorithm, a dataset or "+
			"a file has changed: submit it again", p.Count)
	}
	return nil
}

// units returns the units of a task: one in every p.Tasks. A record of any run counts, even while a run of a lost node
// still writes the files of the unit.
func (p *Plan) units(j Job, task int) (out []work.Unit) {
	for i := task; i < len(j.Units); i += p.Tasks {
		u := j.Units[i]
		u.Holds = nil
		out = append(out, u)
	}
	return out
}
