package dqn

import (
	"math/rand/v2"
	"slices"

	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/internal/learn"
)

// randomChoice draws one of the actions that a candidate allows and then one of these candidates, so
// that an action is as likely with few candidates as with many.
func randomChoice(c *env.Candidates, rng *rand.Rand) env.Choice {
	allowed := slices.Clone(c.Mask(0))
	for k := range c.Len() {
		for a, ok := range c.Mask(k) {
			allowed[a] = allowed[a] || ok
		}
	}
	action := drawIndex(allowed, rng)
	candidates := make([]bool, c.Len())
	for k := range candidates {
		candidates[k] = c.Mask(k)[action]
	}
	return env.Choice{Candidate: drawIndex(candidates, rng), Action: action}
}

// drawIndex draws the index of a true value, all equally likely. It panics if there is none: an environment must allow
// an action.
func drawIndex(mask []bool, rng *rand.Rand) int {
	n := 0
	for _, ok := range mask {
		if ok {
			n++
		}
	}
	if n == 0 {
		panic("dqn: an environment allows no action")
	}
	i := slices.Index(mask, true)
	for range rng.IntN(n) {
		i += 1 + slices.Index(mask[i+1:], true)
	}
	return i
}

// isChooser reports whether the environments of a shard are of [env.Chooser].
func isChooser(s *learn.Shard) bool {
	_, ok := s.Env(0).(env.Chooser)
	return ok
}

// choose chooses a candidate and an action in environment i of a shard. It stores the action, and the observations of
// the best candidate and of the chosen one, in a slot of the replay. The two differ where the agent explores.
func (t *Trainer) choose(s *shard, i, slot int) {
	e := s.Env(i).(env.Chooser)
	choice := s.candidates.Best(e, s.Policy.Forward)
	copy(t.replay.bestCandidate.Observation(slot), s.candidates.Observation(choice.Candidate))
	copy(t.replay.bestCandidate.Mask(slot), s.candidates.Mask(choice.Candidate))
	if s.Rand.Float64() < t.Stats.Exploration {
		choice = randomChoice(&s.candidates, s.Rand)
	}
	e.Choose(choice.Candidate)
	copy(t.replay.Observation(slot), s.candidates.Observation(choice.Candidate))
	copy(t.replay.Mask(slot), s.candidates.Mask(choice.Candidate))
	t.replay.actions[slot] = int32(choice.Action)
}
