package sweep

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"path/filepath"
	"slices"

	"miglab/harness/run"
)

// Format is the version of plan.json that this program writes and reads.
const Format = 2

// A Plan says what a sweep is to do and which task does what.
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
	// Groups has all instances; nil in a sweep of units.
	Groups []Group `json:"groups,omitempty"`
	// Units has all units, each a text that means something to the command; nil in a
	// sweep of cells.
	Units []string `json:"units,omitempty"`
	// Tasks has what each task does. No task has nothing to do.
	Tasks [][]Range `json:"tasks"`
}

// A Group is the instances of a dataset on a GPU model.
type Group struct {
	Dataset string `json:"dataset"`
	// Content is that of [run.Series].
	Content string `json:"content"`
	GPU     string `json:"gpu"`
	// Micros is the estimated wall time of all cells of an instance in microseconds, on
	// average over the group's instances. Where nothing is known it counts the cells.
	Micros float64 `json:"us"`
	// Instances is how many there are.
	Instances int `json:"instances"`
}

// A Range is the instances From to To-1 of a group, as far as the plan has cells of
// them. In a sweep of units it is the units From to To-1, and Group is 0.
type Range struct {
	Group int `json:"group"`
	From  int `json:"from"`
	To    int `json:"to"`
}

// New spreads the cells of a command over at most so many tasks of about equal
// estimated cost: as close as can be without taking instances apart or out of order.
// micros estimates a cell of a series in microseconds; a series that it does not
// know costs the mean of the known ones. A cell listed twice counts once. The same
// arguments give the same plan.
func New(args []string, dir, program string, cells []run.Cell, micros func(run.Series) (us float64, known bool), tasks int) (*Plan, error) {
	if err := checkNumbers(len(cells), "cells", tasks); err != nil {
		return nil, err
	}
	p := &Plan{Format: Format, Args: args, Dir: dir, Program: program}
	h := newDigest(args)
	items := make([]item, 0, len(cells))
	var costs []float64 // of each span; 0 where it is not known
	groups := map[run.Group]int32{}
	for span := range run.Spans(cells) {
		key := h.add(&span)
		costs = append(costs, estimate(span.Series, micros))
		of := span.Series.Group()
		group, ok := groups[of]
		if !ok {
			group = int32(len(p.Groups))
			groups[of] = group
			p.Groups = append(p.Groups, Group{Dataset: of.Dataset, Content: of.Content, GPU: of.GPU})
		}
		for i := span.From; i < span.To; i++ {
			items = append(items, item{group, int32(len(costs) - 1), i, key})
		}
	}
	fillIn(costs)
	slices.SortFunc(items, item.compare)
	items = slices.CompactFunc(items, func(a, b item) bool { return a.compare(b) == 0 })
	p.Count, p.Hash = len(items), h.String()
	p.cut(instances(items, costs), tasks)
	return p, nil
}

// NewUnits spreads the units of a command over at most so many tasks of about equal cost, in
// order. costs are those of the units, in any measure.
func NewUnits(args []string, dir, program string, units []string, costs []float64, tasks int) (*Plan, error) {
	if err := checkNumbers(len(units), "units", tasks); err != nil {
		return nil, err
	}
	h := newDigest(args)
	all := make([]instance, len(units))
	for i, u := range units {
		fmt.Fprintf(h, "%q\n", u)
		all[i] = instance{0, i, costs[i]}
	}
	p := &Plan{Format: Format, Args: args, Dir: dir, Program: program, Count: len(units), Hash: h.String(), Units: units}
	p.cut(all, tasks)
	return p, nil
}

func checkNumbers(n int, what string, tasks int) error {
	switch {
	case n == 0:
		return fmt.Errorf("the command has no %s to spread over tasks", what)
	case tasks < 1:
		return fmt.Errorf("%d tasks; at least one is needed", tasks)
	}
	return nil
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

// add hashes the cells of a span and returns a hash of its series. Cells in another order have
// another hash.
func (d *digest) add(s *run.Span) uint64 {
	b := d.text[:0]
	for _, name := range []string{string(s.Series.Track), s.Series.Dataset, s.Series.Content, s.Series.GPU, s.Series.Algorithm, s.Series.Weights} {
		b = append(append(b, name...), 0)
	}
	for _, n := range []int{s.Series.Count, int(s.Series.Model), s.Version} {
		b = binary.AppendVarint(b, int64(n))
	}
	series := sha256.Sum256(b)
	d.text = binary.AppendVarint(binary.AppendVarint(append(b[:0], series[:]...), int64(s.From)), int64(s.To))
	d.Write(d.text)
	return binary.LittleEndian.Uint64(series[:8])
}

func (d *digest) String() string { return hex.EncodeToString(d.Sum(nil)) }

// An item is a cell while a plan is made.
type item struct {
	group int32
	// span is the number of its cost.
	span     int32
	instance int
	// series tells the cell's series from others.
	series uint64
}

// compare orders items by instance.
func (a item) compare(b item) int {
	return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.instance, b.instance), cmp.Compare(a.series, b.series))
}

func estimate(s run.Series, micros func(run.Series) (float64, bool)) float64 {
	us, known := micros(s)
	if !known || !(us > 0) || math.IsInf(us, 1) {
		return 0
	}
	return us
}

// fillIn replaces costs that are not known by the mean of the others, or by 1.
func fillIn(costs []float64) {
	sum, n := 0.0, 0
	for _, us := range costs {
		if us > 0 {
			sum += us
			n++
		}
	}
	mean := 1.0
	if n > 0 {
		mean = sum / float64(n)
	}
	for i, us := range costs {
		if us == 0 {
			costs[i] = mean
		}
	}
}

// An instance is what stays together in one task.
type instance struct {
	group, number int
	cost          float64
}

// instances joins the sorted items of each instance.
func instances(items []item, costs []float64) []instance {
	var out []instance
	for i, x := range items {
		if i == 0 || x.group != items[i-1].group || x.instance != items[i-1].instance {
			out = append(out, instance{group: int(x.group), number: x.instance})
		}
		out[len(out)-1].cost += costs[x.span]
	}
	return out
}

// cut gives every task the instances that follow each other up to where the cost is
// nearest to its share of the whole, at least one.
func (p *Plan) cut(all []instance, tasks int) {
	total := 0.0
	for i := range all {
		total += all[i].cost
		if p.Units == nil {
			g := &p.Groups[all[i].group]
			g.Micros += all[i].cost
			g.Instances++
		}
	}
	for i := range p.Groups {
		p.Groups[i].Micros /= float64(p.Groups[i].Instances)
	}
	tasks = min(tasks, len(all))
	p.Tasks = make([][]Range, tasks)
	end, sum := 0, 0.0 // the sum ends at the total exactly, and the last task with the last instance
	for t := range p.Tasks {
		share := total * (float64(t+1) / float64(tasks))
		last := len(all) - (tasks - t - 1) // each later task needs one
		begin := end
		for end < last && (end == begin || sum+all[end].cost-share <= share-sum) {
			sum += all[end].cost
			end++
		}
		p.Tasks[t] = ranges(all[begin:end])
	}
}

// ranges joins instances to one range a group.
func ranges(all []instance) []Range {
	var out []Range
	for _, in := range all {
		if n := len(out); n == 0 || out[n-1].Group != in.group {
			out = append(out, Range{Group: in.group, From: in.number})
		}
		out[len(out)-1].To = in.number + 1
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
		return fmt.Errorf("it has format %d and this program reads format %d; use the program that planned the sweep, or plan it again", p.Format, Format)
	}
	if raw, err := hex.DecodeString(p.Hash); err != nil || len(raw) != sha256.Size {
		return fmt.Errorf("the hash %q is not of 64 hexadecimal digits", p.Hash)
	}
	if p.Count < 1 || len(p.Tasks) == 0 || (p.Groups == nil) == (p.Units == nil) || p.Units != nil && p.Count != len(p.Units) {
		return fmt.Errorf("it has %d cells or units in all, %d tasks, %d groups, %d units; there must be tasks, and groups or units", p.Count, len(p.Tasks), len(p.Groups), len(p.Units))
	}
	to := make([]int, max(len(p.Groups), 1)) // how far the groups are given to tasks
	for t, task := range p.Tasks {
		if len(task) == 0 {
			return fmt.Errorf("task %d has nothing to do", t)
		}
		for _, r := range task {
			if r.Group < 0 || r.Group >= len(to) || r.From < to[r.Group] || r.To <= r.From || p.Units != nil && r.To > len(p.Units) {
				return fmt.Errorf("task %d has instances %d to %d of group %d, which do not exist, or which another task has", t, r.From, r.To-1, r.Group)
			}
			to[r.Group] = r.To
		}
	}
	return nil
}

// checkTask judges a task's number.
func (p *Plan) checkTask(task int) error {
	if task < 0 || task >= len(p.Tasks) {
		return fmt.Errorf("task %d: the sweep has tasks 0 to %d", task, len(p.Tasks)-1)
	}
	return nil
}

// Of returns a task's cells out of all cells of the command, in their order. It is an error
// if the cells of the command are not those that were planned.
func (p *Plan) Of(task int, cells []run.Cell) ([]run.Cell, error) {
	if err := p.checkTask(task); err != nil {
		return nil, err
	}
	var own []run.Cell
	err := p.each(cells, func(t int, s run.Span) {
		for i := s.From; i < s.To && t == task; i++ {
			own = append(own, s.Cell(i))
		}
	})
	return own, err
}

// each hands over the cells of the command with the task that each has, and checks that
// the cells are those that were planned.
func (p *Plan) each(cells []run.Cell, use func(task int, s run.Span)) error {
	owners := p.owners()
	h := newDigest(p.Args)
	var lost error
	for span := range run.Spans(cells) {
		h.add(&span)
		group := owners[span.Series.Group()]
		i, _ := slices.BinarySearchFunc(group, span.From, func(o owner, n int) int { return cmp.Compare(o.To, n+1) })
		for rest := span; rest.From < rest.To; i++ {
			if i == len(group) || rest.From < group[i].From {
				lost = fmt.Errorf("%s gives cell %v to no task; it was changed by hand", planFile, rest.Cell(rest.From))
				break
			}
			own := rest
			own.To = min(rest.To, group[i].To)
			use(group[i].task, own)
			rest.From = own.To
		}
	}
	if h.String() != p.Hash {
		return fmt.Errorf("the command stands for other cells than when the sweep was planned (%d then, %d now, listed twice or not); an algorithm, a dataset or a file has changed: submit it again", p.Count, len(cells))
	}
	return lost
}

// An owner is the task that has a range.
type owner struct {
	Range
	task int
}

// owners returns the ranges of each group by their beginnings.
func (p *Plan) owners() map[run.Group][]owner {
	out := map[run.Group][]owner{}
	for t, task := range p.Tasks {
		for _, r := range task {
			g := p.Groups[r.Group]
			k := run.Group{Dataset: g.Dataset, Content: g.Content, GPU: g.GPU}
			out[k] = append(out[k], owner{r, t})
		}
	}
	return out
}
