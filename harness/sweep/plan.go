package sweep

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"path/filepath"
	"slices"

	"miglab/harness/run"
	"miglab/harness/store"
)

// Format is the version of plan.json that this program writes and reads.
const Format = 3

// A Plan says what a sweep is to do.
type Plan struct {
	Format int `json:"format"`
	// Args is the command after the program's name, and Dir the folder it is given in.
	Args []string `json:"args"`
	Dir  string   `json:"dir"`
	// Program is the SHA-256 of the program's file, in hexadecimal. Another program may
	// compute other results.
	Program string `json:"program"`
	// Count is the number of different cells, or of units.
	Count int `json:"count"`
	// Hash is the SHA-256 of the command and of all cells or units, in hexadecimal.
	Hash string `json:"hash"`
	// Units has all units, each a text that means something to the command; nil in a
	// sweep of cells.
	Units []string `json:"units,omitempty"`
	// Tasks is the number of tasks. Some may have nothing to do.
	Tasks int `json:"tasks"`
}

// New plans the cells of a command for at most so many tasks. A cell listed twice counts once.
func New(args []string, dir, program string, cells []run.Cell, tasks int) (*Plan, error) {
	h := newDigest(args)
	for span := range run.Spans(cells) {
		h.add(&span)
	}
	count := 0
	for _, n := range shares(cells, 1)[0] {
		count += n
	}
	return newPlan(args, dir, program, h, count, nil, tasks)
}

// NewUnits plans the units of a command for at most so many tasks.
func NewUnits(args []string, dir, program string, units []string, tasks int) (*Plan, error) {
	h := newDigest(args)
	for _, u := range units {
		fmt.Fprintf(h, "%q\n", u)
	}
	return newPlan(args, dir, program, h, len(units), units, tasks)
}

func newPlan(args []string, dir, program string, h *digest, count int, units []string, tasks int) (*Plan, error) {
	switch {
	case count == 0:
		return nil, fmt.Errorf("the command has no work to spread over tasks")
	case tasks < 1:
		return nil, fmt.Errorf("%d tasks; at least one is needed", tasks)
	}
	return &Plan{
		Format: Format, Args: args, Dir: dir, Program: program,
		Count: count, Hash: h.String(), Units: units, Tasks: min(tasks, count),
	}, nil
}

// A digest hashes a command and what it represents.
type digest struct {
	hash.Hash
	text []byte // kept here, so that adding allocates nothing
}

func newDigest(args []string) *digest {
	d := &digest{Hash: sha256.New()}
	for _, a := range args {
		fmt.Fprintf(d, "%q\n", a)
	}
	return d
}

// add hashes the cells of a span. Cells in another order have another hash.
func (d *digest) add(s *run.Span) {
	b := d.text[:0]
	for _, name := range []string{
		string(s.Series.Track), s.Series.Dataset, s.Series.Content, s.Series.GPU, s.Series.Algorithm, s.Series.Weights,
	} {
		b = append(append(b, name...), 0)
	}
	for _, n := range []int{s.Series.Count, int(s.Series.Model), s.Version, s.From, s.To} {
		b = binary.AppendVarint(b, int64(n))
	}
	d.text = b
	d.Write(b)
}

func (d *digest) String() string { return hex.EncodeToString(d.Sum(nil)) }

// shares returns how many cells of which series each of so many tasks has to compute. A cell listed
// twice counts once.
func shares(cells []run.Cell, tasks int) []map[store.Series]int {
	spans := map[store.Series][]run.Span{}
	for s := range run.Spans(cells) {
		spans[s.Stored()] = append(spans[s.Stored()], s)
	}
	out := make([]map[store.Series]int, tasks)
	for i := range out {
		out[i] = map[store.Series]int{}
	}
	for series, all := range spans {
		slices.SortFunc(all, func(a, b run.Span) int { return cmp.Compare(a.From, b.From) })
		group, next := all[0].Series.Group(), 0
		for _, s := range all {
			for i := max(s.From, next); i < s.To; i++ {
				out[run.ShardOf(group, i, tasks)][series]++
			}
			next = max(next, s.To)
		}
	}
	return out
}

// Name names the sweep: the same command for the same cells has the same name.
func (p *Plan) Name() string { return p.Hash[:12] }

const planFile = "plan.json"

// Write writes plan.json into a folder, which is made.
func (p *Plan) Write(folder string) error { return writeJSON(filepath.Join(folder, planFile), p) }

// Read reads plan.json. It is an error if it is not as [Plan.Write] writes it.
func Read(folder string) (*Plan, error) {
	path := filepath.Join(folder, planFile)
	var p Plan
	if err := readJSON(path, &p); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &p, nil
}

// check judges what a file said.
func (p *Plan) check() error {
	if p.Format != Format {
		return fmt.Errorf("it has format %d and this program reads format %d; use the program that planned the sweep, or "+
			"plan it again", p.Format, Format)
	}
	if raw, err := hex.DecodeString(p.Hash); err != nil || len(raw) != sha256.Size {
		return fmt.Errorf("the hash %q is not of 64 hexadecimal digits", p.Hash)
	}
	if p.Tasks < 1 || p.Tasks > p.Count || p.Units != nil && p.Count != len(p.Units) {
		return fmt.Errorf("it has %d tasks for %d cells or units, %d of which it names", p.Tasks, p.Count, len(p.Units))
	}
	return nil
}

// checkTask judges a task's number.
func (p *Plan) checkTask(task int) error {
	if task < 0 || task >= p.Tasks {
		return fmt.Errorf("task %d: the sweep has tasks 0 to %d", task, p.Tasks-1)
	}
	return nil
}

// checkCells is an error if the cells of the command are not those that were planned.
func (p *Plan) checkCells(cells []run.Cell) error {
	h := newDigest(p.Args)
	for span := range run.Spans(cells) {
		h.add(&span)
	}
	if h.String() != p.Hash {
		return fmt.Errorf("the command stands for other cells than when the sweep was planned (%d then, %d now, listed "+
			"twice or not); an algorithm, a dataset or a file has changed: submit it again", p.Count, len(cells))
	}
	return nil
}

// unitsOf returns the units of a task, every so many-th.
func (p *Plan) unitsOf(task int) (out []string) {
	for i := task; i < len(p.Units); i += p.Tasks {
		out = append(out, p.Units[i])
	}
	return out
}
