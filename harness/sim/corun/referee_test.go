package corun_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// program draws any program that takes its solo time on the whole GPU.
func program(t *rapid.T, label string) task.Program {
	share := rapid.Float64Range(0, 1)
	p := task.Program{
		Name: label, Class: rapid.SampledFrom(task.Classes()).Draw(t, label+" class"),
		Solo:        mig.Seconds(rapid.Float64Range(0.01, 100).Draw(t, label+" solo")),
		Serial:      share.Draw(t, label+" serial"),
		Compute:     rapid.Float64Range(0.001, 1).Draw(t, label+" compute"),
		Memory:      share.Draw(t, label+" memory"),
		Parallelism: rapid.Float64Range(0.01, 1).Draw(t, label+" parallelism"),
	}
	whole := p.Relative(1, 1)
	p.Serial /= whole
	p.Compute /= whole
	p.Memory /= whole
	return p
}

func model(t *rapid.T) corun.Model {
	return corun.Model{
		Kappa:   rapid.SampledFrom([]float64{0, 0.25, 0.6}).Draw(t, "kappa"),
		Delta:   rapid.SampledFrom([]float64{0, 0.3}).Draw(t, "delta"),
		Release: rapid.Bool().Draw(t, "release"),
	}
}

// setups are all setups of all families for 1 to 4 jobs.
func setups() (out []corun.Setup) {
	for _, f := range []corun.Family{
		corun.DefaultShared, corun.DefaultPrivate, corun.DefaultWhole, corun.DefaultThree, corun.MIGShared, corun.MIGPrivate,
		corun.MPSOnly, corun.Lockstep, corun.Hierarchical, corun.Agent, corun.Every,
	} {
		for n := 1; n <= corun.MaxConcurrency; n++ {
			out = append(out, corun.Setups(f, n)...)
		}
	}
	return out
}

func TestRefereeAgreesWithModel(t *testing.T) {
	all := setups()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(all).Draw(t, "setup")
		w := corun.Window{Concurrency: corun.MaxConcurrency, Model: model(t)}
		g := corun.Group{Setup: s}
		var jobs [corun.MaxSlots]*task.Program
		for i := range s.Slots() {
			w.Jobs = append(w.Jobs, program(t, string(rune('a'+i))))
			g.Jobs = append(g.Jobs, i)
		}
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(g.Jobs), func(i, j int) { g.Jobs[i], g.Jobs[j] = g.Jobs[j], g.Jobs[i] })
		for i, j := range g.Jobs {
			jobs[i] = &w.Jobs[j]
		}
		l := s.Layout()
		var ends [corun.MaxSlots]float64
		total := w.Model.Ends(&l, &jobs, &ends)
		r, err := corun.Measure(w, corun.Plan{g})
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, got, want float64) {
			if !(math.Abs(got-want) <= 1e-9*want) {
				t.Fatalf("%s: the referee says %v, the model %v", what, got, want)
			}
		}
		near("makespan", float64(r.Makespan), total)
		for i, j := range g.Jobs {
			near("slowdown of "+w.Jobs[j].Name, r.Slowdowns[j], ends[i]/float64(w.Jobs[j].Solo))
		}
	})
}

// serial is a program that nothing but other jobs' interference changes.
func serial(name string, solo mig.Seconds) task.Program {
	return task.Program{Name: name, Class: task.Unscalable, Solo: solo, Serial: 1, Parallelism: 1}
}

func compute(name string, solo mig.Seconds, parallelism float64) task.Program {
	return task.Program{Name: name, Class: task.ComputeIntensive, Solo: solo, Compute: parallelism, Parallelism: parallelism}
}

func memory(name string, solo mig.Seconds) task.Program {
	return task.Program{Name: name, Class: task.MemoryIntensive, Solo: solo, Memory: 1, Parallelism: 1}
}

// TestGroupsByHand has groups that can be worked out without a computer.
func TestGroupsByHand(t *testing.T) {
	for _, c := range []struct {
		what, setup string
		model       corun.Model
		jobs        []task.Program
		want        []float64
	}{
		{
			"alone on the whole GPU", "[(1),1m]",
			corun.Model{Kappa: 0.25, Delta: 0.3},
			[]task.Program{compute("a", 10, 0.5)},
			[]float64{10},
		},
		{
			"half of what it can use", "[{0.25},0.25m]",
			corun.Model{Kappa: 0.25},
			[]task.Program{compute("a", 10, 0.5)},
			[]float64{20},
		},
		{ // a ends at 10 * 1.25; b has done 12.5 of 25 and does the rest alone.
			"interference", "[(0.5)+(0.5),1m]",
			corun.Model{Kappa: 0.25},
			[]task.Program{serial("a", 10), serial("b", 20)},
			[]float64{12.5, 22.5},
		},
		{
			"private memory", "[{0.375},0.5m]+[{0.5},0.5m]",
			corun.Model{Kappa: 0.25},
			[]task.Program{serial("a", 10), serial("b", 20)},
			[]float64{10, 20},
		},
		{ // Until 20 each has half of the bandwidth; then b does its other half alone.
			"bandwidth", "[(0.5)+(0.5),1m]",
			corun.Model{},
			[]task.Program{memory("a", 10), memory("b", 20)},
			[]float64{20, 30},
		},
		{
			"private bandwidth", "[{0.375},0.5m]+[{0.5},0.5m]",
			corun.Model{},
			[]task.Program{memory("a", 10), memory("b", 20)},
			[]float64{20, 40},
		},
		{
			"percentages", "[(0.5)+(0.5),1m]",
			corun.Model{},
			[]task.Program{compute("a", 10, 1), compute("b", 20, 1)},
			[]float64{20, 40},
		},
		{ // At 20 b is half done, and goes on with the whole GPU.
			"released percentages", "[(0.5)+(0.5),1m]",
			corun.Model{Release: true},
			[]task.Program{compute("a", 10, 1), compute("b", 20, 1)},
			[]float64{20, 30},
		},
		{ // What nobody had is not released: at 40 b is half done, and goes on with the half of the GPU.
			"percentages that leave some", "[(0.25)+(0.25),1m]",
			corun.Model{Release: true},
			[]task.Program{compute("a", 10, 1), compute("b", 20, 1)},
			[]float64{40, 60},
		},
		{ // Nothing is released across compute instances.
			"compute instances", "[{0.375}+{0.5},1m]",
			corun.Model{Release: true},
			[]task.Program{compute("a", 3, 1), compute("b", 20, 1)},
			[]float64{8, 40},
		},
		{ // Both get what they can use, and their compute work grows by the half.
			"default", "[(*)+(*),1m]",
			corun.Model{Delta: 0.5},
			[]task.Program{compute("a", 10, 0.5), compute("b", 20, 0.5)},
			[]float64{15, 25},
		},
		{ // b can use 0.2, and a gets the rest of the 0.5: five eighths of what it gets alone.
			"default, max-min", "[(*)+(*),{0.5},0.5m]",
			corun.Model{},
			[]task.Program{compute("a", 30, 0.5), compute("b", 200, 0.2)},
			[]float64{50, 200},
		},
		{ // a and d end together at 85, where rounding leaves d exactly nothing to do.
			"a tie", "[(0.2)+(0.8),{0.375},0.5m]+[(0.2)+(0.8),{0.5},0.5m]",
			corun.Model{Kappa: 0.25},
			[]task.Program{serial("a", 73), memory("b", 24), memory("c", 49), serial("d", 68)},
			[]float64{85, 60, 115, 85},
		},
	} {
		w := corun.Window{Jobs: c.jobs, Concurrency: 4, Model: c.model}
		g := corun.Group{Setup: corun.MustParse(c.setup)}
		for i := range c.jobs {
			g.Jobs = append(g.Jobs, i)
		}
		r, err := corun.Measure(w, corun.Plan{g})
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		var jobs [corun.MaxSlots]*task.Program
		for i := range c.jobs {
			jobs[i] = &c.jobs[i]
		}
		var ends [corun.MaxSlots]float64
		l := g.Setup.Layout()
		c.model.Ends(&l, &jobs, &ends)
		for i, want := range c.want {
			if got := r.Slowdowns[i] * float64(c.jobs[i].Solo); math.Abs(got-want) > 1e-9 || math.Abs(ends[i]-want) > 1e-9 {
				t.Errorf("%s: job %d ends at %v by the referee and %v by the model, want %v", c.what, i, got, ends[i], want)
			}
		}
	}
}

func TestResult(t *testing.T) {
	w := corun.Window{
		Jobs:        []task.Program{serial("a", 10), serial("b", 20), memory("c", 30), memory("d", 30), serial("e", 40)},
		Concurrency: 2, Model: corun.Model{Kappa: 0.25},
	}
	r, err := corun.Measure(w, corun.Plan{
		{Jobs: []int{4}, Setup: corun.MustParse("[(1),1m]")},
		{Jobs: []int{1, 0}, Setup: corun.MustParse("[{0.375},0.5m]+[{0.5},0.5m]")},
		{Jobs: []int{2, 3}, Setup: corun.MustParse("[(0.5)+(0.5),1m]")}, // 30 * 2 * 1.25
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []mig.Seconds{40, 20, 75}; !slices.Equal(r.Groups, want) {
		t.Errorf("groups take %v, want %v", r.Groups, want)
	}
	if want := []float64{1, 1, 2.5, 2.5, 1}; !slices.Equal(r.Slowdowns, want) {
		t.Errorf("slowdowns %v, want %v", r.Slowdowns, want)
	}
	if r.Makespan != 135 || r.TimeSharing != 130 || r.Slower != 1 {
		t.Errorf("makespan %v, time sharing %v, %d groups slower; want 135, 130 and 1", r.Makespan, r.TimeSharing, r.Slower)
	}
	if r.Throughput() != 130./135 || r.MeanSlowdown() != 1.6 || r.Fairness() != 0.4 {
		t.Errorf("throughput %v, slowdown %v, fairness %v", r.Throughput(), r.MeanSlowdown(), r.Fairness())
	}
}

func TestViolations(t *testing.T) {
	good := func() (corun.Window, corun.Plan) {
		return corun.Window{Jobs: []task.Program{serial("a", 10), serial("b", 20), serial("c", 30)}, Concurrency: 2, Model: corun.Model{Kappa: 0.25}},
			corun.Plan{
				{Jobs: []int{0, 1}, Setup: corun.MustParse("[(0.5)+(0.5),1m]")},
				{Jobs: []int{2}, Setup: corun.MustParse("[(1),1m]")},
			}
	}
	if w, p := good(); corun.Check(w, p) != nil {
		t.Fatalf("violations of a good plan: %v", corun.Check(w, p))
	}
	for what, c := range map[string]struct {
		spoil func(*corun.Window, corun.Plan)
		want  []string
	}{
		"missing":     {func(_ *corun.Window, p corun.Plan) { p[1] = corun.Group{} }, []string{"group 2: the setup is empty; the whole GPU is one GPU instance", "job 2 (c) is in no group"}},
		"twice":       {func(_ *corun.Window, p corun.Plan) { p[1].Jobs[0] = 1 }, []string{"group 2: job 1 (b) is in group 1 already", "job 2 (c) is in no group"}},
		"twice here":  {func(_ *corun.Window, p corun.Plan) { p[0].Jobs[1] = 0 }, []string{"group 1: job 0 (a) is in group 1 already", "job 1 (b) is in no group"}},
		"unknown":     {func(_ *corun.Window, p corun.Plan) { p[1].Jobs[0] = 3 }, []string{"group 2: there is no job 3; the window has 3, counted from 0", "job 2 (c) is in no group"}},
		"negative":    {func(_ *corun.Window, p corun.Plan) { p[1].Jobs[0] = -1 }, []string{"group 2: there is no job -1", "job 2 (c) is in no group"}},
		"concurrency": {func(w *corun.Window, _ corun.Plan) { w.Concurrency = 1 }, []string{"group 1: 2 jobs; at most 1 may run at the same time"}},
		"slots":       {func(_ *corun.Window, p corun.Plan) { p[1].Setup = p[0].Setup }, []string{"group 2: 1 jobs on [(0.5)+(0.5),1m], which is for 2"}},
		"shares":      {func(_ *corun.Window, p corun.Plan) { p[0].Setup.GIs[0].CIs[0].Shares[0] = 0.6 }, []string{"group 1: GPU instance 1 of [(0.6)+(0.5),1m]: the clients have 1.1 of their instance together; at most 1"}},
		"NaN":         {func(_ *corun.Window, p corun.Plan) { p[0].Setup.GIs[0].CIs[0].Shares[0] = math.NaN() }, []string{"NaN is not a share"}},
		"memory":      {func(_ *corun.Window, p corun.Plan) { p[0].Setup.GIs[0].Memory = math.NaN() }, []string{"NaN is not a share"}},
		"GPCs": {func(_ *corun.Window, p corun.Plan) {
			p[1].Setup = corun.Setup{GIs: []corun.GI{{Memory: 1, CIs: []corun.CI{{MIG: true, Compute: 0.3}}}}}
		}, []string{"group 2: GPU instance 1 of [{0.3},1m]: MIG has no compute instance with 0.3 of the GPU"}},
		"clients": {func(_ *corun.Window, p corun.Plan) { p[1].Setup.GIs[0].CIs[0].Shares = nil }, []string{"nothing runs in the instance"}},
		"default": {func(_ *corun.Window, p corun.Plan) { p[1].Setup.GIs[0].CIs[0].Default = -1 }, []string{"clients with and without percentages do not go together"}},
		"no plan": {func(w *corun.Window, p corun.Plan) {
			p[0], p[1] = corun.Group{Setup: p[1].Setup}, corun.Group{Setup: p[1].Setup}
		}, []string{
			"group 1: 0 jobs on [(1),1m], which is for 1", "group 2: 0 jobs", "job 0 (a)", "job 1 (b)", "job 2 (c)",
		}},
		"W=0":       {func(w *corun.Window, _ corun.Plan) { w.Jobs = nil }, []string{"the window has no jobs; it needs at least 1"}},
		"Cmax":      {func(w *corun.Window, _ corun.Plan) { w.Concurrency = 0 }, []string{"groups of up to 0 jobs; give a number from 1 to 8"}},
		"constants": {func(w *corun.Window, _ corun.Plan) { w.Model = corun.Model{Kappa: -1, Delta: math.NaN()} }, []string{"kappa is -1; give a number from 0", "delta is NaN"}},
		"program":   {func(w *corun.Window, _ corun.Plan) { w.Jobs[1].Serial = 0.5 }, []string{`job 1, program "b", takes 0.5 times its solo time on the whole GPU`}},
	} {
		w, p := good()
		c.spoil(&w, p)
		_, err := corun.Measure(w, p)
		var invalid *corun.InvalidError
		if !errors.As(err, &invalid) || len(invalid.Violations) != len(c.want) {
			t.Errorf("%s: %v, want %d violations", what, err, len(c.want))
			continue
		}
		for i, want := range c.want {
			if got := invalid.Violations[i]; !strings.Contains(got, want) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
	}
}

func TestLongErrorsAreCut(t *testing.T) {
	w := corun.Window{Concurrency: 4}
	for range 9 {
		w.Jobs = append(w.Jobs, serial("a", 1))
	}
	if _, err := corun.Measure(w, nil); err == nil || !strings.HasSuffix(err.Error(), "; and 4 more") {
		t.Errorf("%v, want five violations and the number of the others", err)
	}
}
