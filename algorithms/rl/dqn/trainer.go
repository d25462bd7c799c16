package dqn

import (
	"math"

	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/internal/learn"
	"miglab/algorithms/rl/nn"
)

// A Trainer trains one network of action values. Its methods are called one at a time.
type Trainer struct {
	*learn.Trainer
	cfg            Config
	policy, target nn.Policy
	replay         *replay
	shards         []*shard

	batch []int32 // slots of the replay

	// The work of a shard, created once so that iterations do not allocate.
	act, gradientFunc func(int)

	updates int64
}

// shard holds the data of one shard in addition to its environments.
type shard struct {
	*learn.Shard
	target             nn.Policy
	observations, next []float32 // of its share of a batch, gathered
	futures            []float32 // values of the states after the transitions
	d                  []float32 // derivatives of the loss
	chosen             []int     // the best action after each transition: by the policy if Double, else by the target
	loss               float64   // the sum over its share
	candidates         env.Candidates
}

// New returns a trainer of a policy, at the beginning of segment 0. target must be another network
// of the same architecture; its parameters are overwritten. Neither network has a critic.
func New(cfg Config, policy, target nn.Policy, makeEnv func() env.Env, seed uint64) *Trainer {
	core := learn.NewTrainer(learn.Settings{
		Name: "dqn", Envs: cfg.Envs, Shards: cfg.Shards, TotalSteps: cfg.TotalSteps,
		LearningRate: cfg.LearningRate, Exploration: cfg.Epsilon, MaxNorm: maxNorm, Seed: seed,
	}, policy, makeEnv)
	t := &Trainer{
		Trainer: core, cfg: cfg, policy: policy, target: target,
		replay: newReplay(core.Shape, cfg.Envs, cfg.Buffer, isChooser(core.Shards[0])),
		batch:  make([]int32, cfg.Batch),
	}
	t.Counters, t.Vectors = append(t.Counters, &t.updates), append(t.Vectors, target.Parameters())
	copy(target.Parameters(), policy.Parameters())
	share := (cfg.Batch + cfg.Shards - 1) / cfg.Shards
	for _, s := range t.Shards {
		t.shards = append(t.shards, &shard{
			Shard:        s,
			target:       target.Share(),
			observations: make([]float32, share*policy.Inputs()),
			next:         make([]float32, share*policy.Inputs()),
			futures:      make([]float32, share),
			d:            make([]float32, share*policy.Actions()),
			chosen:       make([]int, share),
		})
	}
	t.act = func(k int) { t.step(t.shards[k]) }
	t.gradientFunc = t.gradient
	t.Body = t.iterate
	t.Restart(0)
	return t
}

// Restart begins a segment of training as [learn.Trainer.Restart] says and empties the replay
// buffer. Segments should be long compared with LearnStart.
func (t *Trainer) Restart(segment uint64) {
	t.Trainer.Restart(segment)
	t.replay.clear()
	for _, s := range t.shards {
		t.observeAndChoose(s, t.replay.head)
	}
}

// iterate runs one iteration; see [learn.Trainer].Body.
func (t *Trainer) iterate(workers int) error {
	updates := t.updates
	for range t.cfg.Horizon {
		learn.Each(workers, len(t.shards), t.act)
		row := t.replay.head * t.cfg.Envs
		t.replay.advance()
		t.Count += int64(t.cfg.Envs)
		if err := learn.Finite(t.Count, "a reward", t.replay.rewards[row:row+t.cfg.Envs]...); err != nil {
			return err
		}
		if t.replay.size() < t.cfg.LearnStart {
			continue
		}
		for range t.cfg.GradientSteps {
			if err := t.update(workers); err != nil {
				return err
			}
		}
	}
	if n := float64(t.updates - updates); n > 0 {
		t.Stats.ValueLoss /= n
	}
	return nil
}

// observeAndChoose writes the observations of a shard's environments to a row of the replay. In an [env.Chooser], it
// also chooses one of the candidates, such as the jobs that run together, and an action for it.
func (t *Trainer) observeAndChoose(s *shard, row int) {
	if isChooser(s.Shard) {
		for i := range s.End - s.Begin {
			t.choose(s, i, row*t.cfg.Envs+s.Begin+i)
		}
		return
	}
	s.Observe(&t.replay.Rows, row*t.cfg.Envs+s.Begin)
}

// step acts in a shard's environments and observes the result.
func (t *Trainer) step(s *shard) {
	begin, end := t.replay.head*t.cfg.Envs+s.Begin, t.replay.head*t.cfg.Envs+s.End
	if !isChooser(s.Shard) { // otherwise observeAndChoose has chosen
		t.decide(s, begin, end)
	}
	s.Step(t.replay.actions[begin:end], t.replay.rewards[begin:end], t.replay.dones[begin:end])
	t.observeAndChoose(s, t.replay.after(t.replay.head))
}

// decide chooses the actions of some slots of the replay.
func (t *Trainer) decide(s *shard, begin, end int) {
	inputs, actions := t.Shape.Observation, t.Shape.Actions
	values, _ := s.Policy.Forward(t.replay.Observations[begin*inputs:end*inputs], end-begin)
	for i := range end - begin {
		mask := t.replay.Mask(begin + i)
		if s.Rand.Float64() < t.Stats.Exploration {
			t.replay.actions[begin+i] = int32(drawIndex(mask, s.Rand))
		} else {
			t.replay.actions[begin+i] = int32(env.Likeliest(values[i*actions:(i+1)*actions], mask))
		}
	}
}

// update learns from one batch and adds its loss to t.Stats.
func (t *Trainer) update(workers int) error {
	for i := range t.batch {
		t.batch[i] = int32(t.replay.slot(t.Rand.IntN(t.replay.size())))
	}
	learn.Each(workers, len(t.shards), t.gradientFunc)

	loss := 0.0
	for _, s := range t.shards {
		loss += s.loss
	}
	loss /= float64(len(t.batch))
	if err := learn.Finite(t.Count, "the loss", loss); err != nil {
		return err
	}
	if err := t.Descend(); err != nil {
		return err
	}
	t.Stats.ValueLoss += loss
	t.updates++
	if t.updates%int64(t.cfg.TargetEvery) == 0 {
		copy(t.target.Parameters(), t.policy.Parameters())
	}
	return nil
}

// gradient computes the loss of a shard's share of the batch and its gradient.
func (t *Trainer) gradient(k int) {
	s := t.shards[k]
	s.loss = 0
	batch := t.batch[k*len(t.batch)/len(t.shards) : (k+1)*len(t.batch)/len(t.shards)]
	n, inputs, actions := len(batch), t.Shape.Observation, t.Shape.Actions
	if n == 0 {
		clear(s.Policy.Gradients())
		return
	}
	for i, slot := range batch {
		copy(s.observations[i*inputs:(i+1)*inputs], t.replay.Observation(int(slot)))
		copy(s.next[i*inputs:(i+1)*inputs], t.replay.bestCandidate.Observation(t.replay.next(int(slot))))
	}
	t.future(s, batch)
	values, _ := s.Policy.Forward(s.observations[:n*inputs], n)
	d := s.d[:n*actions]
	clear(d)
	for i, slot := range batch {
		j := i*actions + int(t.replay.actions[slot])
		goal := float64(t.replay.rewards[slot]) + float64(t.cfg.Gamma*float64(s.futures[i]))
		loss, slope := huber(float64(values[j]) - goal)
		s.loss += loss
		d[j] = float32(slope / float64(len(t.batch)))
	}
	s.Policy.Backward(d, nil)
}

// huber returns the Huber loss of an error, squared up to 1 and linear beyond, and its derivative.
func huber(miss float64) (loss, slope float64) {
	if math.Abs(miss) > 1 {
		return math.Abs(miss) - 0.5, math.Copysign(1, miss)
	}
	return miss * miss / 2, miss
}

// future computes the value of the state after each transition of a batch, 0 at the end of an episode.
func (t *Trainer) future(s *shard, batch []int32) {
	n, inputs, actions := len(batch), t.Shape.Observation, t.Shape.Actions
	judge := s.target
	if t.cfg.Double {
		judge = s.Policy
	}
	values, _ := judge.Forward(s.next[:n*inputs], n)
	for i, slot := range batch {
		mask := t.replay.bestCandidate.Mask(t.replay.next(int(slot)))
		s.chosen[i] = env.Likeliest(values[i*actions:(i+1)*actions], mask)
	}
	if t.cfg.Double {
		values, _ = s.target.Forward(s.next[:n*inputs], n)
	}
	for i, slot := range batch {
		s.futures[i] = values[i*actions+s.chosen[i]]
		if t.replay.dones[slot] {
			s.futures[i] = 0
		}
	}
}
