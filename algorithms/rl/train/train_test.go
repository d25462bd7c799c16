package train

import (
	"context"
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
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/task"
	figures "miglab/paper-figures"
	"miglab/paper-figures/deadline"
)

// tiny is a recipe that takes milliseconds: 11 iterations of 128 steps in 6 segments,
// the last of which is shorter. wrap, if given, changes each environment.
func tiny(wrap func(env.Env) env.Env) *Recipe {
	const capacity = 3
	r := &Recipe{Name: "tiny", Steps: 1380, Seeds: []uint{1}, Shipped: true, Score: pOpt}
	r.setup = func(k nn.Kernel, steps int64, seed uint64) (setup, error) {
		source, err := sourceOf(gpu(), []string{"WIDETIMES"}, func(*rand.Rand) int { return capacity })
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
			Gamma:        1, Lambda: 0.95, Clip: 0.2, ValueCoefficient: 0.5, MaxNorm: 0.5,
			NormalizeAdvantage: true, Shards: 2,
		}
		learner, err := ppo.New(c, policy, make, seed)
		score := func(p nn.Policy) (float64, error) {
			sum := 0.0
			for _, v := range p.Parameters() {
				sum += math.Abs(float64(v))
			}
			return sum, nil
		}
		return setup{policy: policy, learner: learner, score: score, perIteration: 128, segments: 5, text: "tiny"}, err
	}
	r.meta = func(p nn.Policy, steps int64, seed uint64) nn.Meta {
		return nn.Meta{Agent: r.Name, Network: p.String(), Steps: uint64(steps), Seed: seed}
	}
	return r
}

func options(dir string) Options {
	return Options{Seed: 1, Dir: dir, Workers: 1, Kernel: nn.Portable()}
}

func mustRun(t *testing.T, r *Recipe, o Options) Result {
	t.Helper()
	result, err := Run(t.Context(), r, o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// made is what a run leaves behind.
type made struct{ curve, weights, last string }

func whatMade(t *testing.T, r Result) made {
	t.Helper()
	return made{mustRead(t, r.Curve), mustRead(t, r.Weights), fmt.Sprintf("%+v", r.Last)}
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
	result := mustRun(t, r, options(t.TempDir()))
	want := whatMade(t, result)
	if n := strings.Count(want.curve, "\n"); n != 1+6 {
		t.Fatalf("the curve has %d lines, want a header and 6 points:\n%s", n, want.curve)
	}
	if result.Last.Steps != 11*128 {
		t.Errorf("%d steps, want %d", result.Last.Steps, 11*128)
	}
	cuts := 0 // in deep tests after each iteration but the last
	for ; ; cuts += deep.N(3, 1) {
		o := options(t.TempDir())
		o.Workers = 1 + cuts%2
		if !cut(t, r, o, 1+cuts) {
			break
		}
		folder := filepath.Join(o.Dir, r.Folder(o.Seed))
		leftover := filepath.Join(folder, ".tmp-1234567890")
		if err := os.WriteFile(leftover, []byte("half a li"), 0o600); err != nil {
			t.Fatal(err)
		}
		// As if it had been killed once more, between the curve and the checkpoint.
		checkpoint, err := os.ReadFile(filepath.Join(folder, "checkpoint"))
		if err == nil && cuts < 8 {
			cut(t, r, o, 3)
			if err := os.WriteFile(filepath.Join(folder, "checkpoint"), checkpoint, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := whatMade(t, mustRun(t, r, o)); got != want {
			t.Errorf("cut after %d iterations: %v:\n%s, want %v:\n%s", 1+cuts, got.last, got.curve, want.last, want.curve)
		}
		if _, err := os.Stat(leftover); err == nil {
			t.Error("what was left of a file is still there")
		}
		// All is done: nothing further happens.
		if got := whatMade(t, mustRun(t, r, o)); got != want {
			t.Errorf("%v after a run with nothing to do, want %v", got.last, want.last)
		}
	}
	if cuts < 10 || cuts > 12 {
		t.Errorf("no cut after %d iterations, want the last one after 10", 1+cuts)
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

// Where no episode ends in a segment, the curve has no mean of them, before and after
// a run is cut.
func TestRunsWithoutWholeEpisodes(t *testing.T) {
	r := tiny(func(e env.Env) env.Env { return &endless{Env: e} })
	want := whatMade(t, mustRun(t, r, options(t.TempDir())))
	for i, line := range strings.Split(strings.TrimSpace(want.curve), "\n")[1:] {
		if f := strings.Split(line, ","); f[1] == "" || f[2] != "" || f[3] != "" || f[4] == "" {
			t.Errorf("point %d is %s; a score, an entropy and neither return nor length are wanted", i, line)
		}
	}
	o := options(t.TempDir())
	if !cut(t, r, o, 5) {
		t.Fatal("it was done before it could be cut")
	}
	if got := whatMade(t, mustRun(t, r, o)); got != want {
		t.Errorf("%v:\n%s, want %v:\n%s", got.last, got.curve, want.last, want.curve)
	}
}

// A run of DQN begins each segment with an empty replay buffer.
func TestRunsOfDQNGoOn(t *testing.T) {
	all := []struct {
		name  string
		steps int64
	}{{"rl-float-GOODSCALING-dqn-64", 2 * 1024}, {"d3qn", 3 * 800}, {"d3qn-own", 3 * 800}}
	for _, c := range all[:deep.N(1, len(all))] {
		t.Run(c.name, func(t *testing.T) {
			r, err := Find(c.name, "")
			if err != nil {
				t.Fatal(err)
			}
			o := options(t.TempDir())
			o.Steps = c.steps
			want := whatMade(t, mustRun(t, r, o))
			o.Dir, o.Workers = t.TempDir(), 2
			if !cut(t, r, o, 1) {
				t.Fatal("it was done before it could be cut")
			}
			if got := whatMade(t, mustRun(t, r, o)); got != want {
				t.Errorf("%v:\n%s, want %v:\n%s", got.last, got.curve, want.last, want.curve)
			}
		})
	}
}

// Every recipe is of one track, and streams have the agents of batches.
func TestRecipesOfTracks(t *testing.T) {
	all := 0
	for track, name := range map[algo.TrackName]string{algo.TrackBatch: "agent-ANY", algo.TrackDispatch: "rl-deadline-enhanced", algo.TrackCorun: "d3qn"} {
		of := OfTrack(track)
		if !slices.ContainsFunc(of, func(r *Recipe) bool { return r.Name == name }) {
			t.Errorf("%s is not of track %s", name, track)
		}
		all += len(of)
	}
	if n := len(Recipes()); all != n {
		t.Errorf("%d recipes by track, want %d", all, n)
	}
	if len(OfTrack(algo.TrackStream)) != len(OfTrack(algo.TrackBatch)) || len(OfTrack(algo.TrackPlacement)) > 0 {
		t.Error("streams have other recipes than batches, or placement has some")
	}
}

func TestWorkersChangeNothing(t *testing.T) {
	var made []made
	for workers := range 3 {
		o := options(t.TempDir())
		o.Workers = workers
		made = append(made, whatMade(t, mustRun(t, tiny(nil), o)))
	}
	if made[0] != made[1] || made[1] != made[2] {
		t.Errorf("0, 1 and 2 workers: %v, %v and %v", made[0].last, made[1].last, made[2].last)
	}
	o := options(t.TempDir())
	o.Seed = 2
	if whatMade(t, mustRun(t, tiny(nil), o)) == made[0] {
		t.Error("another seed gives the same")
	}
}

// otherKernel is one of another type that holds nothing either.
type otherKernel struct{}

func (otherKernel) Affine(y, x, w, b []float32, n, in, out int) {
	nn.Portable().Affine(y, x, w, b, n, in, out)
}

func (otherKernel) InputGradient(dx, dy, w []float32, n, in, out int) {
	nn.Portable().InputGradient(dx, dy, w, n, in, out)
}

func (otherKernel) WeightGradient(dw, db, x, dy []float32, n, in, out int) {
	nn.Portable().WeightGradient(dw, db, x, dy, n, in, out)
}

func TestRunsOfOtherSettingsAreNotResumed(t *testing.T) {
	o := options(t.TempDir())
	folder := filepath.Join(o.Dir, tiny(nil).Folder(o.Seed))
	mustRun(t, tiny(nil), o)
	for _, c := range []struct {
		what   string
		change func(r *Recipe, o *Options)
	}{
		{"recipe", func(r *Recipe, _ *Options) { r.Name = "other" }},
		{"steps", func(_ *Recipe, o *Options) { o.Steps = 5000 }},
		{"seed", func(_ *Recipe, o *Options) { o.Seed = 7 }},
		{"kernel", func(_ *Recipe, o *Options) { o.Kernel = otherKernel{} }},
		{"network", func(r *Recipe, _ *Options) {
			original := r.setup
			r.setup = func(k nn.Kernel, steps int64, seed uint64) (setup, error) {
				s, err := original(k, steps, seed)
				s.policy = nn.NewActor(1, []int{2}, 3, k)
				return s, err
			}
		}},
		{"settings", func(r *Recipe, _ *Options) {
			original := r.setup
			r.setup = func(k nn.Kernel, steps int64, seed uint64) (setup, error) {
				s, err := original(k, steps, seed)
				s.text = "others"
				return s, err
			}
		}},
	} {
		r, changed := tiny(nil), o
		c.change(r, &changed)
		if to := filepath.Join(o.Dir, r.Folder(changed.Seed)); to != folder {
			if err := os.CopyFS(to, os.DirFS(folder)); err != nil {
				t.Fatal(err)
			}
		}
		_, err := Run(t.Context(), r, changed)
		var mismatch *MismatchError
		if !errors.As(err, &mismatch) || mismatch.What != c.what || mismatch.Have == mismatch.Want {
			t.Errorf("another %s: %v", c.what, err)
		}
	}
	mustRun(t, tiny(nil), o) // is still there
}

func TestDamagedFilesAreNamed(t *testing.T) {
	r := tiny(nil)
	good := options(t.TempDir())
	cut(t, r, good, 7)
	lines := func(change func(lines []string) []string) func(string) string {
		return func(text string) string {
			l := strings.Split(strings.TrimSpace(text), "\n")
			return strings.Join(change(l), "\n") + "\n"
		}
	}
	field := func(i int, to string) func(string) string {
		return lines(func(l []string) []string {
			f := strings.Split(l[2], ",")
			f[i] = to
			l[2] = strings.Join(f, ",")
			return l
		})
	}
	for _, c := range []struct {
		file, want string
		damage     func(string) string
	}{
		{"checkpoint", "", func(string) string { return "" }},
		{"checkpoint", "", func(s string) string { return s[:len(s)/2] }},
		{"checkpoint", "", func(s string) string { return s[:200] + string(s[200]+1) + s[201:] }},
		{"checkpoint", "", func(s string) string { return s + "x" }},
		{"run.json", "", func(s string) string { return s[:len(s)/2] }},
		{"curve.csv", "remove the folder", nil},
		{"curve.csv", ":1: the file is empty", func(string) string { return "" }},
		{"curve.csv", "", func(s string) string { return s[:len(s)-30] }},
		{"curve.csv", ":1: ", func(s string) string { return strings.Replace(s, "score", "scor", 1) }},
		{"curve.csv", ":3: steps", field(0, "5x12")},
		{"curve.csv", ":3: steps", field(0, "256")},
		{"curve.csv", ":3: steps", field(0, "-512")},
		{"curve.csv", ":3: score", field(1, "12.5.")},
		{"curve.csv", ":3: entropy", field(4, "NaN")},
		{"curve.csv", "ends at step 512", lines(func(l []string) []string { return l[:len(l)-1] })},
		{"curve.csv", "has 2 points", lines(func(l []string) []string { return slices.Delete(l, 2, 3) })},
	} {
		o := good
		o.Dir = t.TempDir()
		if err := os.CopyFS(o.Dir, os.DirFS(good.Dir)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(o.Dir, r.Folder(o.Seed), c.file)
		if c.damage == nil {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(path, []byte(c.damage(mustRead(t, path))), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Run(t.Context(), r, o)
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want the file and %q", c.file, err, c.want)
		}
		if bad := new(learn.CheckpointError); c.file == "checkpoint" && !errors.As(err, &bad) {
			t.Errorf("%v is no *learn.CheckpointError", err)
		}
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
	want := whatMade(t, mustRun(t, tiny(nil), options(t.TempDir())))
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
	if got := whatMade(t, mustRun(t, tiny(nil), o)); got != want {
		t.Errorf("it goes on to %v, want %v", got.last, want.last)
	}
}

// What is installed is the curve, and the weights of what is shipped; the first run has no number.
func TestInstall(t *testing.T) {
	for _, c := range []struct {
		seed    uint64
		shipped bool
		want    []string
	}{
		{1, true, []string{WeightsFolder + "/tiny.weights", CurvesFolder + "/tiny-seed1.csv"}},
		{2, true, []string{WeightsFolder + "/tiny-seed2.weights", CurvesFolder + "/tiny-seed2.csv"}},
		{1, false, []string{CurvesFolder + "/tiny-seed1.csv"}},
	} {
		r, o, root := tiny(nil), options(t.TempDir()), t.TempDir()
		r.Shipped, o.Seed, o.Steps = c.shipped, c.seed, 1
		result := mustRun(t, r, o)
		if err := result.Install(root, r, o.Seed); err != nil {
			t.Fatal(err)
		}
		for _, name := range c.want {
			from := result.Curve
			if strings.HasSuffix(name, ".weights") {
				from = result.Weights
			}
			if mustRead(t, filepath.Join(root, name)) != mustRead(t, from) {
				t.Errorf("%s is not %s", name, from)
			}
		}
		if n := len(c.want); n == 1 {
			if _, err := os.Stat(filepath.Join(root, WeightsFolder)); err == nil {
				t.Errorf("seed %d, shipped %v: weights were installed", c.seed, c.shipped)
			}
		}
	}
}

// sampled reports whether a test prepares the network of a recipe: all in deep tests, otherwise
// those for one workload or for none.
func sampled(r *Recipe) bool {
	return deep.On() || !slices.ContainsFunc(agents.Workloads, func(w string) bool { return w != "WIDETIMES" && strings.Contains(r.Name, w) })
}

// A recipe that is not shipped can be made ready, every fourth unless the tests are deep; those
// that are are looked at beside the agents.
func TestRecipes(t *testing.T) {
	names := map[string]bool{}
	for i, r := range Recipes() {
		if names[r.Name] || r.Doc == "" || r.Steps < 1 || len(r.Seeds) == 0 || r.Score == "" {
			t.Errorf("%+v is twice there or lacks something", r)
		}
		names[r.Name] = true
		if found, err := Find(r.Name, ""); err != nil || found.Name != r.Name {
			t.Errorf("%s is not found: %v", r.Name, err)
		}
		if r.Shipped || i%deep.N(4, 1) != 0 {
			continue
		}
		s, err := r.setup(nn.Portable(), r.Steps, 1)
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		if s.policy == nil || s.learner == nil || s.score == nil || s.perIteration < 1 || s.text == "" {
			t.Errorf("%s: its setup lacks something", r.Name)
		}
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct{ name, workload, want string }{
		{"agent", "", "agent-ANY"},
		{"agent", "POORSCALING", "agent-POORSCALING"},
		{"Agent-any", "", "agent-ANY"},
		{"rl-direct", "", "rl-direct-WIDETIMES"},
		{"rl-direct", "goodscaling", "rl-direct-GOODSCALING"},
		{"rl-float-GOODSCALING-N7", "", "rl-float-GOODSCALING-N7"},
		{"rl-deadline", "", "rl-deadline-enhanced"},
		{"rl-deadline", "tight", "rl-deadline-tight"},
	} {
		if r, err := Find(c.name, c.workload); err != nil || r.Name != c.want {
			t.Errorf("%q on %q: %v, %v, want %s", c.name, c.workload, r, err, c.want)
		}
	}
	for _, c := range []struct{ name, workload, kind, nearest string }{
		{"rl-direkt-WIDETIMES", "", "agent", "rl-direct-WIDETIMES"},
		{"agen", "", "agent", "agent"},
		{"rl-direkt", "", "agent", "rl-direct"},
		{"", "", "agent", ""},
		{"agent", "WIDETIME", "workload of agent", "WIDETIMES"},
	} {
		_, err := Find(c.name, c.workload)
		var unknown *nearest.UnknownError
		if !errors.As(err, &unknown) || unknown.Kind != c.kind || c.nearest != "" && unknown.Nearest != c.nearest {
			t.Errorf("%q on %q: %v, want an unknown %s and %q", c.name, c.workload, err, c.kind, c.nearest)
		}
	}
}

// TestDeadlineRecipesFollowTheirSource: the report's best agent is trained as in the authors'
// notebook, and the one that is called text as in the report.
func TestDeadlineRecipesFollowTheirSource(t *testing.T) {
	for name, want := range map[string]struct {
		options  env.DeadlineOptions
		horizon  int
		lastRate float64
	}{
		"enhanced": {env.DeadlineOptions{Released: true, Energy: env.EnergyAsReleased}, 1024, 3e-4},
		"tight":    {env.DeadlineOptions{Released: true, Energy: env.EnergyAsReleased}, 1024, 3e-4},
		"float32":  {env.DeadlineOptions{Released: true, Energy: env.EnergyAsReleased}, 1024, 3e-4},
		"text":     {env.DeadlineOptions{}, 2048, 1e-5},
	} {
		i := slices.IndexFunc(agents.DeadlineAgents, func(a agents.DeadlineAgent) bool { return a.Name == name })
		a := &agents.DeadlineAgents[i]
		c := deadlineConfig(a.DeadlineOptions, 500_000)
		if a.DeadlineOptions != want.options || c.Horizon != want.horizon || c.LearningRate.At(1) != want.lastRate {
			t.Errorf("%s: %+v, %d steps before an update, rate %v at the end; want %+v", name, a.DeadlineOptions, c.Horizon, c.LearningRate.At(1), want)
		}
		// Table 5 for both.
		if c.Envs != 8 || c.Minibatch != 4096 || c.Epochs != 10 || c.Clip != 0.15 || c.LearningRate.At(0) != 3e-4 || c.Entropy.At(0) != 0.02 || c.Entropy.At(1) != 0.001 {
			t.Errorf("%s: %+v is not Table 5", name, c)
		}
	}
}

// TestWholeDays: the agent float32 learns in one segment from jobs with float32 times.
func TestWholeDays(t *testing.T) {
	r, err := Find("rl-deadline-float32", "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.setup(nn.Portable(), r.Steps, 1)
	if err != nil {
		t.Fatal(err)
	}
	if s.segments != 1 || r.Steps%s.perIteration != 0 {
		t.Errorf("%d segments, %d steps, %d an update", s.segments, r.Steps, s.perIteration)
	}
	sampler, err := datasets.NewDaySampler("deadline/relaxed", gpu())
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range rounded(sampler.Draw)(rand.New(rand.NewPCG(1, 2)), nil) {
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
	used, shapes := map[string]float64{}, map[string]int{}
	for kind, name := range map[string]string{"Original": "original", "Enhanced": "text"} {
		a := agents.DeadlineAgents[slices.IndexFunc(agents.DeadlineAgents, func(a agents.DeadlineAgent) bool { return a.Name == name })]
		r, err := Find(a.WeightsName(), "")
		if err != nil {
			t.Fatal(err)
		}
		c := deadlineConfig(a.DeadlineOptions, r.Steps)
		for i, units := range a.Hidden {
			used[fmt.Sprintf("%s units of hidden layer %d", kind, i+1)] = float64(units)
		}
		for setting, v := range map[string]float64{
			"batch size": float64(c.Minibatch), "training epochs": float64(c.Epochs), "timesteps": float64(r.Steps), "clip range": c.Clip, "parallel environments": float64(c.Envs),
			"learning rate": c.LearningRate.At(0), "first learning rate": c.LearningRate.At(0), "last learning rate": c.LearningRate.At(1),
			"entropy coefficient": c.Entropy.At(0), "first entropy coefficient": c.Entropy.At(0), "last entropy coefficient": c.Entropy.At(1),
		} {
			used[kind+" "+setting] = v
		}
		shapes[kind] = a.Shape().Observation
	}
	compared := 0
	for _, claim := range slices.Concat(report.Claims.Of("table1"), report.Claims.Of("table5")) {
		if claim.Basis != figures.Input || strings.HasSuffix(claim.Name, " slack") {
			continue
		}
		compared++
		if v, ok := used[claim.Name]; !ok || math.Abs(v-claim.Published) > 1e-12 {
			t.Errorf("%s: the agent has %v, the report %v", claim.Name, v, claim.Published)
		}
	}
	if compared != 7+7+14 {
		t.Errorf("%d settings are compared, want 7 of Table 1 and 21 of Table 5", compared)
	}
	printed := func(name string) int { return int(report.Claims.Published("table4", name)) }
	bins := printed("bins of the queue")
	// The rest is the state of 20 slices, and for the enhanced agent their sizes and 3 more.
	if original, enhanced := printed("Original features of the next job"), printed("Enhanced features of the next job"); shapes["Original"] != original+bins+20 || shapes["Enhanced"] != enhanced+bins+2*20+3 {
		t.Errorf("the agents see %v numbers, Table 4 has %d and %d features and %d bins", shapes, original, enhanced, bins)
	}
}
