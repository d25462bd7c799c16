package ppo

import (
	"cmp"

	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/internal/learn"
	"miglab/algorithms/rl/nn"
)

// A Trainer trains one policy. Its methods are called one at a time.
type Trainer struct {
	*learn.Trainer
	cfg Config

	// The experience by step and, within a step, by environment: step t of environment e is
	// at t*Envs + e. values has one more step, in which no action is taken.
	rows               env.Rows
	actions            []int32
	logps, rewards     []float32
	values             []float32
	dones              []bool
	advantages, target []float32

	order     []int32      // of the steps of an epoch
	batch     []int32      // the steps of the minibatch, a part of order
	minibatch []experience // the data of these steps
	parts     []*shard

	rollOut, learnFrom func(int) // the work of a shard, created once so that iterations do not allocate
}

// shard holds the data of one shard in addition to its environments.
type shard struct {
	*learn.Shard
	allowed      []int32   // actions
	weights      []float32 // by action, for sampling
	observations []float32 // of its part of a minibatch, gathered
	dPreferences []float32
	dValues      []float32
	terms        terms
}

// New returns a trainer of the policy in segment 0. The policy needs a critic. It is trained in place.
func New(cfg Config, policy nn.Policy, makeEnv func() env.Env, seed uint64) *Trainer {
	core := learn.NewTrainer(learn.Settings{
		Name: "ppo", Envs: cfg.Envs, Shards: cfg.Shards, TotalSteps: cfg.TotalSteps,
		LearningRate: cfg.LearningRate, Exploration: cfg.Entropy, MaxNorm: maxNorm, Seed: seed,
	}, policy, makeEnv)
	n, inputs, actions := cfg.Envs*cfg.Horizon, policy.Inputs(), policy.Actions()
	t := &Trainer{
		Trainer: core, cfg: cfg,
		actions:    make([]int32, n),
		logps:      make([]float32, n),
		rewards:    make([]float32, n),
		values:     make([]float32, n+cfg.Envs),
		dones:      make([]bool, n),
		advantages: make([]float32, n),
		target:     make([]float32, n),
		order:      make([]int32, n),
		minibatch:  make([]experience, cfg.Minibatch),
	}
	t.rows.Resize(t.Shape, n+cfg.Envs)
	part := (cfg.Minibatch + cfg.Shards - 1) / cfg.Shards
	for _, s := range t.Shards {
		t.parts = append(t.parts, &shard{
			Shard:        s,
			weights:      make([]float32, actions),
			observations: make([]float32, part*inputs),
			dPreferences: make([]float32, part*actions),
			dValues:      make([]float32, part),
		})
	}
	t.rollOut = func(k int) { t.act(t.parts[k]) }
	t.learnFrom = t.gradient
	t.Body = t.iterate
	t.Restart(0)
	return t
}

// Restart begins a segment of training as [learn.Trainer.Restart] says.
func (t *Trainer) Restart(segment uint64) {
	t.Trainer.Restart(segment)
	for i := range t.order {
		t.order[i] = int32(i)
	}
}

// iterate runs one iteration; see [learn.Trainer].Body.
func (t *Trainer) iterate(workers int) error {
	learn.Each(workers, len(t.parts), t.rollOut)
	t.Count += int64(len(t.order))
	err := cmp.Or(learn.Finite(t.Count, "a reward", t.rewards...),
		learn.Finite(t.Count, "a value of the critic", t.values...),
		learn.Finite(t.Count, "the probability of an action", t.logps...))
	if err != nil {
		return err
	}
	t.Stats.ExplainedVariance = learn.ExplainedVariance(t.values[:len(t.target)], t.target)
	return t.update(workers)
}

// act carries out the steps of a shard and computes their advantages.
func (t *Trainer) act(s *shard) {
	inputs, actions, envs := t.Shape.Observation, t.Shape.Actions, t.cfg.Envs
	// A single shard has all rows one after the other. An actor-critic then computes their values at the end, many at
	// once, which is faster and gives the same bits.
	network, separate := s.Policy.(*nn.ActorCritic)
	valuesLater := separate && len(t.parts) == 1
	for step := range t.cfg.Horizon + 1 {
		begin, end := step*envs+s.Begin, step*envs+s.End
		s.Observe(&t.rows, begin)
		observations := t.rows.Observations[begin*inputs : end*inputs]
		var preferences, values []float32
		switch {
		case !valuesLater:
			preferences, values = s.Policy.Forward(observations, end-begin)
			copy(t.values[begin:end], values)
		case step < t.cfg.Horizon:
			preferences = network.Preferences(observations, end-begin)
		}
		if step == t.cfg.Horizon {
			break
		}
		for i := range end - begin {
			s.allowed = actionsIn(t.rows.Mask(begin+i), s.allowed)
			t.actions[begin+i], t.logps[begin+i] = sampleAction(preferences[i*actions:(i+1)*actions], s.allowed,
				s.weights, s.Rand)
		}
		s.Step(t.actions[begin:end], t.rewards[begin:end], t.dones[begin:end])
	}
	if valuesLater {
		t.judge(network)
	}
	for e := s.Begin; e < s.End; e++ {
		advantages(t.rewards, t.values, t.dones, t.cfg.Gamma, lambda, e, envs, t.advantages, t.target)
	}
}

// judge computes the critic's values of all steps.
func (t *Trainer) judge(network *nn.ActorCritic) {
	const block = 128
	inputs := t.Shape.Observation
	for begin := 0; begin < len(t.values); begin += block {
		end := min(begin+block, len(t.values))
		copy(t.values[begin:end], network.Values(t.rows.Observations[begin*inputs:end*inputs], end-begin))
	}
}

// update learns from the steps and sets the statistics of the updates.
func (t *Trainer) update(workers int) error {
	var sum terms
	for range t.cfg.Epochs {
		t.Rand.Shuffle(len(t.order), func(i, j int) { t.order[i], t.order[j] = t.order[j], t.order[i] })
		for begin := 0; begin < len(t.order); begin += t.cfg.Minibatch {
			t.gather(t.order[begin : begin+t.cfg.Minibatch])
			learn.Each(workers, len(t.parts), t.learnFrom)
			for _, s := range t.parts {
				sum.add(s.terms)
			}
			if err := learn.Finite(t.Count, "the loss", sum.policy, sum.value, sum.entropy); err != nil {
				return err
			}
			if err := t.Descend(); err != nil {
				return err
			}
		}
	}
	seen := float64(t.cfg.Epochs * len(t.order))
	t.Stats.PolicyLoss, t.Stats.ValueLoss, t.Stats.Entropy = sum.policy/seen, sum.value/seen, sum.entropy/seen
	return nil
}

// gather builds a minibatch from the given steps.
func (t *Trainer) gather(batch []int32) {
	t.batch = batch
	for i, at := range batch {
		t.minibatch[i] = experience{
			action: t.actions[at], logp: t.logps[at], advantage: t.advantages[at], target: t.target[at],
		}
	}
	standardize(t.minibatch)
}

// gradient computes the gradient of a shard's part of the minibatch.
func (t *Trainer) gradient(k int) {
	s := t.parts[k]
	inputs, actions := t.Shape.Observation, t.Shape.Actions
	begin, end := k*len(t.batch)/len(t.parts), (k+1)*len(t.batch)/len(t.parts)
	s.terms = terms{}
	n := end - begin
	if n == 0 {
		clear(s.Policy.Gradients())
		return
	}
	for i, at := range t.batch[begin:end] {
		copy(s.observations[i*inputs:(i+1)*inputs], t.rows.Observation(int(at)))
	}
	preferences, values := s.Policy.Forward(s.observations[:n*inputs], n)
	w := weights{
		scale: 1 / float64(len(t.batch)), clip: t.cfg.Clip, entropy: t.Stats.Exploration, value: valueCoefficient,
	}
	for i, at := range t.batch[begin:end] {
		row := preferences[i*actions : (i+1)*actions]
		s.allowed = actionsIn(t.rows.Mask(int(at)), s.allowed)
		d := s.dPreferences[i*actions : (i+1)*actions]
		var now terms
		now, s.dValues[i] = w.loss(row, s.allowed, values[i], t.minibatch[begin+i], d)
		s.terms.add(now)
	}
	s.Policy.Backward(s.dPreferences[:n*actions], s.dValues[:n])
}
