package external

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// A planEntry is an entry of a plan as PROTOCOL.md has it.
type planEntry struct {
	GPU       int      `json:"gpu"`
	Size      int      `json:"size"`
	Slice     int      `json:"slice"`
	Tasks     []string `json:"tasks"`
	NotBefore float64  `json:"not_before_s"`
}

// A plainUse is an entry, or an instance from the beginning, as the rules of PROTOCOL.md time it. Nothing here comes from
// the engine or the referee.
type plainUse struct {
	planEntry
	length int
	// before is the use that runs on the same instance first. inTheWay are the uses whose instances must be destroyed
	// first. needed is the first use that needs slices of this use's instance; nil if it stays.
	before   *plainUse
	inTheWay []*plainUse
	needed   *plainUse
	last     bool // no later use runs on the instance

	created, ran, gone        bool
	exists, ends, created0    float64
	destroyed0, destroyedEnds float64
	runs                      []schedule.Placement
}

// A plainGPU times the uses of one GPU.
type plainGPU struct {
	uses    []*plainUse
	slice   [8]*plainUse
	channel float64
}

// plainTimes times the plans of a stream, one after the other. It returns an error for a plan that breaks a rule.
type plainTimes struct {
	p    *schedule.Problem
	gpus []plainGPU
}

func newPlainTimes(p *schedule.Problem) *plainTimes {
	t := &plainTimes{p: p, gpus: make([]plainGPU, p.GPUs())}
	for _, e := range p.Start {
		g := &t.gpus[e.GPU]
		u := &plainUse{
			planEntry: planEntry{GPU: e.GPU, Size: int(e.Instance.Size()), Slice: int(e.Instance.Start)},
			created:   true, ran: true, last: true, ends: float64(e.BusyUntil),
		}
		u.length = plainLengths(p.GPU.Name)[u.Size]
		g.uses = append(g.uses, u)
		for s := u.Slice; s < u.Slice+u.length; s++ {
			g.slice[s] = u
		}
	}
	return t
}

// plainLengths has the memory slices of each size, and plainStarts where it may start, typed in.
func plainLengths(gpu string) map[int]int {
	if gpu == "A30" {
		return map[int]int{1: 1, 2: 2, 4: 4}
	}
	return map[int]int{1: 1, 2: 2, 3: 4, 4: 4, 7: 8}
}

func plainStarts(gpu string) map[int][]int {
	if gpu == "A30" {
		return map[int][]int{1: {0, 1, 2, 3}, 2: {0, 2}, 4: {0}}
	}
	return map[int][]int{1: {0, 1, 2, 3, 4, 5, 6}, 2: {0, 2, 4}, 3: {0, 4}, 4: {0}, 7: {0}}
}

// add times a plan for the tasks from an index on, which must have each of them once.
func (t *plainTimes) add(text []byte, from, n int) error {
	var plan []planEntry
	var members []map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(text, &plan), json.Unmarshal(text, &members)); err != nil {
		return err
	}
	for _, m := range members {
		for _, name := range []string{"gpu", "size", "slice", "tasks", "not_before_s"} {
			value, there := m[name]
			if string(value) == "null" || !there && name != "not_before_s" {
				return fmt.Errorf("%s lacks %s", text, name)
			}
			delete(m, name)
		}
		if len(m) > 0 {
			return fmt.Errorf("unknown members %v", m)
		}
	}
	rest := map[string]int{}
	for i := from; i < from+n; i++ {
		rest[t.p.Tasks[i].Name] = i
	}
	for _, e := range plan {
		if e.GPU < 0 || e.GPU >= len(t.gpus) || !slices.Contains(plainStarts(t.p.GPU.Name)[e.Size], e.Slice) || len(e.Tasks) == 0 || e.NotBefore < 0 {
			return fmt.Errorf("entry %+v", e)
		}
		u := &plainUse{planEntry: e, length: plainLengths(t.p.GPU.Name)[e.Size], last: true}
		for _, name := range e.Tasks {
			i, ok := rest[name]
			if !ok || math.IsInf(float64(t.p.Tasks[i].On(mig.Slices(e.Size))), 1) {
				return fmt.Errorf("task %s of %+v", name, e)
			}
			delete(rest, name)
			u.runs = append(u.runs, schedule.Placement{Task: i})
		}
		t.gpus[e.GPU].insert(u)
	}
	if len(rest) > 0 {
		return fmt.Errorf("missing %v", rest)
	}
	for g := range t.gpus {
		t.gpus[g].time(t.p)
	}
	return nil
}

// insert puts a use behind those that have its slices.
func (g *plainGPU) insert(u *plainUse) {
	g.uses = append(g.uses, u)
	mine := g.slice[u.Slice : u.Slice+u.length]
	if b := mine[0]; b != nil && b.Size == u.Size && b.Slice == u.Slice && b.needed == nil && !slices.ContainsFunc(mine, func(o *plainUse) bool { return o != b }) {
		u.before, b.last = b, false
	} else {
		for _, b := range mine {
			if b != nil && !slices.Contains(u.inTheWay, b) {
				u.inTheWay = append(u.inTheWay, b)
				if b.needed == nil {
					b.needed = u
				}
			}
		}
	}
	for s := range mine {
		mine[s] = u
	}
}

// time carries out one thing after the other, always what can begin first.
func (g *plainGPU) time(p *schedule.Problem) {
	for {
		best, bestAt, bestReady, bestIsCreate := -1, math.Inf(1), math.Inf(1), false
		for i, u := range g.uses {
			if u.before != nil && !u.ran && u.before.ran {
				u.run(p, math.Max(u.before.ends, u.NotBefore))
			}
			ready, possible, create := 0.0, false, false
			switch {
			case !u.created && u.before == nil:
				ready, create, possible = u.NotBefore, true, true
				for _, b := range u.inTheWay {
					possible = possible && b.gone
					ready = math.Max(ready, b.destroyedEnds)
				}
			case u.ran && u.last && u.needed != nil && !u.gone:
				ready, possible = math.Max(u.ends, u.needed.NotBefore), true
			}
			at := math.Max(ready, g.channel)
			if possible && (at < bestAt || at == bestAt && ready < bestReady) {
				best, bestAt, bestReady, bestIsCreate = i, at, ready, create
			}
		}
		if best < 0 {
			return
		}
		u := g.uses[best]
		profile := p.GPU.Profile(mig.Slices(u.Size))
		cost := float64(p.Model.Cost(profile.Destroy))
		if bestIsCreate {
			cost = float64(p.Model.Cost(profile.Create))
			u.created, u.created0, u.exists = true, bestAt, bestAt+cost
			u.run(p, u.exists)
		} else {
			u.gone, u.destroyed0, u.destroyedEnds = true, bestAt, bestAt+cost
		}
		if p.Model == mig.Sequential {
			g.channel = bestAt + cost
		}
	}
}

// run runs the tasks of a use from an instant on.
func (u *plainUse) run(p *schedule.Problem, at float64) {
	u.ran = true
	for i := range u.runs {
		r := &u.runs[i]
		start := math.Max(at, float64(p.ReleaseOf(r.Task)))
		at = start + float64(p.Tasks[r.Task].On(mig.Slices(u.Size)))
		r.GPU, r.Start, r.End = u.GPU, mig.Seconds(start), mig.Seconds(at)
		r.Instance, _ = p.GPU.Instance(mig.Slices(u.Size), mig.Slices(u.Slice))
	}
	u.ends = at
}

// compare returns an error unless the schedule has the same times, to the last bit.
func (t *plainTimes) compare(s schedule.Schedule) error {
	var runs []schedule.Placement
	var ops []schedule.Operation
	for g := range t.gpus {
		for i, u := range t.gpus[g].uses {
			runs = append(runs, u.runs...)
			in, _ := t.p.GPU.Instance(mig.Slices(u.Size), mig.Slices(u.Slice))
			if u.before == nil && len(u.runs) > 0 {
				ops = append(ops, schedule.Operation{Op: schedule.Create, GPU: g, Instance: in, Start: mig.Seconds(u.created0), End: mig.Seconds(u.exists)})
			}
			if u.gone {
				ops = append(ops, schedule.Operation{Op: schedule.Destroy, GPU: g, Instance: in, Start: mig.Seconds(u.destroyed0), End: mig.Seconds(u.destroyedEnds)})
			}
			if !u.ran {
				return fmt.Errorf("use %d of GPU %d never runs", i, g)
			}
		}
	}
	if got, want := sorted(s.Placements), sorted(runs); got != want {
		return fmt.Errorf("placements\n%s\nwant\n%s", got, want)
	}
	if got, want := sorted(s.Operations), sorted(ops); got != want {
		return fmt.Errorf("operations\n%s\nwant\n%s", got, want)
	}
	for g := range t.gpus {
		if err := t.gpus[g].valid(t.p); err != nil {
			return err
		}
	}
	return nil
}

// sorted writes a list in an order that does not depend on its own.
func sorted[T any](list []T) string {
	var lines []string
	for _, v := range list {
		lines = append(lines, fmt.Sprintf("%+v", v))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// A plainLife is an instance: its slices are its own from begin to gone, and tasks run between from and to.
type plainLife struct {
	first, end            int
	begin, from, to, gone float64
	runs                  []schedule.Placement
}

// lives returns the instances of a GPU.
func (g *plainGPU) lives() (out []plainLife) {
	for _, head := range g.uses {
		if head.before != nil {
			continue
		}
		l := plainLife{first: head.Slice, end: head.Slice + head.length, begin: head.created0, from: head.exists, to: math.Inf(1), gone: math.Inf(1)}
		if len(head.runs) == 0 { // from the beginning
			l.begin, l.from = math.Inf(-1), head.ends
		}
		for u := head; u != nil; {
			l.runs = append(l.runs, u.runs...)
			if u.gone {
				l.to, l.gone = u.destroyed0, u.destroyedEnds
			}
			next := slices.IndexFunc(g.uses, func(v *plainUse) bool { return v.before == u })
			if next < 0 {
				break
			}
			u = g.uses[next]
		}
		out = append(out, l)
	}
	return out
}

// valid compares every two instances and operations of a GPU.
func (g *plainGPU) valid(p *schedule.Problem) error {
	lives := g.lives()
	var operations [][2]float64
	for i, a := range lives {
		at := a.from
		for _, r := range a.runs {
			if float64(r.Start) < at || r.End < r.Start || float64(r.End) > a.to || r.Start < p.ReleaseOf(r.Task) {
				return fmt.Errorf("%+v runs outside of %+v or before %v", r, a, at)
			}
			at = float64(r.End)
		}
		for _, b := range lives[:i] {
			if a.first < b.end && b.first < a.end && a.begin < b.gone && b.begin < a.gone {
				return fmt.Errorf("%+v and %+v overlap", a, b)
			}
		}
		if !math.IsInf(a.begin, -1) {
			operations = append(operations, [2]float64{a.begin, a.from})
		}
		if !math.IsInf(a.gone, 1) {
			operations = append(operations, [2]float64{a.to, a.gone})
		}
	}
	for i, a := range operations {
		for _, b := range operations[:i] {
			if p.Model == mig.Sequential && a[0] < b[1] && b[0] < a[1] {
				return fmt.Errorf("operations %v and %v overlap", a, b)
			}
		}
	}
	return nil
}

// drawStream draws a problem of one to three batches on up to two GPUs, and a plan for each batch.
func drawStream(rng *rand.Rand) (p schedule.Problem, lengths []int, plans [][]planEntry) {
	for {
		p = algotest.RandomProblem(rng, 1+rng.IntN(9))
		if slices.Contains([]string{"A30", "A100", "H100"}, p.GPU.Name) {
			break
		}
	}
	p.Count, p.Model = rng.IntN(3), mig.Reconfiguration(rng.IntN(3))
	if rng.IntN(3) == 0 {
		algotest.AddRelease(&p, rng)
	}
	if rng.IntN(3) == 0 {
		algotest.AddStart(&p, rng)
	}
	for left := len(p.Tasks); left > 0; {
		n := 1 + rng.IntN(left)
		if len(lengths) == 2 {
			n = left
		}
		plans = append(plans, drawPlan(rng, &p, p.Tasks[len(p.Tasks)-left:][:n]))
		lengths = append(lengths, n)
		left -= n
	}
	return p, lengths, plans
}

// drawPlan puts each task into a new entry, or into one that its size fits.
func drawPlan(rng *rand.Rand, p *schedule.Problem, tasks task.Batch) (plan []planEntry) {
	for _, i := range rng.Perm(len(tasks)) {
		t := &tasks[i]
		if k := rng.IntN(2 + len(plan)); k < len(plan) && t.Fits(mig.Slices(plan[k].Size)) {
			plan[k].Tasks = append(plan[k].Tasks, t.Name)
			continue
		}
		var sizes []int
		for _, size := range p.GPU.Sizes() {
			if t.Fits(size) {
				sizes = append(sizes, int(size))
			}
		}
		e := planEntry{GPU: rng.IntN(p.GPUs()), Size: sizes[rng.IntN(len(sizes))], Tasks: []string{t.Name}}
		starts := plainStarts(p.GPU.Name)[e.Size]
		e.Slice = starts[rng.IntN(len(starts))]
		if rng.IntN(4) == 0 {
			e.NotBefore = float64(rng.IntN(20))
		}
		plan = append(plan, e)
	}
	return plan
}

// answerPlan returns the line of a program with a plan.
func answerPlan(plan []byte) []byte {
	return []byte(fmt.Sprintf(`{"type":"plan","id":17,"plan":%s}`, plan))
}

// read adds the line of a program that answers about the next n tasks.
func (t *timetable) read(line []byte, n int) error {
	s := solution{protocol: 2}
	if err := decodeMessage(line, &s); err != nil {
		return err
	}
	if err := s.check(17); err != nil {
		return err
	}
	return t.add(&s, n)
}

// agree has plans timed by the engine and by the rules of the page. accepted says how many were accepted. It returns an
// error if the two differ, or if only one accepts a plan; withText says that a text may break rules of JSON of which the
// page's rules know nothing.
func agree(p schedule.Problem, lengths []int, texts [][]byte, withText bool) (accepted int, err error) {
	all, plain := newTimetable(p, "plan"), newPlainTimes(&p)
	from := 0
	for k, n := range lengths {
		read := all.read(answerPlan(texts[k]), n)
		want := plain.add(texts[k], from, n)
		if read != nil && (want != nil || withText) {
			return accepted, nil
		}
		if read != nil || want != nil {
			return accepted, fmt.Errorf("%s: the program is told %v; by the rules of the page: %v", texts[k], read, want)
		}
		from += n
		accepted++
	}
	s := all.schedule()
	if err := plain.compare(s); err != nil {
		return accepted, fmt.Errorf("%s: %w", texts, err)
	}
	if found := schedule.Check(p, s); found != nil {
		return accepted, fmt.Errorf("%s: %v", texts, found)
	}
	return accepted, nil
}

func marshal(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// Times of plans are those of the page's rules, to the last bit, on A30, A100 and H100, under all models, with start
// instances, releases, several GPUs and several batches.
func TestPlansAreTimedAsThePageSays(t *testing.T) {
	rng := rand.New(rand.NewPCG(45, 1))
	seen := map[string]int{}
	for range deep.N(1500, 10000) {
		p, lengths, plans := drawStream(rng)
		var texts [][]byte
		for _, plan := range plans {
			texts = append(texts, marshal(plan))
		}
		accepted, err := agree(p, lengths, texts, false)
		if err != nil || accepted != len(plans) {
			t.Fatalf("%v, %v, %d GPUs, start %v, accepted %d of %d: %v", p.GPU, p.Model, p.GPUs(), p.Start, accepted, len(plans), err)
		}
		seen[fmt.Sprint(p.GPU, p.Model)]++
	}
	if len(seen) != 9 {
		t.Errorf("drawn were %v", seen)
	}
}

// mutatePlan changes one thing of a plan, sensibly or not.
func mutatePlan(rng *rand.Rand, plan []map[string]any) []map[string]any {
	if len(plan) == 0 {
		return plan
	}
	i := rng.IntN(len(plan))
	e := plan[i]
	tasks, _ := e["tasks"].([]any)
	other := plan[rng.IntN(len(plan))]
	switch rng.IntN(14) {
	case 0:
		e["gpu"] = rng.IntN(4) - 1
	case 1:
		e["size"] = rng.IntN(9)
	case 2:
		e["slice"] = rng.IntN(9) - 1
	case 3:
		e["not_before_s"] = []any{-1, 1e300, 1e-9, "2", nil, 7.5}[rng.IntN(6)]
	case 4: // a task twice, perhaps in one entry
		if len(tasks) > 0 {
			own, _ := other["tasks"].([]any)
			other["tasks"] = append(slices.Clone(own), tasks[rng.IntN(len(tasks))])
		}
	case 5: // a task less, perhaps none is left
		if len(tasks) > 0 {
			e["tasks"] = slices.Delete(slices.Clone(tasks), 0, 1)
		}
	case 6: // a task moves
		if len(tasks) > 0 {
			e["tasks"] = slices.Clone(tasks[1:])
			own, _ := other["tasks"].([]any)
			other["tasks"] = append(slices.Clone(own), tasks[0])
		}
	case 7:
		if len(tasks) > 0 {
			tasks = slices.Clone(tasks)
			tasks[rng.IntN(len(tasks))] = []any{"nobody", "", 5, nil, "t0000", "t0001"}[rng.IntN(6)]
			e["tasks"] = tasks
		}
	case 8:
		return slices.Delete(plan, i, i+1)
	case 9:
		return append(plan, maps.Clone(e))
	case 10: // an entry of its own for one task
		if len(tasks) > 1 {
			own := maps.Clone(e)
			own["tasks"], e["tasks"] = slices.Clone(tasks[:1]), slices.Clone(tasks[1:])
			return slices.Insert(plan, rng.IntN(len(plan)), own)
		}
	case 11:
		j := rng.IntN(len(plan))
		plan[i], plan[j] = plan[j], plan[i]
	case 12:
		delete(e, []string{"gpu", "size", "slice", "tasks", "not_before_s"}[rng.IntN(5)])
	case 13:
		e[[]string{"gpu", "size", "slice", "tasks", "start_s"}[rng.IntN(5)]] = []any{nil, "1", 0.5, []any{}, map[string]any{}, -1, 1 << 40}[rng.IntN(7)]
	}
	return plan
}

// bytesOfPlans are bytes that replace others.
const bytesOfPlans = "0123456789-\"[]{},:ex \x00"

// A mutated plan is refused, or timed as the page says: 10,000 of them, a third of which are cut, joined or changed as
// bytes as well.
func TestMutatedPlans(t *testing.T) {
	rng := rand.New(rand.NewPCG(45, 2))
	const n = 10_000
	refused, kept := 0, 0
	for range n {
		p, lengths, plans := drawStream(rng)
		victim := rng.IntN(len(plans))
		asBytes := rng.IntN(3) == 0
		var texts [][]byte
		for k, plan := range plans {
			text := marshal(plan)
			if k == victim {
				var loose []map[string]any
				if err := json.Unmarshal(text, &loose); err != nil {
					t.Fatal(err)
				}
				for range 1 + rng.IntN(3) {
					loose = mutatePlan(rng, loose)
				}
				text = marshal(loose)
				if asBytes {
					text[rng.IntN(len(text))] = bytesOfPlans[rng.IntN(len(bytesOfPlans))]
				}
			}
			texts = append(texts, text)
		}
		accepted, err := agree(p, lengths, texts, asBytes)
		if err != nil {
			t.Fatalf("%v, %v, %d GPUs, start %v: %v", p.GPU, p.Model, p.GPUs(), p.Start, err)
		}
		if accepted == len(plans) {
			kept++
		} else {
			refused++
		}
	}
	if kept < n/20 || refused < n/3 {
		t.Errorf("%d mutated plans were accepted and %d refused; that tests too little", kept, refused)
	}
}

// Every plan is refused or timed as the page says.
func FuzzPlan(f *testing.F) {
	p := a30(mig.Sequential)
	f.Add([]byte(`[{"gpu":0,"size":4,"slice":0,"tasks":["whole","a <b>"]}]`), uint8(0))
	f.Add([]byte(`[{"gpu":1,"size":2,"slice":2,"tasks":["a <b>"]},{"gpu":1,"size":4,"slice":0,"tasks":["whole"],"not_before_s":9}]`), uint8(1))
	f.Add([]byte(`[{"gpu":1,"size":1,"slice":3,"tasks":["a <b>"]},{"gpu":0,"size":4,"slice":0,"tasks":["whole"]}]`), uint8(2))
	f.Add([]byte(`[{"gpu":2,"size":3,"slice":1,"tasks":["a <b>","a <b>"]}]`), uint8(0))
	f.Add([]byte(`[{"gpu":0,"size":4,"slice":0,"tasks":[]}]`), uint8(0))
	f.Add([]byte(`null`), uint8(0))
	f.Fuzz(func(t *testing.T, text []byte, model uint8) {
		own := p
		own.Model = mig.Reconfiguration(model % 3)
		if _, err := agree(own, []int{2}, [][]byte{text}, true); err != nil {
			t.Error(err)
		}
	})
}

// What is wrong with a plan is said.
func TestRefusedPlans(t *testing.T) {
	for plan, want := range map[string]string{
		`[{"gpu":0,"size":4,"slice":0,"tasks":["whole"]}]`: `task "a <b>" is missing`,
		`[]`: `task "a <b>" is missing`,
		`[{"gpu":0,"size":4,"slice":0,"tasks":["whole","whol"]}]`:                                                 `[0].tasks[1]: unknown task "whol"; did you mean "whole"`,
		`[{"gpu":0,"size":4,"slice":0,"tasks":["whole"]},{"gpu":0,"size":4,"slice":0,"tasks":["a <b>","whole"]}]`: `[1].tasks[1]: task "whole" is in entry 0 already`,
		`[{"gpu":0,"size":4,"slice":0,"tasks":["whole","whole"]}]`:                                                `[0].tasks[1]: task "whole" is in entry 0 already`,
		`[{"gpu":0,"size":2,"slice":0,"tasks":["a <b>","whole"]}]`:                                                `[0].tasks[1]: task "whole" does not fit size 2`,
		`[{"gpu":0,"size":2,"slice":1,"tasks":["a <b>"]}]`:                                                        `[0].size: A30 cannot place size 2 at slice 1; it may start at [0 2]`,
		`[{"gpu":0,"size":3,"slice":0,"tasks":["a <b>"]}]`:                                                        `[0].size: A30 has no instances of size 3`,
		`[{"gpu":2,"size":4,"slice":0,"tasks":["a <b>"]}]`:                                                        `[0].gpu: there is no GPU 2; there are 2, counted from 0`,
		`[{"gpu":-1,"size":4,"slice":0,"tasks":["a <b>"]}]`:                                                       `[0].gpu: there is no GPU -1`,
		`[{"gpu":0,"size":4,"slice":0,"tasks":[]}]`:                                                               `[0].tasks: an instance needs at least one task`,
		`[{"gpu":0,"size":4,"slice":0,"tasks":["a <b>"],"not_before_s":-1}]`:                                      `[0].not_before_s: -1 is negative`,
		`[{"gpu":0,"size":4,"slice":0,"tasks":["a <b>"],"not_before_s":1e999}]`:                                   `[0].not_before_s: 1e999 is too large`,
		`[{"gpu":0,"size":4,"slice":0}]`:                                                                          `[0].tasks: the field is missing`,
		`[{"gpu":0,"size":4,"slice":0,"tasks":["a <b>"],"start_s":1}]`:                                            `[0]: unknown field "start_s"`,
		`[{"gpu":0,"size":"4","slice":0,"tasks":["a <b>"]}]`:                                                      `[0].size: "4" is not a whole number`,
		`{"gpu":0,"size":4,"slice":0,"tasks":["a <b>","whole"]}`:                                                  `an object is not a list`,
		`null`: `null is not a list`,
	} {
		all := newTimetable(a30(mig.Sequential), "plan")
		err := all.read(answerPlan([]byte(plan)), 2)
		own, ok := errors.AsType[*Error](err)
		if !ok || !strings.Contains(err.Error(), "gives no plan: ") || !strings.Contains(err.Error(), want) || own.Kind != run.KindInvalid {
			t.Errorf("%s: %v, want %s", plan, err, want)
		}
	}
	for line, want := range map[string]string{
		`{"type":"plan","id":17}`:                             `plan is missing`,
		`{"type":"plan","id":17,"plan":[],"schedule":{}}`:     `schedule is no part of the type plan`,
		`{"type":"schedule","id":17,"schedule":{},"plan":[]}`: `plan is no part of the type schedule`,
		`{"type":"error","id":17,"message":"no","plan":[]}`:   `plan is no part of the type error`,
		`{"type":"plans","id":17,"plan":[]}`:                  `type "plans" is neither schedule nor plan nor error`,
		`{"type":"plan","id":16,"plan":[]}`:                   `id 16 is not the 17`,
	} {
		all := newTimetable(a30(mig.Sequential), "plan")
		if err := all.read([]byte(line), 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
	s := solution{protocol: 1}
	if err := decodeMessage([]byte(`{"type":"plan","id":17,"plan":[]}`), &s); err != nil {
		t.Fatal(err)
	}
	if err := s.check(17); err == nil || !strings.Contains(err.Error(), `type "plan" is neither schedule nor error`) {
		t.Errorf("in protocol 1: %v", err)
	}
}

// TestPlansAndSchedulesDoNotMix: miglab does not know when the instances of a schedule are free for a plan.
func TestPlansAndSchedulesDoNotMix(t *testing.T) {
	p := a30(mig.Sequential)
	p.Start = nil
	const plan = `{"type":"plan","id":17,"plan":[{"gpu":0,"size":4,"slice":0,"tasks":["TASK"]}]}`
	const made = `{"type":"schedule","id":17,"schedule":{"gpu":"A30","algorithm":"mine","reconfiguration":"sequential","makespan_s":9.13,` +
		`"placements":[{"task":"TASK","gpu":0,"size":4,"slice":0,"start_s":7.13,"end_s":9.13}],"reconfigurations":[]}}`
	for _, lines := range [][2]string{{plan, made}, {made, plan}} {
		all := newTimetable(p, "plan")
		first := strings.Replace(lines[0], "TASK", "a <b>", 1)
		if err := all.read([]byte(first), 1); err != nil {
			t.Fatal(err)
		}
		err := all.read([]byte(strings.Replace(lines[1], "TASK", "whole", 1)), 1)
		if err == nil || !strings.Contains(err.Error(), "after answers of the other type") {
			t.Errorf("%v", err)
		}
	}
}
