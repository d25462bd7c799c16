package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"miglab/algorithms/rl/agents"
	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/internal/learn"
	"miglab/algorithms/rl/nn"
	"miglab/algorithms/rl/ppo"
	"miglab/datasets"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/store"
	"miglab/harness/task"
	"miglab/harness/work"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/deadline"
)

// tiny is a recipe that takes milliseconds: 11 iterations of 128 steps in 6 segments,
// the last of which is shorter. wrap, if given, changes each environment.
func tiny(wrap func(env.Env) env.Env) *Recipe {
	const capacity = 3
	r := &Recipe{Name: "tiny", Steps: 1380, Seeds: []uint{1}, Shipped: 1, Score: pOpt}
	r.setup = func(k nn.Kernel, steps int64, seed uint64) (setup, error) {
		source, err := newSource(gpu(), []string{"WIDETIMES"}, bothGenerators, func(*rand.Rand) int { return capacity })
		if err != nil {
			return setup{}, err
		}
		make := func() env.Env {
			e := env.Env(env.Undecided{Own: env.NewOwn(gpu(), mig.Sequential, capacity, source, 0.2).Endgame(1)})
			if wrap != nil {
				e = wrap(e)
			}
			return e
		}
		l := env.NewOwn(gpu(), mig.Sequential, capacity, nil, 0).Layout()
		policy := nn.NewSetPolicy(nn.SetShape{Capacity: l.Capacity, Globals: l.Globals, Row: l.Row, Choices: l.Nodes}, 8, k, newRand(seed))
		c := ppo.Config{
			Envs: 8, Horizon: 16, Minibatch: 64, Epochs: 2, TotalSteps: steps,
			LearningRate: learn.Anneal{{Until: 1, From: 1e-3, To: 0}},
			Gamma:        1, Clip: 0.2, Shards: 2,
		}
		learner := ppo.New(c, policy, make, seed)
		score := func(p nn.Policy) (float64, error) {
			sum := 0.0
			for _, v := range p.Parameters() {
				sum += math.Abs(float64(v))
			}
			return sum, nil
		}
		return setup{policy: policy, learner: learner, score: score, segments: 5, text: "tiny"}, err
	}
	return r
}

func options(dir string) Options {
	return Options{Seed: 1, Dir: dir, Workers: 1, Kernel: nn.Portable()}
}

// made is what a run leaves behind.
type made struct {
	curve, weights string
	steps          int64
	score          float64
}

func mustRun(t *testing.T, r *Recipe, o Options) made {
	t.Helper()
	result, err := Run(t.Context(), r, o)
	if err != nil {
		t.Fatal(err)
	}
	return made{mustRead(t, r.CurveFile(o)), mustRead(t, r.WeightsFile(o)), result.Steps, result.Score}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// cut runs a recipe until so many iterations are done. It reports whether that was
// before the end.
func cut(t *testing.T, r *Recipe, o Options, iterations int) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(_, _ int64) {
		if iterations--; iterations == 0 {
			cancel()
		}
	}
	_, err := Run(ctx, r, o)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return err != nil
}

func TestRunsGoOnWhereTheyWereCut(t *testing.T) {
	r := tiny(nil)
	want := mustRun(t, r, options(t.TempDir()))
	if n := strings.Count(want.curve, "\n"); n != 1+6 {
		t.Fatalf("the curve has %d lines, want a header and 6 points:\n%s", n, want.curve)
	}
	if want.steps != 11*128 {
		t.Errorf("%d steps, want %d", want.steps, 11*128)
	}
	other := options(t.TempDir())
	other.Seed = 2
	if mustRun(t, r, other) == want {
		t.Error("another seed gives the same")
	}
	cuts := 0 // in deep tests after each iteration but the last
	for ; ; cuts += deep.N(3, 1) {
		o := options(t.TempDir())
		o.Workers = 1 + cuts%2
		if !cut(t, r, o, 1+cuts) {
			break
		}
		for _, what := range []string{"go on", "do nothing"} {
			if got := mustRun(t, r, o); got != want {
				t.Errorf("cut after %d iterations, to %s: %+v, want %+v", 1+cuts, what, got, want)
			}
		}
	}
	if cuts < 10 || cuts > 12 {
		t.Errorf("no cut after %d iterations, want the last one after 10", 1+cuts)
	}
}

// grow makes a tiny recipe with constant settings.
func grow() *Recipe {
	r := tiny(nil)
	changing := r.setup
	r.setup = func(k nn.Kernel, _ int64, seed uint64) (setup, error) {
		s, err := changing(k, 1<<40, seed) // in this many steps the rate hardly falls
		s.constantFor = 5 * 128
		return s, err
	}
	return r
}

// TestConstantRunsGoOnWithMoreSteps: a run with constant settings that is given more steps ends as a run that had them
// from the beginning, whose curve begins with the curve of the shorter run.
func TestConstantRunsGoOnWithMoreSteps(t *testing.T) {
	r, o := grow(), options(t.TempDir())
	var short, grown made
	for _, c := range []struct{ steps, done int64 }{{1, 128}, {5 * 128, 5 * 128}, {700, 15 * 128}, {2000, 25 * 128}} {
		short, o.Steps = grown, c.steps
		grown = mustRun(t, r, o)
		whole := options(t.TempDir())
		whole.Steps = c.steps
		if want := mustRun(t, r, whole); grown != want || want.steps != c.done {
			t.Errorf("%d steps end after %d with the curve\n%s, want %d and\n%s", c.steps, grown.steps, grown.curve, c.done, want.curve)
		}
		if !strings.HasPrefix(grown.curve, short.curve) {
			t.Errorf("the curve is\n%s, want it to begin with\n%s", grown.curve, short.curve)
		}
	}
	o.Steps = 1000
	if _, err := Run(t.Context(), r, o); err == nil || !strings.Contains(err.Error(), "is of a run with 3200 steps, more than 1000") {
		t.Errorf("fewer steps than there are: %v", err)
	}
}

// A run is done once, unless one of its files or the program changes.
func TestUnit(t *testing.T) {
	r, o := tiny(nil), options(t.TempDir())
	db, err := store.Open(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	want := mustRun(t, r, options(t.TempDir()))
	for i, c := range []struct {
		change func() error
		again  bool
	}{
		{nil, true},
		{nil, false},
		{func() error { return os.Remove(r.CurveFile(o)) }, true},
		{func() error { return os.WriteFile(r.WeightsFile(o), []byte("damaged"), 0o600) }, true},
		{nil, false},
	} {
		if c.change != nil {
			if err := c.change(); err != nil {
				t.Fatal(err)
			}
		}
		again := false
		u := r.Unit(o, func(ctx context.Context) (*Result, error) {
			again = true
			return Run(ctx, r, o)
		})
		records, err := (&work.Runner{Log: work.NewLog(db, "")}).Run(t.Context(), []work.Unit{u})
		if err != nil || again != c.again {
			t.Fatalf("call %d: done again is %v, want %v; %v", i, again, c.again, err)
		}
		var result Result
		err = json.Unmarshal(records[0], &result)
		if got := (made{mustRead(t, r.CurveFile(o)), mustRead(t, r.WeightsFile(o)), result.Steps, result.Score}); err != nil || got != want {
			t.Errorf("call %d: %+v, want %+v; %v", i, got, want, err)
		}
	}
}

// endless goes on with another episode where one would end.
type endless struct {
	env.Env
	rng *rand.Rand
}

func (e *endless) Reset(rng *rand.Rand) {
	e.rng = rand.New(rand.NewPCG(rng.Uint64(), 1))
	e.Env.Reset(e.rng)
}

func (e *endless) Step(action int) (float32, bool) {
	reward, done := e.Env.Step(action)
	if done {
		e.Env.Reset(e.rng)
	}
	return reward, false
}

// Where no episode ends in a segment, the curve has no mean of them. A run of DQN begins each
// segment with an empty replay buffer.
func TestOtherRunsGoOn(t *testing.T) {
	all := []struct {
		name       string
		steps      int64
		iterations int
	}{{"endless", 0, 5}, {"rl-float-GOODSCALING-dqn-64", 2 * 1024, 1}, {"d3qn", 3 * 800, 1}, {"d3qn-own", 3 * 800, 1}}
	for _, c := range all[:deep.N(2, len(all))] {
		t.Run(c.name, func(t *testing.T) {
			r, err := tiny(func(e env.Env) env.Env { return &endless{Env: e} }), error(nil)
			if c.name != "endless" {
				if r, err = Find(c.name); err != nil {
					t.Fatal(err)
				}
			}
			o := options(t.TempDir())
			o.Steps = c.steps
			want := mustRun(t, r, o)
			for i, line := range strings.Split(strings.TrimSpace(want.curve), "\n")[1:] {
				f := strings.Split(line, ",")
				if c.name == "endless" && (f[1] == "" || f[2] != "" || f[3] != "" || f[4] == "") {
					t.Errorf("point %d is %s, want a score, an entropy and neither return nor length", i, line)
				}
			}
			o.Dir, o.Workers = t.TempDir(), 2
			if !cut(t, r, o, c.iterations) {
				t.Fatal("it was done before it could be cut")
			}
			if got := mustRun(t, r, o); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}

// A run of other settings is not resumed, and neither is a damaged one. One that cannot be read is not to be removed.
func TestForeignCheckpoints(t *testing.T) {
	good := options(t.TempDir())
	cut(t, tiny(nil), good, 7)
	path := tiny(nil).Checkpoint(good)
	whole := mustRead(t, path)
	settings := func(change func(s *setup)) func(*Recipe, *Options) {
		return func(r *Recipe, _ *Options) {
			original := r.setup
			r.setup = func(k nn.Kernel, steps int64, seed uint64) (setup, error) {
				s, err := original(k, steps, seed)
				change(&s)
				return s, err
			}
		}
	}
	for what, c := range map[string]struct {
		checkpoint string
		change     func(r *Recipe, o *Options)
		want       string
	}{
		"steps":    {whole, func(_ *Recipe, o *Options) { o.Steps = 5000 }, `, not "steps=5000": `},
		"kernel":   {whole, func(_ *Recipe, o *Options) { o.Kernel = struct{ nn.Kernel }{o.Kernel} }, `, not "kernel=struct" (nn.avx512 is a build with GOEXPERIMENT=simd): `},
		"settings": {whole, settings(func(s *setup) { s.text = "others" }), `, not "others": `},
		"further":  {whole, settings(func(s *setup) { s.text += " others" }), `with "", not "others": `},
		"empty":    {"", nil, "; remove its folder"},
		"half":     {whole[:len(whole)/2], nil, "; remove its folder"},
		"other":    {whole[:200] + string(whole[200]+1) + whole[201:], nil, "; remove its folder"},
		"longer":   {whole + "x", nil, "; remove its folder"},
	} {
		r, o := tiny(nil), good
		if c.change != nil {
			c.change(r, &o)
		}
		if err := os.WriteFile(path, []byte(c.checkpoint), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Run(t.Context(), r, o)
		if got := fmt.Sprint(err); !strings.Contains(got, c.want) || !strings.Contains(got, path) {
			t.Errorf("%s: %v, want %s and %s", what, err, path, c.want)
		}
	}
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), tiny(nil), good); err == nil || strings.Contains(err.Error(), "remove") {
		t.Errorf("a folder in its place: %v", err)
	}
}

// poisoned rewards what is not a number once so many steps have been taken.
type poisoned struct {
	env.Env
	left *atomic.Int64
}

func (p poisoned) Step(action int) (float32, bool) {
	reward, done := p.Env.Step(action)
	if p.left.Add(-1) < 0 {
		reward = float32(math.NaN())
	}
	return reward, done
}

func TestDivergedRunsKeepTheirLastCheckpoint(t *testing.T) {
	want := mustRun(t, tiny(nil), options(t.TempDir()))
	o := options(t.TempDir())
	left := new(atomic.Int64)
	left.Store(5 * 128) // two segments and a half
	_, err := Run(t.Context(), tiny(func(e env.Env) env.Env { return poisoned{e, left} }), o)
	var diverged *learn.DivergedError
	if !errors.As(err, &diverged) || diverged.Steps != 6*128 {
		t.Fatalf("%v, want a *learn.DivergedError at step %d", err, 6*128)
	}
	curve := mustRead(t, filepath.Join(o.Dir, tiny(nil).Folder(o.Seed), "curve.csv"))
	if !strings.HasPrefix(want.curve, curve) || strings.Count(curve, "\n") != 1+2 {
		t.Errorf("the curve is\n%s, want the first 2 points of\n%s", curve, want.curve)
	}
	if got := mustRun(t, tiny(nil), o); got != want {
		t.Errorf("it goes on to %+v, want %+v", got, want)
	}
}

// sampled reports whether a test prepares the network of a recipe: all in deep tests, otherwise
// those for one workload or for none.
func sampled(r *Recipe) bool {
	return deep.On() || !slices.ContainsFunc(agents.Workloads, func(w string) bool { return w != "WIDETIMES" && strings.Contains(r.Name, w) })
}

// Recipes can be made ready, a part of them unless the tests are deep. What is shipped was trained with them.
func TestRecipes(t *testing.T) {
	names, shipped := map[string]bool{}, 0
	for i, r := range Recipes() {
		if names[r.Name] || r.Doc == "" || r.Steps < 1 || len(r.Seeds) == 0 || r.Score == "" {
			t.Errorf("%+v is twice there or lacks something", r)
		}
		names[r.Name] = true
		if found, err := Find(r.Name); err != nil || found.Name != r.Name {
			t.Errorf("%s is not found: %v", r.Name, err)
		}
		if r.Shipped > 0 {
			shipped++
		}
		if r.Shipped > 0 && shipped%deep.N(6, 1) != 0 || r.Shipped == 0 && i%deep.N(4, 1) != 0 {
			continue // to prepare a network takes long
		}
		s, err := r.setup(nn.Portable(), r.Steps, 1)
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		if s.learner == nil || s.score == nil || s.text == "" {
			t.Errorf("%s: its setup lacks something", r.Name)
		}
		if r.Shipped == 0 {
			continue
		}
		meta, _ := readWeights(t, r, r.Seeds[0])
		// The critic is not shipped.
		if trains := strings.Replace(s.policy.String(), "actor-critic", "actor", 1); trains != meta.Network {
			t.Errorf("%s trains %q, and %q is shipped", r.Name, trains, meta.Network)
		}
	}
}

func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"agent": "agent-ANY", "Agent-any": "agent-ANY", "agent-A30": "agent-A30-ANY", "agent-POORSCALING": "agent-POORSCALING",
		"rl-direct": "rl-direct-WIDETIMES", "rl-float-GOODSCALING-N7": "rl-float-GOODSCALING-N7", "rl-deadline": "rl-deadline-enhanced",
	} {
		if r, err := Find(name); err != nil || r.Name != want {
			t.Errorf("%q: %v, %v, want %s", name, r, err, want)
		}
	}
	for name, want := range map[string]string{
		"rl-direkt-WIDETIMES": "rl-direct-WIDETIMES", "agen": "agent", "rl-direkt": "rl-direct", "agent-WIDETIME": "agent-WIDETIMES", "": "",
	} {
		_, err := Find(name)
		var unknown *nearest.UnknownError
		if !errors.As(err, &unknown) || unknown.Kind != "agent" || want != "" && unknown.Nearest != want {
			t.Errorf("%q: %v, want an unknown agent and %q", name, err, want)
		}
	}
}

// deadlineAgent returns an agent of the deadline report, its recipe and its learner's settings.
func deadlineAgent(t *testing.T, name string) (*agents.DeadlineAgent, *Recipe, ppo.Config) {
	t.Helper()
	a := &agents.DeadlineAgents[slices.IndexFunc(agents.DeadlineAgents, func(a agents.DeadlineAgent) bool { return a.Name == name })]
	r, err := Find(a.WeightsName())
	if err != nil {
		t.Fatal(err)
	}
	return a, r, deadlineConfig(a.DeadlineOptions, r.Steps)
}

// TestDeadlineRecipesFollowTheirSource: agents of the authors' notebooks have their settings, which Tables 1 and 5 do
// not have together, and the one that is called text has the report's.
func TestDeadlineRecipesFollowTheirSource(t *testing.T) {
	// steps are steps of the gradient: updates times epochs times minibatches.
	type settings struct {
		options                                         env.DeadlineOptions
		envs, horizon, minibatch, epochs, steps, hidden int
		clip, entropy, lastRate                         float64
		inputs                                          int
	}
	released := env.DeadlineOptions{Released: true, Energy: env.EnergyAsReleased}
	before := env.DeadlineOptions{Released: true, Original: true, Penalty: true, Energy: env.EnergyAsReleased}
	first := env.DeadlineOptions{First: true, Penalty: true, Energy: env.EnergyAsReleased}
	for name, want := range map[string]settings{
		"enhanced": {released, 8, 1024, 4096, 10, 1240, 3, 0.15, 0.02, 3e-4, 88},
		"tight":    {released, 8, 1024, 4096, 10, 1240, 3, 0.15, 0.02, 3e-4, 88},
		"float32":  {released, 8, 1024, 4096, 10, 1240, 3, 0.15, 0.02, 3e-4, 88},
		"text":     {env.DeadlineOptions{}, 8, 2048, 4096, 10, 1240, 3, 0.15, 0.02, 1e-5, 88},
		"improved": {before, 4, 1024, 4096, 8, 392, 3, 0.15, 0.01, 3e-4, 66},
		"relaxed":  {before, 4, 1024, 4096, 8, 392, 3, 0.15, 0.01, 3e-4, 66},
		"notebook": {first, 16, 1024, 2048, 5, 520, 2, 0.2, 0.001, 3e-4, 124},
	} {
		a, r, c := deadlineAgent(t, name)
		got := settings{
			a.DeadlineOptions, c.Envs, c.Horizon, c.Minibatch, c.Epochs, int(r.Updates), len(a.Hidden()), c.Clip, c.Entropy.At(0),
			c.LearningRate.At(1), a.Shape().Observation,
		}
		if got != want || c.LearningRate.At(0) != 3e-4 || c.Entropy.At(1) != 0.001 {
			t.Errorf("%s: %+v, want %+v; %+v", name, got, want, c)
		}
	}
}

// TestWholeDays: the agent float32 learns in one segment from jobs with float32 times.
func TestWholeDays(t *testing.T) {
	_, r, c := deadlineAgent(t, "float32")
	s, err := r.setup(nn.Portable(), r.Steps, 1)
	if err != nil {
		t.Fatal(err)
	}
	if update := int64(c.Envs * c.Horizon); s.segments != 1 || r.Steps%update != 0 {
		t.Errorf("%d segments, %d steps, %d an update", s.segments, r.Steps, update)
	}
	_, draw, err := datasets.DaySampler("deadline/relaxed", gpu())
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range inFloat32(draw)(rand.New(rand.NewPCG(1, 2)), nil) {
		for _, at := range []task.Minutes{j.Arrival, j.Deadline, j.On(7)} {
			if at != task.Minutes(float32(at)) {
				t.Fatalf("%v is no float32", at)
			}
		}
	}
}

// TestDeadlineSettingsAreTheReports: the agents that follow the report's text have the settings
// that Tables 1, 4 and 5 print. Package paper-figures/deadline calls these numbers its inputs.
func TestDeadlineSettingsAreTheReports(t *testing.T) {
	report, err := deadline.Paper()
	if err != nil {
		t.Fatal(err)
	}
	used, shapes := map[claim.Cell]float64{}, map[string]int{}
	for kind, name := range map[string]string{"Original": "original", "Enhanced": "text"} {
		a, r, c := deadlineAgent(t, name)
		for i, units := range a.Hidden() {
			used[claim.At(kind, fmt.Sprintf("units of hidden layer %d", i+1))] = float64(units)
		}
		for setting, v := range map[string]float64{
			"batch size": float64(c.Minibatch), "training epochs": float64(c.Epochs), "timesteps": float64(r.Steps), "clip range": c.Clip, "parallel environments": float64(c.Envs),
			"learning rate": c.LearningRate.At(0), "first learning rate": c.LearningRate.At(0), "last learning rate": c.LearningRate.At(1),
			"entropy coefficient": c.Entropy.At(0), "first entropy coefficient": c.Entropy.At(0), "last entropy coefficient": c.Entropy.At(1),
		} {
			used[claim.At(kind, setting)] = v
		}
		shapes[kind] = a.Shape().Observation
	}
	compared := 0
	for _, c := range slices.Concat(report.Claims.Of("table1"), report.Claims.Of("table5")) {
		if c.Basis != claim.Input || strings.HasSuffix(c.Quantity, " slack") {
			continue
		}
		compared++
		if v, ok := used[c.Cell]; !ok || math.Abs(v-c.Published) > 1e-12 {
			t.Errorf("%s: the agent has %v, the report %v", c.Cell, v, c.Published)
		}
	}
	if compared != 7+7+14 {
		t.Errorf("%d settings are compared, want 7 of Table 1 and 21 of Table 5", compared)
	}
	printed := func(cell claim.Cell) int { return int(report.Claims.Published("table4", cell)) }
	bins := printed(claim.Of("bins of the queue"))
	// The rest is the state of 20 slices, and for the enhanced agent their sizes and 3 more.
	features := "features of the next job"
	original, enhanced := printed(claim.At("Original", features)), printed(claim.At("Enhanced", features))
	if shapes["Original"] != original+bins+20 || shapes["Enhanced"] != enhanced+bins+2*20+3 {
		t.Errorf("the agents see %v numbers, Table 4 has %d and %d features and %d bins", shapes, original, enhanced, bins)
	}
}
