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
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

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

// exact returns what Exact says, after checking that it is what it says.
func exact(t *testing.T, p algo.Problem) certificate.Certificate {
	t.Helper()
	r, err := bounds.Exact(context.Background(), p, oneByOne(p))
	if err != nil {
		t.Fatal(err)
	}
	if v := schedule.Check(p, r.Schedule); v != nil {
		t.Fatalf("%v", v)
	}
	if !r.Proven || !near(r.Lower, r.Schedule.Makespan()) || r.Witness.Bound != r.Lower {
		t.Fatalf("at least %v, by %v, the best %v, proven %v", r.Lower, r.Witness, r.Schedule.Makespan(), r.Proven)
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

// Of equal tasks, the instance that is created first can be destroyed last, which saves the most.
func TestChainOrdersDoNotExceedTheOptimum(t *testing.T) {
	models := []string{"A30", "A100", "H100", "A100?create=0.4&destroy=0.05", "A100?create=0.05&destroy=0.5"}
	r := rand.New(rand.NewPCG(77, 5))
	reached, better, problems := 0, 0, deep.N(150, 3000)
	for k := range problems {
		g, err := new(mig.Catalog).Lookup(models[k%len(models)])
		if err != nil {
			t.Fatal(err)
		}
		p := algo.Problem{GPU: g}
		scale := math.Pow(10, 1.5*r.Float64()-1)
		for i := range 3 + k/5%3 {
			x := task.New(fmt.Sprint("task", i), nil)
			only, one := g.Sizes()[r.IntN(len(g.Sizes()))], scale*(0.2+2*r.Float64()*r.Float64())
			for _, s := range g.Sizes() {
				switch {
				case k%2 == 0 && s == only:
					x.Set(s, mig.Seconds(scale*float64(1+r.IntN(2))))
				case k%2 == 1:
					x.Set(s, mig.Seconds(one*math.Pow(float64(s), -1.3*r.Float64())))
				}
			}
			p.Tasks = append(p.Tasks, x)
		}
		known, err := algo.MustParse("treedp").Schedule(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		optimum, err := bounds.SearchOptimum(p, known.Makespan())
		if err != nil {
			t.Fatal(err)
		}
		w := bounds.Witness{Kind: certificate.ChainOrders, Bound: bounds.ChainOrders(p, 2*optimum)}
		if w.Bound > optimum*(1+1e-9) {
			t.Errorf("%v %d: chain orders %v, but a schedule takes %v: %+v", g, k, w.Bound, optimum, p.Tasks)
		}
		if near(w.Bound, optimum) {
			reached++
		}
		if bounds.Chains(p, 2*optimum) < w.Bound*(1-1e-9) {
			better++
		}
		if err := certificate.VerifyWitness(p, w); err != nil {
			t.Errorf("%v %d: %v", g, k, err)
		}
		w.Bound *= 1 + 1e-6
		if certificate.VerifyWitness(p, w) == nil {
			t.Errorf("%v %d: chain orders raised by a millionth are accepted", g, k)
		}
	}
	t.Logf("chain orders reach the optimum of %d of %d batches and exceed chains for %d", reached, problems, better)
	if reached < problems*9/10 || better < problems/10 {
		t.Errorf("chain orders reach the optimum of %d of %d batches and exceed chains for %d", reached, problems, better)
	}
}

// Many instances that begin together wait the most for each other.
func TestChainsDoNotExceedTheOptimumOfManyInstances(t *testing.T) {
	reached, problems := 0, 0
	for _, gpu := range []string{"A30", "A100", "H100"} {
		r := rand.New(rand.NewPCG(12, uint64(len(gpu))))
		g := mig.MustLookup(gpu)
		for k := range deep.N(10, 60) {
			problems++
			p := algo.Problem{GPU: g}
			for i := range 4 + k%3 {
				one := 0.5 + 2*r.Float64()*r.Float64()
				x := task.New(fmt.Sprint("task", i), map[mig.Slices]mig.Seconds{1: mig.Seconds(one)})
				for _, s := range g.Sizes()[1:] {
					x.Set(s, mig.Seconds(one*math.Pow(float64(s), -r.Float64())))
				}
				p.Tasks = append(p.Tasks, x)
			}
			optimum := exact(t, p).Lower
			if bound := bounds.Chains(p, 2*optimum); bound > optimum*(1+1e-9) {
				t.Errorf("%v %d: chains %v, but a schedule takes %v: %+v", g, k, bound, optimum, p.Tasks)
			} else if near(bound, optimum) {
				reached++
			}
		}
	}
	if reached < problems/3 {
		t.Errorf("chains reach the optimum of %d batches only", reached)
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
		merges := slices.ContainsFunc(r.Schedule.Operations, func(o schedule.Operation) bool {
			return o.Op == schedule.Create && slices.ContainsFunc(r.Schedule.Operations, func(d schedule.Operation) bool {
				return d.Op == schedule.Destroy && d.Instance.Size() < o.Instance.Size() && d.Instance.Overlaps(o.Instance)
			})
		})
		if !merges {
			t.Errorf("%s, %v: nothing is merged in %v", b.Name, p.Model, r.Schedule)
		}
	}
}

func TestExactEqualsBruteForce(t *testing.T) {
	models := []string{"A30", "A100", "A100-80GB", "H100", "H200", "B200"} // all models would take minutes
	r := rand.New(rand.NewPCG(7, 1))
	for k := range deep.N(50, 200) {
		n := 1 + k%3
		if k%10 == 0 {
			n = 4
		}
		p := drawProblem(r, mig.MustLookup(models[k%len(models)]), 1, n)
		p.Start = nil
		if got, want := exact(t, p).Lower, general(p); !near(got, want.Makespan()) {
			t.Errorf("%+v: %v, by brute force %v", p, got, want.Makespan())
		}
	}
}

// The search that verifies certificates shares no code with that of Exact and has fewer rules.
func TestExactCertificatesAreVerified(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 2))
	searched := 0
	problems := deep.N(30, 300)
	for k := range problems {
		p := drawProblem(r, mig.GPUs()[k%len(mig.GPUs())], 1, 3+k%3)
		p.Start = nil
		e := exact(t, p)
		if err := certificate.Verify(p, e); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
		if e.Witness.Kind == certificate.Search {
			searched++
		}
		more := certificate.Witness{Kind: certificate.Search, Bound: e.Lower * (1 + 1e-6)}
		if s := oneByOne(p); s.Makespan() > more.Bound {
			if err := certificate.Verify(p, certificate.New(s, more)); err == nil {
				t.Errorf("%+v: a search is said to prove more than the optimum, %v", p, e.Lower)
			}
		}
	}
	if searched < problems/6 {
		t.Errorf("only %d of the problems were searched", searched)
	}
}

// The area seldom proves the most.
func TestCertificatesOfTheArea(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 3))
	for k := range deep.N(60, 400) {
		p := drawProblem(r, mig.GPUs()[k%len(mig.GPUs())], 1+k%3, 1+k%6)
		if p.GPUs() > 1 {
			p.Start = nil // oneByOne knows one GPU
		}
		s := oneByOne(p)
		w := certificate.Witness{Kind: certificate.Area, Bound: bounds.Occupied(p)}
		if err := certificate.Verify(p, certificate.New(s, w)); err != nil {
			t.Errorf("%+v: %+v: %v", p, w, err)
		}
		w.Bound *= 1 + 1e-6
		if err := certificate.Verify(p, certificate.New(s, w)); err == nil {
			t.Errorf("%+v: %+v is accepted", p, w)
		}
	}
}

func TestExactRefusesABrokenSchedule(t *testing.T) {
	p := algo.Problem{GPU: mig.MustLookup("A30"), Tasks: only(2, 1, 2)}
	known := oneByOne(p)
	known.Operations = nil
	var invalid *schedule.InvalidError
	if _, err := bounds.Exact(context.Background(), p, known); !errors.As(err, &invalid) {
		t.Errorf("error %v, want an InvalidError", err)
	}
}

func TestExactDoesNotSearchWhatIsTooLarge(t *testing.T) {
	g := mig.MustLookup("A30")
	for name, p := range map[string]algo.Problem{
		"many tasks":    {Tasks: randomBatch(g, 1, bounds.MaxSearched+1)},
		"two GPUs":      {Tasks: randomBatch(g, 1, 3), Count: 2},
		"release times": {Tasks: randomBatch(g, 1, 2), Release: []mig.Seconds{0, 3}},
		"stopped tasks": {Tasks: randomBatch(g, 1, 2), Restart: 1},
		"an instance":   {Tasks: randomBatch(g, 1, 2), Start: []schedule.Existing{existing(t, g, 2, 0, 3)}},
	} {
		p.GPU = g
		known := oneByOne(p)
		r, err := bounds.Exact(context.Background(), p, known)
		if err != nil || r.Witness.Kind == certificate.Search || r.Schedule.Makespan() != known.Makespan() || r.Lower > known.Makespan() {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// A task that can be stopped can share the time of the others: McNaughton's wrap-around takes 150 s where whole tasks
// take 200 s.
func TestExactDoesNotSearchStoppedTasks(t *testing.T) {
	g := mig.MustLookup("A100")
	times := map[mig.Slices]mig.Seconds{3: 100, 4: 100, 7: 100}
	p := algo.Problem{GPU: g, Model: mig.Free, Restart: 1}
	for i := range 3 {
		p.Tasks = append(p.Tasks, task.New(fmt.Sprint("task", i), times))
	}
	in := []mig.Instance{{Profile: g.Profile(4), Start: 0}, {Profile: g.Profile(3), Start: 4}}
	known := schedule.Schedule{GPU: g, Algorithm: "wrapped", Model: p.Model}
	for _, i := range in {
		known.Operations = append(known.Operations, schedule.Operation{Op: schedule.Create, Instance: i})
	}
	known.Placements = []schedule.Placement{
		{Task: 0, Instance: in[0], Start: 0, End: 100},
		{Task: 1, Instance: in[0], Start: 100, End: 150},
		{Task: 1, Instance: in[1], Start: 0, End: 50},
		{Task: 2, Instance: in[1], Start: 50, End: 150},
	}
	c, err := bounds.Exact(t.Context(), p, known)
	if err != nil || c.Lower > 150 || certificate.Verify(p, c) != nil {
		t.Errorf("at least %v by %v, error %v; a schedule takes 150 s", c.Lower, c.Witness.Kind, err)
	}
	if s := oneByOne(p); s.Makespan() != 300 {
		t.Fatalf("one by one: %v s", s.Makespan())
	}
	c, err = bounds.Exact(t.Context(), p, oneByOne(p))
	if err != nil || c.Lower > 150 || certificate.Verify(p, c) != nil {
		t.Errorf("at least %v by %v, error %v; a schedule takes 150 s", c.Lower, c.Witness.Kind, err)
	}
	if v, err := bounds.OptimumFree(t.Context(), p); err == nil {
		t.Errorf("optimum-free %v s; a schedule takes 150 s", v)
	}
}
