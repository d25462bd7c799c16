// Package train trains the agents. A [Recipe] says what an agent learns from and for how
// long; [Recipe.Unit] is a training as work that is done once, and [Run] does it.
//
// A run is split into segments. At the end of each, the agent is evaluated on fixed instances, a line is added to the
// learning curve and a checkpoint is written. The next segment restarts all environments from the seed and the number
// of the segment. So a run that was killed resumes at its last checkpoint and ends with the same curve and the same
// weights, to the last bit.
package train

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"miglab/algorithms/rl/agents"
	"miglab/algorithms/rl/internal/learn"
	"miglab/algorithms/rl/nn"
	"miglab/algorithms/rl/train/curve"
	"miglab/harness/atomicfile"
	"miglab/harness/wholefile"
	"miglab/harness/work"
)

// segments is the usual number of segments of a run.
const segments = 40

// Options say how a recipe is carried out.
type Options struct {
	Steps int64 // the number of steps in all environments; 0 means [Recipe.Steps]
	Seed  uint64
	Dir   string // gets a folder for the run; see [Recipe.Folder]
	// Workers limits the number of goroutines. It does not change the result.
	Workers int
	// Kernel computes the products. A kernel that rounds differently gives a different run.
	Kernel   nn.Kernel
	Progress func(done, total int64) // if set, is called with the number of steps done and the total
}

// A Result is the record of a finished run.
type Result struct {
	// Steps is the number of steps, and Score is the score at the end.
	Steps int64
	Score float64
	Files map[string]string // the SHA-256 of the curve and of the weights, by path below [Options].Dir
}

// A learner trains a policy; packages ppo and dqn have them.
type learner interface {
	Iterate(ctx context.Context, workers int) (learn.Stats, error)
	// Restart begins a segment, and Save and Load write and read a checkpoint, with a note of the caller.
	Restart(segment uint64)
	Save(w io.Writer, note string) error
	Load(r io.Reader) (note string, err error)
}

// A session is a recipe in progress.
type session struct {
	Options
	recipe *Recipe
	setup
	curve []curve.Point
	// settings lists the settings. A checkpoint is resumed only if its settings are equal.
	settings string
}

// Folder returns the name of a run's folder in [Options].Dir.
func (r *Recipe) Folder(seed uint64) string { return fmt.Sprintf("%s-seed%d", r.Name, seed) }

// CurveFile returns the path of a run's learning curve (CSV).
func (r *Recipe) CurveFile(o Options) string { return r.path(o, "curve.csv") }

// WeightsFile returns the path of the weights of a finished run.
func (r *Recipe) WeightsFile(o Options) string { return r.path(o, r.Name+agents.Extension) }

func (r *Recipe) path(o Options, file string) string {
	return filepath.Join(o.Dir, r.Folder(o.Seed), file)
}

// Checkpoint returns the path of the last checkpoint of a run.
func (r *Recipe) Checkpoint(o Options) string { return r.path(o, "checkpoint") }

// Unit returns a run as work that is done once. do must call [Run] with these options. The record of the work, a
// [Result], is void if the curve or the weights have changed since. It is valid whatever version of the program made
// it.
func (r *Recipe) Unit(o Options, do func(context.Context) (*Result, error)) work.Unit {
	return work.Unit{
		Key:    "training " + r.Folder(o.Seed),
		Digest: fmt.Sprintf("steps=%d kernel=%T", cmp.Or(o.Steps, r.Steps), o.Kernel),
		Do:     func(ctx context.Context) (any, error) { return do(ctx) },
		Holds: func(record json.RawMessage) bool {
			var was Result
			now, err := r.files(o)
			return err == nil && json.Unmarshal(record, &was) == nil && maps.Equal(was.Files, now)
		},
	}
}

// files returns the SHA-256 of the curve and of the weights of a finished run.
func (r *Recipe) files(o Options) (map[string]string, error) {
	out := map[string]string{}
	for _, path := range []string{r.CurveFile(o), r.WeightsFile(o)} {
		sum, err := wholefile.SHA256(path)
		if err != nil {
			return nil, err
		}
		out[filepath.Join(r.Folder(o.Seed), filepath.Base(path))] = sum
	}
	return out, nil
}

// Run trains an agent. It resumes an interrupted run of the same recipe, steps and seed. If
// training diverges, the error is a [*learn.DivergedError] and the last checkpoint stays.
func Run(ctx context.Context, r *Recipe, o Options) (*Result, error) {
	o.Steps = cmp.Or(o.Steps, r.Steps)
	s := &session{Options: o, recipe: r}
	if err := s.begin(); err != nil {
		return nil, err
	}
	for s.done() < o.Steps {
		if err := s.advance(ctx); err != nil {
			return nil, err
		}
	}
	return s.finish()
}

// done returns the number of steps so far.
func (s *session) done() int64 {
	if len(s.curve) == 0 {
		return 0
	}
	return s.curve[len(s.curve)-1].Steps
}

// begin sets up the run and reads the last checkpoint if there is one.
func (s *session) begin() (err error) {
	if s.setup, err = s.recipe.setup(s.Kernel, s.Steps, s.Seed); err != nil {
		return err
	}
	s.settings = s.recipe.Name
	if s.constantFor == 0 {
		s.settings += fmt.Sprintf(" steps=%d", s.Steps)
	}
	s.settings += fmt.Sprintf(" kernel=%T %s", s.Kernel, s.text)
	f, err := os.Open(s.recipe.Checkpoint(s.Options))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	note, err := s.learner.Load(f)
	if _, bad := errors.AsType[*learn.CheckpointError](err); bad {
		return fmt.Errorf("%s: %w; remove its folder to start again", f.Name(), err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	settings, points, _ := strings.Cut(note, "\n")
	if settings != s.settings {
		was, now := firstChange(settings, s.settings)
		with := ""
		if strings.HasPrefix(was, "kernel=") {
			with = " (nn.avx512 is a build with GOEXPERIMENT=simd)"
		}
		return fmt.Errorf("%s is of a run with %q, not %q%s: go on with the flags and the build that began it, give "+
			"another --out, or remove its folder", f.Name(), was, now, with)
	}
	if s.curve, err = curve.Read(strings.NewReader(points), f.Name()); err != nil {
		return err
	}
	if n := len(s.curve); n > 1 && s.curve[n-2].Steps >= s.Steps {
		return fmt.Errorf("%s is of a run with %d steps, more than %d: give another --out, or remove its folder",
			f.Name(), s.done(), s.Steps)
	}
	return nil
}

// segment returns the step by which the next segment must end, and the number of steps that it should have.
func (s *session) segment() (end, length int64) {
	end = s.Steps
	if s.constantFor > 0 {
		for end = s.constantFor; end <= s.done(); {
			end *= 10
		}
	}
	return end, end / cmp.Or(s.segments, segments)
}

// firstChange returns the first word of each text that differs from the word of the other text.
func firstChange(a, b string) (was, now string) {
	for was == now && a != b {
		was, a, _ = strings.Cut(a, " ")
		now, b, _ = strings.Cut(b, " ")
	}
	return was, now
}

// advance trains for a segment, adds a point to the curve and writes a checkpoint.
func (s *session) advance(ctx context.Context) error {
	s.learner.Restart(uint64(len(s.curve)))
	begin, iterations := s.done(), int64(0)
	end, length := s.segment()
	var sum curve.Point
	episodes := 0
	for done := false; !done; {
		stats, err := s.learner.Iterate(ctx, s.Workers)
		if err != nil {
			return err
		}
		episodes += stats.Episodes
		sum.Return += float64(stats.Return * float64(stats.Episodes))
		sum.Length += float64(stats.Length * float64(stats.Episodes))
		sum.Entropy += stats.Entropy
		sum.PolicyLoss += stats.PolicyLoss
		sum.ValueLoss += stats.ValueLoss
		sum.ExplainedVariance += stats.ExplainedVariance
		sum.LearningRate, sum.Exploration = stats.LearningRate, stats.Exploration
		sum.Steps = stats.Steps
		if s.Progress != nil {
			s.Progress(stats.Steps, s.Steps)
		}
		iterations++
		steps := stats.Steps - begin
		// The segment ends before an iteration that would make it too long.
		done = stats.Steps >= end || steps+steps/iterations > length
	}
	n := float64(iterations)
	sum.Entropy /= n
	sum.PolicyLoss /= n
	sum.ValueLoss /= n
	sum.ExplainedVariance /= n
	sum.Return /= float64(episodes) // NaN if no episode has ended
	sum.Length /= float64(episodes)
	var err error
	if sum.Score, err = s.score(s.policy); err != nil {
		return err
	}
	sum.Round()
	s.curve = append(s.curve, sum)
	return s.save()
}

// save writes the curve, and a checkpoint that holds it too.
func (s *session) save() error {
	note := new(strings.Builder)
	fmt.Fprintln(note, s.settings)
	if err := curve.Write(note, s.curve); err != nil {
		return err
	}
	if err := s.writeCurve(); err != nil {
		return err
	}
	return atomicfile.WriteFile(s.recipe.Checkpoint(s.Options), func(w io.Writer) error {
		return s.learner.Save(w, note.String())
	})
}

func (s *session) writeCurve() error {
	return atomicfile.WriteFile(s.recipe.CurveFile(s.Options), func(w io.Writer) error {
		return curve.Write(w, s.curve)
	})
}

// finish writes the curve and the weights.
func (s *session) finish() (*Result, error) {
	shipped := s.policy
	if a, ok := shipped.(*nn.ActorCritic); ok {
		shipped = a.Actor()
	}
	meta := s.recipe.meta
	meta.Agent, meta.Network, meta.Steps, meta.Seed = s.recipe.Name, shipped.String(), uint64(s.done()), s.Seed
	err := atomicfile.WriteFile(s.recipe.WeightsFile(s.Options), func(w io.Writer) error {
		return nn.WriteWeights(w, meta, shipped.Parameters())
	})
	if err := cmp.Or(err, s.writeCurve()); err != nil {
		return nil, err
	}
	files, err := s.recipe.files(s.Options)
	return &Result{Steps: s.done(), Score: s.curve[len(s.curve)-1].Score, Files: files}, err
}

// newRand returns the random stream for the initial weights of a network.
func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x6d69676c6162)) }
