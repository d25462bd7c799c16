// Package train trains the agents. A [Recipe] says what an agent learns from and for how
// long; [Run] carries it out and can resume it.
//
// A run is split into segments. At the end of each, the agent is evaluated on fixed
// instances, a line is added to the learning curve and a checkpoint is written. The next
// segment restarts all environments from the seed and the number of the segment. So a run
// that was killed resumes at its last checkpoint and ends with the same curve and the same
// weights, to the last bit.
package train

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"miglab/algorithms/rl/agents"
	"miglab/algorithms/rl/internal/learn"
	"miglab/algorithms/rl/nn"
	"miglab/harness/atomicfile"
	"miglab/harness/curve"
)

// segments is the usual number of segments of a run.
const segments = 40

// Options say how a recipe is carried out.
type Options struct {
	// Steps is the number of steps in all environments; 0 means that of the recipe.
	Steps int64
	Seed  uint64
	// Dir gets a folder for the run; see [Recipe.Folder].
	Dir string
	// Workers limits the number of goroutines. It does not change the result.
	Workers int
	// Kernel computes the products. A kernel with other rounding gives another, equally good
	// run.
	Kernel nn.Kernel
	// Shared means that another process may work on the same run. Temporary files of killed
	// processes then stay, because the other process may be writing them.
	Shared bool
	// Progress, if set, is called with the number of steps done and the total.
	Progress func(done, all int64)
}

// Result holds the paths of a run's files.
type Result struct {
	// Curve is the learning curve (CSV), Weights the file of the agent's weights.
	Curve, Weights string
	// Last is the last point of the curve.
	Last curve.Point
}

// A learner is a trainer of package ppo or dqn.
type learner interface {
	Steps() int64
	Iterate(ctx context.Context, workers int) (learn.Stats, error)
	Restart(segment uint64)
	Save(w io.Writer) error
	Load(r io.Reader) error
}

// MismatchError says that a folder holds a run with other settings.
type MismatchError struct{ Folder, What, Have, Want string }

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s holds a run with %s %s, not %s: give another --out, or remove the folder to start again",
		e.Folder, e.What, e.Have, e.Want)
}

// identity holds the settings that a resumed run must share.
type identity struct {
	Recipe  string `json:"recipe"`
	Steps   int64  `json:"steps"`
	Seed    uint64 `json:"seed"`
	Kernel  string `json:"kernel"`
	Network string `json:"network"`
	// Environment and the learner's settings, spelled out.
	Setup string `json:"setup"`
}

// A session is a recipe in progress.
type session struct {
	Options
	recipe  *Recipe
	folder  string
	policy  nn.Policy
	learner learner
	score   func(nn.Policy) (float64, error)
	// perIteration and perSegment are steps.
	perIteration, perSegment int64
	curve                    []curve.Point
	segment                  uint64
}

// Folder is the name of a run's folder.
func (r *Recipe) Folder(seed uint64) string { return fmt.Sprintf("%s-seed%d", r.Name, seed) }

// Run trains an agent. It resumes an interrupted run of the same recipe, steps and seed. If
// training diverges, the error is a [*learn.DivergedError] and the last checkpoint stays.
func Run(ctx context.Context, r *Recipe, o Options) (Result, error) {
	if o.Steps == 0 {
		o.Steps = r.Steps
	}
	s := &session{Options: o, recipe: r, folder: filepath.Join(o.Dir, r.Folder(o.Seed))}
	if err := s.begin(); err != nil {
		return Result{}, err
	}
	for s.done() < o.Steps {
		if err := s.advance(ctx); err != nil {
			return Result{}, err
		}
	}
	return s.finish()
}

func (s *session) path(name string) string { return filepath.Join(s.folder, name) }

func (s *session) done() int64 {
	if len(s.curve) == 0 {
		return 0
	}
	return s.curve[len(s.curve)-1].Steps
}

// begin sets up the run and reads the last checkpoint if there is one.
func (s *session) begin() error {
	setup, err := s.recipe.setup(s.Kernel, s.Steps, s.Seed)
	if err != nil {
		return err
	}
	s.policy, s.learner, s.score, s.perIteration = setup.policy, setup.learner, setup.score, setup.perIteration
	s.perSegment = s.Steps / cmp.Or(setup.segments, segments)
	want := identity{
		Recipe: s.recipe.Name, Steps: s.Steps, Seed: s.Seed,
		Kernel: fmt.Sprintf("%T", s.Kernel), Network: s.policy.String(), Setup: setup.text,
	}
	if !s.Shared {
		if err := atomicfile.Sweep(s.folder); err != nil {
			return err
		}
	}
	if err := s.agree(want); err != nil {
		return err
	}
	f, err := os.Open(s.path("checkpoint"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := s.learner.Load(bufio.NewReader(f)); err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	return s.readCurve()
}

// agree writes the run's identity to its folder, or compares it with the one there.
func (s *session) agree(want identity) error {
	file := s.path("run.json")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return atomicfile.WriteFile(file, func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			return e.Encode(want)
		})
	}
	if err != nil {
		return err
	}
	var have identity
	if err := json.Unmarshal(text, &have); err != nil {
		return fmt.Errorf("%s: %w; remove the folder to start again", file, err)
	}
	for _, f := range []struct{ what, have, want string }{
		{"recipe", have.Recipe, want.Recipe},
		{"steps", strconv.FormatInt(have.Steps, 10), strconv.FormatInt(want.Steps, 10)},
		{"seed", strconv.FormatUint(have.Seed, 10), strconv.FormatUint(want.Seed, 10)},
		{"kernel", have.Kernel, want.Kernel},
		{"network", have.Network, want.Network},
		{"settings", have.Setup, want.Setup},
	} {
		if f.have != f.want {
			return &MismatchError{s.folder, f.what, f.have, f.want}
		}
	}
	return nil
}

// iterations is the number of iterations of a segment; the last segment may have fewer.
func (s *session) iterations() int64 { return max(1, s.perSegment/s.perIteration) }

// advance trains for a segment, adds a point to the curve and writes a checkpoint.
func (s *session) advance(ctx context.Context) error {
	s.segment = uint64(len(s.curve))
	s.learner.Restart(s.segment)
	iterations := s.iterations()
	var sum curve.Point
	episodes := 0
	for i := range iterations {
		stats, err := s.learner.Iterate(ctx, s.Workers)
		if err != nil {
			return err
		}
		episodes += stats.Episodes
		sum.Return += stats.Return * float64(stats.Episodes)
		sum.Length += stats.Length * float64(stats.Episodes)
		sum.Entropy += stats.Entropy
		sum.PolicyLoss += stats.PolicyLoss
		sum.ValueLoss += stats.ValueLoss
		sum.ExplainedVariance += stats.ExplainedVariance
		sum.LearningRate, sum.Exploration = stats.LearningRate, stats.Exploration
		sum.Steps = stats.Steps
		if s.Progress != nil {
			s.Progress(stats.Steps, s.Steps)
		}
		if stats.Steps >= s.Steps {
			iterations = i + 1
			break
		}
	}
	n := float64(iterations)
	sum.Entropy, sum.PolicyLoss, sum.ValueLoss, sum.ExplainedVariance = sum.Entropy/n, sum.PolicyLoss/n, sum.ValueLoss/n,
		sum.ExplainedVariance/n
	// NaN where no episode ended.
	sum.Return, sum.Length = sum.Return/float64(episodes), sum.Length/float64(episodes)
	var err error
	if sum.Score, err = s.score(s.policy); err != nil {
		return err
	}
	sum.Round()
	s.curve = append(s.curve, sum)
	// Write the curve first: a resumed run drops the lines beyond the checkpoint.
	if err := s.writeCurve(); err != nil {
		return err
	}
	return atomicfile.WriteFile(s.path("checkpoint"), s.learner.Save)
}

func (s *session) writeCurve() error {
	return atomicfile.WriteFile(s.path("curve.csv"), func(w io.Writer) error { return curve.Write(w, s.curve) })
}

// readCurve reads the points up to the checkpoint.
func (s *session) readCurve() error {
	at := s.learner.Steps()
	text, err := os.ReadFile(s.path("curve.csv"))
	if err != nil {
		return fmt.Errorf("%w; the checkpoint has no curve: remove the folder to start again", err)
	}
	points, err := curve.Read(bytes.NewReader(text), s.path("curve.csv"))
	if err != nil {
		return err
	}
	for _, p := range points {
		if p.Steps <= at {
			s.curve = append(s.curve, p)
		}
	}
	if s.done() != at {
		return fmt.Errorf("%s ends at step %d and the checkpoint at %d; remove the folder to start again",
			s.path("curve.csv"), s.done(), at)
	}
	// The random draws of a segment depend on its number.
	segment := s.iterations() * s.perIteration
	if want := (at + segment - 1) / segment; int64(len(s.curve)) != want {
		return fmt.Errorf("%s has %d points up to step %d, want %d; remove the folder to start again", s.path("curve.csv"),
			len(s.curve), at, want)
	}
	return nil
}

// finish writes the weights.
func (s *session) finish() (Result, error) {
	out := Result{
		Curve: s.path("curve.csv"), Weights: s.path(s.recipe.Name + agents.Extension),
		Last: s.curve[len(s.curve)-1],
	}
	shipped := s.policy
	if a, ok := shipped.(*nn.ActorCritic); ok {
		shipped = a.Actor()
	}
	meta := s.recipe.meta(shipped, s.done(), s.Seed)
	return out, atomicfile.WriteFile(out.Weights, func(w io.Writer) error {
		return nn.WriteWeights(w, meta, shipped.Parameters())
	})
}

// Kept returns an error if the project does not keep such a run: other runs could be
// mistaken for those that the recipe describes.
func (r *Recipe) Kept(o Options) error {
	if o.Steps != 0 && o.Steps != r.Steps || !slices.Contains(r.Seeds, uint(o.Seed)) {
		return fmt.Errorf("a run of %d steps with seed %d is not what the project keeps of %s: it takes %d steps "+
			"and seeds %v",
			cmp.Or(o.Steps, r.Steps), o.Seed, r.Name, r.Steps, r.Seeds)
	}
	return nil
}

// Install copies the curve of a finished run, and its weights if the agent is shipped, to the
// project's folders. The project must keep the run ([Recipe.Kept]).
func (r *Result) Install(root string, recipe *Recipe, seed uint64) error {
	if recipe.Shipped {
		if err := copyFile(filepath.Join(root, WeightsFolder, agents.RunName(recipe.Name, seed)+agents.Extension),
			r.Weights); err != nil {
			return err
		}
	}
	return copyFile(filepath.Join(root, CurvesFolder, recipe.Folder(seed)+".csv"), r.Curve)
}

// The project's folders for curves and weights.
const (
	WeightsFolder = "algorithms/rl/agents/weights"
	CurvesFolder  = "paper-figures/drl/curves"
)

func copyFile(to, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return atomicfile.Write(to, text)
}

// newRand returns the random stream for the initial weights of a network.
func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x6d69676c6162)) }
