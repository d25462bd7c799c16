package bounds_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"miglab/bounds"
	"miglab/bounds/certificate"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

var models = []mig.Reconfiguration{mig.Sequential, mig.Parallel, mig.Free}

// oneByOne runs the tasks one after the other on the largest instances that they fit.
func oneByOne(p algo.Problem) schedule.Schedule {
	s := schedule.Schedule{GPU: p.GPU, Algorithm: "one-by-one", Model: p.Model}
	exist := slices.Clone(p.Start)
	var now mig.Seconds
	operate := func(op schedule.Op, in mig.Instance, takes mig.Seconds) {
		if p.Model == mig.Free {
			takes = 0
		}
		s.Operations = append(s.Operations, schedule.Operation{Op: op, Instance: in, Start: now, End: now + takes})
		now += takes
	}
	for i := range p.Tasks {
		var in mig.Instance
		for _, n := range p.GPU.Tree() {
			if p.Tasks[i].Fits(n.Size()) && (in.Profile == nil || n.Size() > in.Size()) {
				in = n.Instance
			}
		}
		k := slices.IndexFunc(exist, func(e schedule.Existing) bool { return e.Instance == in })
		if k >= 0 {
			now = max(now, exist[k].BusyUntil)
		} else {
			exist = slices.DeleteFunc(exist, func(e schedule.Existing) bool {
				if e.Instance.Overlaps(in) {
					now = max(now, e.BusyUntil)
					operate(schedule.Destroy, e.Instance, e.Instance.Profile.Destroy)
				}
				return e.Instance.Overlaps(in)
			})
			operate(schedule.Create, in, in.Profile.Create)
			exist = append(exist, schedule.Existing{Instance: in})
		}
		begin := max(now, p.ReleaseOf(i))
		now = begin + p.Tasks[i].On(in.Size())
		s.Placements = append(s.Placements, schedule.Placement{Task: i, Instance: in, Start: begin, End: now})
	}
	return s
}

// smallProblem is the k-th of a list of problems of all GPUs, models and kinds of times: any,
// falling with size, in tenths so that many are equal, so short that creates and destroys
// count most, of all lengths, and some tasks twice or not fitting.
func smallProblem(k, n int) algo.Problem {
	r := rand.New(rand.NewPCG(7, uint64(k)))
	g := mig.GPUs()[k%len(mig.GPUs())]
	p := algo.Problem{GPU: g, Model: models[k/len(mig.GPUs())%len(models)]}
	kind := r.IntN(5)
	for i := range n {
		if i > 0 && r.IntN(5) == 0 {
			x := p.Tasks[r.IntN(i)]
			x.Name = fmt.Sprint("task", i)
			p.Tasks = append(p.Tasks, x)
			continue
		}
		x := task.Task{Name: fmt.Sprint("task", i)}
		d := 1 + 99*r.Float64()
		fits := r.IntN(2 * len(g.Sizes()))
		for j, s := range g.Sizes() {
			switch kind {
			case 0:
				d = 0.1 + 9*r.Float64()
			case 1, 4:
				d *= 1 - 0.5*r.Float64()
			case 2:
				d = float64(1+r.IntN(40)) / 10
			case 3:
				d = 0.01 + 0.3*r.Float64()
			}
			if kind == 4 && j == 0 {
				d = math.Exp(d/15 - 3)
			}
			if j == len(g.Sizes())-1 && fits > j || j >= fits || fits >= len(g.Sizes()) {
				x.Set(s, mig.Seconds(d))
			}
		}
		p.Tasks = append(p.Tasks, x)
	}
	if r.IntN(4) == 0 {
		parts := g.PartitionsOf(func(*mig.Profile) bool { return true })
		if r.IntN(3) > 0 {
			parts = g.Partitions()
		}
		for _, in := range parts[r.IntN(len(parts))] {
			if r.IntN(3) > 0 && len(p.Start) < 4 {
				p.Start = append(p.Start, schedule.Existing{Instance: in, BusyUntil: mig.Seconds(r.IntN(4)) / 4})
			}
		}
	}
	return p
}

// exact returns what Exact says, after checking that it is what it says.
func exact(t *testing.T, p algo.Problem) bounds.Result {
	t.Helper()
	r, err := bounds.Exact(context.Background(), p, oneByOne(p))
	if err != nil {
		t.Fatal(err)
	}
	if v := schedule.Check(p, r.Best); v != nil {
		t.Fatalf("%v", v)
	}
	if !r.Proven || !near(r.Lower, r.Best.Makespan()) || r.Witness.Bound != r.Lower {
		t.Fatalf("at least %v, by %v, the best %v, proven %v", r.Lower, r.Witness, r.Best.Makespan(), r.Proven)
	}
	return r
}

func TestExactFindsKnownOptima(t *testing.T) {
	for _, k := range readKnown(t, "optima.json") {
		for model, optimum := range map[mig.Reconfiguration]mig.Seconds{mig.Sequential: k.Sequential, mig.Parallel: k.Parallel} {
			p := k.problem()
			p.Model = model
			if got := exact(t, p).Lower; !near(got, optimum) {
				t.Errorf("%s, %v: %v, want %v", k.Name, model, got, optimum)
			}
		}
	}
}

func TestExactMergesInstancesAgain(t *testing.T) {
	text, err := os.ReadFile("testdata/topdown.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Batches []struct {
			Name, Reconfiguration string
			Splitting             mig.Seconds `json:"splitting_s"`
			Merging               mig.Seconds `json:"merging_s"`
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Batches) == 0 {
		t.Fatal(err)
	}
	known := readKnown(t, "optima.json")
	for _, b := range file.Batches {
		k := slices.IndexFunc(known, func(k knownBatch) bool { return k.Name == b.Name })
		p := known[k].problem()
		if p.Model, err = mig.ParseReconfiguration(b.Reconfiguration); err != nil {
			t.Fatal(err)
		}
		r := exact(t, p)
		if !near(r.Lower, b.Merging) || b.Merging >= b.Splitting {
			t.Errorf("%s, %v: %v, want %v, less than %v", b.Name, p.Model, r.Lower, b.Merging, b.Splitting)
		}
		merges := slices.ContainsFunc(r.Best.Operations, func(o schedule.Operation) bool {
			return o.Op == schedule.Create && slices.ContainsFunc(r.Best.Operations, func(d schedule.Operation) bool {
				return d.Op == schedule.Destroy && d.Instance.Size() < o.Instance.Size() && d.Instance.Overlaps(o.Instance)
			})
		})
		if !merges {
			t.Errorf("%s, %v: nothing is merged in %v", b.Name, p.Model, r.Best)
		}
	}
}

func TestExactOfWorkedExamples(t *testing.T) {
	a100 := mig.MustLookup("A100")
	at := func(size, start mig.Slices, busy mig.Seconds) schedule.Existing {
		in, err := a100.Instance(size, start)
		if err != nil {
			t.Fatal(err)
		}
		return schedule.Existing{Instance: in, BusyUntil: busy}
	}
	join := slices.Concat[task.Batch]
	for _, c := range []struct {
		name string
		p    algo.Problem
		want mig.Seconds
	}{
		{"the longest create", algo.Problem{Tasks: only(7, 1)}, 0.24 + 1},
		{"creates one after the other", algo.Problem{Tasks: only(3, 1, 1)}, 0.2 + 0.2 + 1},
		{"creates at the same time", algo.Problem{Tasks: only(3, 1, 1), Model: mig.Parallel}, 0.2 + 1},
		{"no creates", algo.Problem{Tasks: only(3, 1, 1), Model: mig.Free}, 1},
		{"an instance that is there", algo.Problem{Tasks: only(3, 1), Start: []schedule.Existing{at(3, 0, 0.1)}}, 0.1 + 1},
		{"an instance that is there for too long", algo.Problem{Tasks: only(3, 1), Start: []schedule.Existing{at(3, 0, 0.3)}}, 0.2 + 1},
		{"merging to make room", algo.Problem{Tasks: only(7, 1), Start: []schedule.Existing{at(3, 0, 0), at(2, 4, 1)}}, 1 + 0.2 + 0.24 + 1},
		// 2@4 is destroyed while the channel waits for 3@0 to end, and 3@4 is created after 4@0.
		{
			"destroyed ahead of need",
			algo.Problem{Tasks: join(only(4, 5), only(3, 4.8)), Start: []schedule.Existing{at(3, 0, 1.25), at(2, 4, 1)}},
			1.25 + 0.21 + 0.21 + 5,
		},
		{
			"not destroyed without need",
			algo.Problem{Tasks: join(only(4, 5), only(1, 3)), Start: []schedule.Existing{at(3, 0, 1.25), at(2, 4, 1.2)}},
			1.25 + 0.21 + 0.21 + 5,
		},
	} {
		c.p.GPU = a100
		if got := exact(t, c.p).Lower; !near(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A naive search tries every sequence of creates and destroys, in the order in which they begin,
// and looks at nothing but whether the tasks placed end before the best end.
type naive struct {
	p    algo.Problem
	best mig.Seconds
}

type there struct {
	in  mig.Instance
	end mig.Seconds
}

// start gives tasks to the start instances from the k-th on.
func (x *naive) start(k int, left uint, exist []there, end mig.Seconds) {
	if k == len(x.p.Start) {
		x.next(left, exist, nil, 0, end)
		return
	}
	e := x.p.Start[k]
	x.sets(left, e.Instance, e.BusyUntil, func(set uint, until mig.Seconds) {
		x.start(k+1, left&^set, append(slices.Clone(exist), there{e.Instance, until}), max(end, until))
	})
	x.start(k+1, left, append(slices.Clone(exist), there{e.Instance, e.BusyUntil}), end)
}

// sets visits the sets of tasks that end before the best on an instance.
func (x *naive) sets(left uint, in mig.Instance, from mig.Seconds, visit func(set uint, until mig.Seconds)) {
	for set := left; set != 0; set = (set - 1) & left {
		until := from
		for i := range x.p.Tasks {
			if set>>i&1 != 0 {
				until += x.p.Tasks[i].On(in.Size())
			}
		}
		if until < x.best {
			visit(set, until)
		}
	}
}

// next tries what can come next: exist are the instances and when they are idle, gone those destroyed and when
// their slices were free; nothing begins before from.
func (x *naive) next(left uint, exist, gone []there, from, end mig.Seconds) {
	if left == 0 {
		x.best = min(x.best, end)
		return
	}
	after := func(begin, takes mig.Seconds) (mig.Seconds, mig.Seconds) {
		if x.p.Model == mig.Free {
			takes = 0
		}
		if x.p.Model == mig.Sequential {
			return begin + takes, begin + takes
		}
		return begin + takes, begin
	}
	for i, e := range exist {
		done, floor := after(max(from, e.end), e.in.Profile.Destroy)
		if done < x.best {
			x.next(left, slices.Delete(slices.Clone(exist), i, i+1), append(slices.Clone(gone), there{e.in, done}), floor, end)
		}
	}
	for _, n := range x.p.GPU.Tree() {
		if slices.ContainsFunc(exist, func(e there) bool { return e.in.Overlaps(n.Instance) }) {
			continue
		}
		begin := from
		for _, g := range gone {
			if g.in.Overlaps(n.Instance) {
				begin = max(begin, g.end)
			}
		}
		done, floor := after(begin, n.Profile.Create)
		x.sets(left, n.Instance, done, func(set uint, until mig.Seconds) {
			x.next(left&^set, append(slices.Clone(exist), there{n.Instance, until}), gone, floor, max(end, until))
		})
	}
}

func TestExactEqualsBruteForce(t *testing.T) {
	for k := range 300 {
		p := smallProblem(k, 1+k%3)
		r := exact(t, p)
		x := naive{p, r.Lower * (1 + 1e-6)}
		x.start(0, 1<<len(p.Tasks)-1, nil, 0)
		if !near(x.best, r.Lower) {
			t.Errorf("%+v: %v, by brute force %v", p, r.Lower, x.best)
		}
	}
}

// The certificate's search shares no code with Exact's and knows fewer rules.
func TestExactCertificatesAreVerified(t *testing.T) {
	for k := range 300 {
		p := smallProblem(k, 3+k%3)
		r := exact(t, p)
		if err := certificate.Verify(p, certify(r)); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

func certify(r bounds.Result) certificate.Certificate {
	return certificate.New(r.Best, certificate.Witness(r.Witness))
}

func TestExactRefusesABrokenSchedule(t *testing.T) {
	p := smallProblem(1, 3)
	known := oneByOne(p)
	known.Operations = nil
	var invalid *schedule.InvalidError
	if _, err := bounds.Exact(context.Background(), p, known); !errors.As(err, &invalid) {
		t.Errorf("error %v, want an InvalidError", err)
	}
}

func TestExactStopsWithItsContext(t *testing.T) {
	g := mig.MustLookup("H100")
	p := algo.Problem{GPU: g}
	for i := range bounds.MaxSearched {
		p.Tasks = append(p.Tasks, task.New(fmt.Sprint("task", i), map[mig.Slices]mig.Seconds{1: 0.1 + mig.Seconds(i)/7, 2: 0.09, 3: 0.08, 4: 0.07}))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := bounds.Exact(ctx, p, oneByOne(p)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

func TestExactDoesNotSearchWhatIsTooLarge(t *testing.T) {
	g := mig.MustLookup("A30")
	for name, p := range map[string]algo.Problem{
		"many tasks":    {Tasks: randomBatch(g, 1, bounds.MaxSearched+1)},
		"two GPUs":      {Tasks: randomBatch(g, 1, 3), Count: 2},
		"release times": {Tasks: randomBatch(g, 1, 2), Release: []mig.Seconds{0, 3}},
	} {
		p.GPU = g
		known := oneByOne(p)
		r, err := bounds.Exact(context.Background(), p, known)
		if err != nil || r.Witness.Kind == bounds.KindSearch || r.Best.Makespan() != known.Makespan() || r.Lower > known.Makespan() {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func BenchmarkExact(b *testing.B) {
	for _, name := range []string{"A30", "A100", "H100"} {
		for _, model := range models[:2] {
			b.Run(fmt.Sprintf("%s/%v/n=5", name, model), func(b *testing.B) {
				g := mig.MustLookup(name)
				p := algo.Problem{GPU: g, Model: model, Tasks: randomBatch(g, 1, 5)}
				known := oneByOne(p)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := bounds.Exact(context.Background(), p, known); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
