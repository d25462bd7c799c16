package learn

import (
	"fmt"
	"math/rand/v2"

	"golang.org/x/sync/errgroup"

	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/nn"
)

// A Vector is a number of environments in shards. Results depend on the number of shards
// but not on how many of them run at once.
type Vector struct {
	Shards []*Shard
	Shape  env.Shape
	policy nn.Policy
	seed   uint64
}

// A Shard is a contiguous group of environments with its own policy. It is used by one
// goroutine at a time.
type Shard struct {
	// Policy shares its parameters with all other shards.
	Policy nn.Policy
	// Rand is for choosing actions.
	Rand *rand.Rand
	// Begin and End are the range of its environments; End is not included.
	Begin, End int

	shape   env.Shape
	source  rand.PCG // of Rand
	members []member

	episodes     int
	sum, lengths float64 // over the episodes
}

type member struct {
	env    env.Env
	source rand.PCG
	rng    *rand.Rand // on source
	sum    float64    // of the episode's rewards
	length int
}

// NewVector creates n environments in a number of shards. Call Restart before using them.
func NewVector(n, shards int, policy nn.Policy, makeEnv func() env.Env, seed uint64) (*Vector, error) {
	if n < 1 || shards < 1 || shards > n {
		return nil, fmt.Errorf("%d environments in %d shards, want at least 1 in each", n, shards)
	}
	v := &Vector{policy: policy, seed: seed}
	for k := range shards {
		s := &Shard{Policy: policy.Share(), Begin: k * n / shards, End: (k + 1) * n / shards}
		s.Rand = rand.New(&s.source)
		s.members = make([]member, s.End-s.Begin)
		for i := range s.members {
			m := &s.members[i]
			m.env, m.rng = makeEnv(), rand.New(&m.source)
			shape := m.env.Shape()
			if shape.Observation != policy.Inputs() || shape.Actions != policy.Actions() {
				return nil, fmt.Errorf("environments have %d inputs and %d actions, the network %q has %d and %d: want the same",
					shape.Observation, shape.Actions, policy, policy.Inputs(), policy.Actions())
			}
			s.shape, v.Shape = shape, shape
		}
		v.Shards = append(v.Shards, s)
	}
	return v, nil
}

// Restart begins an episode in every environment, with streams that depend only on the
// seed, the segment and the environment's number.
func (v *Vector) Restart(segment uint64) {
	for k, s := range v.Shards {
		Seed(&s.source, v.seed, segment, Choosing, k)
		s.episodes, s.sum, s.lengths = 0, 0, 0
		for i := range s.members {
			m := &s.members[i]
			Seed(&m.source, v.seed, segment, environments, s.Begin+i)
			m.sum, m.length = 0, 0
			m.env.Reset(m.rng)
		}
	}
}

// Env returns one of the shard's environments, the first for 0.
func (s *Shard) Env(i int) env.Env { return s.members[i].env }

// Observe writes the observations and masks of all environments of the shard.
func (s *Shard) Observe(observations []float32, masks []bool) {
	o, a := s.shape.Observation, s.shape.Actions
	for i := range s.members {
		s.members[i].env.Observe(observations[i*o:(i+1)*o], masks[i*a:(i+1)*a])
	}
}

// Step carries out one action in each environment of the shard. It begins a new episode in
// each environment that is done.
func (s *Shard) Step(actions []int32, rewards []float32, dones []bool) {
	for i := range s.members {
		m := &s.members[i]
		rewards[i], dones[i] = m.env.Step(int(actions[i]))
		m.sum += float64(rewards[i])
		m.length++
		if dones[i] {
			s.episodes++
			s.sum += m.sum
			s.lengths += float64(m.length)
			m.sum, m.length = 0, 0
			m.env.Reset(m.rng)
		}
	}
}

// Episodes sets the fields of Stats about the episodes that ended since the last call.
func (v *Vector) Episodes(to *Stats) {
	to.Episodes, to.Return, to.Length = 0, 0, 0
	for _, s := range v.Shards {
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

// Descend adds the gradients of the shards in order, clips them to maxNorm and moves the
// parameters. The error is a [*DivergedError] at the given number of steps.
func (v *Vector) Descend(adam *nn.Adam, rate, maxNorm float64, steps int64) error {
	gradients := v.policy.Gradients()
	clear(gradients)
	for _, s := range v.Shards {
		nn.Add(gradients, s.Policy.Gradients())
	}
	if err := Finite(steps, "the norm of gradients", nn.ClipNorm(gradients, maxNorm)); err != nil {
		return err
	}
	adam.Step(v.policy.Parameters(), gradients, rate)
	return nil
}

// The purposes of random streams.
const (
	environments = iota
	Choosing     // actions, by shard
	Learning     // the order or the choice of what is learned from
)

// Seed sets a source to the beginning of the stream of one segment of training.
func Seed(source *rand.PCG, seed, segment uint64, purpose, index int) {
	h := mix(mix(mix(seed)+segment)+uint64(purpose)) + uint64(index)
	source.Seed(mix(h), mix(^h))
}

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
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
