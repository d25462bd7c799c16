package learn

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"

	"golang.org/x/sync/errgroup"

	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/nn"
)

// Settings holds the settings that both algorithms have. Name is the algorithm's name in checkpoints and errors.
type Settings struct {
	Name string
	// Envs is the number of environments. Shards is the number of parts into which they are split, at most Envs.
	Envs, Shards int
	// TotalSteps is the number of steps of all environments to which the anneals are relative.
	TotalSteps                int64
	LearningRate, Exploration Anneal
	MaxNorm                   float64 // the largest norm of gradients; larger ones are clipped
	Seed                      uint64
}

// A Trainer is the part that the trainers of packages ppo and dqn share and embed: environments in shards,
// iterations, which end if a value is not finite, and checkpoints at the end of segments. Results depend on
// the number of shards but not on how many of them run at once.
type Trainer struct {
	Count  int64 // the number of steps of all environments since training began
	Shards []*Shard
	Shape  env.Shape
	Rand   *rand.Rand // draws what is learned from
	// Body runs one iteration with at most workers shards at once, and sets the Stats of its updates. Its error is a
	// *DivergedError.
	Body  func(workers int) error
	Stats Stats // of the present iteration
	// Counters and Vectors are the content of checkpoints. An algorithm appends its own.
	Counters []*int64
	Vectors  [][]float32

	Settings
	policy   nn.Policy
	adam     *nn.Adam
	source   rand.PCG // of Rand
	diverged error    // a *DivergedError, which blocks the trainer until Load, or nil
}

// NewTrainer returns a trainer and makes its environments. It panics if the network is not for their shape. Set Body
// and call Restart before using the trainer.
func NewTrainer(s Settings, policy nn.Policy, makeEnv func() env.Env) *Trainer {
	t := &Trainer{Settings: s, policy: policy, adam: nn.NewAdam(len(policy.Parameters()))}
	t.Counters = []*int64{&t.Count, &t.adam.Steps}
	t.Vectors = [][]float32{policy.Parameters(), t.adam.First, t.adam.Second}
	t.Rand = rand.New(&t.source)
	for k := range s.Shards {
		shard := newShard(k*s.Envs/s.Shards, (k+1)*s.Envs/s.Shards, policy.Share(), makeEnv)
		t.Shape = shard.shape
		if t.Shape != (env.Shape{Observation: policy.Inputs(), Actions: policy.Actions()}) {
			panic(fmt.Sprintf("%s: the network %q is not for environments with %+v", s.Name, policy, t.Shape))
		}
		t.Shards = append(t.Shards, shard)
	}
	return t
}

// Restart begins a segment of training: every environment begins an episode, and every
// stream of random numbers restarts. Both depend only on the seed and the segment. Call it
// at each checkpoint, with the same segments whether or not training was interrupted there:
// then training continues identically, although checkpoints do not contain environments.
func (t *Trainer) Restart(segment uint64) {
	seedStream(&t.source, t.Seed, segment, learning, 0)
	for k, s := range t.Shards {
		s.restart(t.Seed, segment, k)
	}
	t.anneal()
}

// anneal begins the statistics of an iteration.
func (t *Trainer) anneal() {
	progress := float64(t.Count) / float64(t.TotalSteps)
	t.Stats = Stats{}
	t.Stats.LearningRate, t.Stats.Exploration = t.LearningRate.At(progress), t.Exploration.At(progress)
}

// Iterate acts for a horizon of steps in every environment, at most workers shards at once, and learns from them. It
// finishes an iteration that has begun even if ctx ends. After a *DivergedError it returns that error until Load.
func (t *Trainer) Iterate(ctx context.Context, workers int) (Stats, error) {
	if err := cmp.Or(ctx.Err(), t.diverged); err != nil {
		return Stats{}, err
	}
	t.anneal()
	t.diverged = t.Body(workers)
	if t.diverged == nil {
		t.diverged = Finite(t.Count, "a parameter", t.policy.Parameters()...)
	}
	t.Stats.Steps = t.Count
	t.countEpisodes()
	return t.Stats, t.diverged
}

// countEpisodes sets the statistics of the episodes that ended in the iteration.
func (t *Trainer) countEpisodes() {
	to := &t.Stats
	for _, s := range t.Shards {
		to.Episodes += s.episodes
		to.Return += s.sum
		to.Length += s.lengths
		s.episodes, s.sum, s.lengths = 0, 0, 0
	}
	if to.Episodes > 0 {
		to.Return /= float64(to.Episodes)
		to.Length /= float64(to.Episodes)
	}
}

// Descend adds the gradients of the shards in order, clips them and moves the parameters. The
// error is a [*DivergedError].
func (t *Trainer) Descend() error {
	gradients := t.Shards[0].Policy.Gradients()
	if len(t.Shards) > 1 {
		gradients = t.policy.Gradients()
		clear(gradients)
		for _, s := range t.Shards {
			nn.Add(gradients, s.Policy.Gradients())
		}
	}
	norm, scale := nn.ClipNorm(gradients, t.MaxNorm)
	if err := Finite(t.Count, "the norm of gradients", norm); err != nil {
		return err
	}
	t.adam.Step(t.policy.Parameters(), gradients, scale, t.Stats.LearningRate)
	return nil
}

// Save writes the state of training at the end of a segment, with a note for the caller. Call
// Restart afterwards, as after Load.
func (t *Trainer) Save(w io.Writer, note string) error {
	if t.diverged != nil {
		return t.diverged
	}
	return t.state(note).write(w)
}

// Load reads the state that a trainer with the same network and seed wrote, and returns the
// note. Call Restart afterwards. If it returns an error, the trainer is unchanged; the error is
// a *CheckpointError if the checkpoint is the cause.
func (t *Trainer) Load(r io.Reader) (note string, err error) {
	c := t.state("")
	if err := c.read(r); err != nil {
		return "", err
	}
	t.diverged = nil
	return c.Note, nil
}

// state returns a checkpoint that refers to the counters and vectors of the trainer.
func (t *Trainer) state(note string) *checkpoint {
	owner := fmt.Sprintf("%s of %s with seed %d", t.Name, t.policy, t.Seed)
	return &checkpoint{Owner: owner, Note: note, Counters: t.Counters, Vectors: t.Vectors}
}

// Each calls f(0) to f(n-1), at most workers of them at once.
func Each(workers, n int, f func(int)) {
	if workers <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var g errgroup.Group
	g.SetLimit(workers)
	for i := range n {
		g.Go(func() error {
			f(i)
			return nil
		})
	}
	_ = g.Wait() // f has no errors
}
